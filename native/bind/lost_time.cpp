#include "lost_time.hpp"

#include "octant/clock.hpp"
#include "octant/steal.hpp"
#include "octant/system_file.hpp"

#include "control_groups.hpp"

#include <algorithm>
#include <tuple>

namespace octant::bind {
namespace {

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds; -1: there is no such file.
std::int64_t pressure_us(std::string const& file) {
    std::string const text = file_text(file);
    constexpr std::string_view total = "total=";
    auto const at = text.find(total);
    if (!text.starts_with("some ") || at == std::string::npos) return -1;
    return leading_number<std::int64_t>(std::string_view(text).substr(at + total.size())).value_or(-1);
}

// Pressure of the own control group if available, otherwise of the system.
std::string find_pressure_file() {
    auto const groups = control_groups("cpu");
    if (!groups.empty())
        if (std::string const file = groups.front().folder + "/cpu.pressure"; pressure_us(file) >= 0) return file;
    return "/proc/pressure/cpu";
}

}  // namespace

LostTime::LostTime(Numbers const& cpus)
    : cpus_(cpus), throttling_(cpu_groups().quotas), pressure_file_(find_pressure_file()) {
    throttling_.begin();
    stolen_ns_ = stolen_ns(cpus_);
    pressure_us_ = pressure_us(pressure_file_);
    begin_ns_ = now_ns();
}

Lost LostTime::end() {
    Lost lost;
    lost.elapsed_ns = now_ns() - begin_ns_;
    throttling_.end();
    std::tie(lost.throttled_group, lost.throttled_ns) = throttling_.most();
    lost.throttled_ns = std::max<std::int64_t>(0, lost.throttled_ns);
    if (stolen_ns_ >= 0) lost.stolen_ns = std::max<std::int64_t>(0, stolen_ns(cpus_) - stolen_ns_);
    if (pressure_us_ >= 0) lost.pressure_us = std::max<std::int64_t>(0, pressure_us(pressure_file_) - pressure_us_);
    return lost;
}

}  // namespace octant::bind
