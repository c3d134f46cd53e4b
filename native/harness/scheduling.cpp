#include "octant/scheduling.hpp"

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

std::optional<std::int64_t> number_in(fs::path const& file) {
    std::ifstream stream(file);
    std::int64_t number = 0;
    return stream >> number ? std::optional(number) : std::nullopt;
}

struct Mounted {
    fs::path mount;
    std::string path;
};

// Where the files of this process's group for a controller are: of version 1, else of version 2.
std::optional<Mounted> group_of(std::string const& controller, fs::path const& root) {
    std::ifstream file(root / "proc/self/cgroup");
    fs::path const top = root / "sys/fs/cgroup";
    std::optional<Mounted> second;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string number, controllers, path;
        if (!std::getline(words, number, ':') || !std::getline(words, controllers, ':')) continue;
        std::getline(words, path);
        bool const mine = ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
        if (!controllers.empty() && !mine) continue;
        auto const mounts = mine ? std::vector{top / controllers, top / controller} : std::vector{top, top / "unified"};
        for (fs::path const& mount : mounts) {
            std::error_code error;
            if (!fs::exists(mount / (mine ? "cgroup.procs" : "cgroup.controllers"), error)) continue;
            if (mine) return Mounted{mount, path};
            if (!second) second = Mounted{mount, path};
        }
    }
    return second;
}

// The group's path and those above it, up to "/"; parts that lead out of the mount are left out.
std::vector<std::string> upwards(std::string const& path) {
    std::vector<std::string> paths{"/"};
    for (auto const& part : fs::path(path).relative_path())
        if (part != ".." && !part.empty())
            paths.push_back(paths.back() + (paths.back() == "/" ? "" : "/") + part.string());
    std::ranges::reverse(paths);
    return paths;
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
    auto const group = group_of("cpuset", root);
    if (!group) return "";
    for (auto const& path : upwards(group->path))
        for (auto const* name : {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"})
            if (auto const cpus = first_line(group->mount / path.substr(1) / name); !cpus.empty()) return cpus;
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
    auto const group = group_of("cpu", root);
    if (!group) return found;
    bool innermost = true;
    for (auto const& path : upwards(group->path)) {
        fs::path const folder = group->mount / path.substr(1);
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
