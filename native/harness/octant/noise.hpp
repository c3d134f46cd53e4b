// Activity of the operating system and other processes, from totals of the kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace octant {

// Monotonic totals at one moment; unavailable sources are omitted. Keys end in their unit.
struct NoiseTotals {
    std::map<std::string, double> values;
    [[nodiscard]] static NoiseTotals read();
};

struct NoiseReport {
    std::map<std::string, double> before;  // sampled for a few ms before the first sample
    std::map<std::string, double> during;  // differences over the measurement
    std::map<std::string, double> after;
};

// Involuntary context switches of the calling thread so far.
[[nodiscard]] std::int64_t involuntary_switches() noexcept;

[[nodiscard]] std::map<std::string, double> difference(NoiseTotals const& from, NoiseTotals const& to);
// Returns other load, stalls, steal time and the frequency of this core, sampled while this thread sleeps `seconds`.
[[nodiscard]] std::map<std::string, double> sample_idle_noise(double seconds);

// CPUs that the calling thread may use, and the one it is on.
[[nodiscard]] std::vector<int> allowed_cpus();
[[nodiscard]] bool allow_cpus(std::vector<int> const& cpus) noexcept;  // for the calling thread; false: refused
[[nodiscard]] int current_cpu() noexcept;

}  // namespace octant
