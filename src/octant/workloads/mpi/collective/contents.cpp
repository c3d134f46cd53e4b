#include "contents.hpp"

#include "kernels/random.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace collective {
namespace {

constexpr std::uint64_t prime = 1'000'000'007;

struct Matrix {  // 2 × 2, row by row, modulo the prime
    std::uint32_t a, b, c, d;
};

Matrix operator*(Matrix const& x, Matrix const& y) {
    auto const dot = [](std::uint32_t p, std::uint32_t q, std::uint32_t r, std::uint32_t s) {
        return static_cast<std::uint32_t>((std::uint64_t{p} * q + std::uint64_t{r} * s) % prime);
    };
    return {dot(x.a, y.a, x.b, y.c), dot(x.a, y.b, x.b, y.d), dot(x.c, y.a, x.d, y.c), dot(x.c, y.b, x.d, y.d)};
}

// MPI's user function: into = in · into, and `in` is of lower ranks.
void multiply(void* in, void* into, int* length, MPI_Datatype*) {
    auto const* left = static_cast<Matrix const*>(in);
    auto* right = static_cast<Matrix*>(into);
    for (int i = 0; i < *length; ++i) right[i] = left[i] * right[i];
}

template <class T>
struct Value {
    // The second term distinguishes blocks whose length is the number of values.
    static T of(int rank, std::size_t index, int pass, unsigned values) {
        std::size_t const mixed = 37 * static_cast<std::size_t>(rank) + 7 * index + 101 * (index / values) +
                                  13 * static_cast<std::size_t>(pass);
        return static_cast<T>(1 + mixed % values);
    }
};

template <>
struct Value<Matrix> {
    static Matrix of(int rank, std::size_t index, int pass, unsigned) {
        std::uint64_t const seed = octant::mixed(index * octant::golden_step + static_cast<std::uint64_t>(rank)) +
                                   static_cast<std::uint64_t>(pass);
        auto const entry = [seed](std::uint64_t i) {
            return static_cast<std::uint32_t>(1 + octant::mixed(seed + i * octant::golden_step) % (prime - 1));
        };
        return {entry(1), entry(2), entry(3), entry(4)};
    }
};

struct Sum {
    template <class T>
    T operator()(T left, T right) const {
        return static_cast<T>(left + right);
    }
};
struct Max {
    template <class T>
    T operator()(T left, T right) const {
        return std::max(left, right);
    }
};
struct Product {
    Matrix operator()(Matrix const& left, Matrix const& right) const { return left * right; }
};

template <class T, class Combine>
void fill_with(std::byte* to, Block const& block, int pass, bool reversed, unsigned values) {
    Combine const combine;
    int const begin = reversed ? block.last : block.first, step = reversed ? -1 : 1;
    for (std::size_t k = 0; k < block.count; ++k) {
        T value = Value<T>::of(begin, block.from + k, pass, values);
        for (int i = 1; i <= block.last - block.first; ++i)
            value = combine(value, Value<T>::of(begin + i * step, block.from + k, pass, values));
        std::memcpy(to + k * sizeof(T), &value, sizeof(T));
    }
}

struct Kind {
    char const* type;
    std::size_t bytes;
    MPI_Datatype handle;
    void (*sum)(std::byte*, Block const&, int, bool, unsigned);
    void (*max)(std::byte*, Block const&, int, bool, unsigned);
};

template <class T>
Kind kind(char const* type, MPI_Datatype handle) {
    return {type, sizeof(T), handle, fill_with<T, Sum>, fill_with<T, Max>};
}

// Beyond it some libraries begin again at 0 and others stay there.
constexpr int max_byte = 255;

}  // namespace

std::optional<octant::Refusal> Contents::refusal(octant::Knobs const& knobs, int ranks) {
    if (ranks <= max_byte || knobs.word("type") != "byte" || knobs.word("op") != "sum") return {};
    return octant::Refusal(
        "cannot sum bytes of " + std::to_string(ranks) + " ranks (the sum overflows a byte); try op=max, or type=int",
        octant::Exit::not_supported);
}

Contents::Contents(octant::Knobs const& knobs, bool reduced, int ranks) {
    std::string const& op = knobs.word("op");
    if (reduced && op == "matrix") {
        octant::check(MPI_Type_contiguous(4, MPI_UINT32_T, &type_));
        octant::check(MPI_Type_commit(&type_));
        octant::check(MPI_Op_create(multiply, 0, &op_));
        owns_ = true;
        bytes_ = sizeof(Matrix);
        fill_ = fill_with<Matrix, Product>;
        return;
    }
    Kind const kinds[] = {kind<int>("int", MPI_INT), kind<float>("float", MPI_FLOAT),
                          kind<double>("double", MPI_DOUBLE), kind<std::uint8_t>("byte", MPI_UINT8_T)};
    Kind const& chosen = *std::ranges::find(kinds, knobs.word("type"), [](Kind const& one) { return one.type; });
    bytes_ = chosen.bytes;
    type_ = chosen.handle;
    if (bytes_ == 1 && reduced && op == "sum")
        values_ = std::min(values_, static_cast<unsigned>(max_byte / std::max(2, ranks)));
    op_ = op == "max" ? MPI_MAX : MPI_SUM;
    fill_ = op == "max" ? chosen.max : chosen.sum;
}

Contents::~Contents() {
    if (!owns_) return;
    MPI_Op_free(&op_);
    MPI_Type_free(&type_);
}

}  // namespace collective
