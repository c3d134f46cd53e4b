// Drawn hardware threads: all of them come first at times, and the first n always lie alike.
#include "octant/seats.hpp"

#include "check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace {

using octant::HardwareThread;
using octant::seat_order;

constexpr std::uint64_t seeds = 200;

// Two packages of two domains of two cores of two hardware threads, siblings eight apart, as Linux numbers them.
std::vector<HardwareThread> node() {
    std::vector<HardwareThread> found;
    for (int cpu = 0; cpu < 16; ++cpu) found.push_back({cpu, -1, cpu % 8 / 4, cpu % 8 / 2, -1, cpu % 8});
    return found;
}

// How many of the first n lie in each package, domain and core, without their names.
using Pattern = std::array<std::multiset<int>, 3>;
Pattern pattern(std::vector<HardwareThread> const& threads, std::vector<std::int64_t> const& order, std::size_t n) {
    std::array<std::map<int, int>, 3> counts;
    for (std::size_t i = 0; i < n; ++i) {
        auto const& one = *std::ranges::find(threads, order[i], &HardwareThread::cpu);
        ++counts[0][one.package], ++counts[1][one.domain], ++counts[2][one.core];
    }
    Pattern found;
    for (std::size_t level = 0; level < 3; ++level)
        for (auto const& [name, count] : counts[level]) found[level].insert(count);
    return found;
}

void draws(octant::Checks& checks) {
    auto const threads = node();
    std::set<std::int64_t> first;
    bool alike = true, all = true;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        auto const order = seat_order(threads, seed);
        first.insert(order[0]);
        all = all && std::set(order.begin(), order.end()).size() == 16;
        for (std::size_t n = 1; n <= 16; ++n)
            alike = alike && pattern(threads, order, n) == pattern(threads, seat_order(threads, 0), n);
    }
    checks.that(all, "every hardware thread once");
    checks.that(first.size() == 16, "each of them is the first at times");
    checks.that(alike, "the first n always lie alike");
    auto const order = seat_order(threads, 7);
    checks.that(pattern(threads, order, 8)[2] == std::multiset{1, 1, 1, 1, 1, 1, 1, 1}, "eight cores before a sibling");
    checks.that(pattern(threads, order, 4)[0] == std::multiset{4}, "a package before the next");
    checks.that(pattern(threads, order, 2)[1] == std::multiset{2}, "a domain before the next");
    checks.that(seat_order(threads, 7) == order, "the same seed, the same order");
    auto reversed = threads;
    std::ranges::reverse(reversed);
    checks.that(seat_order(reversed, 7) == order, "whatever order they come in");
}

void unequal_parts(octant::Checks& checks) {
    auto threads = node();
    std::erase_if(threads, [](auto const& one) { return one.package == 0 && one.domain == 0; });
    auto efficient = node();
    for (auto& one : efficient) one.kind = one.package == 0 ? 1024 : 512;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto const order = seat_order(threads, seed);
        checks.that(pattern(threads, order, 4)[0] == std::multiset{4}, "four in the package that has four cores");
        checks.that(seat_order(efficient, seed)[3] % 8 < 4, "the kind of the first hardware thread comes first");
        checks.that(seat_order(efficient, seed)[4] % 8 >= 4, "a core of another kind before a sibling");
    }
}

// One domain of four caches of four cores each: eight that share two caches are no eight that share four.
void caches(octant::Checks& checks) {
    std::vector<HardwareThread> threads;
    for (int cpu = 0; cpu < 16; ++cpu) threads.push_back({cpu, -1, 0, 0, cpu / 4 * 4, cpu});
    std::set<std::int64_t> first;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        auto const order = seat_order(threads, seed);
        first.insert(order[0]);
        std::set<std::int64_t> four, eight;
        for (std::size_t i = 0; i < 8; ++i) (i < 4 ? four : eight).insert(order[i] / 4);
        checks.that(four.size() == 1 && eight.size() == 1 && four != eight, "a cache before the next");
    }
    checks.that(first.size() == 16, "each of them is the first at times");
}

void of_this_machine(octant::Checks& checks) {
    std::vector<std::int64_t> const cpus{0};
    auto const found = octant::hardware_threads(cpus);
    checks.that(found.size() == 1 && found[0].cpu == 0 && found[0].core == 0, "the first one lies on its own core");
}

}  // namespace

int main() {
    octant::Checks checks;
    draws(checks);
    unequal_parts(checks);
    caches(checks);
    of_this_machine(checks);
    return checks.result();
}
