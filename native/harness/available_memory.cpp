#include "octant/available_memory.hpp"

#include "control_groups.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace octant {
namespace {

namespace fs = std::filesystem;

using Table = std::map<std::string, std::int64_t>;

constexpr std::int64_t first_node = 1;  // ids: 0 is the system, then nodes, then control groups
constexpr std::int64_t group_bit = std::int64_t{1} << 62, pool_bit = std::int64_t{1} << 61;
constexpr std::int64_t no_limit = std::int64_t{1} << 60;  // version 1 writes "none" as a number of this order

// "inactive_file 4096", a line each.
Table table_in(fs::path const& file) {
    std::ifstream stream(file);
    Table table;
    std::string name;
    for (std::int64_t value = 0; stream >> name >> value;) table[name] = value;
    return table;
}

// "MemAvailable:   4096 kB", or of a memory node "Node 0 MemFree:   4096 kB"; in bytes.
Table meminfo(fs::path const& file) {
    std::ifstream stream(file);
    Table table;
    for (std::string line; std::getline(stream, line);) {
        std::istringstream words(line);
        std::string name, number;
        words >> name;
        if (name == "Node") words >> number >> name;
        if (std::int64_t kib = 0; words >> kib && name.ends_with(':'))
            table[name.substr(0, name.size() - 1)] = kib * 1024;
    }
    return table;
}

std::int64_t value_of(Table const& table, std::string const& name) {
    auto const found = table.find(name);
    return found == table.end() ? 0 : found->second;
}

// "0-2,5"
std::set<int> numbers_in(std::string const& list) {
    std::set<int> numbers;
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) {
        int first = 0, last = 0;
        int const read = std::sscanf(part.c_str(), "%d-%d", &first, &last);
        if (read < 1) continue;
        for (int number = first; number <= (read == 2 ? last : first); ++number) numbers.insert(number);
    }
    return numbers;
}

std::set<int> allowed_nodes(fs::path const& root) {
    std::ifstream status(root / "proc/self/status");
    constexpr std::string_view label = "Mems_allowed_list:\t";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(label)) return numbers_in(line.substr(label.size()));
    return {};
}

// The nodes that this process may use, with what is left in each; nothing where it may use all that have memory.
MemoryBound node_bound(std::vector<int> const& bound_to, fs::path const& root) {
    fs::path const folder = root / "sys/devices/system/node";
    std::string line;
    std::getline(std::ifstream(folder / "has_memory"), line);
    std::set<int> const all = numbers_in(line), allowed = allowed_nodes(root);
    MemoryBound parts;
    for (int const node : all) {
        bool const bound = bound_to.empty() || std::ranges::find(bound_to, node) != bound_to.end();
        if (!bound || (!allowed.empty() && !allowed.contains(node))) continue;
        Table const info = meminfo(folder / ("node" + std::to_string(node)) / "meminfo");
        std::int64_t const files = value_of(info, "Active(file)") + value_of(info, "Inactive(file)") -
                                   value_of(info, "Dirty") - value_of(info, "Writeback");
        parts.push_back({first_node + node, value_of(info, "MemFree") + std::max<std::int64_t>(0, files)});
    }
    return parts.size() < all.size() ? parts : MemoryBound{};
}

// The same for all processes that see the folder, wherever it is mounted for them.
std::int64_t id_of(fs::path const& folder) {
    struct stat found {};
    return stat(folder.c_str(), &found) == 0 ? group_bit | static_cast<std::int64_t>(found.st_ino) : group_bit;
}

std::int64_t min_of(fs::path const& folder, std::initializer_list<char const*> files) {
    std::int64_t least = no_limit;
    for (auto const* file : files) least = std::min(least, number_in(folder / file).value_or(no_limit));  // or "max"
    return least;
}

std::optional<std::int64_t> left_in_group(fs::path const& folder) {
    Table const statistics = table_in(folder / "memory.stat");
    bool const second = fs::exists(folder / "memory.current");
    std::string const all = second ? "" : "total_", file = second ? "file_" : "total_";  // with the groups below
    std::int64_t const cache = std::max<std::int64_t>(
        0, value_of(statistics, all + "inactive_file") + value_of(statistics, all + "active_file") -
               value_of(statistics, file + "dirty") - value_of(statistics, file + "writeback"));
    auto const left = [&](std::int64_t limit, char const* usage) {
        return limit < no_limit ? limit - number_in(folder / usage).value_or(0) + cache : no_limit;
    };
    std::int64_t bytes = no_limit;
    if (second) {
        bytes = left(min_of(folder, {"memory.max", "memory.high"}), "memory.current");
    } else {
        // The least limit of all groups above, which are invisible in a container.
        auto const above = statistics.find("hierarchical_memory_limit");
        std::int64_t const limit =
            std::min(min_of(folder, {"memory.limit_in_bytes"}), above == statistics.end() ? no_limit : above->second);
        bytes = std::min(left(limit, "memory.usage_in_bytes"),  // and of memory and swap together
                         left(min_of(folder, {"memory.memsw.limit_in_bytes"}), "memory.memsw.usage_in_bytes"));
    }
    return bytes < no_limit ? std::optional(std::max<std::int64_t>(0, bytes)) : std::nullopt;
}

void add_groups(std::vector<MemoryBound>& bounds, fs::path const& root) {
    for (auto const& group : control_groups("memory", root))
        if (auto const bytes = left_in_group(group.folder)) bounds.push_back({{id_of(group.folder), *bytes}});
}

// "2MB", as the kernel writes the size of a pool's pages.
std::string size_text(std::int64_t bytes) {
    int unit = 0;
    for (; unit < 3 && bytes % 1024 == 0; ++unit) bytes /= 1024;
    return std::to_string(bytes) + std::array{"B", "KB", "MB", "GB"}.at(static_cast<std::size_t>(unit));
}

// Whether memory.current of version 2 includes pages of pools.
bool pools_are_charged(fs::path const& root) {
    std::ifstream mounts(root / "proc/self/mounts");
    for (std::string line; std::getline(mounts, line);)
        if (line.find(" cgroup2 ") != std::string::npos && line.find("memory_hugetlb_accounting") != std::string::npos)
            return true;
    return false;
}

std::vector<std::int64_t> as_numbers(std::vector<MemoryBound> const& bounds) {
    std::vector<std::int64_t> numbers;
    for (auto const& bound : bounds) {
        numbers.push_back(static_cast<std::int64_t>(bound.size()));
        for (auto const& part : bound) numbers.insert(numbers.end(), {part.id, part.bytes});
    }
    return numbers;
}

std::vector<MemoryBound> from_numbers(std::vector<std::int64_t> const& numbers) {
    std::vector<MemoryBound> bounds;
    for (std::size_t at = 0; at < numbers.size();) {
        bounds.emplace_back();
        for (std::int64_t parts = numbers[at++]; parts > 0; --parts, at += 2)
            bounds.back().push_back({numbers[at], numbers[at + 1]});
    }
    return bounds;
}

}  // namespace

std::vector<MemoryBound> memory_bounds(std::vector<int> const& bound_to, std::string const& root) {
    std::vector<MemoryBound> bounds;
    Table const system = meminfo(fs::path(root) / "proc/meminfo");
    if (auto const found = system.find("MemAvailable"); found != system.end()) bounds.push_back({{0, found->second}});
    if (auto nodes = node_bound(bound_to, root); !nodes.empty()) bounds.push_back(std::move(nodes));
    add_groups(bounds, root);
    return bounds;
}

std::vector<MemoryBound> pool_bounds(std::int64_t page_bytes, std::string const& root) {
    std::vector<MemoryBound> bounds;
    std::string const name = "hugetlb." + size_text(page_bytes);
    for (auto const& [path, folder] : control_groups("hugetlb", root)) {
        std::int64_t bytes = no_limit;
        for (std::string const kind : {".", ".rsvd."})
            for (auto const& [limit, usage] :
                 {std::pair{"max", "current"}, std::pair{"limit_in_bytes", "usage_in_bytes"}})
                if (auto const most = number_in(folder + "/" + name + kind + limit))
                    bytes = std::min(bytes, *most - number_in(folder + "/" + name + kind + usage).value_or(0));
        if (bytes < no_limit) bounds.push_back({{id_of(folder) | pool_bit, std::max<std::int64_t>(0, bytes)}});
    }
    if (pools_are_charged(root)) add_groups(bounds, root);
    return bounds;
}

std::vector<std::int64_t> shares_of(std::vector<std::vector<MemoryBound>> const& processes) {
    struct Shared {
        std::int64_t users = 0, bytes = INT64_MAX;  // as the process that read last found them
    };
    std::map<std::int64_t, Shared> all;
    for (auto const& bounds : processes)
        for (auto const& bound : bounds)
            for (auto const& part : bound) {
                Shared& shared = all[part.id];
                ++shared.users;
                shared.bytes = std::min(shared.bytes, part.bytes);
            }
    std::vector<std::int64_t> shares;
    for (auto const& bounds : processes) {
        std::int64_t least = INT64_MAX;
        for (auto const& bound : bounds) {
            std::int64_t sum = 0;
            for (auto const& part : bound) sum += all[part.id].bytes / all[part.id].users;
            least = std::min(least, sum);
        }
        shares.push_back(least);
    }
    return shares;
}

std::int64_t share_of(Comm const& ranks, std::vector<MemoryBound> const& bounds) {
    std::vector<std::vector<MemoryBound>> processes;
    for (auto const& numbers : ranks.gather(as_numbers(bounds))) processes.push_back(from_numbers(numbers));
    return ranks.scatter(shares_of(processes));  // only the first rank has gathered them
}

}  // namespace octant
