#include "octant/clock.hpp"

#include "octant/sampling.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace octant {

ClockQuality measure_clock() {
    constexpr int trials = 2000;
    std::vector<std::int64_t> costs, steps;
    for (int i = 0; i < trials; ++i) {
        constexpr int readings = 10;
        std::int64_t const begin = now_ns();
        for (int k = 0; k < readings - 1; ++k) static_cast<void>(now_ns());
        costs.push_back(now_ns() - begin);
        std::int64_t const first = now_ns();
        std::int64_t second = now_ns();
        while (second == first) second = now_ns();
        steps.push_back(second - first);
    }
    std::ranges::nth_element(costs, costs.begin() + trials / 2);
    return {static_cast<double>(costs[trials / 2]) / 10.0, static_cast<double>(*std::ranges::min_element(steps))};
}

double core_frequency_hz(int blocks) {
    constexpr int links = 20'000;
    std::vector<double> pieces_hz;
    for (int block = 0; block < blocks; ++block) {
        std::uint64_t x = 1, step = 3;
        asm volatile("" : "+r"(step));  // a register: recent cores add constants while renaming, at no cycle at all
        std::int64_t const begin = now_ns();
        for (int i = 0; i < links / 8; ++i) {
            // The empty assembly makes each addition wait for the one before it and keeps the compiler from merging
            // them.
            for (int k = 0; k < 8; ++k) {
                x += step;
                asm volatile("" : "+r"(x));
            }
        }
        double const elapsed_s = static_cast<double>(now_ns() - begin) * 1e-9;
        pieces_hz.push_back(links / elapsed_s);
    }
    return median_interval(pieces_hz).middle;
}

}  // namespace octant
