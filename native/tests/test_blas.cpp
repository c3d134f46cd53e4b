// The oracle against the definitions, the list of libraries, and the libraries that are there against the oracle.
#include "blas/blas.hpp"

#include "kernels/product_check.hpp"
#include "octant/failure.hpp"

#include "check.hpp"

#include <array>
#include <bit>
#include <complex>
#include <cstdlib>
#include <vector>

namespace {

namespace blas = octant::blas;

constexpr int rows = 7, columns = 5, leading = 9;  // of a system's right sides

std::vector<double> numbers(std::uint64_t stream) {
    std::vector<double> made(std::size_t{leading} * leading);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = octant::random_at(i, stream);
    return made;
}

// A matrix that is multiplied by a triangle and solved for again is what it was.
void triangles(octant::Checks& checks, blas::Library const& library, int order, int side, int triangle, int transpose,
               int diagonal) {
    int const size = side == blas::left ? rows : columns;
    std::vector<double> a = numbers(1), x = numbers(2), whole(a.size(), 0.0), b(a.size(), 0.0);
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
            auto const at = static_cast<std::size_t>(order == blas::row_major ? i * leading + j : j * leading + i);
            if (i == j) whole[at] = diagonal == blas::unit_diagonal ? 1 : (a[at] = 2 + a[at]);
            if (triangle == blas::lower ? i > j : i < j) whole[at] = a[at];
        }
    if (side == blas::left)
        library.dgemm(order, transpose, blas::as_is, rows, columns, size, 1, whole.data(), leading, x.data(), leading,
                      0, b.data(), leading);
    else
        library.dgemm(order, blas::as_is, transpose, rows, columns, size, 1, x.data(), leading, whole.data(), leading,
                      0, b.data(), leading);
    library.dtrsm(order, side, triangle, transpose, diagonal, rows, columns, 2, a.data(), leading, b.data(), leading);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            auto const at = static_cast<std::size_t>(order == blas::row_major ? i * leading + j : j * leading + i);
            checks.near(b[at], 2 * x[at], 1e-10);
        }
}

void all_triangles(octant::Checks& checks, blas::Library const& library) {
    for (int const order : {blas::row_major, blas::column_major})
        for (int const side : {blas::left, blas::right})
            for (int const triangle : {blas::upper, blas::lower})
                for (int const transpose : {blas::as_is, blas::transposed})
                    for (int const diagonal : {blas::any_diagonal, blas::unit_diagonal})
                        triangles(checks, library, order, side, triangle, transpose, diagonal);
}

void product(octant::Checks& checks, blas::Library const& library) {
    std::array<double, 6> const a{1, 2, 3, 4, 5, 6};     // 2 x 3, or 3 x 2 transposed
    std::array<double, 6> const b{7, 8, 9, 10, 11, 12};  // 3 x 2
    std::array<double, 4> c{1, 1, 1, 1}, d{1, 1, 1, 1};
    library.dgemm(blas::row_major, blas::as_is, blas::as_is, 2, 2, 3, 1, a.data(), 3, b.data(), 2, -1, c.data(), 2);
    checks.that(c == std::array<double, 4>{57, 63, 138, 153}, "A B - C by hand");
    library.dgemm(blas::row_major, blas::transposed, blas::as_is, 2, 2, 3, 1, a.data(), 2, b.data(), 2, 0, d.data(), 2);
    checks.that(d == std::array<double, 4>{89, 98, 116, 128}, "A' B by hand");
}

// The same functions by Fortran's interface, which is used where there is no CBLAS.
blas::Library by_fortran(blas::Library const& library) {
    blas::Library found = library;
    auto const only = [&](auto& call, std::string const& name) {
        call.fortran = library.symbols.find<decltype(call.fortran)>(name);
        call.wide_fortran = library.wide;
        call.narrow = nullptr;
        call.wide = nullptr;
    };
    only(found.dgemm, "dgemm_");
    only(found.zgemm, "zgemm_");
    only(found.cgemm, "cgemm_");
    only(found.dtrsm, "dtrsm_");
    return found;
}

template <class T>
struct Matrices {  // of a product whose rows have space between them
    static constexpr int n = 45, leading = 50;
    std::vector<T> a = made(1), b = made(2), c = made(4);

    static std::vector<T> made(std::uint64_t stream) {
        std::vector<T> numbers(std::size_t{n} * leading);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) numbers[i * leading + j] = octant::number_at<T>(i * n + j, stream);
        return numbers;
    }
    void multiply(blas::Gemm<T> const& gemm, int trans_a, int trans_b, float beta) {
        c = made(4);
        gemm(blas::row_major, trans_a, trans_b, n, n, n, T(1), a.data(), leading, b.data(), leading, T(beta), c.data(),
             leading);
    }
    [[nodiscard]] octant::Product<T> product(char op_a, char op_b, double beta) const {
        return {.n = n,
                .a = {a.data(), leading, op_a},
                .b = {b.data(), leading, op_b},
                .c = {c.data(), leading},
                .beta = beta,
                .start = 4};
    }
    [[nodiscard]] double worst(char op_a, char op_b, double beta) const {
        auto const found = product(op_a, op_b, beta);
        return std::max(octant::freivalds(found), octant::hpcc_residual(found, 5) / 16);
    }
};

template <class T>
void all_products(octant::Checks& checks, blas::Gemm<T> const& gemm) {
    Matrices<T> m;
    std::array<std::pair<char, int>, 3> const ops{
        {{'n', blas::as_is}, {'t', blas::transposed}, {'c', blas::conjugate_transposed}}};
    for (auto const& [op_a, trans_a] : ops)
        for (auto const& [op_b, trans_b] : ops)
            for (float const beta : {0.0F, 0.5F}) {
                m.multiply(gemm, trans_a, trans_b, beta);
                checks.that(m.worst(op_a, op_b, beta) < 0.2, std::string("a right product ") + op_a + op_b);
            }
}

float with_8_bits(float value) {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x8000U) & 0xFFFF0000U);
}

// What libraries get wrong, each of which both checks must see.
template <class T>
void wrong_products(octant::Checks& checks, blas::Gemm<T> const& gemm) {
    Matrices<T> m;
    auto const seen = [&](char const* what, char op_a = 'n', float beta = 0) {
        auto const product = m.product(op_a, 'n', beta);
        checks.that(octant::freivalds(product) > 1, std::string("Freivalds' check sees ") + what);
        checks.that(octant::hpcc_residual(product, 5) > 16, std::string("HPC Challenge's check sees ") + what);
    };
    m.multiply(gemm, blas::as_is, blas::transposed, 0);
    seen("B read transposed");
    m.multiply(gemm, blas::as_is, blas::as_is, 0);
    seen("C not kept", 'n', 0.5F);
    auto const last = m.c.begin() + std::ptrdiff_t{m.n - 1} * m.leading;
    std::fill(last + m.n - 5, last + m.n, T{});
    seen("the last tile missing");
    if constexpr (blas::is_complex<T>) {
        m.multiply(gemm, blas::transposed, blas::as_is, 0);
        seen("a conjugation dropped", 'c');
    }
}

// As matrix units do that keep 8 bits: the largest order at which one product here is quick.
void few_bits(octant::Checks& checks) {
    constexpr int n = 400;
    std::vector<float> a(n * n), b(n * n), c(n * n), short_a(n * n), short_b(n * n);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = octant::number_at<float>(i, 1), short_a[i] = with_8_bits(a[i]);
        b[i] = octant::number_at<float>(i, 2), short_b[i] = with_8_bits(b[i]);
    }
    octant::Product<float> const product{.n = n, .a = {a.data(), n}, .b = {b.data(), n}, .c = {c.data(), n}};
    auto const multiply = [&](std::vector<float> const& x, std::vector<float> const& y) {
        blas::load("plain", 1)
            .sgemm(blas::row_major, blas::as_is, blas::as_is, n, n, n, 1, x.data(), n, y.data(), n, 0, c.data(), n);
        return octant::freivalds(product);
    };
    double const right = multiply(a, b), wrong = multiply(short_a, short_b);
    checks.that(right < 0.2 && wrong > 10, "a product of numbers with 8 bits is none in single precision");
}

void checks_of_products(octant::Checks& checks) {
    blas::Library const plain = blas::load("plain", 1);
    all_products(checks, plain.dgemm);
    all_products(checks, plain.sgemm);
    all_products(checks, plain.zgemm);
    all_products(checks, plain.cgemm);
    wrong_products(checks, plain.dgemm);
    wrong_products(checks, plain.sgemm);
    wrong_products(checks, plain.zgemm);
    wrong_products(checks, plain.cgemm);
    few_bits(checks);
}

void integers_of_both_widths(octant::Checks& checks) {
    for (bool const wide : {false, true}) {
        octant::blas::Integer integer(-5, wide);
        std::int64_t written = 7;
        std::memcpy(integer.address(), &written, wide ? sizeof(std::int64_t) : sizeof(std::int32_t));
        checks.that(integer.value() == 7 && octant::blas::Integer(-5, wide).value() == -5, "integers read back");
    }
}

bool refused(std::string const& name, int threads) {
    try {
        static_cast<void>(blas::load(name, threads));
        return false;
    } catch (octant::Refusal const&) {
        return true;
    }
}

}  // namespace

int main() {
    octant::Checks checks;
    auto const found = blas::available();  // what the environment has: each library there is tested too
    for (blas::Named const& one : found) {
        blas::Library const library = blas::load(one.name, 1);
        product(checks, library);
        all_triangles(checks, library);
        all_products(checks, library.dgemm);
        all_products(checks, library.sgemm);
        all_products(checks, library.zgemm);
        all_products(checks, library.cgemm);
        blas::Library const fortran = by_fortran(library);
        all_triangles(checks, fortran);
        all_products(checks, fortran.dgemm);
        all_products(checks, fortran.zgemm);
        all_products(checks, fortran.cgemm);
    }
    checks_of_products(checks);
    integers_of_both_widths(checks);
    product(checks, blas::load("plain", 1));
    all_triangles(checks, blas::load("plain", 1));
    checks.that(refused("plain", 2), "loops of our own have one thread");
    checks.refused([] { static_cast<void>(blas::load("plain", 1, "avx2")); }, "isa=avx2");

    setenv("OCTANT_BLAS", "/a/libone.so", 1);
    checks.that(blas::available().size() == 1 && blas::available()[0].name == "openblas" &&
                    blas::available()[0].path == "/a/libone.so",
                "a path alone is openblas");
    setenv("OCTANT_BLAS", "openblas=/a.so::blis=/b=c.so", 1);
    checks.that(
        blas::available().size() == 2 && blas::available()[1].name == "blis" && blas::available()[1].path == "/b=c.so",
        "names and paths");
    checks.that(refused("openblas", 1), "there is no such file");
    checks.that(refused("mkl", 1), "it is not in the list");
    unsetenv("OCTANT_BLAS");
    checks.that(blas::available().empty() && refused("openblas", 1), "nothing is known");
    return checks.result();
}
