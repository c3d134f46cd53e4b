// The discrete Fourier transform of all ranks together: HPC Challenge's global FFT, in natural order.
#include "messages.hpp"

#include "kernels/worst.hpp"
#include "octant/kernel.hpp"
#include "octant/width.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace gfft {
namespace {

using octant::Context;
using octant::Exit;
using octant::keep_worst;
using octant::Refusal;
using octant::fft::Exact;

constexpr std::uint64_t seed = 1;
constexpr std::int64_t longest_piece = std::int64_t{1} << 30;  // of a message: MPI's counts have 32 bits
enum Check : std::size_t { inverse, direct, tones, checks };

void check_length(std::int64_t n, std::int64_t ranks) {
    if (!octant::fft::is_smooth(n))
        throw Refusal("cannot transform n=" + std::to_string(n) +
                          " numbers (n must be 2^a 3^b 5^c); try n=" + std::to_string(octant::fft::smooth_at_most(n)),
                      Exit::wrong_word);
    std::int64_t const rows = octant::fft::Plan::rows_of(n, ranks), columns = n / rows;
    if (std::min(rows, columns) < ranks) {
        std::int64_t side = 1;
        while (side < ranks) side *= 2;
        throw Refusal("cannot transform n=" + std::to_string(n) + " numbers with " + std::to_string(ranks) +
                          " ranks (its matrix of " + std::to_string(rows) + " x " + std::to_string(columns) +
                          " has fewer lines); try n=" + std::to_string(side * side),
                      Exit::wrong_word);
    }
}

std::optional<Refusal> takes(int ranks, int, octant::Knobs const& knobs) {
    return octant::refusal_of([&] {
        check_length(knobs.integer("n"), ranks);
        if (knobs.word("transport") != "shared") check_schedule(knobs.word("schedule"), ranks);
    });
}

// Refuses what the three vectors would not fit into before a plan makes tables for it.
std::int64_t length_of(Context& context) {
    std::int64_t const n = context.knobs.integer("n"), ranks = context.group.size();
    Context trial = context;
    trial.claim(3.0 * sizeof(Number) * static_cast<double>(n / ranks));
    return n;
}

// Whole vectors where all ranks have as many lines then, or where there are so many lines that it makes no difference.
Split split_of(std::int64_t lines, int ranks) {
    constexpr std::int64_t whole = octant::fft::max_lanes;
    bool const equal = lines % (whole * ranks) == 0, many = lines % whole == 0 && lines >= 8 * whole * ranks;
    return {lines, ranks, equal || (many && lines % ranks != 0) ? whole : 1};
}

// Stores past the caches pay where a rank's arrays are far larger than its second cache: of what is sent or read by
// others soon, so much must be written that it would have left the caches anyway. By messages, two ranks (Sapphire
// Rapids, L2 of 2 MiB): 0.85 of the rate of plain stores at n = 2^20, 1.2 at 2^22; measured when what is sent was
// streamed, too, which no longer is.
bool streams(Context const& context, std::int64_t n) {
    std::string const& word = context.knobs.word("stores");
    if (word != "auto") return word == "streaming";
    std::int64_t const known = octant::cache_bytes(2), l2 = known > 0 ? known : std::int64_t{1} << 20;
    std::int64_t const bytes = 3 * n / context.group.size() * static_cast<std::int64_t>(sizeof(Number));
    return bytes > (context.knobs.word("transport") == "messages" ? 16 : 1) * l2;
}

octant::KernelInfo declared() {
    using octant::KnobKind;
    return {
        .knobs =
            {{"n",
              KnobKind::integer,
              "4194304",
              "length of the transform over all ranks; 2^a 3^b 5^c",
              {},
              2,
              std::int64_t{1} << 40},
             {"schedule",
              KnobKind::word,
              "prime",
              "transport=messages: order of the messages of a rank; library: MPI_Ialltoallv",
              {"prime", "ring", "xor", "library"}},
             {"chunks",
              KnobKind::integer,
              "0",
              "transport=messages: number of parts of a pass (three are in flight); 0: parts of about 512 KiB",
              {},
              0,
              65536},
             {"team",
              KnobKind::integer,
              "0",
              "transport=hierarchical: ranks that share memory; 0: all ranks of a node",
              {},
              0,
              1 << 20},
             {"lines",
              KnobKind::word,
              "static",
              "transport=shared: distribution of lines to ranks; dynamic: first come, first served",
              {"static", "dynamic"}},
             {"width", KnobKind::word, "auto", "vector width in bits; auto: the widest", {"auto", "128", "256", "512"}},
             {"stores", KnobKind::word, "auto", "store instructions of the passes", {"auto", "plain", "streaming"}}},
        .pace = octant::Pace::steps,
        .phases = {"columns", "rows", "exchange", "copy"},
        .takes = takes};
}

template <bool of_node>
struct Far : Messages {
    explicit Far(Share& share) : Messages(share, of_node) {}
};

template <class Transport>
class Gfft {
  public:
    static octant::KernelInfo info() { return declared(); }

    explicit Gfft(Context& context)
        : share_(context, octant::chosen_width(octant::fft::widths<double>(), context.knobs.word("width"))),
          transport_(share_) {
        context.notes.insert(context.notes.end(), {{"rule", "optimised"},
                                                   {"stores", share_.streaming ? "streaming" : "plain"},
                                                   {"matrix", std::to_string(share_.plan.rows()) + " x " +
                                                                  std::to_string(share_.plan.columns())}});
    }

    void set_up() {
        transport_.set_up();
        fill([](std::int64_t j) { return octant::fft::input(static_cast<std::uint64_t>(j), seed); });
    }

    void step() { transport_.forward(); }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        auto const size = static_cast<double>(share_.n), part = static_cast<double>(share_.in()) / size;
        auto const moved = static_cast<std::int64_t>(sizeof(Number) * (share_.in() + share_.out()));
        return {{"nominal_flops", std::llround(5 * size * std::log2(size) * part)},
                {"flops", std::llround(static_cast<double>(share_.plan.flops()) * part)},
                {"bytes_read", moved},
                {"bytes_written", moved},
                {"bytes_sent", transport_.bytes_sent()},
                {"messages", transport_.messages()}};
    }

    octant::Results verify() {
        double const residual = octant::fft::hpcc_error(error_of_inverse(), share_.n);
        double const sums = octant::fft::direct_error(error_of_sums(), share_.n);
        double const lines = octant::fft::tone_error(error_of_tones(), share_.n);
        return {{"HPCC's residual: inverse of the transform against the input, in ln n u", residual, "1",
                 octant::fft::hpcc_bound},
                {"difference from direct sums at twelve frequencies, in sqrt(log2 n) u rms", sums, "1",
                 octant::fft::direct_bound},
                {"difference from the lines of three tones, in sqrt(log2 n) u n", lines, "1", octant::fft::tone_bound}};
    }

    void corrupt(std::size_t check) { spoilt_ = check; }

  private:
    void fill(std::function<Number(std::int64_t)> const& number) {
        auto const x = transport_.x();
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = number(share_.first_in() + static_cast<std::int64_t>(j));
        transport_.publish();
    }
    [[nodiscard]] double worst_of_all(double mine) const {  // a NaN is the worst
        return share_.context.group.max(std::isnan(mine) ? std::numeric_limits<double>::infinity() : mine);
    }

    // The inverse is the conjugate of the transform of the conjugate, over n.
    double error_of_inverse() {
        auto const x = transport_.x(), y = transport_.y();
        fill([](std::int64_t j) { return octant::fft::input(static_cast<std::uint64_t>(j), seed); });
        step();
        if (spoilt_ == inverse) y[y.size() / 2] += 1e-6 * static_cast<double>(share_.n);
        std::ranges::transform(y, y.begin(), [](Number z) { return std::conj(z); });
        to_input(y, x);
        transport_.publish();
        step();
        double worst = 0;
        for (std::size_t j = 0; j < y.size(); ++j)
            keep_worst(worst, std::abs(std::conj(y[j]) / static_cast<double>(share_.n) -
                                       octant::fft::input(static_cast<std::uint64_t>(share_.first_out()) + j, seed)));
        return worst_of_all(worst);
    }

    // Numbers of all ranks that lie as the transform does, to where the input has them.
    void to_input(std::span<Number const> from, std::span<Number> to) const {
        using At = std::int64_t;
        auto const in = [&](At rank) { return share_.rows.first(rank) * share_.plan.columns(); };
        auto const out = [&](At rank) { return share_.columns.first(rank) * share_.plan.rows(); };
        auto const common = [](At first, At end, At other, At other_end) {  // where it begins, and its length
            At const begin = std::max(first, other), length = std::min(end, other_end) - begin;
            return length > 0 ? std::pair(begin - first, length) : std::pair(At{0}, At{0});
        };
        std::vector<MPI_Request> requests;
        int const me = share_.rank;
        for (int rank = 0; rank < share_.ranks; ++rank) {
            auto const [go, going] = common(out(me), out(me + 1), in(rank), in(rank + 1));
            auto const [take, coming] = common(in(me), in(me + 1), out(rank), out(rank + 1));
            if (rank == me) {
                std::copy_n(from.data() + go, going, to.data() + take);
                continue;
            }
            for (At at = 0; at < coming; at += longest_piece)
                octant::check(MPI_Irecv(to.data() + take + at, static_cast<int>(std::min(longest_piece, coming - at)),
                                        MPI_C_DOUBLE_COMPLEX, rank, 0, share_.context.group.get(),
                                        &requests.emplace_back()));
            for (At at = 0; at < going; at += longest_piece)
                octant::check(MPI_Isend(from.data() + go + at, static_cast<int>(std::min(longest_piece, going - at)),
                                        MPI_C_DOUBLE_COMPLEX, rank, 0, share_.context.group.get(),
                                        &requests.emplace_back()));
        }
        octant::check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    }

    double error_of_sums() {
        auto const x = transport_.x(), y = transport_.y();
        fill([](std::int64_t j) { return octant::fft::centred_input(static_cast<std::uint64_t>(j), seed + 1); });
        step();
        if (spoilt_ == direct)
            std::copy_n(x.begin(), std::min(x.size(), y.size()),
                        y.begin());  // a transform that does nothing, as its inverse would
        auto const frequencies = octant::fft::frequencies(share_.n, seed);
        auto const sums = all_sums(octant::fft::direct_sums(x, share_.first_in(), share_.n, frequencies));
        double worst = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            std::int64_t const at = frequencies[i] - share_.first_out();
            if (at < 0 || at >= static_cast<std::int64_t>(share_.out())) continue;
            keep_worst(worst, std::abs(Number(sums[i] - Exact(y[static_cast<std::size_t>(at)]))));
        }
        return worst_of_all(worst);
    }

    // The sum over ranks, each rank's as two doubles: not every library adds long doubles of another.
    [[nodiscard]] std::vector<Exact> all_sums(std::vector<Exact> const& mine) const {
        std::vector<double> parts;
        for (Exact const& sum : mine)
            for (long double const part : {sum.real(), sum.imag()}) {
                auto const high = static_cast<double>(part);
                parts.insert(parts.end(), {high, static_cast<double>(part - static_cast<long double>(high))});
            }
        int const count = static_cast<int>(parts.size());
        std::vector<double> all(parts.size() * static_cast<std::size_t>(share_.ranks));
        octant::check(
            MPI_Allgather(parts.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, share_.context.group.get()));
        std::vector<Exact> sums(mine.size());
        for (std::size_t i = 0; i < all.size(); i += 4)
            sums[i / 4 % mine.size()] +=
                Exact(static_cast<long double>(all[i]) + static_cast<long double>(all[i + 1]),
                      static_cast<long double>(all[i + 2]) + static_cast<long double>(all[i + 3]));
        return sums;
    }

    double error_of_tones() {
        octant::fft::Tones const tones_in(share_.n, seed);
        auto const y = transport_.y();
        fill([&](std::int64_t j) { return tones_in.input(j); });
        step();
        if (spoilt_ == tones) std::ranges::rotate(y, y.begin() + 1);
        double worst = 0;
        for (std::size_t k = 0; k < y.size(); ++k)
            keep_worst(worst, std::abs(y[k] - tones_in.output(share_.first_out() + static_cast<std::int64_t>(k))));
        fill([](std::int64_t j) { return octant::fft::input(static_cast<std::uint64_t>(j), seed); });
        return worst_of_all(worst);
    }

    Share share_;
    Transport transport_;
    std::size_t spoilt_ = checks;
};

}  // namespace

Share::Share(Context& of, octant::fft::Width const& width)
    : context(of),
      n(length_of(of)),
      ranks(of.group.size()),
      rank(of.group.rank()),
      plan(n, width, ranks),
      rows(split_of(plan.rows(), ranks)),
      columns(split_of(plan.columns(), ranks)),
      streaming(streams(of, n)),
      scratch(of.buffer<double>(plan.scratch_numbers())) {
    std::ranges::fill(scratch.span(), 0.0);
}

}  // namespace gfft

int main(int argc, char** argv) {
    using namespace gfft;
    return octant::run_rows(argc, argv, "transport",
                            {octant::row<Gfft<Shared>>("shared"), octant::row<Gfft<Far<false>>>("messages"),
                             octant::row<Gfft<Far<true>>>("hierarchical")});
}
