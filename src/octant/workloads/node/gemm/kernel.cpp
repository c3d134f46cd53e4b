// Matrix times matrix by a tuned library.
#include "octant/kernel.hpp"
#include "blas/blas.hpp"
#include "kernels/product_check.hpp"

#include <complex>
#include <limits>
#include <type_traits>
#include <variant>

namespace {

namespace blas = octant::blas;
using octant::Buffer;
using octant::Context;

constexpr std::uint64_t stream_of_a = 1, stream_of_b = 2, stream_of_start = 4, stream_of_x = 5, stream_of_factors = 6;

template <class T>
struct Problem {
    using Number = T;
    int n, leading;
    Buffer<T> a, b, c;

    Problem(Context& context, int size, int padding)
        : n(size),
          leading(size + padding),
          a(context.buffer<T>(count())),
          b(context.buffer<T>(count())),
          c(context.buffer<T>(count())) {
        fill(a, stream_of_a);
        fill(b, stream_of_b);
        fill(c, stream_of_start);
    }
    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(leading); }
    void fill(Buffer<T>& matrix, std::uint64_t stream) const {
        auto const rows = static_cast<std::size_t>(n), length = static_cast<std::size_t>(leading);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < length; ++j)
                matrix[i * length + j] = j < rows ? octant::number_at<T>(i * rows + j, stream) : T{};
    }
};

using Any = std::variant<Problem<double>, Problem<float>, Problem<std::complex<double>>, Problem<std::complex<float>>>;

// The timed call.
template <class T>
void multiply(blas::Gemm<T> const& gemm, int trans_a, int trans_b, T alpha, T beta, Problem<T> const& problem) {
    gemm(blas::row_major, trans_a, trans_b, problem.n, problem.n, problem.n, alpha, problem.a.data(), problem.leading,
         problem.b.data(), problem.leading, beta, problem.c.data(), problem.leading);
}

int transpose_of(char op) {
    return op == 'n' ? blas::as_is : op == 't' ? blas::transposed : blas::conjugate_transposed;
}

class Gemm {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {.knobs = {{"n", KnobKind::integer, "256", "matrix order", {}, 1, 46'340},
                          {"element",
                           KnobKind::word,
                           "double",
                           "element type",
                           {"double", "single", "double-complex", "single-complex"}},
                          {"library", KnobKind::word, "openblas",
                           "BLAS library: openblas, blis, mkl, system, auto (fastest in a short trial), a path, or "
                           "plain (built-in loops)"},
                          {"isa", KnobKind::word, "native", "instruction set requested from the library",
                           blas::instruction_sets()},
                          {"op",
                           KnobKind::word,
                           "nn",
                           "operation on A and B: none (n), transpose (t), conjugate transpose (c)",
                           {"nn", "nt", "tn", "tt", "nc", "cn", "cc"}},
                          {"beta", KnobKind::word, "0", "factor of C", {"0", "0.5", "1"}},
                          {"padding", KnobKind::integer, "0", "padding of rows, elements", {}, 0, 4096}},
                .library_threads = true};
    }

    explicit Gemm(Context& context)
        : context_(context),
          trans_a_(transpose_of(context.knobs.word("op")[0])),
          trans_b_(transpose_of(context.knobs.word("op")[1])),
          beta_(std::stod(context.knobs.word("beta"))),
          problem_(make(context)) {
        std::visit(
            [&](auto const& problem) {
                context.watched = {problem.a.mapping().bytes(), problem.b.mapping().bytes(),
                                   problem.c.mapping().bytes()};
            },
            problem_);
    }

    void set_up() {
        library_ =
            blas::load(context_.group, context_.knobs.word("library"), context_.threads, context_.knobs.word("isa"));
        std::visit(
            [&]<class T>(Problem<T> const&) {
                if (!library_.gemm<T>())
                    throw octant::Refusal("cannot multiply complex numbers by " + context_.knobs.word("library") +
                                              " (no such function); try element=double,single",
                                          octant::Exit::not_supported);
            },
            problem_);
        context_.notes.insert(context_.notes.end(), library_.facts.begin(), library_.facts.end());
    }

    void chunk(int, std::int64_t) { multiply_by(1, beta_); }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return std::visit(
            [this]<class T>(Problem<T> const& problem) -> octant::Counts {
                std::int64_t const n = problem.n, matrix = n * n * static_cast<std::int64_t>(sizeof(T));
                std::int64_t const flops = blas::is_complex<T> ? 8 : 2;
                return {{"bytes_read", (beta_ == 0 ? 2 : 3) * matrix},
                        {"bytes_written", matrix},
                        {"flops", flops * n * n * n}};
            },
            problem_);
    }

    octant::Results verify() {
        reset_result(beta_ == 0);
        multiply_by(1, beta_);
        if (spoilt_ == 0) spoil();
        double const error =
            std::visit([&](auto const& problem) { return octant::freivalds(product(problem, 1, beta_)); }, problem_);
        double const alpha = static_cast<float>(octant::random_at(0, stream_of_factors));  // the same in all precisions
        double const beta = static_cast<float>(octant::random_at(1, stream_of_factors));
        reset_result(false);
        multiply_by(alpha, beta);
        if (spoilt_ == 1) spoil();
        double const residual = std::visit(
            [&](auto const& problem) { return octant::hpcc_residual(product(problem, alpha, beta), stream_of_x); },
            problem_);
        return {{"difference from A (B x) in units of its rounding bound", error, "1", 1},
                {"residual of HPC Challenge for alpha A B + beta C", residual, "1", 16}};
    }

    void corrupt(std::size_t check) { spoilt_ = static_cast<int>(check); }

  private:
    static Any make(Context& context) {
        int const n = static_cast<int>(context.knobs.integer("n"));
        int const padding = static_cast<int>(context.knobs.integer("padding"));
        std::string const& element = context.knobs.word("element");
        if (element == "double") return Any(std::in_place_index<0>, context, n, padding);
        if (element == "single") return Any(std::in_place_index<1>, context, n, padding);
        if (element == "double-complex") return Any(std::in_place_index<2>, context, n, padding);
        return Any(std::in_place_index<3>, context, n, padding);
    }

    void multiply_by(double alpha, double beta) {
        std::visit(
            [&]<class T>(Problem<T> const& problem) {
                using Real = typename octant::RealOf<T>::type;
                multiply<T>(library_.gemm<T>(), trans_a_, trans_b_, T(static_cast<Real>(alpha)),
                            T(static_cast<Real>(beta)), problem);
            },
            problem_);
    }

    template <class T>
    [[nodiscard]] octant::Product<T> product(Problem<T> const& problem, double alpha, double beta) const {
        std::string const& op = context_.knobs.word("op");
        auto const leading = static_cast<std::size_t>(problem.leading);
        return {.n = static_cast<std::size_t>(problem.n),
                .a = {problem.a.data(), leading, op[0]},
                .b = {problem.b.data(), leading, op[1]},
                .c = {problem.c.data(), leading},
                .alpha = alpha,
                .beta = beta,
                .start = stream_of_start};
    }

    // C as it is made at first; or with NaNs, which a product that does not keep C must not read.
    void reset_result(bool cleared) {
        std::visit(
            [&]<class T>(Problem<T>& problem) {
                if (cleared)
                    std::ranges::fill(problem.c.span(), T(std::numeric_limits<float>::quiet_NaN()));
                else
                    problem.fill(problem.c, stream_of_start);
            },
            problem_);
    }

    void spoil() {
        std::visit(
            [](auto& problem) {
                auto const middle = static_cast<std::size_t>(problem.n / 2);
                problem.c[middle * static_cast<std::size_t>(problem.leading) + middle] += static_cast<float>(problem.n);
            },
            problem_);
    }

    Context& context_;
    int trans_a_, trans_b_;
    double beta_;
    blas::Library library_;
    Any problem_;
    int spoilt_ = -1;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Gemm>(argc, argv); }
