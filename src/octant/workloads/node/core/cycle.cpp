#include "cycle.hpp"

#include "kernels/random.hpp"

#include <bit>

namespace core {
namespace {

constexpr std::uint64_t mixer = 0x9E3779B97F4A7C15, unmixer = 0xF1DE83E19937733D;  // inverses modulo 2^64
static_assert(mixer * unmixer == 1);

}  // namespace

Affine Affine::power(std::uint64_t times) const {
    Affine done, square = *this;
    for (; times != 0; times /= 2, square = square.after(square))
        if (times % 2 == 1) done = square.after(done);
    return done;
}

Cycle::Cycle(octant::Context& context, int chains)
    : lines_(std::bit_floor(static_cast<std::uint64_t>(context.knobs.integer("bytes")) / sizeof(Node))),
      bits_(std::countr_zero(lines_)),
      chains_(chains),
      nodes_(context.buffer<Node>(lines_)) {
    octant::Random random(static_cast<std::uint64_t>(context.knobs.integer("seed")));
    f_ = {random.next() / 8 * 8 + 5, random.next() | 1};  // full period: Hull and Dobell
    for (std::uint64_t line = 0; line < lines_; ++line) nodes_[line].next = nodes_.data() + mixed(f_(unmixed(line)));
    for (int chain = 0; chain < chains; ++chain) {
        auto const number = static_cast<std::size_t>(chain);
        at[number] = nodes_.data() + mixed(f_.power(number * (lines_ / static_cast<std::uint64_t>(chains)))(0));
    }
    context.watched = {nodes_.mapping().bytes()};
    context.note_rounded(context.knobs.integer("bytes"), static_cast<std::int64_t>(lines_ * sizeof(Node)));
}

void Cycle::count(int chains, std::int64_t loads) {
    for (int chain = 0; chain < chains; ++chain)
        loads_[static_cast<std::size_t>(chain)] += static_cast<std::uint64_t>(loads);
}

double Cycle::wrong() const {
    double errors = 0;
    std::vector<bool> seen(lines_, false);
    std::uint64_t x = 0;
    for (std::uint64_t place = 0; place < lines_; ++place) {
        std::uint64_t const line = mixed(x);
        x = f_(x);
        if (seen[line] || nodes_[line].next != nodes_.data() + mixed(x)) ++errors;
        seen[line] = true;
    }
    for (int chain = 0; chain < chains_; ++chain) {
        auto const number = static_cast<std::size_t>(chain);
        std::uint64_t const place = number * (lines_ / static_cast<std::uint64_t>(chains_)) + loads_[number];
        if (at[number] != nodes_.data() + mixed(f_.power(place)(0))) ++errors;
    }
    return errors;
}

// Halves of the bits change each other, so that lines that follow one another share no stride.
std::uint64_t Cycle::mixed(std::uint64_t x) const {
    std::uint64_t const mask = lines_ - 1;
    int const half = (bits_ + 1) / 2;
    x &= mask;
    x ^= x >> half;
    x = x * mixer & mask;
    return x ^ x >> half;
}

std::uint64_t Cycle::unmixed(std::uint64_t x) const {
    std::uint64_t const mask = lines_ - 1;
    int const half = (bits_ + 1) / 2;
    x ^= x >> half;
    x = x * unmixer & mask;
    return x ^ x >> half;
}

}  // namespace core
