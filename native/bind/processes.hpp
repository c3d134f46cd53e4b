// The processes below this one, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octant::bind {

// Fields of /proc/PID/stat or /proc/PID/task/TID/stat (proc(5)).
struct Stat {
    pid_t id = 0;
    std::string name;  // any bytes
    char state = '?';
    pid_t parent = 0;
    std::int64_t cpu_ticks = 0;  // user and system time
    std::int64_t threads = 0;
    std::uint64_t started = 0;  // ticks after the system's start: a number may be used again
    std::int64_t resident_pages = 0;
    int cpu = -1;  // hardware thread that it ran on last

    // The process has ended and its parent has not waited for it; other threads may outlive the first one.
    [[nodiscard]] bool ended() const { return state == 'X' || (state == 'Z' && threads <= 1); }
};

// nullopt: not such a line.
[[nodiscard]] std::optional<Stat> parse_stat(std::string_view text);

// The numbers that name entries of a folder of /proc.
[[nodiscard]] std::vector<pid_t> numbered_entries(std::string const& folder);

// Children, their children and so on that are alive. Processes with smaller numbers than `least` are not considered.
[[nodiscard]] std::vector<Stat> descendants(pid_t root, pid_t least = 1);

}  // namespace octant::bind
