#include "prepare.hpp"

#include "local_rank.hpp"
#include "octant/exit.hpp"
#include "octant/system_file.hpp"

#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace octant::bind {
namespace {

constexpr int cannot_run = static_cast<int>(Exit::cannot_run), not_supported = static_cast<int>(Exit::not_supported);
constexpr std::size_t max_bits = std::size_t{1} << 16;
constexpr unsigned long node_bits = 1025;  // the kernel reads one bit less than this number
constexpr std::size_t word_bits = 8 * sizeof(unsigned long);
using Mask = std::vector<unsigned long>;

Mask mask_of(Numbers const& numbers) {
    Mask mask(max_bits / word_bits, 0);
    for (int number : numbers)
        mask[static_cast<std::size_t>(number) / word_bits] |= 1UL << (static_cast<std::size_t>(number) % word_bits);
    return mask;
}

Numbers numbers_of(Mask const& mask) {
    Numbers numbers;
    for (std::size_t i = 0; i < mask.size(); ++i)
        for (unsigned long rest = mask[i]; rest != 0; rest &= rest - 1)
            numbers.push_back(static_cast<int>(i * word_bits) + std::countr_zero(rest));
    return numbers;
}

void unset_conflicting() {
    for (char const* name : {"KMP_AFFINITY", "KMP_HW_SUBSET", "KMP_PLACE_THREADS", "KMP_TOPOLOGY_METHOD",
                             "GOMP_CPU_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND", "OMP_THREAD_LIMIT", "XLSMPOPTS"})
        unsetenv(name);
}

void refuse_without_thp(std::string const& what) {
    std::string const path = "/sys/kernel/mm/transparent_hugepage/enabled", modes = file_text(path);
    if (modes.empty() || modes.find("[never]") != std::string::npos)
        throw Refusal("cannot put " + what +
                          " on transparent huge pages (they are switched off); try, as root: echo madvise > " + path,
                      not_supported);
}

void set(char const* name, std::string const& value) { setenv(name, value.c_str(), 1); }

}  // namespace

void refuse_raised_rights() {
    if (getauxval(AT_SECURE) != 0)
        throw Refusal(
            "cannot run with privileges (this file is set-user-ID, set-group-ID or has capabilities); remove them: "
            "chmod ug-s, setcap -r",
            not_supported);
}

// `parent` comes from the launcher: if the parent has already ended, getppid() returns the process that adopted this
// one.
void die_with(std::size_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (static_cast<std::size_t>(getppid()) != parent)
        throw Refusal("cannot continue (the parent process has ended)", cannot_run);
}

void bind_cpus(Numbers const& cpus, bool widen) {
    if (cpus.empty()) return;
    Numbers const before = allowed_cpus();
    std::string const want = "cannot bind to hardware threads " + text_of(cpus);
    if (!widen && !std::ranges::includes(before, cpus))
        throw Refusal(want + " (allowed: " + text_of(before) +
                          "; a cpuset, taskset or the launcher's own binding set that); "
                          "place within these, switch the launcher's binding off, or give --widen",
                      not_supported);
    Mask const mask = mask_of(cpus);
    bool const done = syscall(SYS_sched_setaffinity, 0, mask.size() * sizeof(unsigned long), mask.data()) == 0;
    int const reason = errno;
    // The kernel accepts a mask of which the cpuset allows only a part, without an error: the mask must be read back.
    Numbers const given = allowed_cpus();
    if (done && given == cpus) return;
    std::string const why =
        done ? "given: " + text_of(given) : std::string(std::strerror(reason)) + "; allowed: " + text_of(given);
    throw Refusal(want + " (" + why + "); place within what this job's cpuset allows", not_supported);
}

void bind_memory(Memory const& memory) {
    if (memory.mode < 0) return;
    std::string const want = "cannot set the memory policy '" + memory.name + "' (";
    Mask const mask = mask_of(memory.nodes);
    bool const masked = !memory.nodes.empty();
    if (syscall(SYS_set_mempolicy, memory.mode, masked ? mask.data() : nullptr, masked ? node_bits : 0UL) != 0)
        throw Refusal(want + std::strerror(errno) + "); try a memory node that this job may use, or mem=local",
                      not_supported);
    int mode = -1;
    Mask given(max_bits / word_bits, 0);
    if (syscall(SYS_get_mempolicy, &mode, given.data(), node_bits, nullptr, 0UL) != 0)
        throw Refusal(want + std::strerror(errno) + " on reading it back); try mem=default", not_supported);
    // Kernels before 5.14 report the policy local as preferred without a node.
    bool const old_local = memory.mode == mode_local && mode == mode_preferred && numbers_of(given).empty();
    if ((mode != memory.mode && !old_local) || (masked && numbers_of(given) != memory.nodes))
        throw Refusal(
            want + "nodes given: " + text_of(numbers_of(given)) + "); place within what this job's cpuset allows",
            not_supported);
}

void set_openmp(RankPlan const& rank) {
    if (rank.threads.empty()) return;
    unset_conflicting();
    set("OMP_NUM_THREADS", std::to_string(rank.threads.size()));
    set("OMP_DYNAMIC", "false");
    if (std::ranges::all_of(rank.threads, [&](Numbers const& set) { return set == rank.cpus; })) {
        set("OMP_PROC_BIND", "false");  // threads move within their rank's own mask
        return;
    }
    std::string places;
    for (auto const& thread : rank.threads) {
        places += places.empty() ? "{" : ",{";
        for (std::size_t i = 0; i < thread.size(); ++i) places += (i == 0 ? "" : ",") + std::to_string(thread[i]);
        places += "}";
    }
    set("OMP_PLACES", places);
    set("OMP_PROC_BIND", "close");
}

void set_heap(std::string const& heap) {
    if (heap.empty()) return;
    std::string const pages = "/sys/kernel/mm/";
    bool const pooled = heap != "thp";
    if (pooled) {
        std::string const pool =
            pages + "hugepages/hugepages-" + std::to_string(whole_number(heap).value_or(0) / 1024) + "kB/";
        std::string const free = file_text(pool + "free_hugepages");
        std::string const want = "cannot put the heap on pages of " + heap + " bytes (";
        if (free.empty())
            throw Refusal(want + "no such pool); try a size listed in " + pages + "hugepages", not_supported);
        if (free == "0\n")  // glibc would silently use small pages
            throw Refusal(want + "0 free); try --heap thp, or as root: echo 512 > " + pool + "nr_hugepages",
                          not_supported);
    } else {
        refuse_without_thp("the heap");
    }
    char const* const before = getenv("GLIBC_TUNABLES");
    std::string tunables = before == nullptr ? "" : before;
    if (!tunables.empty()) tunables += ':';
    // glibc 2.35 and later; the last of several values counts. 1: madvise for transparent pages; else a pool's page
    // size.
    set("GLIBC_TUNABLES", tunables + "glibc.malloc.hugetlb=" + (pooled ? heap : "1"));
}

void set_segments(Plan const& plan) {
    if (plan.segments.empty()) return;
    refuse_without_thp("the " + plan.segments);
    if (access(plan.preload.c_str(), R_OK) != 0)
        throw Refusal(
            "cannot load " + plan.preload + " into the program (" + std::strerror(errno) + "); try `make setup`",
            not_supported);
    char const* const before = getenv("LD_PRELOAD");
    set("LD_PRELOAD", plan.preload + (before == nullptr || *before == '\0' ? "" : ":" + std::string(before)));
    set("OCTANT_PAGES", plan.segments);
}

void disable_thp() {
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0 || prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 1)
        throw Refusal(
            std::string("cannot switch transparent huge pages off (") + std::strerror(errno) + "); drop --no-thp",
            not_supported);
}

// The system call itself, with room for any kernel's mask: glibc's cpu_set_t ends at 1024 hardware threads.
Numbers allowed_cpus(int thread) {
    Mask mask(max_bits / word_bits, 0);
    syscall(SYS_sched_getaffinity, thread, mask.size() * sizeof(unsigned long), mask.data());
    return numbers_of(mask);
}

std::string memory_policy() {
    int mode = -1;
    Mask mask(max_bits / word_bits, 0);
    if (syscall(SYS_get_mempolicy, &mode, mask.data(), node_bits, nullptr, 0UL) != 0) return "";
    static constexpr std::array names{"default",        "preferred",          "bind", "interleave", "local",
                                      "preferred-many", "weighted-interleave"};  // set_mempolicy(2)
    constexpr int flags = 7 << 13;                                               // MPOL_F_STATIC_NODES and others
    auto const number = static_cast<std::size_t>(mode & ~flags);
    Numbers const nodes = numbers_of(mask);
    // Kernels before 5.14 report the policy local as preferred without a node.
    if (number == mode_preferred && nodes.empty()) return "local";
    std::string const name = number < names.size() ? names[number] : "mode " + std::to_string(number);
    return nodes.empty() ? name : name + ":" + text_of(nodes);
}

}  // namespace octant::bind
