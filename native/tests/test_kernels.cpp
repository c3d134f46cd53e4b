// The shared numerics: sequences against their definitions.
#include "kernels/hpcc_random.hpp"
#include "kernels/random.hpp"

#include "check.hpp"

#include <cmath>

int main() {
    octant::Checks checks;
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
