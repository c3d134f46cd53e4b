// The wave equation on a grid, by differences of eighth order in space: 25 points make one.
#include "checks.hpp"
#include "start.hpp"

#include "octant/kernel.hpp"
#include "octant/width.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using octant::Buffer;
using octant::Context;
using octant::KnobKind;
using octant::Refusal;
using stencil::Grid;
using stencil::Plan;
using stencil::Shape;
using stencil::Size;

constexpr std::ptrdiff_t whole = 16;            // points of a line of single precision
constexpr std::ptrdiff_t apart_lines = 3 * 17;  // two arrays at the same place of their pages would wait for each other

template <class Real>
struct Width {
    std::string name;
    stencil::Table<Real> loops;
};

// The vector widths of this processor, narrow to wide.
template <class Real>
std::vector<Width<Real>> widths() {
    std::vector<Width<Real>> found{{"128", stencil::loops_128<Real>()}};
    if constexpr (octant::x86) {
        if (octant::has_avx2()) found.push_back({"256", stencil::loops_256<Real>()});
        if (octant::has_avx512()) found.push_back({"512", stencil::loops_512<Real>()});
    }
    return found;
}

Size size_of(octant::Knobs const& knobs) {
    std::ptrdiff_t const n = knobs.integer("n"), planes = knobs.integer("planes");
    if (n % whole != 0)
        throw Refusal("cannot use n=" + std::to_string(n) +
                          " (rows must be whole cache lines); try n=" + std::to_string((n / whole + 1) * whole),
                      octant::Exit::wrong_word);
    return {n, n, planes == 0 ? n : planes};
}

bool streams(octant::Knobs const& knobs) {
    if (knobs.word("store") != "streaming") return false;
    if (!octant::has_streaming_stores)
        throw Refusal("cannot use store=streaming (not available in this build); try store=plain",
                      octant::Exit::not_supported);
    if (knobs.word("blocking") == "time")
        throw Refusal("cannot use store=streaming with blocking=time (data is reused immediately); try store=plain",
                      octant::Exit::not_supported);
    return true;
}

Plan plan_of(Context const& context, Size size, std::size_t element_bytes) {
    octant::Knobs const& knobs = context.knobs;
    bool const in_time = knobs.word("blocking") == "time";
    Plan plan{knobs.integer("tile"), in_time ? knobs.integer("depth") : 1, context.threads};
    constexpr std::int64_t unknown = 512 * 1024;
    if (knobs.word("blocking") == "none")
        plan.tile = size.y;
    else if (plan.tile == 0)
        plan.tile = stencil::rows_that_fit(size, element_bytes, plan, std::max(octant::cache_bytes(2), unknown),
                                           octant::cache_bytes(3));
    return plan;
}

octant::KernelInfo declared() {
    return {
        .knobs = {{"n", KnobKind::integer, "256", "grid points per row, and rows per plane", {}, 16, 65536},
                  {"planes", KnobKind::integer, "0", "number of planes; 0: n", {}, 0, 65536},
                  {"blocking",
                   KnobKind::word,
                   "yz",
                   "none: plane by plane; yz: blocks of rows through all planes; time: several time steps per pass",
                   {"none", "yz", "time"}},
                  {"depth", KnobKind::integer, "4", "blocking=time: time steps per pass", {}, 2, 8},
                  {"tile", KnobKind::integer, "0", "rows per block; 0: as many as fit into the caches", {}, 0, 65536},
                  {"prefetch", KnobKind::integer, "2", "software prefetch distance in rows; 0: no prefetch", {}, 0, 64},
                  {"store",
                   KnobKind::word,
                   "plain",
                   "plain: overwrite the older time level; streaming: non-temporal stores to a third level",
                   {"plain", "streaming"}},
                  {"width",
                   KnobKind::word,
                   "auto",
                   "vector width in bits; auto: the widest",
                   {"auto", "128", "256", "512"}}},
        .pace = octant::Pace::steps,
        .takes = [](int, int, octant::Knobs const& knobs) {
            return octant::refusal_of([&] { return size_of(knobs); });
        }};
}

template <class Real>
class Stencil {
  public:
    static octant::KernelInfo info() { return declared(); }

    explicit Stencil(Context& context)
        : context_(context),
          size_(size_of(context.knobs)),
          levels_(streams(context.knobs) ? 3 : 2),
          width_(octant::chosen_width(widths<Real>(), context.knobs.word("width"))),
          memory_(context.buffer<Real>(array() * (levels_ + 1))),
          way_(way()),
          grid_(shape(), arrays(), memory_.data() + levels_ * array(), way_.plan, way_.update,
                context.knobs.integer("prefetch") * shape().pitch) {
        stencil::begin(context, grid_, stencil::Scattered{size_}, levels_);
        context.watched = {memory_.mapping().bytes()};
        context.notes = {{"width", width_.name}, {"steps", std::to_string(way_.plan.depth)}};
        if (context.knobs.word("blocking") != "none")
            context.notes.emplace_back("tile", std::to_string(way_.plan.tile));
    }

    void step() { stencil::pass(context_, grid_); }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::int64_t const points = size_.points() * way_.plan.depth;
        constexpr auto bytes = static_cast<std::int64_t>(sizeof(Real));
        return {{"points", points},
                {"bytes_read", 3 * bytes * points},
                {"bytes_written", bytes * points},
                {"flops", stencil::flops * points}};
    }

    octant::Results verify() { return stencil::checks(way_, grid_, spoilt_); }
    void corrupt(std::size_t check) { spoilt_ = check; }

  private:
    [[nodiscard]] Shape shape() const { return Shape::of<Real>(size_); }
    // Elements of an array with what sets the next one apart.
    [[nodiscard]] std::size_t array() const {
        constexpr std::size_t line = 64 / sizeof(Real);
        return (shape().elements + line - 1) / line * line + static_cast<std::size_t>(apart_lines) * line;
    }
    [[nodiscard]] std::vector<Real*> arrays() const {
        std::vector<Real*> found;
        for (std::size_t i = 0; i < levels_; ++i) found.push_back(memory_.data() + i * array());
        return found;
    }
    [[nodiscard]] stencil::Way<Real> way() const {
        bool const asks = context_.knobs.integer("prefetch") > 0;
        stencil::Table<Real> const& loops = width_.loops;
        stencil::Update<Real> const plain = asks ? loops.plain_asking : loops.plain;
        stencil::Update<Real> const streaming = asks ? loops.streaming_asking : loops.streaming;
        return {context_, plan_of(context_, size_, sizeof(Real)), levels_, levels_ == 3 ? streaming : plain, asks};
    }

    Context& context_;
    Size size_;
    std::size_t levels_;
    Width<Real> width_;
    Buffer<Real> memory_;
    stencil::Way<Real> way_;
    Grid<Real> grid_;
    std::size_t spoilt_ = stencil::none;
};

}  // namespace

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "element",
                            {octant::row<Stencil<float>>("single"), octant::row<Stencil<double>>("double")});
}
