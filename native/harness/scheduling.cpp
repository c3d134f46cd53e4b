#include "octant/scheduling.hpp"

#include "control_groups.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace octant {
namespace {

namespace fs = std::filesystem;

std::string first_line(fs::path const& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

std::optional<double> quota_in(fs::path const& folder) {
    std::istringstream both(first_line(folder / "cpu.max"));  // "50000 100000", "max 100000"
    double quota = 0, period = 0;
    if (both >> quota >> period && period > 0) return quota / period;
    double const quota_us = static_cast<double>(number_in(folder / "cpu.cfs_quota_us").value_or(-1));  // -1: none
    double const period_us = static_cast<double>(number_in(folder / "cpu.cfs_period_us").value_or(0));
    return quota_us > 0 && period_us > 0 ? std::optional(quota_us / period_us) : std::nullopt;
}

std::string cpuset_of(fs::path const& root) {
    for (auto const& group : control_groups("cpuset", root))
        for (auto const* name : {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"})
            if (auto const cpus = first_line(group.folder / name); !cpus.empty()) return cpus;
    return "";
}

std::string policy_name(int policy) {
    switch (policy & ~SCHED_RESET_ON_FORK) {
        case SCHED_FIFO:
            return "fifo";
        case SCHED_RR:
            return "rr";
        case SCHED_BATCH:
            return "batch";
        case SCHED_IDLE:
            return "idle";
        case SCHED_DEADLINE:
            return "deadline";
        default:
            return "other";
    }
}

}  // namespace

Quota const* CpuGroups::smallest() const {
    auto const least = std::ranges::min_element(quotas, {}, &Quota::cores);
    return least == quotas.end() ? nullptr : &*least;
}

CpuGroups cpu_groups(std::string const& root) {
    CpuGroups found;
    found.cpuset = cpuset_of(root);
    bool innermost = true;
    for (auto const& [path, folder] : control_groups("cpu", root)) {
        std::error_code error;
        if (!fs::is_directory(folder, error)) continue;
        if (innermost) {
            found.own = path;
            found.shares = number_in(folder / "cpu.shares");
            found.weight = number_in(folder / "cpu.weight");
            innermost = false;
        }
        if (auto const cores = quota_in(folder)) found.quotas.push_back({path, *cores, folder});
    }
    return found;
}

std::int64_t throttled_ns(Quota const& quota) {
    std::ifstream file(quota.folder + "/cpu.stat");
    std::string name;
    for (std::int64_t value = 0; file >> name >> value;) {
        if (name == "throttled_time") return value;         // version 1
        if (name == "throttled_usec") return value * 1000;  // version 2
    }
    return 0;
}

void Throttling::begin() {
    before_.clear();
    for (auto const& quota : quotas_) before_.push_back(throttled_ns(quota));
}

void Throttling::end() {
    for (std::size_t i = 0; i < quotas_.size(); ++i) sums_[i] += throttled_ns(quotas_[i]) - before_[i];
}

std::pair<std::string, std::int64_t> Throttling::most() const {
    auto const greatest = std::ranges::max_element(sums_);
    if (greatest == sums_.end()) return {"", 0};
    return {quotas_[static_cast<std::size_t>(greatest - sums_.begin())].group, *greatest};
}

Scheduling scheduling() {
    Scheduling found;
    sched_param parameters{};
    found.policy = policy_name(sched_getscheduler(0));
    if (sched_getparam(0, &parameters) == 0) found.priority = parameters.sched_priority;
    found.nice = getpriority(PRIO_PROCESS, 0);
    if (number_in("/proc/sys/kernel/sched_autogroup_enabled").value_or(0) == 1)
        found.autogroup = first_line("/proc/self/autogroup");
    found.groups = cpu_groups();
    return found;
}

}  // namespace octant
