// The discrete Fourier transform of one rank: HPC Challenge's FFT, alone and on all cores at once.
#include "octant/kernel.hpp"
#include "fftw/fftw.hpp"
#include "kernels/fft/plan.hpp"
#include "kernels/fft/reference.hpp"
#include "kernels/worst.hpp"
#include "octant/width.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

namespace {

using octant::Context;
using octant::keep_worst;
using octant::Refusal;
using octant::fft::Number;
using octant::fft::Plan;
using Library = octant::fftw::Plan<double>;

constexpr std::uint64_t seed = 1;
enum Check : std::size_t { inverse, direct, tones, checks, of_column = checks };
enum class Part { transform, plan, columns, plain_columns };

std::int64_t length_of(octant::Knobs const& knobs) {
    std::int64_t const n = knobs.integer("n");
    if (octant::fft::is_smooth(n) || knobs.word("library") != "octant") return n;
    throw Refusal("cannot transform n=" + std::to_string(n) + " numbers (a prime factor is larger than 5); try n=" +
                      std::to_string(octant::fft::smooth_at_most(n)),
                  octant::Exit::wrong_word);
}

Part part_of(octant::Knobs const& knobs, int threads) {
    std::string const& word = knobs.word("part");
    if (word == "transform") return Part::transform;
    bool const own = knobs.word("library") == "octant";
    if (word != "plan" && !own)
        throw Refusal("cannot time part=" + word + " of a library; use library=octant", octant::Exit::not_supported);
    if (word == "plan" && !own && threads > 1)  // the planner keeps what it learns in one place for all threads
        throw Refusal("cannot plan with threads=" + std::to_string(threads) +
                          " (FFTW plans in one thread at a time); try --ranks " + std::to_string(threads),
                      octant::Exit::not_supported);
    if (word == "plan") return Part::plan;
    return word == "columns" ? Part::columns : Part::plain_columns;
}

// Stores past the caches pay where three arrays do not fit into a core's second cache: 0.7 of the rate at n = 2^13,
// equal at 2^15, twice at 2^22 (Sapphire Rapids, L2 of 2 MiB).
bool streams(std::string const& word, std::int64_t n) {
    if (word != "auto") return word == "streaming";
    std::int64_t const l2 = octant::cache_bytes(2);
    return 3 * n * static_cast<std::int64_t>(sizeof(Number)) > (l2 > 0 ? l2 : std::int64_t{1} << 20);
}

class Fft {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {.knobs =
                    {
                        {"n",
                         KnobKind::integer,
                         "4194304",
                         "length of the transform; 2^a 3^b 5^c",
                         {},
                         2,
                         std::int64_t{1} << 36},
                        {"library", KnobKind::word, "octant",
                         "octant (built-in), fftw, pyfftw, mkl, armpl, nvpl, or the path of a library with the FFTW 3 "
                         "interface"},
                        {"effort",
                         KnobKind::word,
                         "measure",
                         "planning effort of FFTW",
                         {"estimate", "measure", "patient"}},
                        {"part",
                         KnobKind::word,
                         "transform",
                         "what is timed: the transform, planning, or pass one (columns; plain-columns: without twiddle "
                         "factors)",
                         {"transform", "plan", "columns", "plain-columns"}},
                        {"width",
                         KnobKind::word,
                         "auto",
                         "vector width in bits; auto: the widest",
                         {"auto", "128", "256", "512"}},
                        {"stores",
                         KnobKind::word,
                         "auto",
                         "store instructions of the passes",
                         {"auto", "plain", "streaming"}},
                    },
                .takes = [](int, int threads, octant::Knobs const& knobs) {
                    return octant::refusal_of([&] {
                        static_cast<void>(length_of(knobs));
                        static_cast<void>(part_of(knobs, threads));
                    });
                }};
    }

    explicit Fft(Context& context)
        : context_(context),
          n_(length_of(context.knobs)),
          count_(static_cast<std::size_t>(n_)),
          own_(context.knobs.word("library") == "octant"),
          part_(part_of(context.knobs, context.threads)),
          streaming_(streams(context.knobs.word("stores"), n_)),
          width_(octant::chosen_width(octant::fft::widths<double>(), context.knobs.word("width"))),
          x_(context.buffer<Number>(all())),
          y_(context.buffer<Number>(all())),
          work_(context.buffer<Number>(own_ ? all() : 0)),
          plan_(own_ ? std::make_unique<Plan>(n_, width_) : nullptr),
          scratch_(context.buffer<double>(own_ ? scratch() * static_cast<std::size_t>(context.threads) : 0)) {
        context.watched = {x_.mapping().bytes(), y_.mapping().bytes()};
        if (own_) context.watched.push_back(work_.mapping().bytes());
        note();
        for (int lane = 0; !own_ && lane < context.threads; ++lane) libraries_.push_back(planned(lane, false));
        if (!own_)
            context.notes.insert(context.notes.end(), libraries_[0].facts().begin(), libraries_[0].facts().end());
        context.on_each_thread([&](int lane) {
            fill(lane, [](std::int64_t j) { return octant::fft::input(static_cast<std::uint64_t>(j), seed); });
            std::ranges::fill(part(y_, lane), Number(0));
            if (own_) std::ranges::fill(part(work_, lane), Number(0));
        });
    }

    void chunk(int lane, std::int64_t) {
        switch (part_) {
            case Part::transform:
                return forward(lane);
            case Part::plan:
                return repeat_planning(lane);
            case Part::columns:
                return columns(lane, true);
            case Part::plain_columns:
                return columns(lane, false);
        }
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        if (part_ == Part::plan) return {{"plans", 1}};
        if (part_ != Part::transform) return {{"bytes_read", 16 * n_}, {"bytes_written", 16 * n_}};
        auto const size = static_cast<double>(n_);
        octant::Counts counts{{"nominal_flops", std::llround(5 * size * std::log2(size))}};
        if (!own_) return counts;
        counts.push_back({"flops", plan_->flops()});
        counts.push_back({"bytes_read", 2 * 16 * n_});
        counts.push_back({"bytes_written", 2 * 16 * n_});
        return counts;
    }

    octant::Results verify() {
        std::vector<double> worst(checks * static_cast<std::size_t>(context_.threads));
        context_.on_each_thread([&](int lane) {
            double* const mine = worst.data() + checks * static_cast<std::size_t>(lane);
            mine[inverse] = octant::fft::hpcc_error(error_of_inverse(lane), n_);
            mine[direct] = octant::fft::direct_error(error_of_sums(lane), n_);
            mine[tones] = octant::fft::tone_error(error_of_tones(lane), n_);
        });
        double most[checks] = {};
        for (std::size_t i = 0; i < worst.size(); ++i) keep_worst(most[i % checks], worst[i]);
        octant::Results results{{"HPCC's residual: inverse of the transform against the input, in ln n u",
                                 most[inverse], "1", octant::fft::hpcc_bound},
                                {"difference from direct sums at twelve frequencies, in sqrt(log2 n) u rms",
                                 most[direct], "1", octant::fft::direct_bound},
                                {"difference from the lines of three tones, in sqrt(log2 n) u n", most[tones], "1",
                                 octant::fft::tone_bound}};
        if (part_ == Part::plain_columns)
            results.push_back({"difference of a column from direct sums, in sqrt(log2 n1) u rms", error_of_column(),
                               "1", octant::fft::direct_bound});
        return results;
    }

    void corrupt(std::size_t check) { spoilt_ = check; }

  private:
    [[nodiscard]] std::size_t all() const { return count_ * static_cast<std::size_t>(context_.threads); }
    [[nodiscard]] std::size_t scratch() const { return plan_->scratch_numbers(); }
    [[nodiscard]] std::span<Number> part(octant::Buffer<Number> const& of, int lane) const {
        return of.span().subspan(static_cast<std::size_t>(lane) * count_, count_);
    }
    // The part of a lane, with interleaved real and imaginary parts.
    [[nodiscard]] double* doubles(octant::Buffer<Number> const& of, int lane) const {
        return octant::fft::doubles(part(of, lane).data());
    }

    void note() {
        context_.notes = {{"rule", "optimised"}};
        if (!own_) return;
        context_.notes.emplace_back("library", "octant");
        context_.notes.emplace_back("width", width_.name);
        context_.notes.emplace_back("stores", streaming_ ? "streaming" : "plain");
        context_.notes.emplace_back("matrix", std::to_string(plan_->rows()) + " x " + std::to_string(plan_->columns()));
    }

    [[nodiscard]] Library planned(int lane, bool anew) const {
        return {{.library = context_.knobs.word("library"),
                 .effort = context_.knobs.word("effort"),
                 .forgets = anew,
                 .ours = "octant"},
                {.n = n_},
                doubles(x_, lane),
                doubles(y_, lane)};
    }
    void repeat_planning(int lane) {
        if (own_) {
            Plan const made(n_, width_);
        } else {
            Library const made = planned(lane, true);
        }
    }

    void forward(int lane) {
        if (!own_) return libraries_[static_cast<std::size_t>(lane)].execute();
        plan_->forward(doubles(x_, lane), doubles(work_, lane), doubles(y_, lane), streaming_,
                       scratch_.data() + static_cast<std::size_t>(lane) * scratch());
    }

    void columns(int lane, bool turned) {
        std::int64_t const pitch = plan_->columns();
        Plan::Ends const ends{doubles(x_, lane), pitch, doubles(work_, lane), pitch};
        double* const mine = scratch_.data() + static_cast<std::size_t>(lane) * scratch();
        if (turned)
            plan_->transform_columns(ends, 0, pitch, streaming_, mine);
        else
            plan_->transform_plain_columns(ends, pitch, streaming_, mine);
    }

    void fill(int lane, std::function<Number(std::int64_t)> const& number) {
        auto const x = part(x_, lane);
        for (std::size_t j = 0; j < count_; ++j) x[j] = number(static_cast<std::int64_t>(j));
    }

    // The inverse is the conjugate of the transform of the conjugate, over n.
    double error_of_inverse(int lane) {
        auto const x = part(x_, lane), y = part(y_, lane);
        fill(lane, [](std::int64_t j) { return octant::fft::input(static_cast<std::uint64_t>(j), seed); });
        forward(lane);
        if (spoilt_ == inverse) y[count_ / 2] += 1e-6 * static_cast<double>(n_);
        for (std::size_t k = 0; k < count_; ++k) x[k] = std::conj(y[k]);
        forward(lane);
        double worst = 0;
        for (std::size_t j = 0; j < count_; ++j)
            keep_worst(worst, std::abs(std::conj(y[j]) / static_cast<double>(n_) - octant::fft::input(j, seed)));
        return worst;
    }
    double error_of_sums(int lane) {
        auto const x = part(x_, lane), y = part(y_, lane);
        fill(lane, [](std::int64_t j) { return octant::fft::centred_input(static_cast<std::uint64_t>(j), seed + 1); });
        forward(lane);
        if (spoilt_ == direct) std::ranges::copy(x, y.begin());  // a transform that does nothing, as its inverse would
        auto const frequencies = octant::fft::frequencies(n_, seed);
        auto const sums = octant::fft::direct_sums(x, 0, n_, frequencies);
        double worst = 0;
        for (std::size_t i = 0; i < sums.size(); ++i)
            keep_worst(worst,
                       std::abs(Number(sums[i] - octant::fft::Exact(y[static_cast<std::size_t>(frequencies[i])]))));
        return worst;
    }
    double error_of_tones(int lane) {
        octant::fft::Tones const tones_in(n_, seed);
        auto const y = part(y_, lane);
        fill(lane, [&](std::int64_t j) { return tones_in.input(j); });
        forward(lane);
        if (spoilt_ == tones) std::ranges::rotate(y, y.begin() + 1);
        double worst = 0;
        for (std::size_t k = 0; k < count_; ++k)
            keep_worst(worst, std::abs(y[k] - tones_in.output(static_cast<std::int64_t>(k))));
        return worst;
    }
    // Checks the middle column, in lane 0.
    double error_of_column() {
        fill(0, [](std::int64_t j) { return octant::fft::centred_input(static_cast<std::uint64_t>(j), seed + 1); });
        columns(0, spoilt_ == of_column);  // spoilt: multiplied all the same
        std::int64_t const rows = plan_->rows(), length = std::max<std::int64_t>(rows, 2);
        auto const place = [&](std::int64_t row) {
            return static_cast<std::size_t>(row * plan_->columns() + plan_->columns() / 2);
        };
        std::vector<Number> column;
        for (std::int64_t row = 0; row < rows; ++row) column.push_back(x_[place(row)]);
        auto const frequencies = octant::fft::frequencies(rows, seed);
        auto const sums = octant::fft::direct_sums(column, 0, rows, frequencies);
        double worst = 0;
        for (std::size_t i = 0; i < sums.size(); ++i)
            keep_worst(worst, std::abs(Number(sums[i] - octant::fft::Exact(work_[place(frequencies[i])]))));
        return octant::fft::direct_error(worst, length);
    }

    Context& context_;
    std::int64_t n_;
    std::size_t count_;
    bool own_;
    Part part_;
    bool streaming_;
    octant::fft::Width width_;
    octant::Buffer<Number> x_, y_, work_;  // first: what does not fit is refused before tables are made for it
    std::unique_ptr<Plan> plan_;
    octant::Buffer<double> scratch_;
    std::vector<Library> libraries_;
    std::size_t spoilt_ = SIZE_MAX;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Fft>(argc, argv); }
