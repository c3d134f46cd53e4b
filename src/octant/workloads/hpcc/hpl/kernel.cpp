// A dense system of equations by LU with partial pivoting, its matrix block-cyclic over a grid of processes.
#include "check.hpp"
#include "factors.hpp"
#include "layout.hpp"
#include "matrix.hpp"

#include "blas/blas.hpp"
#include "octant/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace {

using octant::Buffer;
using octant::Exit;
using octant::KnobKind;
using octant::Refusal;

constexpr std::int64_t max_n = 1'000'000;  // (2/3) n^3 + (3/2) n^2 is a 64-bit count

class Hpl {
  public:
    static octant::KernelInfo info() {
        return {
            .knobs = {{"n", KnobKind::integer, "2000", "order of the matrix", {}, 1, max_n},
                      {"block", KnobKind::integer, "128", "block size", {}, 1, 1024},
                      {"grid", KnobKind::word, "auto", "process grid PxQ; auto: closest to square with P <= Q"},
                      {"library", KnobKind::word, "auto",
                       "BLAS library: auto (fastest in a short trial), openblas, blis, mkl, system, a path, or plain "
                       "(built-in loops)"},
                      {"transport",
                       KnobKind::word,
                       "auto",
                       "transfer of panels: shared: ranks of a row read them in shared memory; messages: MPI messages; "
                       "auto: shared within a node",
                       {"auto", "shared", "messages"}},
                      {"depth", KnobKind::integer, "1", "look-ahead: panels that are factorised in advance", {}, 0, 1},
                      {"seed", KnobKind::integer, "100", "seed of the random matrix"}},
            .pace = octant::Pace::whole,
            .sync = octant::Sync::dissemination,
            .phases = hpl::phase_names(),
            .library_threads = true,
            .takes = [](int ranks, int, octant::Knobs const& knobs) {
                return octant::refusal_of([&] { return hpl::parse_grid(knobs.word("grid"), ranks); });
            }};
    }

    explicit Hpl(octant::Context& context)
        : context_(context),
          seed_(static_cast<std::uint64_t>(context.knobs.integer("seed"))),
          grid_(hpl::parse_grid(context.knobs.word("grid"), context.group.size())),
          layout_(context.knobs.integer("n"), context.knobs.integer("block"), grid_, context.group.rank()),
          needs_(fitting(context)),
          matrix_(buffer(needs_.matrix)),
          inverse_(buffer(needs_.inverse)),
          raw_(buffer(needs_.raw)),
          solved_(buffer(needs_.solved)),
          scratch_(buffer(needs_.scratch)) {
        if (!may_share()) take_panels();
        for (auto const* one : {&inverse_, &raw_, &solved_, &scratch_})
            std::ranges::fill(one->span(), 0.0);  // so that no page is given in the first repetition
        context.notes.emplace_back("rule", "optimised");
        context.notes.emplace_back("grid", std::to_string(grid_.rows) + "x" + std::to_string(grid_.columns));
        context.watched = {matrix_.mapping().bytes()};
    }

    void set_up() {
        library_ = octant::blas::load(context_.group, context_.knobs.word("library"), context_.threads);
        context_.notes.insert(context_.notes.end(), library_.facts.begin(), library_.facts.end());
        process_.emplace(hpl::join(context_.group, layout_));
        if (!panels_) share_panels();
        hpl::Memory memory{matrix_.span(), inverse_.span(), raw_.span(), solved_.span(), scratch_.span(), {}, {}};
        if (panels_) memory.panels = {panels_->span()};
        for (int column = 0; window_ && column < grid_.columns; ++column) {
            auto const bytes = window_->of(column);
            memory.panels.emplace_back(reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double));
            memory.shared = &*window_;
        }
        context_.notes.emplace_back("transport", window_ ? "shared" : "messages");
        factors_.emplace(context_, *process_, library_, std::move(memory), context_.knobs.integer("depth") > 0);
    }

    void prepare() {
        hpl::Rows rows(layout_, seed_);
        for (std::int64_t i = 0; i < layout_.local_rows; ++i) rows.next(matrix_.data() + i * layout_.leading);
    }

    void step() {
        factors_->factorise();
        x_ = factors_->solve();
    }

    // HPL's count of operations, divided among the ranks; what this one sent.
    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::int64_t const n = layout_.n(), ranks = context_.group.size(), flops = (4 * n * n * n + 9 * n * n) / 6;
        hpl::Sent const sent = factors_->sent();
        return {{"flops", flops / ranks + (context_.group.rank() == 0 ? flops % ranks : 0)},
                {"bytes_sent", static_cast<std::int64_t>(sizeof(double)) * sent.numbers},
                {"messages", sent.messages}};
    }

    octant::Results verify() {
        hpl::Errors const found = hpl::errors(*process_, seed_, matrix_.span(), factors_->pivots(), x_);
        norms_ = found.norms;
        return {{"residual of HPL", found.residual, "1", 16},
                {"difference of P' L U z from A z, scaled as the residual", found.factors, "1", 16},
                {"largest multiplier", found.multiplier, "1", 1 + 0x1p-50}};
    }

    [[nodiscard]] octant::Results results() const {
        return {{"largest magnitude in A x - b", norms_.residual, "1"},
                {"largest row sum of magnitudes in A", norms_.row_sum, "1"},
                {"largest column sum of magnitudes in A", norms_.column_sum, "1"},
                {"largest magnitude in b", norms_.right_side, "1"},
                {"largest magnitude of an unknown", norms_.unknown, "1"},
                {"sum of the magnitudes of the unknowns", norms_.unknowns, "1"}};
    }

    void corrupt(std::size_t check) {
        if (check == 0) x_[0] += 1;
        if (check == 1 && layout_.local_rows > 0) matrix_[0] += 1;
        if (check == 2 && layout_.row == grid_.rows - 1 && layout_.column == 0 && layout_.local_rows > 0)
            matrix_[static_cast<std::size_t>((layout_.local_rows - 1) * layout_.leading)] = 2;
    }

  private:
    [[nodiscard]] bool may_share() const { return grid_.columns > 1 && context_.knobs.word("transport") != "messages"; }
    void take_panels() {
        panels_.emplace(buffer(needs_.panels));
        std::ranges::fill(panels_->span(), 0.0);
    }
    // Collective over a row of the grid, as are the panels.
    void share_panels() {
        octant::Comm const& row = process_->along_row;
        bool const asked = context_.knobs.word("transport") == "shared";
        try {
            window_.emplace(row, static_cast<std::size_t>(needs_.panels) * sizeof(double));
            window_->touch(row);
            if (context_.pages.transparent()) window_->request_huge_pages(row);
        } catch (Refusal const& refusal) {  // several nodes, or too little memory that ranks may share
            if (asked || refusal.code() != Exit::not_supported) throw;
            window_.reset();
            take_panels();
        }
    }

    // Refuses an order for which this rank has not the memory, before any of it is taken.
    hpl::Needs fitting(octant::Context const& context) const {
        hpl::Needs const found = hpl::needs(layout_, grid_.rows);
        double const left = static_cast<double>(context.left_bytes());
        if (found.bytes() <= left) return found;
        double const fits = std::floor(static_cast<double>(layout_.n()) * std::sqrt(left / found.bytes()) * 0.95);
        throw Refusal("cannot factorise a matrix with n=" + std::to_string(layout_.n()) + " (this rank needs " +
                          std::to_string(static_cast<std::int64_t>(found.bytes())) + " B, and " +
                          std::to_string(context.left_bytes()) +
                          " B of its memory share are left); try n=" + std::to_string(static_cast<std::int64_t>(fits)),
                      Exit::not_supported);
    }

    Buffer<double> buffer(std::int64_t numbers) {
        return context_.buffer<double>(static_cast<std::size_t>(std::max<std::int64_t>(1, numbers)));
    }

    octant::Context& context_;
    std::uint64_t seed_;
    hpl::Grid grid_;
    hpl::Layout layout_;
    hpl::Needs needs_;
    Buffer<double> matrix_, inverse_, raw_, solved_, scratch_;
    std::optional<Buffer<double>> panels_;
    octant::blas::Library library_;
    std::optional<hpl::Process> process_;
    std::optional<octant::NodeWindow> window_;
    std::optional<hpl::Factors> factors_;
    std::vector<double> x_;
    hpl::Norms norms_{};
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Hpl>(argc, argv); }
