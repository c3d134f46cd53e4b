#include "octant/steal.hpp"

#include "octant/system_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace octant {

std::int64_t stolen_ns(std::vector<int> const& cpus) {
    std::string const text = file_text("/proc/stat");
    std::int64_t const tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
    std::int64_t sum = -1;
    std::string_view rest = text;
    for (std::string_view line; next_line(rest, line) && line.starts_with("cpu");) {
        auto const cpu = leading_number<int>(next_word(line).substr(3));
        if (!cpu || !std::ranges::binary_search(cpus, *cpu)) continue;  // of all, or of others
        std::array<std::optional<std::int64_t>, 8> ticks;  // user, nice, system, idle, iowait, irq, softirq, steal
        for (auto& one : ticks) one = leading_number<std::int64_t>(next_word(line));
        if (ticks.back()) sum = std::max<std::int64_t>(sum, 0) + *ticks.back() * tick_ns;
    }
    return sum;
}

}  // namespace octant
