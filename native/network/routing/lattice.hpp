// Nodes or routers on a lattice, first dimension fastest, and what dimension-ordered routing sends along its lines.
#pragma once

#include "engine/network.hpp"

namespace octant::network {

struct Lattice {
    std::vector<int> sizes;

    [[nodiscard]] std::size_t total() const {
        std::size_t product = 1;
        for (int const size : sizes) product *= at(size);
        return product;
    }
    [[nodiscard]] std::size_t stride(int d) const {
        std::size_t product = 1;
        for (int i = 0; i < d; ++i) product *= at(sizes[at(i)]);
        return product;
    }
    // Calls line(first point) for every line along dimension d.
    template <class Line>
    void each_line(int d, Line&& line) const {
        std::size_t const step = stride(d), size = at(sizes[at(d)]);
        for (std::size_t block = 0; block < total(); block += step * size) {
            for (std::size_t first = block; first < block + step; ++first) line(first);
        }
    }
    // Every value replaced by the sum of its line along dimension d.
    void sum_lines(int d, std::vector<double>& values) const {
        std::size_t const step = stride(d), size = at(sizes[at(d)]);
        each_line(d, [&](std::size_t first) {
            double sum = 0;
            for (std::size_t i = 0; i < size; ++i) sum += values[first + i * step];
            for (std::size_t i = 0; i < size; ++i) values[first + i * step] = sum;
        });
    }
};

// Traffic from every point to every other, from[s] × to[t] units, dimension by dimension in `order`: calls
// line(d, first point, a, b) for every line along d, on which position x sends a[x] × b[y] units to position y. Traffic
// that turns into a line has its later coordinates from its source and the earlier ones from its target.
template <class Line>
void by_dimensions(Lattice const& net, std::vector<int> const& order, std::vector<double> from,
                   std::vector<double> const& to, Line&& line) {
    std::vector<std::vector<double>> ahead{to};  // targets by the dimensions up to the present one, last stage first
    for (std::size_t stage = order.size(); stage-- > 1;) {
        ahead.push_back(ahead.back());
        net.sum_lines(order[stage], ahead.back());
    }
    std::vector<double> a, b;
    for (int const d : order) {
        std::size_t const step = net.stride(d), size = at(net.sizes[at(d)]);
        a.resize(size);
        b.resize(size);
        net.each_line(d, [&](std::size_t first) {
            for (std::size_t i = 0; i < size; ++i) {
                a[i] = from[first + i * step];
                b[i] = ahead.back()[first + i * step];
            }
            line(d, first, a, b);
        });
        net.sum_lines(d, from);
        ahead.pop_back();
    }
}

}  // namespace octant::network
