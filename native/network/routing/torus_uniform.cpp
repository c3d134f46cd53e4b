#include "routing/torus_uniform.hpp"

#include <algorithm>
#include <cmath>

#include "routing/lattice.hpp"

namespace octant::network {

namespace {

Lattice lattice(Torus const& net) {
    Lattice shape;
    for (int d = 0; d < net.dimensions(); ++d) shape.sizes.push_back(net.size(d));
    return shape;
}

// Traffic along one line, position x sends a[x] × b[y] to position y: what crosses each step forwards.
class Line {
  public:
    // On a ring, to targets 1 … reach steps ahead.
    void ring(std::vector<double> const& a, std::vector<double> const& b, int reach, double units,
              std::vector<double>& crossing) {
        std::size_t const n = a.size(), far = at(reach);
        ahead_.assign(2 * n + 1, 0.0);  // sums of b from position 0 on, round and round
        for (std::size_t i = 0; i < 2 * n; ++i) ahead_[i + 1] = ahead_[i] + b[i % n];
        sent_.assign(2 * n + 1, 0.0);   // sums of a
        meant_.assign(2 * n + 1, 0.0);  // sums of a × what lies before the end of its reach
        for (std::size_t i = 0; i < 2 * n; ++i) {
            std::size_t const end = i % n + far + 1;
            double const round = i < n ? 0.0 : ahead_[n];
            sent_[i + 1] = sent_[i] + a[i % n];
            meant_[i + 1] = meant_[i] + a[i % n] * (ahead_[end] + round);
        }
        for (std::size_t i = n; i < 2 * n; ++i) {  // senders i - reach + 1 … i, targets beyond i
            double const beyond = ahead_[i - n + 1] + ahead_[n];
            double const reached = meant_[i + 1] - meant_[i + 1 - far];
            crossing[i - n] += units * (reached - (sent_[i + 1] - sent_[i + 1 - far]) * beyond);
        }
    }
    static void mesh(std::vector<double> const& a, std::vector<double> const& b, double units,
                     std::vector<double>& crossing) {
        double before = 0, after = 0;
        for (double const weight : b) after += weight;
        for (std::size_t i = 0; i + 1 < a.size(); ++i) {
            before += a[i];
            after -= b[i];
            crossing[i] += units * before * after;
        }
    }

  private:
    std::vector<double> ahead_, sent_, meant_;
};

// Part of the traffic of a tie (half way round) that goes that way.
double of_ties(bool backwards, bool split) { return split ? 0.5 : backwards ? 0.0 : 1.0; }

}  // namespace

void add_dimension_ordered(Torus const& net, std::vector<int> const& order, bool split_ties,
                           std::vector<double> const& from, std::vector<double> const& to, double units,
                           std::span<double> loads) {
    Line sums;
    std::vector<double> crossing;
    auto const line = [&](int d, std::size_t first, std::vector<double>& a, std::vector<double>& b) {
        int const size = net.size(d);
        for (bool const backwards : {false, true}) {
            crossing.assign(a.size(), 0.0);
            if (!net.wraps(d)) {
                Line::mesh(a, b, units, crossing);
            } else {
                double const tied = size % 2 == 0 ? of_ties(backwards, split_ties) : 1.0;
                sums.ring(a, b, size / 2, units * tied, crossing);
                if (tied < 1) sums.ring(a, b, size / 2 - 1, units * (1 - tied), crossing);
            }
            for (int i = 0; i < size; ++i) {
                int const x = backwards ? size - 1 - i : i;
                Node const node = static_cast<Node>(first) + x * net.stride(d);
                if (crossing[at(i)] > 0) loads[at(net.link(node, d, backwards))] += crossing[at(i)];
            }
            std::ranges::reverse(a);
            std::ranges::reverse(b);
        }
    };
    by_dimensions(lattice(net), order, from, to, line);
}

namespace {

// Random-minimal routing by products. Fix the dimensions P that a pair differs in and a hop of the pair's route: r are
// the hops left after the walker arrived at the hop's start, m those it has made. A dimension of Z (a subset of P) has
// none left, so it is no longer chosen; in the others at least one is left, so that the chance u of the way made
// depends on m and Z alone, not on r. On a mesh the number of pairs is the number of values of m (the senders behind)
// times that of r (the targets ahead), and both are known from the place of the hop; on a ring they are counted without
// it.
class AnyOrder {
  public:
    AnyOrder(Torus const& net, bool split_ties, std::span<double> loads)
        : net_(net), split_(split_ties), loads_(loads), dimensions_(net.dimensions()) {}

    void add() {
        unsigned const all = 1U << dimensions_;
        for (moving_ = 1; moving_ < all; ++moving_) {
            for (arrived_ = 0; arrived_ < all; ++arrived_) {
                if ((arrived_ & ~moving_) == 0 && arrived_ != moving_) spread();
            }
        }
    }

  private:
    static bool has(unsigned set, int d) { return (set >> d) % 2 == 1; }

    // Most hops made in a dimension, plus one.
    [[nodiscard]] int extent(int d) const {
        if (!has(moving_, d)) return 1;
        return net_.wraps(d) ? net_.size(d) / 2 + 1 : net_.size(d);
    }

    void spread() {
        made_.sizes.clear();
        for (int d = 0; d < dimensions_; ++d) made_.sizes.push_back(extent(d));
        measure_chances();
        for (unsigned backwards = 0; backwards <= moving_; ++backwards) {
            if ((backwards & ~moving_) == 0) send(backwards);
        }
    }

    // chance_[m]: of having made exactly the hops m, by going through m from few to many.
    void measure_chances() {
        chance_.assign(made_.total(), 0.0);
        chance_[0] = 1;
        for (std::size_t state = 1; state < chance_.size(); ++state) {
            int productive = 0;
            double sum = 0;
            for (int d = 0; d < dimensions_; ++d) {
                if (!has(moving_, d)) continue;
                std::size_t const step = made_.stride(d);
                bool const behind = state / step % at(made_.sizes[at(d)]) > 0;  // hops to make in that dimension
                productive += behind || !has(arrived_, d) ? 1 : 0;
                if (behind) sum += chance_[state - step];
            }
            chance_[state] = sum / productive;
        }
    }

    // Pairs on a ring for `made` hops made, by how many are left; ties count in part.
    [[nodiscard]] double on_ring(int d, int made, bool backwards) const {
        int const half = net_.size(d) / 2;
        double const tied = net_.size(d) % 2 == 0 ? of_ties(backwards, split_) : 1.0;
        auto const weight = [&](int hops) { return hops < half ? 1.0 : hops == half ? tied : 0.0; };
        if (has(arrived_, d)) return made > 0 ? weight(made) : 0;
        double sum = 0;
        for (int left = 1; left + made <= half; ++left) sum += weight(left + made);
        return sum;
    }

    // Sums chances over the senders behind every place: on a mesh as many as there are, on a ring all.
    void send(unsigned backwards) {
        behind_ = chance_;
        double ways = 0;
        for (int d = 0; d < dimensions_; ++d) {
            if (!has(moving_, d)) continue;
            ways += has(arrived_, d) ? 0 : 1;
            std::size_t const step = made_.stride(d), size = at(made_.sizes[at(d)]);
            made_.each_line(d, [&](std::size_t first) {
                double sum = 0;
                for (std::size_t m = 0; m < size; ++m) {
                    double& value = behind_[first + m * step];
                    if (net_.wraps(d)) {
                        sum += value * on_ring(d, static_cast<int>(m), has(backwards, d));
                    } else if (m > 0 || !has(arrived_, d)) {
                        sum += value;
                    }
                    value = sum;
                }
            });
        }
        for (Node node = 0; node < net_.nodes(); ++node) put(node, backwards, ways);
    }

    void put(Node node, unsigned backwards, double ways) {
        std::size_t place = 0;
        double ahead = 1;
        for (int d = 0; d < dimensions_; ++d) {
            if (!has(moving_, d)) continue;
            int const x = net_.coordinate(node, d);
            int const so_far = has(backwards, d) ? net_.size(d) - 1 - x : x;
            int const last = net_.wraps(d) ? extent(d) - 1 : so_far;
            place += at(last) * made_.stride(d);
            if (!net_.wraps(d) && !has(arrived_, d)) ahead *= net_.size(d) - 1 - so_far;
        }
        double const load = ahead * behind_[place] / ways / net_.nodes();
        if (load <= 0) return;
        for (int d = 0; d < dimensions_; ++d) {
            if (has(moving_, d) && !has(arrived_, d)) loads_[at(net_.link(node, d, has(backwards, d)))] += load;
        }
    }

    Torus const& net_;
    bool split_;
    std::span<double> loads_;
    int dimensions_;
    unsigned moving_ = 0, arrived_ = 0;
    Lattice made_;
    std::vector<double> chance_, behind_;
};

}  // namespace

bool add_random_minimal(Torus const& net, bool split_ties, std::span<double> loads) {
    double const subsets = std::pow(5.0, net.dimensions());  // of moving dimensions, their directions, the arrived ones
    if (subsets * net.nodes() > 1e9) return false;
    AnyOrder(net, split_ties, loads).add();
    return true;
}

}  // namespace octant::network
