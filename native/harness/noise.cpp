#include "octant/noise.hpp"

#include "octant/clock.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace octant {
namespace {

double cpu_seconds_of_self() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto const seconds = [](timeval t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void read_proc_stat(std::map<std::string, double>& values) {
    std::ifstream file("/proc/stat");
    std::string label;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    if (!(file >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)) return;
    double const tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    values["node_busy_s"] = (user + nice + system + irq + softirq) * tick_s;
    values["node_steal_s"] = steal * tick_s;
}

void read_pressure(std::map<std::string, double>& values) {
    for (std::string const resource : {"cpu", "memory", "io"}) {
        std::ifstream file("/proc/pressure/" + resource);
        std::string line;
        if (!std::getline(file, line)) continue;
        auto const at = line.find("total=");
        if (at != std::string::npos) values["stalled_" + resource + "_s"] = std::stod(line.substr(at + 6)) * 1e-6;
    }
}

}  // namespace

NoiseTotals NoiseTotals::read() {
    NoiseTotals totals;
    totals.values["time_s"] = static_cast<double>(now_ns()) * 1e-9;
    totals.values["own_cpu_s"] = cpu_seconds_of_self();
    read_proc_stat(totals.values);
    read_pressure(totals.values);
    return totals;
}

std::map<std::string, double> difference(NoiseTotals const& from, NoiseTotals const& to) {
    std::map<std::string, double> values;
    for (auto const& [name, value] : to.values)
        if (auto const it = from.values.find(name); it != from.values.end()) values[name] = value - it->second;
    return values;
}

std::map<std::string, double> sample_idle_noise(double seconds) {
    auto const from = NoiseTotals::read();
    double const hertz = core_frequency_hz();
    usleep(static_cast<useconds_t>(seconds * 1e6));
    auto values = difference(from, NoiseTotals::read());
    values["frequency_hz"] = hertz;
    return values;
}

std::int64_t involuntary_switches() noexcept {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

namespace {
constexpr int most = 4096;  // hardware threads of a system; a cpu_set_t holds 1024
}

std::vector<int> allowed_cpus() {
    std::vector<int> cpus;
    cpu_set_t* set = CPU_ALLOC(most);
    std::size_t const bytes = CPU_ALLOC_SIZE(most);
    if (sched_getaffinity(0, bytes, set) == 0)
        for (int cpu = 0; cpu < most; ++cpu)
            if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    return cpus;
}

bool allow_cpus(std::vector<int> const& cpus) noexcept {
    cpu_set_t* set = CPU_ALLOC(most);
    std::size_t const bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, set);
    for (int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
    bool const done = sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return done;
}

int current_cpu() noexcept { return sched_getcpu(); }

}  // namespace octant
