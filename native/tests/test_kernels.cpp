// The shared numerics: sequences against their definitions.
#include "kernels/block_cyclic.hpp"
#include "kernels/fft/plan.hpp"
#include "kernels/fft/reference.hpp"
#include "kernels/hpcc_random.hpp"
#include "kernels/hpl_random.hpp"
#include "kernels/random.hpp"
#include "kernels/random_updates.hpp"

#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
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

// Against the oracle, whose sums are in long double: of all lengths, in vectors of each width, and in shares.
void fourier(octant::Checks& checks) {
    using octant::fft::Number;
    for (std::int64_t const n : {1, 2, 8, 30, 81, 100, 125, 512, 1728, 4096})
        for (auto const& width : octant::fft::widths<double>()) {
            auto const count = static_cast<std::size_t>(n);
            std::vector<Number> x(count), work(count), y(count);
            for (std::size_t j = 0; j < count; ++j) x[j] = octant::fft::centred_input(j, 1);
            octant::fft::Plan const plan(n, width);
            std::vector<double> space(plan.scratch_numbers() + 8);
            void* at = space.data();
            std::size_t left = space.size() * sizeof(double);
            auto* const scratch =
                static_cast<double*>(std::align(64, plan.scratch_numbers() * sizeof(double), at, left));
            plan.forward(reinterpret_cast<double const*>(x.data()), reinterpret_cast<double*>(work.data()),
                         reinterpret_cast<double*>(y.data()), true, scratch);
            auto const expected = octant::fft::plain_transform(x);
            double worst = 0;
            for (std::size_t k = 0; k < count; ++k) worst = std::max(worst, std::abs(y[k] - expected[k]));
            checks.that(worst <= 40 * octant::fft::unit * std::sqrt(static_cast<double>(n)), "as the oracle has it");
        }
    checks.that(octant::fft::Plan::rows_of(64, 7) == 8, "a number of shares that divides no side changes nothing");
    auto const side = [](std::int64_t n, std::int64_t shares) {
        octant::fft::Plan const plan(n, octant::fft::widths<double>()[0], shares);
        return plan.rows() % shares == 0 && plan.columns() % shares == 0 && plan.n() == n;
    };
    checks.that(side(9 * 32, 3) && side(36 * 5, 6) && side(64 * 1024, 8), "both sides are divided by the shares");
    checks.that(octant::fft::smooth_at_most(700) == 675 && octant::fft::smooth_at_most(1) == 1, "2^a 3^b 5^c below");
}

template <class Sequence>
void random_updates(octant::Checks& checks) {
    std::uint64_t a = 1;
    for (std::uint64_t n = 0; n < 1000; ++n, a = Sequence::next(a))
        checks.that(Sequence::jump(n) == a, "a jump lands where single steps lead");
    for (std::uint64_t const count : {0U, 1U, 127U, 128U, 1000U, 1024U}) {
        constexpr std::uint64_t first = 12345;
        octant::hpcc::LengthSegment<Sequence> stretch(first, count);
        std::vector<std::uint64_t> numbers(2048), plain;
        std::size_t filled = 0;
        while (std::size_t const more = stretch.fill(numbers.data() + filled, 256)) filled += more;
        numbers.resize(filled);
        std::uint64_t b = Sequence::jump(first);
        for (std::uint64_t n = 0; n < count; ++n) plain.push_back(b = Sequence::next(b));
        std::ranges::sort(numbers);
        std::ranges::sort(plain);
        checks.that(numbers == plain, "the numbers of a stretch, each once");
        checks.that(stretch.at().back() == Sequence::jump(first + count), "and its parts end where they should");
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
    random_updates<octant::hpcc::Polynomial>(checks);
    random_updates<octant::hpcc::Congruential>(checks);
    constexpr std::uint64_t far = (std::uint64_t{1} << 40U) + 12345;
    checks.that(octant::hpcc::multiply(octant::hpcc::jump(far), octant::hpcc::jump(17)) == octant::hpcc::jump(far + 17),
                "exponents add up");
    fourier(checks);
    return checks.result();
}
