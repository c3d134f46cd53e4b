// Factorisations and spectra of dense matrices by the LAPACK of a tuned library.
#include "octant/kernel.hpp"
#include "routines.hpp"

#include <limits>
#include <optional>
#include <string>

namespace {

using octant::Context;
using octant::Exit;
using octant::Refusal;

// The LAPACK of the system, for its BLAS.
constexpr char const* lapack_of_system = "liblapack.so.3";

constexpr std::int64_t max_rows = 46'340;

// Rows of the largest matrix for which integers of that width count the work space.
template <class Routine>
constexpr std::int64_t max_rows_of(bool wide) {
    std::int64_t n = max_rows;
    while (!wide && Routine::work(n) > std::numeric_limits<std::int32_t>::max()) --n;
    return n;
}
static_assert(max_rows_of<lapack::Svd>(false) == 23'169 && max_rows_of<lapack::Svd>(true) == max_rows);
static_assert(max_rows_of<lapack::Eigenvectors>(false) == 32'766 && max_rows_of<lapack::Lu>(false) == max_rows);

octant::KernelInfo declared() {
    using octant::KnobKind;
    return {
        .knobs = {{"n", KnobKind::integer, "512", "matrix order", {}, 2, max_rows},
                  {"library", KnobKind::word, "openblas", "LAPACK library: openblas, mkl, system, numpy, or a path"},
                  {"isa", KnobKind::word, "native", "instruction set requested from the library",
                   octant::blas::instruction_sets()}},
        .pace = octant::Pace::steps,
        .library_threads = true,
        .defaults = {{"groups", "1"}}};
}

template <class Routine>
class Solver {
  public:
    static octant::KernelInfo info() { return declared(); }

    explicit Solver(Context& context)
        : context_(context),
          n_(claimed(context)),
          before_(context.buffer<double>(n_ * n_)),
          after_(context.buffer<double>(n_ * n_)) {
        context.watched = {after_.mapping().bytes()};
        Routine::fill(of(before_));
        std::ranges::copy(before_.span(), after_.data());
    }

    void set_up() {
        std::string const& name = context_.knobs.word("library");
        library_ = octant::blas::load(context_.group, name, context_.threads, context_.knobs.word("isa"));
        if (!has_routine() && name == "system") library_.symbols = octant::blas::Symbols(lapack_of_system);
        if (!has_routine())
            throw Refusal("cannot use library=" + name + " (the library has no LAPACK); try library=openblas",
                          Exit::not_supported);
        if (std::int64_t const most = max_rows_of<Routine>(library_.wide); static_cast<std::int64_t>(n_) > most)
            throw Refusal("cannot use " + context_.knobs.word("routine") + " of LAPACK for n=" + std::to_string(n_) +
                              " (the work space exceeds 32-bit integers); try n=" + std::to_string(most) +
                              ", or a library with 64-bit integers, e.g. library=numpy",
                          Exit::not_supported);
        context_.notes.insert(context_.notes.end(), library_.facts.begin(), library_.facts.end());
        context_.notes.emplace_back("lapack", library_.symbols.file_of(Routine::function));
        routine_.emplace(library_, n_);
    }

    void prepare() { std::ranges::copy(before_.span(), after_.data()); }
    void step() { reported_ = routine_->run(of(after_)); }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        auto const n = static_cast<std::int64_t>(n_);
        return {{Routine::counts_all ? "flops" : "nominal_flops", Routine::flops(n)}};
    }

    octant::Results verify() {
        prepare();
        step();
        if (spoilt_) routine_->spoil(*spoilt_, of(after_));
        octant::Results found = routine_->check(of(before_), of(after_));
        double const reported = spoilt_ && *spoilt_ == found.size() ? 1 : static_cast<double>(reported_ != 0);
        found.push_back({"errors that the library reports", reported, "1", 0});
        return found;
    }

    void corrupt(std::size_t check) { spoilt_ = check; }

  private:
    // Refuses matrices that do not fit into memory together with vectors and work space, before they are allocated.
    static std::size_t claimed(Context& context) {
        std::int64_t const n = context.knobs.integer("n");
        context.claim_outside(static_cast<double>(Routine::more(n)) * sizeof(double));
        return static_cast<std::size_t>(n);
    }
    [[nodiscard]] bool has_routine() const {
        return library_.symbols.template find<void*>(Routine::function) != nullptr;
    }
    [[nodiscard]] lapack::Matrix of(octant::Buffer<double> const& buffer) const { return {buffer.data(), n_}; }

    Context& context_;
    std::size_t n_;
    octant::Buffer<double> before_, after_;
    octant::blas::Library library_;
    std::optional<Routine> routine_;
    std::optional<std::size_t> spoilt_;
    std::int64_t reported_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    using octant::row;
    return octant::run_rows(argc, argv, "routine",
                            {row<Solver<lapack::Lu>>("lu"), row<Solver<lapack::Cholesky>>("cholesky"),
                             row<Solver<lapack::Qr>>("qr"), row<Solver<lapack::Eigenvalues>>("eigenvalues"),
                             row<Solver<lapack::Eigenvectors>>("eigenvectors"), row<Solver<lapack::Svd>>("svd")});
}
