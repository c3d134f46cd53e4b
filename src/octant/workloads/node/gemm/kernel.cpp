// Matrix times matrix by a tuned library.
#include "octant/kernel.hpp"
#include "blas/blas.hpp"
#include "kernels/random.hpp"
#include "kernels/worst.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

namespace blas = octant::blas;
using octant::Buffer;
using octant::Context;
using octant::random_at;

template <class Real>
struct Problem {
    int n;
    Buffer<Real> a, b, c;

    Problem(Context& context, int size)
        : n(size),
          a(context.buffer<Real>(count())),
          b(context.buffer<Real>(count())),
          c(context.buffer<Real>(count())) {
        for (std::size_t i = 0; i < count(); ++i) {
            a[i] = static_cast<Real>(random_at(i, 1));
            b[i] = static_cast<Real>(random_at(i, 2));
            c[i] = 0;
        }
    }
    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }
    [[nodiscard]] std::span<Real const> row(Buffer<Real> const& matrix, std::size_t i) const {
        return matrix.span().subspan(i * static_cast<std::size_t>(n), static_cast<std::size_t>(n));
    }
};

// Freivalds' check, for groups of columns: for random signs x, C x must equal A (B x). Rounding is allowed for by a
// bound that holds with overwhelming probability: for an inner product of length k it is lambda sqrt(k) u |a| |b|
// (Higham and Mary 2019, theorem 3.1), and for a sum with random signs lambda times the root of the sum of squares
// (Hoeffding). Returns the largest difference in units of that bound.
template <class Real>
double worst_error(Problem<Real> const& problem) {
    constexpr double lambda = 6;
    auto const n = static_cast<std::size_t>(problem.n);
    double const unit = std::numeric_limits<Real>::epsilon() / 2.0 + 2 * (std::numeric_limits<double>::epsilon() / 2);
    std::size_t const width = (n + 31) / 32;  // at most 32 groups: each bound covers few columns and stays sharp
    double worst = 0;
    std::vector<double> signs(n), image(n);
    for (std::size_t first = 0; first < n; first += width) {
        std::size_t const last = std::min(n, first + width);
        for (std::size_t j = first; j < last; ++j) signs[j] = random_at(j, 3) < 0 ? -1 : 1;
        double squares = 0;
        for (std::size_t i = 0; i < n; ++i) {
            auto const row = problem.row(problem.b, i);
            image[i] = 0;
            for (std::size_t j = first; j < last; ++j) {
                image[i] += static_cast<double>(row[j]) * signs[j];
                squares += static_cast<double>(row[j]) * static_cast<double>(row[j]);
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            auto const left = problem.row(problem.a, i), got = problem.row(problem.c, i);
            double difference = 0, norm = 0;
            for (std::size_t j = first; j < last; ++j) difference += static_cast<double>(got[j]) * signs[j];
            for (std::size_t k = 0; k < n; ++k) {
                difference -= static_cast<double>(left[k]) * image[k];
                norm += static_cast<double>(left[k]) * static_cast<double>(left[k]);
            }
            double const bound = lambda * lambda * std::sqrt(static_cast<double>(n)) * unit * std::sqrt(norm * squares);
            double const error = std::abs(difference) / bound;
            octant::keep_worst(worst, error);
        }
    }
    return worst;
}

constexpr std::uint64_t stream_of_start = 4, stream_of_x = 5, stream_of_factors = 6;

// HPC Challenge's residual of C = alpha A B + beta C0, with C0 made anew: |beta C0 x + alpha A (B x) - C x| over
// |C| |x| n u, largest row sums and largest numbers. All of its numbers have seeds of their own: where A and B are the
// same, an operand that is read transposed is not seen.
template <class Real>
double hpcc_residual(Problem<Real> const& problem, double alpha, double beta) {
    auto const n = static_cast<std::size_t>(problem.n);
    std::vector<double> x(n), image(n, 0.0);
    double largest = 0, difference = 0, norm = 0;
    for (std::size_t j = 0; j < n; ++j) x[j] = random_at(j, stream_of_x), largest = std::max(largest, std::abs(x[j]));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) image[i] += static_cast<double>(problem.row(problem.b, i)[j]) * x[j];
    for (std::size_t i = 0; i < n; ++i) {
        auto const left = problem.row(problem.a, i), got = problem.row(problem.c, i);
        double sum = 0, magnitudes = 0;
        for (std::size_t j = 0; j < n; ++j) {
            auto const start = static_cast<double>(static_cast<Real>(random_at(i * n + j, stream_of_start)));
            auto const value = static_cast<double>(got[j]);
            sum += beta * start * x[j] + alpha * static_cast<double>(left[j]) * image[j] - value * x[j];
            magnitudes += std::abs(value);
        }
        octant::keep_worst(difference, std::abs(sum));
        norm = std::max(norm, magnitudes);
    }
    double const unit = std::numeric_limits<Real>::epsilon() / 2.0;
    return difference / (norm * largest * static_cast<double>(n) * unit);
}

class Gemm {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {
            .knobs = {{"n", KnobKind::integer, "256", "rows and columns of the matrices", {}, 1, 46'340},
                      {"element", KnobKind::word, "double", "type of the numbers", {"double", "single"}},
                      {"library", KnobKind::word, "openblas",
                       "openblas, blis, mkl, system, auto (the quickest of them in a short trial), the path of a CBLAS "
                       "library, or plain (three loops of our own)"}},
            .library_threads = true};
    }

    explicit Gemm(Context& context) : context_(context), problem_(make(context)) {
        std::visit(
            [&](auto const& problem) {
                context.watched = {problem.a.mapping().bytes(), problem.b.mapping().bytes(),
                                   problem.c.mapping().bytes()};
            },
            problem_);
    }

    void set_up() {
        library_ = blas::load(context_.group, context_.knobs.word("library"), context_.threads);
        context_.notes.insert(context_.notes.end(), library_.facts.begin(), library_.facts.end());
    }

    void chunk(int, std::int64_t) { multiply(1, 0); }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::int64_t const n = std::visit([](auto const& problem) { return problem.n; }, problem_);
        std::int64_t const element = std::holds_alternative<Problem<double>>(problem_) ? 8 : 4;
        return {{"bytes_read", 2 * n * n * element}, {"bytes_written", n * n * element}, {"flops", 2 * n * n * n}};
    }

    octant::Results verify() {
        redo();
        if (spoilt_ == 0) spoil();
        double const error = std::visit([](auto const& problem) { return worst_error(problem); }, problem_);
        double const alpha = static_cast<float>(random_at(0, stream_of_factors));  // the same in both precisions
        double const beta = static_cast<float>(random_at(1, stream_of_factors));
        start_from_numbers();
        multiply(alpha, beta);
        if (spoilt_ == 1) spoil();
        double const residual =
            std::visit([&](auto const& problem) { return hpcc_residual(problem, alpha, beta); }, problem_);
        return {{"difference from A (B x) in units of its rounding bound", error, "1", 1},
                {"residual of HPC Challenge for alpha A B + beta C", residual, "1", 16}};
    }

    void corrupt(std::size_t check) { spoilt_ = static_cast<int>(check); }

  private:
    using Either = std::variant<Problem<double>, Problem<float>>;

    static Either make(Context& context) {
        int const n = static_cast<int>(context.knobs.integer("n"));
        if (context.knobs.word("element") == "double") return Either(std::in_place_type<Problem<double>>, context, n);
        return Either(std::in_place_type<Problem<float>>, context, n);
    }

    void multiply(double alpha, double beta) {
        if (auto* const p = std::get_if<Problem<double>>(&problem_))
            library_.dgemm(blas::row_major, blas::as_is, blas::as_is, p->n, p->n, p->n, alpha, p->a.data(), p->n,
                           p->b.data(), p->n, beta, p->c.data(), p->n);
        else if (auto* const q = std::get_if<Problem<float>>(&problem_))
            library_.sgemm(blas::row_major, blas::as_is, blas::as_is, q->n, q->n, q->n, static_cast<float>(alpha),
                           q->a.data(), q->n, q->b.data(), q->n, static_cast<float>(beta), q->c.data(), q->n);
    }

    void redo() {
        std::visit([](auto& problem) { std::ranges::fill(problem.c.span(), std::numeric_limits<float>::quiet_NaN()); },
                   problem_);
        multiply(1, 0);
    }

    void start_from_numbers() {
        std::visit(
            [](auto& problem) {
                for (std::size_t i = 0; i < problem.count(); ++i)
                    problem.c[i] =
                        static_cast<std::remove_reference_t<decltype(problem.c[i])>>(random_at(i, stream_of_start));
            },
            problem_);
    }

    void spoil() {
        std::visit([](auto& problem) { problem.c[problem.count() / 2] += static_cast<float>(problem.n); }, problem_);
    }

    Context& context_;
    blas::Library library_;
    Either problem_;
    int spoilt_ = -1;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Gemm>(argc, argv); }
