// What the system takes: quotas and throttling of both versions of control groups, and a thread's own clocks.
#include "check.hpp"
#include "octant/clock.hpp"
#include "octant/lost.hpp"
#include "octant/scheduling.hpp"
#include "tree.hpp"

#include <unistd.h>

#include <cmath>
#include <string>
#include <thread>

namespace {

using octant::Tree;

void version_1(octant::Checks& checks) {
    Tree const tree;
    std::string const cpu = "sys/fs/cgroup/cpu,cpuacct/";
    tree.write("proc/self/cgroup", "4:memory:/other\n3:cpuset:/job\n2:cpu,cpuacct:/job/step\n0::/");
    for (std::string const folder : {"", "job/", "job/step/"}) {
        tree.write(cpu + folder + "cgroup.procs", "");
        tree.write(cpu + folder + "cpu.cfs_quota_us", folder.empty() ? "-1" : folder == "job/" ? "150000" : "400000");
        tree.write(cpu + folder + "cpu.cfs_period_us", "100000");
    }
    tree.write(cpu + "job/step/cpu.shares", "2048");
    tree.write(cpu + "job/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 7000");
    tree.write(cpu + "job/step/cpu.stat", "nr_periods 9\nnr_throttled 1\nthrottled_time 3000");
    tree.write("sys/fs/cgroup/cpuset/cgroup.procs", "");
    tree.write("sys/fs/cgroup/cpuset/job/cpuset.cpus", "0-3");
    auto const found = octant::cpu_groups(tree.root());
    checks.that(found.own == "/job/step" && found.shares == 2048 && !found.weight, "the process's own group");
    checks.that(found.cpuset == "0-3", "the CPUs of its group");
    checks.that(found.quotas.size() == 2, "the root has no quota");
    checks.that(found.smallest() != nullptr && found.smallest()->cores == 1.5, "the smallest quota, of the parent");
    octant::Throttling throttling(found.quotas);
    throttling.begin();
    tree.write(cpu + "job/cpu.stat", "nr_periods 10\nnr_throttled 5\nthrottled_time 7500");
    tree.write(cpu + "job/step/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_time 3100");
    throttling.end();
    checks.that(throttling.most() == std::pair<std::string, std::int64_t>{"/job", 500}, "the most throttled group");
    throttling.begin();
    throttling.end();
    checks.that(throttling.most().second == 500, "what happens between bursts does not count");
}

void version_2(octant::Checks& checks) {
    Tree const tree;
    std::string const top = "sys/fs/cgroup/";
    tree.write("proc/self/cgroup", "0::/a/b/c");
    tree.write(top + "cgroup.controllers", "cpuset cpu memory");
    tree.write(top + "cpuset.cpus.effective", "0-7");
    tree.write(top + "a/cpu.max", "50000 100000");
    tree.write(top + "a/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 20");
    tree.write(top + "a/b/cpu.max", "max 100000");
    tree.write(top + "a/b/c/cpu.max", "200000 100000");
    tree.write(top + "a/b/c/cpu.weight", "100");
    auto const found = octant::cpu_groups(tree.root());
    checks.that(found.own == "/a/b/c" && found.weight == 100 && !found.shares, "the process's own group");
    checks.that(found.cpuset == "0-7", "the CPUs of the nearest group that says");
    checks.that(found.quotas.size() == 2 && found.smallest()->group == "/a", "the smallest quota is two levels up");
    checks.that(octant::throttled_ns(*found.smallest()) == 20'000, "microseconds");
    checks.that(octant::throttled_ns(found.quotas[0]) == 0, "a group that does not tell");
}

void containers(octant::Checks& checks) {
    Tree const tree;
    tree.write("proc/self/cgroup", "2:cpu:/docker/0123\n0::/../..");
    tree.write("sys/fs/cgroup/cpu/cgroup.procs", "");
    tree.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
    tree.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    auto const found = octant::cpu_groups(tree.root());
    checks.that(found.own == "/", "a path outside of the mount: the mount counts");
    checks.that(found.smallest() != nullptr && found.smallest()->cores == 0.5, "and its quota");
    checks.that(octant::cpu_groups(tree.root() + "/bare").quotas.empty(), "no control groups at all");
    checks.that(octant::Throttling({}).most().first.empty(), "no quota, no throttling");
}

void own_clocks(octant::Checks& checks) {
    octant::Watch works(true, true), sleeps(true, true), waits(false, false), alone(false, true);
    for (int burst = 0; burst < 2; ++burst) {
        works.begin();
        octant::spin_until(octant::now_ns() + 20'000'000);
        auto const taken = works.end();
        auto const got = taken.cpu + std::max<std::int64_t>(taken.wait, 0);
        checks.that(taken.cpu <= taken.wall && taken.wait >= -1, "no more CPU time than there is");
        checks.that(taken.wait < 0 || got > taken.wall * 8 / 10, "who works has the CPU or waits for it");
    }
    sleeps.begin();
    usleep(30'000);
    auto const taken = sleeps.end();
    checks.that(taken.cpu < taken.wall / 2, "who sleeps has no CPU time");
    waits.begin();
    std::thread([] { octant::spin_until(octant::now_ns() + 1'000'000); }).join();
    checks.that(waits.end().cpu == -1, "of several threads, the CPU time of one says nothing");
    alone.begin();
    octant::spin_until(octant::now_ns() + 1'000'000);
    checks.that(alone.end().cpu > 0, "of a process of one thread it does");
    checks.that(octant::stolen_ns({}) == -1, "an empty list of CPUs has no stolen time");
}

}  // namespace

int main() {
    octant::Checks checks;
    version_1(checks);
    version_2(checks);
    containers(checks);
    own_clocks(checks);
    return checks.result();
}
