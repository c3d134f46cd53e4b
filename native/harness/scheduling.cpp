#include "octant/scheduling.hpp"

#include "control_groups.hpp"
#include "octant/system_file.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

namespace octant {
namespace {

std::string first_line(std::string const& file) {
    std::string text = file_text(file);
    text.resize(std::min(text.size(), text.find('\n')));
    return text;
}

std::optional<double> quota_in(std::string const& folder) {
    std::string const both = first_line(folder + "/cpu.max");  // "50000 100000", "max 100000"
    std::string_view rest = both;
    auto const quota = leading_number<double>(next_word(rest)), period = leading_number<double>(next_word(rest));
    if (quota && period && *period > 0) return *quota / *period;
    double const quota_us = static_cast<double>(number_in(folder + "/cpu.cfs_quota_us").value_or(-1));  // -1: none
    double const period_us = static_cast<double>(number_in(folder + "/cpu.cfs_period_us").value_or(0));
    return quota_us > 0 && period_us > 0 ? std::optional(quota_us / period_us) : std::nullopt;
}

std::string cpuset_of(std::string const& root) {
    for (auto const& group : control_groups("cpuset", root))
        for (auto const* name : {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"})
            if (auto const cpus = first_line(group.folder + "/" + name); !cpus.empty()) return cpus;
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
        struct stat found_folder {};
        if (stat(folder.c_str(), &found_folder) != 0 || !S_ISDIR(found_folder.st_mode)) continue;
        if (innermost) {
            found.own = path;
            found.shares = number_in(folder + "/cpu.shares");
            found.weight = number_in(folder + "/cpu.weight");
            innermost = false;
        }
        if (auto const cores = quota_in(folder)) found.quotas.push_back({path, *cores, folder});
    }
    return found;
}

std::int64_t throttled_ns(Quota const& quota) {
    std::string const text = file_text(quota.folder + "/cpu.stat");
    std::string_view rest = text;
    for (std::string_view line; next_line(rest, line);) {
        std::string_view const name = next_word(line);
        std::int64_t const value = leading_number<std::int64_t>(line).value_or(0);
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
