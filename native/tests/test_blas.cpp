// The oracle against the definitions, the list of libraries, and the libraries that are there against the oracle.
#include "blas/blas.hpp"

#include "kernels/random.hpp"
#include "octant/failure.hpp"

#include "check.hpp"

#include <array>
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
    }
    product(checks, blas::load("plain", 1));
    all_triangles(checks, blas::load("plain", 1));
    checks.that(refused("plain", 2), "loops of our own have one thread");

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
