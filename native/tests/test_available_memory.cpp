// What may be claimed, from recorded trees of both versions of control groups, of memory nodes and of huge-page pools;
// and the shares of processes that claim at once.
#include "octant/available_memory.hpp"

#include "check.hpp"
#include "tree.hpp"

#include <string>
#include <vector>

namespace {

using octant::MemoryBound;
using octant::Tree;

constexpr std::int64_t mib = std::int64_t{1} << 20;
using Bounds = std::vector<MemoryBound>;

std::string in_mib(std::int64_t number) { return std::to_string(number * mib); }

// What a process that is alone may take, MiB.
std::int64_t claimable(Bounds const& bounds) {
    auto const share = octant::shares_of({bounds}).at(0);
    return share == INT64_MAX ? share : share / mib;
}

void write_system(Tree const& tree, std::int64_t available_mib) {
    tree.write("proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable: " + std::to_string(available_mib * 1024) + " kB");
}

struct Group {  // MiB
    std::int64_t limit, usage, inactive_file = 0, active_file = 0, dirty = 0, writeback = 0, shmem = 0;
};

void write_first(Tree const& tree, std::string const& path, Group const& group) {
    std::string const folder = "sys/fs/cgroup/memory/" + path;
    tree.write(folder + "cgroup.procs", "");
    tree.write(folder + "memory.limit_in_bytes", group.limit < 0 ? "9223372036854771712" : in_mib(group.limit));
    tree.write(folder + "memory.usage_in_bytes", in_mib(group.usage));
    // Without the groups below it, these files of a group contain less.
    tree.write(folder + "memory.stat", "cache 0\ninactive_file 0\nactive_file 0\ntotal_shmem " + in_mib(group.shmem) +
                                           "\ntotal_inactive_anon " + in_mib(group.shmem) + "\ntotal_inactive_file " +
                                           in_mib(group.inactive_file) + "\ntotal_active_file " +
                                           in_mib(group.active_file) + "\ntotal_dirty " + in_mib(group.dirty) +
                                           "\ntotal_writeback " + in_mib(group.writeback));
}

void version_1(octant::Checks& checks) {
    Tree const tree;
    write_system(tree, 20'000);
    tree.write("proc/self/cgroup", "4:memory:/job/step\n3:cpuset:/\n0::/");
    write_first(tree, "", {-1, 3000});
    write_first(tree, "job/", {800, 500});
    write_first(tree, "job/step/", {-1, 10});
    auto const left = [&] { return claimable(octant::memory_bounds({}, tree.root())); };
    checks.that(left() == 300, "limit - usage, of a group above");
    write_first(tree, "job/", {800, 500, 150, 100});
    checks.that(left() == 550, "and page cache that can be dropped");
    write_first(tree, "job/", {800, 500, 150, 100, 60, 40});
    checks.that(left() == 450, "but not what a disk still has to get");
    write_first(tree, "job/", {.limit = 800, .usage = 500, .shmem = 400});
    checks.that(left() == 300, "files in memory cannot be dropped");
    write_first(tree, "job/", {800, 900, 50});
    checks.that(left() == 0, "a limit that was lowered below the usage");
    write_first(tree, "job/", {800, 100});
    write_first(tree, "job/step/", {300, 10});
    checks.that(left() == 290, "the least of all levels");
    tree.write("sys/fs/cgroup/memory/job/step/memory.memsw.limit_in_bytes", in_mib(300));
    tree.write("sys/fs/cgroup/memory/job/step/memory.memsw.usage_in_bytes", in_mib(250));
    checks.that(left() == 50, "memory and swap together");
    write_system(tree, 20);
    checks.that(left() == 20, "the system has less than the groups");
}

void container_of_version_1(octant::Checks& checks) {
    Tree const tree;
    tree.write("proc/self/cgroup", "4:memory:/docker/0123\n0::/");
    write_first(tree, "", {-1, 100});
    tree.write("sys/fs/cgroup/memory/memory.stat",
               "hierarchical_memory_limit " + in_mib(700) + "\ntotal_inactive_file " + in_mib(30));
    checks.that(claimable(octant::memory_bounds({}, tree.root())) == 630, "the limit of a group that is not seen");
}

void write_second(Tree const& tree, std::string const& path, std::string const& limit, std::string const& high,
                  Group const& group) {
    std::string const folder = "sys/fs/cgroup/" + path;
    tree.write(folder + "memory.max", limit);
    tree.write(folder + "memory.high", high);
    tree.write(folder + "memory.current", in_mib(group.usage));
    tree.write(folder + "memory.stat", "anon 0\nfile 0\nshmem " + in_mib(group.shmem) + "\ninactive_anon " +
                                           in_mib(group.shmem) + "\ninactive_file " + in_mib(group.inactive_file) +
                                           "\nactive_file " + in_mib(group.active_file) + "\nfile_dirty " +
                                           in_mib(group.dirty) + "\nfile_writeback " + in_mib(group.writeback));
}

void version_2(octant::Checks& checks) {
    Tree const tree;
    write_system(tree, 20'000);
    tree.write("proc/self/cgroup", "0::/user/job");
    tree.write("sys/fs/cgroup/cgroup.controllers", "cpu memory");
    write_second(tree, "user/", "max", "max", {0, 5000});
    write_second(tree, "user/job/", "max", "max", {0, 500});
    auto const left = [&] { return claimable(octant::memory_bounds({}, tree.root())); };
    checks.that(left() == 20'000, "no limit");
    write_second(tree, "user/job/", in_mib(800), "max", {0, 500, 100, 50, 20, 10});
    checks.that(left() == 420, "limit - usage + page cache that can be dropped");
    write_second(tree, "user/job/", in_mib(800), in_mib(600), {0, 500});
    checks.that(left() == 100, "above memory.high a group is slowed down");
    write_second(tree, "user/", in_mib(5050), "max", {.limit = 0, .usage = 5000, .shmem = 4000});
    checks.that(left() == 50, "a group above, full of files in memory");
}

void write_node(Tree const& tree, int node, std::int64_t free_mib, std::int64_t file_mib, std::int64_t dirty_mib) {
    auto const line = [&](std::string const& name, std::int64_t number) {
        return "Node " + std::to_string(node) + " " + name + ": " + std::to_string(number * 1024) + " kB\n";
    };
    tree.write("sys/devices/system/node/node" + std::to_string(node) + "/meminfo",
               line("MemTotal", 64'000) + line("MemFree", free_mib) + line("Active(file)", file_mib) +
                   line("Inactive(file)", 0) + line("Dirty", dirty_mib) + line("Writeback", 0));
}

void memory_nodes(octant::Checks& checks) {
    Tree const tree;
    write_system(tree, 40'000);
    tree.write("sys/devices/system/node/has_memory", "0-1");
    tree.write("proc/self/status", "Name:\tkernel\nMems_allowed_list:\t0-1");
    write_node(tree, 0, 1000, 500, 100);
    write_node(tree, 1, 30'000, 0, 0);
    auto const bounds = [&](std::vector<int> const& bound_to) { return octant::memory_bounds(bound_to, tree.root()); };
    checks.that(claimable(bounds({})) == 40'000, "all nodes may be used: the system's number counts");
    checks.that(claimable(bounds({0})) == 1400, "bound to one node");
    checks.that(claimable(bounds({0, 1})) == 40'000, "bound to all of them");
    auto const shares = octant::shares_of({bounds({0}), bounds({}), bounds({1})});
    checks.that(shares[0] / mib == 1400 && shares[1] / mib == 13'333 && shares[2] / mib == 13'333, "each its own");
    tree.write("proc/self/status", "Name:\tkernel\nMems_allowed_list:\t0");
    checks.that(claimable(bounds({})) == 1400, "a cpuset leaves one node");
}

void shares(octant::Checks& checks) {
    auto const process = [](std::vector<std::pair<int, std::int64_t>> const& parts) {
        Bounds bounds;
        for (auto const& [id, bytes] : parts) bounds.push_back({{id, bytes}});
        return bounds;
    };
    using Shares = std::vector<std::int64_t>;
    checks.that(octant::shares_of({process({{0, 900}}), process({{0, 880}}), {}}) == Shares{440, 440, INT64_MAX},
                "equal parts of what was left when the last one looked; an idle rank has none");
    checks.that(octant::shares_of({process({{0, 900}, {5, 100}}), process({{0, 900}, {6, 300}})}) == Shares{100, 300},
                "groups of their own");
    checks.that(
        octant::shares_of({process({{0, 900}, {7, 500}, {5, 400}}), process({{0, 900}, {7, 500}})}) == Shares{250, 250},
        "a group that both are in");
    Bounds const one{{{1, 100}}}, both{{{1, 100}, {2, 300}}};
    checks.that(octant::shares_of({one, both}) == Shares{50, 350}, "nodes that overlap");
}

void pools(octant::Checks& checks) {
    Tree const tree;
    tree.write("proc/self/cgroup", "0::/job");
    tree.write("sys/fs/cgroup/cgroup.controllers", "hugetlb memory");
    constexpr std::int64_t two = 2 * mib;
    auto const left = [&](std::int64_t page) { return claimable(octant::pool_bounds(page, tree.root())); };
    checks.that(left(two) == INT64_MAX, "no limit");
    tree.write("sys/fs/cgroup/job/hugetlb.2MB.max", in_mib(100));
    tree.write("sys/fs/cgroup/job/hugetlb.2MB.current", in_mib(30));
    checks.that(left(two) == 70, "a limit on pages of 2 MiB");
    checks.that(left(1024 * mib) == INT64_MAX, "is none on others");
    tree.write("sys/fs/cgroup/job/hugetlb.2MB.rsvd.max", in_mib(50));
    tree.write("sys/fs/cgroup/job/hugetlb.2MB.rsvd.current", in_mib(40));
    checks.that(left(two) == 10, "a limit on pages that are reserved");
    write_second(tree, "job/", in_mib(800), "max", {0, 795});
    checks.that(left(two) == 10, "pools are no part of memory");
    tree.write("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate,memory_hugetlb_accounting 0 0");
    checks.that(left(two) == 5, "unless the system counts them so");

    Tree const first;
    first.write("proc/self/cgroup", "5:hugetlb:/job\n0::/");
    first.write("sys/fs/cgroup/hugetlb/cgroup.procs", "");
    first.write("sys/fs/cgroup/hugetlb/job/hugetlb.1GB.limit_in_bytes", in_mib(4096));
    first.write("sys/fs/cgroup/hugetlb/job/hugetlb.1GB.usage_in_bytes", in_mib(1024));
    checks.that(claimable(octant::pool_bounds(1024 * mib, first.root())) == 3072, "version 1");
}

}  // namespace

int main() {
    octant::Checks checks;
    version_1(checks);
    container_of_version_1(checks);
    version_2(checks);
    memory_nodes(checks);
    shares(checks);
    pools(checks);
    Tree const bare;
    checks.that(octant::memory_bounds({}, bare.root()).empty(), "nothing is known");
    checks.that(claimable(octant::memory_bounds()) > 0, "and of this system something");
    return checks.result();
}
