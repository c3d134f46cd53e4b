#include "processes.hpp"

#include "octant/system_file.hpp"

#include <dirent.h>

#include <algorithm>
#include <array>
#include <map>

namespace octant::bind {

std::optional<Stat> parse_stat(std::string_view text) {
    auto const open = text.find('('), close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
    // The state is field 3; field 39 is the last that is read.
    constexpr std::size_t first = 3, last = 39;
    std::array<std::string_view, last - first + 1> fields;
    std::string_view rest = text.substr(close + 1);
    for (auto& field : fields) field = next_word(rest);
    if (fields.back().empty()) return std::nullopt;
    auto const number = [&](std::size_t field) {
        return leading_number<std::int64_t>(fields[field - first]).value_or(0);
    };
    Stat found;
    found.id = leading_number<pid_t>(text).value_or(0);
    found.name = text.substr(open + 1, close - open - 1);
    found.state = fields[0][0];
    found.parent = static_cast<pid_t>(number(4));
    found.cpu_ticks = number(14) + number(15);
    found.threads = number(20);
    found.started = static_cast<std::uint64_t>(number(22));
    found.resident_pages = number(24);
    found.cpu = static_cast<int>(number(39));
    return found;
}

std::vector<pid_t> numbered_entries(std::string const& folder) {
    std::vector<pid_t> numbers;
    DIR* const entries = opendir(folder.c_str());
    if (entries == nullptr) return numbers;
    while (dirent const* const entry = readdir(entries))
        if (auto const number = leading_number<pid_t>(entry->d_name)) numbers.push_back(*number);
    closedir(entries);
    return numbers;
}

std::vector<Stat> descendants(pid_t root, pid_t least) {
    std::multimap<pid_t, Stat> by_parent;
    for (pid_t const number : numbered_entries("/proc")) {
        if (number < least) continue;
        if (auto stat = parse_stat(file_text("/proc/" + std::to_string(number) + "/stat")))
            by_parent.emplace(stat->parent, std::move(*stat));
    }
    std::vector<Stat> found;
    std::vector<pid_t> parents{root};
    while (!parents.empty()) {
        pid_t const parent = parents.back();
        parents.pop_back();
        auto const [begin, end] = by_parent.equal_range(parent);
        for (auto child = begin; child != end; ++child) {
            parents.push_back(child->second.id);
            found.push_back(child->second);
        }
        by_parent.erase(begin, end);  // each is visited once, whatever /proc shows
    }
    std::erase_if(found, [](Stat const& stat) { return stat.ended(); });
    std::ranges::sort(found, {}, &Stat::id);
    return found;
}

}  // namespace octant::bind
