// pattern=contiguous: each thread goes through its own parts of the arrays from the first element to the last.
#include "arrays.hpp"
#include "variants.hpp"

#include "kernels/worst.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stream {
namespace {

using octant::Context;

constexpr std::ptrdiff_t block = 64;         // doubles that lengths are multiples of
constexpr std::ptrdiff_t max_piece = 65536;  // doubles of a chunk and array
constexpr double trial_s = 1e-3;             // that a trial of a way to store lasts at least
constexpr int min_trials = 5, max_trials = 20;
constexpr double enough_s = 0.25;  // of all trials beyond the least number, but no longer than a point may take

class Contiguous {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs()}; }

    explicit Contiguous(Context& context)
        : context_(context),
          kind_index_(kind_index(context.knobs.word("kernel"))),
          kind_(kind_of(kind_index_)),
          width_(octant::chosen_width(widths(), context.knobs.word("width"))),
          candidates_(variants_of(context, kind_index_, width_)),
          shared_(shares(context)),
          ahead_(doubles(context, "prefetch")),
          small_(whole(elements() / pieces())),
          length_(pieces() * small_),
          a_(context, parts(), kind_.has_a() ? length_ : 0, skew(0), Guards::lines),
          b_(context, parts(), kind_.has_b() ? length_ : 0, skew(1), Guards::none),
          c_(context, parts(), kind_.has_c() ? length_ : 0, skew(2), Guards::none),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.on_each_thread([&](int lane) { set_up_lane(lane); });
        use(candidates_.front());
        context.notes.emplace_back("width", width_.name);
        context.note_rounded(context.knobs.integer("bytes"), 8 * kind_.arrays * length_ * parts());
    }

    // store=best: measures all kinds of stores, one after the other, on all lanes at once. All ranks make the same
    // choice.
    void set_up() {
        if (candidates_.size() == 1) return;
        std::vector<double> min_s(candidates_.size(), std::numeric_limits<double>::infinity());
        double const max_s = std::min(enough_s, context_.knobs.real("seconds"));
        double spent_s = 0;
        for (int trial = 0; trial < min_trials || (trial < max_trials && spent_s < max_s); ++trial)
            spent_s += context_.seconds_of([&] {
                for (std::size_t i = 0; i < candidates_.size(); ++i)
                    min_s[i] = std::min(min_s[i], seconds_of_a_pass(candidates_[i]));
            });
        for (double& one : min_s) one = context_.group.max(one);
        use(candidates_[static_cast<std::size_t>(std::ranges::min_element(min_s) - min_s.begin())]);
        context_.notes.emplace_back("store", now_.name);
    }

    // The lane's next piece. Its place is kept: two divisions for `index` took a sixth of the time in the first cache.
    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        std::ptrdiff_t const at = mine.next;
        mine.sum = loop_(mine.a + at, mine.b + at, mine.c + at, piece_, ahead_);
        if (drains_) octant::drain_stores();
        mine.next = at + piece_ < length_ ? at + piece_ : 0;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"bytes_read", 8 * piece_ * kind_.arrays_read},
                {"bytes_written", 8 * piece_ * kind_.arrays_written},
                {"bytes_allocated", now_.allocates ? 8 * piece_ * kind_.arrays_allocated : 0},
                {"flops", piece_ * kind_.flops}};
    }

    // Every element, or every piece's sum, against the plain expression.
    octant::Results verify() {
        if (!corrupted_) recompute(piece_);
        std::vector<double> worst(lanes_.size(), 0.0), guards(lanes_.size(), 0.0);
        context_.on_each_thread([&](int lane) {
            auto const l = static_cast<std::size_t>(lane);
            worst[l] = std::abs(lanes_[l].sum_error);
            for (std::ptrdiff_t i = 0; i < length_ && kind_.has_a(); ++i) {
                std::size_t const n = index(lane, i);
                octant::keep_worst(worst[l], std::abs(a_.part(lane)[i] - kind_.plain(b_at(n), c_at(n))));
            }
            guards[l] = a_.guards_written(lane);
        });
        double most = 0, written_outside = 0;
        for (double const error : worst) octant::keep_worst(most, error);
        for (double const one : guards) written_outside += one;
        octant::Results found{{"largest difference from the plain loop", most, "1", 0}};
        if (kind_.has_a()) found.push_back({"elements written outside of the results", written_outside, "1", 0});
        return found;
    }

    // Each call ends a line too early, or what comes last a line too late.
    void corrupt(std::size_t check) {
        recompute(check == 0 ? piece_ - (kind_.has_a() ? line : block) : piece_ + line);
        corrupted_ = true;
    }

  private:
    struct alignas(128) Lane {  // two lanes never share a cache line
        double *a = nullptr, *b = nullptr, *c = nullptr;
        std::ptrdiff_t next = 0;  // where its next piece begins
        double sum = 0;           // of the piece before
        double sum_error = 0;
    };

    [[nodiscard]] bool shares(Context const& context) const {
        if (context.knobs.word("data") == "private") return false;
        if (!kind_.has_a()) return true;
        throw octant::Refusal("cannot use data=shared with kernel=" + context.knobs.word("kernel") +
                                  " (threads would write the same elements); use kernel=load",
                              octant::Exit::not_supported);
    }
    [[nodiscard]] static std::ptrdiff_t whole(std::ptrdiff_t elements) {
        return std::max<std::ptrdiff_t>(block, elements / block * block);
    }
    [[nodiscard]] std::size_t index(int part, std::ptrdiff_t i) const {  // among the elements of all parts
        return static_cast<std::size_t>(part * length_ + i);
    }
    [[nodiscard]] int parts() const { return shared_ ? 1 : context_.threads; }
    [[nodiscard]] std::ptrdiff_t elements() const {  // of a part
        return context_.knobs.integer("bytes") / (8 * kind_.arrays * parts());
    }
    // Equal pieces that fill the part completely, so that the chunks cover the requested bytes.
    [[nodiscard]] std::ptrdiff_t pieces() const { return (elements() - 1) / max_piece + 1; }
    [[nodiscard]] std::ptrdiff_t skew(int number) const {
        std::string const& align = context_.knobs.word("align");
        return (align == "page" ? 0 : std::stoi(align) / 8) + number * doubles(context_, "offset");
    }

    // For shared data, each lane first touches an equal part, and begins to read there.
    void set_up_lane(int lane) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        int const part = shared_ ? 0 : lane;
        mine.a = a_.part(part), mine.b = b_.part(part), mine.c = c_.part(part);
        std::ptrdiff_t const all = length_ / small_, sharers = shared_ ? context_.threads : 1;
        std::ptrdiff_t const first = all * (shared_ ? lane : 0) / sharers * small_;
        std::ptrdiff_t const last = all * (shared_ ? lane + 1 : 1) / sharers * small_;
        for (std::ptrdiff_t i = first; i < last; ++i) {
            std::size_t const n = index(part, i);
            if (kind_.has_a()) mine.a[i] = b_at(n);
            if (kind_.has_b()) mine.b[i] = b_at(n);
            if (kind_.has_c()) mine.c[i] = c_at(n);
        }
        if (kind_.has_a()) a_.guard_part(part);
        mine.next = first < length_ ? first : 0;
    }

    void use(Variant const& variant) {
        now_ = variant, loop_ = variant.loop, drains_ = variant.drains;
        piece_ = variant.whole ? length_ : small_;
        if (variant.whole)
            for (Lane& lane : lanes_) lane.next = 0;
    }

    [[nodiscard]] double seconds_of_a_pass(Variant const& variant) {
        use(variant);
        std::int64_t passes = 1;
        for (;; passes *= 2) {
            double const took_s = context_.seconds_of([&] {
                context_.on_each_thread([&](int lane) {
                    for (std::int64_t i = 0; i < passes * (length_ / piece_); ++i) chunk(lane, i);
                });
            });
            if (took_s >= trial_s) return took_s / static_cast<double>(passes);
        }
    }

    // Runs every chunk of every lane once, over results that were wiped, with `n` elements a call; compares the sums
    // where there is only a sum.
    void recompute(std::ptrdiff_t n) {
        context_.on_each_thread([&](int lane) {
            Lane& mine = lanes_[static_cast<std::size_t>(lane)];
            bool const updates = kind_.has_a() && kind_.arrays_allocated == 0;
            for (std::ptrdiff_t i = 0; i < length_ && kind_.has_a(); ++i)
                mine.a[i] = updates ? b_at(index(lane, i)) : -1;
            mine.sum_error = 0;
            for (std::ptrdiff_t at = 0; at < length_; at += piece_) {
                double const sum = now_.loop(mine.a + at, mine.b + at, mine.c + at, n, ahead_);
                if (now_.drains) octant::drain_stores();
                double expected = 0;
                for (std::ptrdiff_t i = at; i < at + piece_ && !kind_.has_a(); ++i)
                    expected += b_at(index(shared_ ? 0 : lane, i));
                octant::keep_worst(mine.sum_error, std::abs(sum - expected));
            }
        });
    }

    Context& context_;
    std::size_t kind_index_;
    Kind const& kind_;
    Width width_;
    std::vector<Variant> candidates_;
    bool shared_;
    std::ptrdiff_t ahead_, small_, length_;
    std::ptrdiff_t piece_ = 0;
    Loop loop_ = nullptr;
    bool drains_ = false;
    Array a_, b_, c_;
    std::vector<Lane> lanes_;
    Variant now_;
    bool corrupted_ = false;
};

}  // namespace

octant::Row contiguous_row() { return octant::row<Contiguous>("contiguous"); }

}  // namespace stream
