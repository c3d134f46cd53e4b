// Sustained memory bandwidth: McCalpin's four loops over arrays of doubles, and a loop that only reads.
#include "loops.hpp"

#include "kernels/worst.hpp"
#include "octant/kernel.hpp"
#include "octant/width.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using octant::Buffer;
using octant::Context;
using octant::Refusal;

struct Kind {
    char const* name;
    int arrays_read, arrays_written, flops;
    double (*plain)(double b, double c);  // the oracle
};
constexpr Kind kinds[] = {
    {"load", 1, 0, 1, [](double b, double) { return b; }},
    {"copy", 1, 1, 0, [](double b, double) { return b; }},
    {"scale", 1, 1, 1, [](double b, double) { return stream::factor * b; }},
    {"add", 2, 1, 1, [](double b, double c) { return b + c; }},
    {"triad", 2, 1, 2, [](double b, double c) { return b + stream::factor * c; }},
};

std::size_t kind_index(std::string const& name) {
    auto const found = std::ranges::find(kinds, name, &Kind::name);
    return static_cast<std::size_t>(found - std::begin(kinds));
}

struct Width {
    std::string name;
    stream::Table loops;
};

// The vector widths of this processor, narrow to wide.
std::vector<Width> widths() {
    std::vector<Width> found{{"scalar", stream::scalar_loops()}, {"128", stream::loops_128()}};
    if constexpr (octant::x86) {
        if (octant::has_avx2()) found.push_back({"256", stream::loops_256()});
        if (octant::has_avx512()) found.push_back({"512", stream::loops_512()});
    }
    return found;
}

bool streams(std::string const& store) {
    if (store == "streaming" && !octant::has_streaming_stores)
        throw Refusal("cannot use store=streaming (no such instruction in this build); try store=plain",
                      octant::Exit::not_supported);
    return store == "streaming";
}

class Stream {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {
            .knobs = {{"kernel", KnobKind::word, "triad", "which loop", {"load", "copy", "scale", "add", "triad"}},
                      {"bytes", KnobKind::bytes, "256MiB", "footprint of all arrays and threads of a rank", {}, 3072},
                      {"store", KnobKind::word, "plain", "plain, or streaming past the caches", {"plain", "streaming"}},
                      {"width",
                       KnobKind::word,
                       "auto",
                       "vector bits; auto: the widest",
                       {"auto", "scalar", "128", "256", "512"}}}};
    }

    explicit Stream(Context& context)
        : context_(context),
          kind_(kind_index(context.knobs.word("kernel"))),
          width_(octant::chosen_width(widths(), context.knobs.word("width"))),
          streaming_(streams(context.knobs.word("store"))),
          loop_((streaming_ ? width_.loops.streaming : width_.loops.plain)[kind_]),
          lanes_(static_cast<std::size_t>(context.threads)),
          arrays_(kinds[kind_].arrays_read + kinds[kind_].arrays_written),
          piece_(whole(elements(context) / pieces(context))),
          slice_(pieces(context) * piece_),
          a_(context.buffer<double>(kinds[kind_].arrays_written == 1 ? total() : 0)),
          b_(context.buffer<double>(total())),
          c_(context.buffer<double>(kinds[kind_].arrays_read == 2 ? total() : 0)) {
        context.on_each_thread([&](int lane) {
            for (std::size_t i = first(lane); i < first(lane + 1); ++i) {
                if (a_.size() > 0) a_[i] = 0;
                b_[i] = b_at(i);
                if (c_.size() > 0) c_[i] = c_at(i);
            }
            lanes_[static_cast<std::size_t>(lane)].next = lane * slice_;
        });
        context.watched = {b_.mapping().bytes()};
        if (a_.size() > 0) context.watched.push_back(a_.mapping().bytes());
        context.notes = {{"width", width_.name}};
        context.note_rounded(context.knobs.integer("bytes"), 8 * arrays_ * slice_ * context.threads);
    }

    // The lane's next piece. Its place is kept: two divisions for `index` took a sixth of the time in the first cache.
    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        std::ptrdiff_t const at = mine.next;
        mine.sum = loop_(a_.data() + at, b_.data() + at, c_.data() + at, piece_);
        if (streaming_) octant::drain_stores();
        mine.next = at + piece_ < (lane + 1) * slice_ ? at + piece_ : lane * slice_;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        Kind const& kind = kinds[kind_];
        return {{"bytes_read", 8 * piece_ * kind.arrays_read},
                {"bytes_written", 8 * piece_ * kind.arrays_written},
                {"bytes_allocated", streaming_ ? 0 : 8 * piece_ * kind.arrays_written},
                {"flops", piece_ * kind.flops}};
    }

    // Every element, or every piece's sum, against the plain expression. The values are small whole numbers, so that
    // each result is exact in whatever order it is computed.
    octant::Results verify() {
        if (!corrupted_) redo();
        std::vector<double> worst(static_cast<std::size_t>(context_.threads), 0.0);
        context_.on_each_thread([&](int lane) {
            double most = std::abs(sum_errors_[static_cast<std::size_t>(lane)]);
            for (std::size_t i = first(lane); i < first(lane + 1) && a_.size() > 0; ++i) {
                double const error = std::abs(a_[i] - kinds[kind_].plain(b_at(i), c_at(i)));
                octant::keep_worst(most, error);
            }
            worst[static_cast<std::size_t>(lane)] = most;
        });
        double most = 0;
        for (double const error : worst) most = error <= most ? most : error;
        return {{"largest difference from the plain loop", most, "1", 0}};
    }

    void corrupt(std::size_t) {
        redo();
        corrupted_ = true;
        if (a_.size() > 0)
            a_[a_.size() / 2] += 1;
        else
            sum_errors_[0] += 1;
    }

  private:
    struct alignas(64) Lane {
        std::ptrdiff_t next = 0;  // where its next piece begins
        double sum = 0;           // of the piece before
    };
    [[nodiscard]] static std::ptrdiff_t whole(std::ptrdiff_t elements) {
        return std::max<std::ptrdiff_t>(64, elements / 64 * 64);
    }
    [[nodiscard]] std::ptrdiff_t elements(Context const& context) const {  // of one array and thread
        return context.knobs.integer("bytes") / (8 * arrays_ * context.threads);
    }
    // As many equal pieces of at most 64 Ki elements as fill the slice: the chunks cover what was asked for.
    [[nodiscard]] std::ptrdiff_t pieces(Context const& context) const { return (elements(context) - 1) / 65536 + 1; }
    [[nodiscard]] std::size_t total() const { return static_cast<std::size_t>(slice_ * context_.threads); }
    [[nodiscard]] std::size_t first(int lane) const { return static_cast<std::size_t>(slice_ * lane); }
    // Ten scattered bits: no power-of-two period, so that a result from another place is a wrong one.
    static double b_at(std::size_t i) {
        return static_cast<double>((static_cast<std::uint32_t>(i) * 0x9E3779B1U) >> 22);
    }
    static double c_at(std::size_t i) {
        return static_cast<double>((static_cast<std::uint32_t>(i) * 0x85EBCA6BU) >> 22);
    }

    // Runs every chunk of every lane once, over results that were wiped; compares the sums where there is only a sum.
    void redo() {
        sum_errors_.assign(static_cast<std::size_t>(context_.threads), 0.0);
        context_.on_each_thread([&](int lane) {
            auto const l = static_cast<std::size_t>(lane);
            for (std::size_t i = first(lane); i < first(lane + 1) && a_.size() > 0; ++i) a_[i] = -1;
            for (std::int64_t index = 0; index < slice_ / piece_; ++index) {
                auto const from = static_cast<std::size_t>(lanes_[l].next);
                chunk(lane, index);
                if (a_.size() > 0) continue;
                double expected = 0;
                for (std::size_t i = from; i < from + static_cast<std::size_t>(piece_); ++i) expected += b_at(i);
                sum_errors_[l] = std::max(sum_errors_[l], std::abs(lanes_[l].sum - expected));
            }
        });
    }

    Context& context_;
    std::size_t kind_;
    Width width_;
    bool streaming_;
    stream::Loop loop_;
    std::vector<Lane> lanes_;
    std::vector<double> sum_errors_;
    std::ptrdiff_t arrays_, piece_, slice_;
    Buffer<double> a_, b_, c_;
    bool corrupted_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Stream>(argc, argv); }
