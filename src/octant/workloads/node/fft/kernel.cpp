// The discrete Fourier transform by code of our own or any library with FFTW 3's interface.
#include "checks.hpp"

#include "fftw/fftw.hpp"
#include "kernels/random.hpp"
#include "kernels/worst.hpp"
#include "octant/kernel.hpp"
#include "octant/width.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

namespace {

using fft::Sides;
using octant::Context;
using octant::Exit;
using octant::Refusal;
using octant::fft::Shape;

constexpr std::uint64_t seed = 1;
enum Check : std::size_t { sums, tones, parseval, inverse, checks };
enum class By { octant, plain, library };

By by_of(std::string const& word) { return word == "octant" ? By::octant : word == "plain" ? By::plain : By::library; }

// Lengths without a built-in transform are checked by an inverse with a cost of n times the largest prime factor.
constexpr std::int64_t max_work_of_oracle = std::int64_t{1} << 24;

std::int64_t largest_factor(std::int64_t n) {
    std::int64_t largest = 1;
    for (std::int64_t factor = 2; factor * factor <= n; ++factor)
        for (; n % factor == 0; n /= factor) largest = factor;
    return std::max(largest, n);
}

void check_length(By by, char const* knob, std::int64_t n) {
    if (octant::fft::is_smooth(n)) return;
    std::string const next = std::to_string(octant::fft::smooth_at_least(n));
    if (by == By::octant)
        throw Refusal("cannot transform " + std::string(knob) + "=" + std::to_string(n) +
                          " (a prime factor is larger than 5); try " + knob + "=" + next,
                      Exit::wrong_word);
    if (n > max_work_of_oracle / largest_factor(n))
        throw Refusal("cannot check " + std::string(knob) + "=" + std::to_string(n) +
                          " (the largest prime factor is too large); try " + knob + "=" + next,
                      Exit::wrong_word);
}

// Limits sizes so that sums of bytes stay far below 2^63.
void check_product(Shape const& shape) {
    constexpr double max_numbers = 1ULL << 48U;
    if (static_cast<double>(shape.n) * static_cast<double>(std::max<std::int64_t>(shape.rows, 1)) *
            static_cast<double>(shape.batch) >
        max_numbers)
        throw Refusal("cannot transform n=" + std::to_string(shape.n) + " rows=" + std::to_string(shape.rows) +
                          " batch=" + std::to_string(shape.batch) +
                          " (more than 2^48 elements per thread); try a smaller n=",
                      Exit::wrong_word);
}

Shape shape_of(octant::Knobs const& knobs) {
    Shape const shape{.n = knobs.integer("n"),
                      .rows = knobs.integer("rows"),
                      .batch = knobs.integer("batch"),
                      .real = !knobs.word("element").ends_with("complex"),
                      .interleaved = knobs.word("packing") == "interleaved"};
    check_product(shape);
    By const by = by_of(knobs.word("library"));
    check_length(by, "n", shape.n);
    check_length(by, "rows", std::max<std::int64_t>(shape.rows, 1));
    if (by == By::octant && shape.real && shape.n % 2 != 0)
        throw Refusal("cannot transform n=" + std::to_string(shape.n) + " real numbers (n must be even); try n=" +
                          std::to_string(2 * octant::fft::smooth_at_least((shape.n + 1) / 2)),
                      Exit::wrong_word);
    if (by == By::octant && shape.interleaved && (shape.real || shape.rows > 0))
        throw Refusal(
            "cannot transform interleaved real or two-dimensional data (built-in code: 1-D complex only); try "
            "packing=contiguous",
            Exit::not_supported);
    return shape;
}

// One precision: arrays of every thread, and who transforms them.
template <class Real>
struct Job {
    Shape shape;
    By by;
    std::size_t in_parts, out_parts, scratch_parts;
    double planning_s = 0;
    octant::Buffer<Real> x, y;  // first: what does not fit is refused before tables are made for it
    std::optional<octant::fft::TransformOf<Real>> own;
    octant::Buffer<Real> scratch;
    std::vector<octant::fftw::Plan<Real>> plans;

    Job(Context& context, Shape const& of)
        : shape(of),
          by(by_of(context.knobs.word("library"))),
          in_parts(padded(of.parts_in())),
          out_parts(padded(of.parts_out())),
          scratch_parts(0),
          x(context.buffer<Real>(in_parts * static_cast<std::size_t>(context.threads))),
          y(context.buffer<Real>(out_parts * static_cast<std::size_t>(context.threads))),
          own(made(context)),
          scratch(context.buffer<Real>(scratch_parts * static_cast<std::size_t>(context.threads))) {
        fill_all(context);  // before planning: trials are of pages that are there, each where its thread is
        plan(context);
        if (by == By::library) fill_all(context);  // planning may overwrite them
    }

    // Rounds up to whole cache lines, so that the arrays of each thread are aligned.
    static std::size_t padded(std::int64_t parts) { return static_cast<std::size_t>((parts + 15) / 16 * 16); }

    std::optional<octant::fft::TransformOf<Real>> made(Context& context) {
        if (by != By::octant) return std::nullopt;
        auto const width = octant::chosen_width(octant::fft::widths<Real>(), context.knobs.word("simd") == "no"
                                                                                 ? std::string("scalar")
                                                                                 : context.knobs.word("width"));
        std::optional<octant::fft::TransformOf<Real>> found(std::in_place, shape, width);
        scratch_parts = padded(static_cast<std::int64_t>(found->scratch_numbers()));
        context.notes.emplace_back("width", width.name);
        return found;
    }

    void plan(Context& context) {
        auto const& knobs = context.knobs;
        if (by != By::library) context.notes.emplace_back("library", knobs.word("library"));
        if (by == By::octant) {
            if (knobs.word("effort") != "estimate") own->choose(x.data(), y.data(), scratch.data());
            planning_s = own->planning_s();
            context.notes.emplace_back("way", own->way());
        }
        if (by == By::library) plan_by_library(context);
    }
    void plan_by_library(Context& context) {
        auto const& knobs = context.knobs;
        for (int lane = 0; lane < context.threads; ++lane)
            plans.emplace_back(octant::fftw::Wish{.library = knobs.word("library"),
                                                  .effort = knobs.word("effort"),
                                                  .patience_s = knobs.real("timelimit"),
                                                  .vectors = knobs.word("simd") != "no",
                                                  .forgets = lane == 0,
                                                  .ours = "octant, plain"},
                               shape, in(lane).data(), out(lane).data());
        planning_s = plans[0].planning_s();
        context.notes.insert(context.notes.end(), plans[0].facts().begin(), plans[0].facts().end());
    }

    [[nodiscard]] std::span<Real> in(int lane) const {
        return x.span().subspan(static_cast<std::size_t>(lane) * in_parts, in_parts);
    }
    [[nodiscard]] std::span<Real> out(int lane) const {
        return y.span().subspan(static_cast<std::size_t>(lane) * out_parts, out_parts);
    }
    [[nodiscard]] std::span<Real> space(int lane) const {
        return scratch.span().subspan(static_cast<std::size_t>(lane) * scratch_parts, scratch_parts);
    }
    [[nodiscard]] Sides<Real> sides(int lane) const { return {shape, in(lane), out(lane)}; }

    void fill_all(Context const& context) {
        context.on_each_thread([&](int lane) {
            fill(lane);
            std::ranges::fill(out(lane), Real{0});
            std::ranges::fill(space(lane), Real{0});
        });
    }
    void fill(int lane) {
        auto const part = in(lane);
        for (std::size_t i = 0; i < part.size(); ++i)
            part[i] = static_cast<Real>(octant::random_at(i, seed + static_cast<std::uint64_t>(lane)) / 2);
    }
    void fill_with(int lane, fft::Tones const& of) {
        auto const part = in(lane);
        for (std::int64_t b = 0; b < shape.batch; ++b)
            for (std::int64_t row = 0; row < std::max<std::int64_t>(shape.rows, 1); ++row)
                for (std::int64_t j = 0; j < shape.n; ++j) {
                    auto const number = of.input(b, row, j);
                    std::size_t const at = fft::place_in(shape, b, row, j);
                    part[shape.real ? at : 2 * at] = static_cast<Real>(number.real());
                    if (!shape.real) part[2 * at + 1] = static_cast<Real>(number.imag());
                }
    }

    void forward(int lane) {
        if (by == By::octant)
            own->forward(in(lane).data(), out(lane).data(), space(lane).data());
        else if (by == By::library)
            plans[static_cast<std::size_t>(lane)].execute();
        else
            fft::plain<Real>(shape, in(lane), out(lane));
    }

    // Each check has a transform of its own, so that what spoils one is not seen by another.
    void verify(int lane, std::array<double, checks>& worst, std::size_t spoilt) {
        auto const keep = [&](Check check, double error) { octant::keep_worst(worst[check], error); };
        auto const numbers = out(lane);
        fill(lane);
        forward(lane);
        if (spoilt == sums) fft::copy_only<Real>(shape, in(lane), numbers);
        keep(sums, fft::error_of_sums(sides(lane), seed));
        forward(lane);
        if (spoilt == parseval) fft::lose_last_line(shape, numbers);
        keep(parseval, fft::error_of_parseval(sides(lane)));
        forward(lane);
        if (spoilt == inverse) fft::falsify_twiddle(shape, numbers);
        keep(inverse, fft::error_of_inverse(sides(lane)));
        fft::Tones const of(shape, seed);
        fill_with(lane, of);
        forward(lane);
        if (spoilt == tones) fft::exchange_factors(shape, numbers);
        keep(tones, of.error(sides(lane)));
    }
};

class Fft {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        constexpr std::int64_t most = std::int64_t{1} << 31;
        return {.knobs =
                    {
                        {"n", KnobKind::integer, "1024", "length of a transform", {}, 2, most},
                        {"rows",
                         KnobKind::integer,
                         "0",
                         "rows of a two-dimensional transform; 0: one dimension",
                         {},
                         0,
                         most},
                        {"batch", KnobKind::integer, "1", "transforms per call", {}, 1, most},
                        {"packing",
                         KnobKind::word,
                         "contiguous",
                         "layout of a batch: contiguous, or interleaved element by element",
                         {"contiguous", "interleaved"}},
                        {"element",
                         KnobKind::word,
                         "double-complex",
                         "element type",
                         {"double-complex", "single-complex", "double", "single"}},
                        {"library", KnobKind::word, "octant",
                         "octant (built-in), plain (built-in reference), fftw, pyfftw, mkl, armpl, nvpl, or the path "
                         "of a library with the FFTW 3 interface"},
                        {"effort",
                         KnobKind::word,
                         "measure",
                         "planning effort; built-in code: by rule (estimate) or by trial (others)",
                         {"estimate", "measure", "patient"}},
                        {"timelimit", KnobKind::seconds, "5s", "time limit of a library's planner"},
                        {"simd", KnobKind::word, "yes", "no: scalar code (octant, FFTW)", {"yes", "no"}},
                        {"width",
                         KnobKind::word,
                         "auto",
                         "vector width in bits of the built-in code; auto: the widest",
                         {"auto", "scalar", "128", "256", "512"}},
                    },
                .takes = [](int, int, octant::Knobs const& knobs) {
                    return octant::refusal_of([&] { return shape_of(knobs); });
                }};
    }

    explicit Fft(Context& context) : context_(context), job_(make(context)) {
        std::visit(
            [&](auto const& job) {
                context.watched = {job->x.mapping().bytes(), job->y.mapping().bytes()};
                if (job->own) context.watched.push_back(job->scratch.mapping().bytes());
            },
            job_);
    }

    void chunk(int lane, std::int64_t) {
        std::visit([lane](auto& job) { job->forward(lane); }, job_);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return std::visit(
            [](auto const& job) -> octant::Counts {
                Shape const& shape = job->shape;
                auto const all = static_cast<double>(fft::numbers_of(shape)), many = static_cast<double>(shape.batch);
                auto const bytes = static_cast<std::int64_t>(sizeof(job->x[0]));
                octant::Counts counts{
                    {"nominal_flops", std::llround((shape.real ? 2.5 : 5) * many * all * std::log2(all))},
                    {"bytes_read", bytes * shape.parts_in()},
                    {"bytes_written", bytes * shape.parts_out()}};
                if (job->own) counts.push_back({"flops", job->own->flops()});
                return counts;
            },
            job_);
    }

    octant::Results verify() {
        std::vector<std::array<double, checks>> of_lane(static_cast<std::size_t>(context_.threads));
        context_.on_each_thread([&](int lane) {
            std::visit([&](auto& job) { job->verify(lane, of_lane[static_cast<std::size_t>(lane)], spoilt_); }, job_);
        });
        std::array<double, checks> worst{};
        for (auto const& one : of_lane)
            for (std::size_t i = 0; i < checks; ++i) octant::keep_worst(worst[i], one[i]);
        return {{"difference from sums of the definition, in eps sqrt(log2 N) rms", worst[sums], "1", fft::sum_bound},
                {"difference from the lines of three tones, in eps sqrt(log2 N) N", worst[tones], "1", fft::tone_bound},
                {"difference of the energy, in eps sqrt(log2 N)", worst[parseval], "1", fft::parseval_bound},
                {"inverse against the input, in ln N u", worst[inverse], "1", fft::inverse_bound}};
    }

    octant::Results results() {
        return std::visit([](auto const& job) { return octant::Results{{"planning", job->planning_s, "s"}}; }, job_);
    }

    void corrupt(std::size_t check) { spoilt_ = check; }

  private:
    // Behind pointers: plans hold addresses of their tables.
    using Any = std::variant<std::unique_ptr<Job<double>>, std::unique_ptr<Job<float>>>;

    static Any make(Context& context) {
        Shape const shape = shape_of(context.knobs);
        if (context.knobs.word("element").starts_with("double")) return std::make_unique<Job<double>>(context, shape);
        return std::make_unique<Job<float>>(context, shape);
    }

    Context& context_;
    Any job_;
    std::size_t spoilt_ = SIZE_MAX;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Fft>(argc, argv); }
