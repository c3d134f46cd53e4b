// The shared numerics: sequences against their definitions.
#include "kernels/block_cyclic.hpp"
#include "kernels/hpcc_random.hpp"
#include "kernels/hpl_random.hpp"
#include "kernels/random.hpp"

#include "check.hpp"

#include <cmath>
#include <vector>

namespace {

void hpl_sequence(octant::Checks& checks) {
    std::uint64_t x = 100;
    for (std::uint64_t n = 0; n < 1000; ++n, x = octant::hpl::multiplier * x + octant::hpl::increment) {
        checks.that(octant::hpl::jump(n)(100) == x, "a jump lands where single steps lead");
        checks.that(octant::hpl::entry(x) > -0.5 && octant::hpl::entry(x) <= 0.5, "in (-0.5, 0.5]");
    }
    constexpr std::uint64_t far = (std::uint64_t{1} << 40U) + 12345;
    checks.that(octant::hpl::jump(17)(octant::hpl::jump(far)(1)) == octant::hpl::jump(far + 17)(1), "jumps add up");
}

void block_cyclic(octant::Checks& checks) {
    for (std::int64_t const n : {1, 7, 24, 25, 100})
        for (int const processes : {1, 2, 3, 5}) {
            octant::BlockCyclic const rows{n, 4, processes};
            std::vector<std::int64_t> seen(static_cast<std::size_t>(processes), 0);
            for (std::int64_t global = 0; global < n; ++global) {
                int const owner = rows.owner(global);
                auto& count = seen[static_cast<std::size_t>(owner)];
                checks.that(rows.count_below(global, owner) == count, "so many of its own are before it");
                checks.that(rows.local(global) == count, "and they lie in order");
                checks.that(rows.global(count, owner) == global, "there and back");
                ++count;
            }
            for (int process = 0; process < processes; ++process)
                checks.that(rows.count(process) == seen[static_cast<std::size_t>(process)], "all of its own");
        }
}

}  // namespace

int main() {
    octant::Checks checks;
    hpl_sequence(checks);
    block_cyclic(checks);
    octant::Random random(1234567);  // the first numbers of the reference implementation from this seed
    checks.that(random.next() == 6457827717110365317U && random.next() == 3203168211198807973U, "SplitMix64");
    double sum = 0, squares = 0;
    constexpr int count = 100'000;
    for (std::uint64_t i = 0; i < count; ++i) {
        double const value = octant::random_at(i, 1);
        checks.that(value >= -1 && value < 1, "in [-1, 1)");
        sum += value;
        squares += value * value;
    }
    checks.near(sum / count, 0, 5 * std::sqrt(1.0 / 3 / count));  // five deviations of the mean
    checks.near(squares / count, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / count));
    checks.that(octant::random_at(5, 1) != octant::random_at(5, 2), "streams differ");
    for (int i = 0; i < 1000; ++i) checks.that(random.below(7) < 7, "below the bound");
    std::uint64_t a = 1;
    for (std::uint64_t n = 0; n < 1000; ++n, a = octant::hpcc::next(a))
        checks.that(octant::hpcc::jump(n) == a, "a jump lands where single steps lead");
    constexpr std::uint64_t far = (std::uint64_t{1} << 40U) + 12345;
    checks.that(octant::hpcc::multiply(octant::hpcc::jump(far), octant::hpcc::jump(17)) == octant::hpcc::jump(far + 17),
                "exponents add up");
    return checks.result();
}
