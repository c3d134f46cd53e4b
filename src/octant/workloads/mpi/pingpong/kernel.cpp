// One message there and back between the first rank and the last.
#include "octant/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace {

// The byte that `rank` sends at `index` in pass `pass`: every byte of every message of a run can be told from the
// others.
constexpr std::uint8_t pattern(int rank, std::size_t index, int pass) {
    auto const mixed =
        (static_cast<std::uint32_t>(index) + 0x9E3779B9U * static_cast<std::uint32_t>(rank + 1)) * 0x85EBCA6BU +
        0xC2B2AE35U * static_cast<std::uint32_t>(pass + 1);
    return static_cast<std::uint8_t>(mixed >> 24);
}

class PingPong {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {
            .knobs =
                {{"bytes", KnobKind::bytes, "8", "length of a message", {}, 0, std::numeric_limits<int>::max()},
                 {"buffers",
                  KnobKind::word,
                  "hot",
                  "hot: the same one each time; rotating: never one that a cache still holds",
                  {"hot", "rotating"}},
                 {"rotation", KnobKind::bytes, "64MiB", "how far rotating buffers walk before they return", {}, 4096}},
            .pace = octant::Pace::steps,
            .sync = octant::Sync::none,
            .roles = {{.name = "caller"}, {.name = "answerer", .timed = false}, {.name = "idle", .timed = false}},
            .least_ranks = 2};
    }

    explicit PingPong(octant::Context& context)
        : group_(context.group),
          bytes_(static_cast<std::size_t>(context.knobs.integer("bytes"))),
          stride_((bytes_ + 63) / 64 * 64 + 64),
          peer_(group_.rank() == 0 ? group_.size() - 1 : 0),
          plays_(group_.rank() == 0 || group_.rank() == group_.size() - 1),
          slots_(context.knobs.word("buffers") == "hot"
                     ? 1
                     : std::max<std::size_t>(2, static_cast<std::size_t>(context.knobs.integer("rotation")) / stride_)),
          out_(context.buffer<std::uint8_t>(plays_ ? slots_ * stride_ : 1)),
          in_(context.buffer<std::uint8_t>(out_.size())) {
        std::ranges::fill(out_.span(), std::uint8_t{1});
        std::ranges::fill(in_.span(), std::uint8_t{2});
        context.watched = {&out_.mapping(), &in_.mapping()};
    }

    void step() {
        if (!plays_) return;
        std::size_t const at = slot_ * stride_;
        slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
        exchange(out_.data() + at, in_.data() + at, MPI_STATUS_IGNORE);
    }

    // The caller's time there and back is a step's time.
    [[nodiscard]] std::size_t role(int) const { return group_.rank() == 0 ? 0 : plays_ ? 1 : 2; }

    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role == 2) return {};
        return {{"bytes_sent", static_cast<std::int64_t>(bytes_)}, {"messages", 1}};
    }

    // Other contents in each pass, compared byte for byte, and the length that MPI says arrived.
    octant::Results verify() {
        double wrong = corrupted_ && !plays_ ? 1 : 0;
        for (int pass = 0; pass < 3 && plays_; ++pass) {
            std::size_t const at = stride_ * (pass == 2 ? slots_ - 1 : 0);
            std::uint8_t* const out = out_.data() + at;
            std::uint8_t* const in = in_.data() + at;
            for (std::size_t i = 0; i < bytes_; ++i) out[i] = pattern(group_.rank(), i, pass);
            std::fill_n(in, stride_, std::uint8_t{0});
            MPI_Status status;
            exchange(out, in, &status);
            int count = -1;
            octant::check(MPI_Get_count(&status, MPI_BYTE, &count));
            if (corrupted_) in[0] = static_cast<std::uint8_t>(pattern(peer_, 0, pass) + 1);
            wrong += std::abs(static_cast<double>(bytes_) - count) + (corrupted_ && bytes_ == 0 ? 1 : 0);
            for (std::size_t i = 0; i < bytes_; ++i) wrong += in[i] != pattern(peer_, i, pass) ? 1 : 0;
        }
        return {{"bytes that did not arrive as they were sent", wrong, "1", 0}};
    }

    void corrupt(std::size_t) { corrupted_ = true; }

  private:
    void exchange(std::uint8_t const* out, std::uint8_t* in, MPI_Status* status) const {
        int const count = static_cast<int>(bytes_);
        if (group_.rank() == 0) {
            octant::check(MPI_Send(out, count, MPI_BYTE, peer_, 0, group_.get()));
            octant::check(MPI_Recv(in, count, MPI_BYTE, peer_, 0, group_.get(), status));
        } else {
            octant::check(MPI_Recv(in, count, MPI_BYTE, peer_, 0, group_.get(), status));
            octant::check(MPI_Send(out, count, MPI_BYTE, peer_, 0, group_.get()));
        }
    }

    octant::Comm const& group_;
    std::size_t bytes_, stride_;
    int peer_;
    bool plays_;
    std::size_t slots_;
    octant::Buffer<std::uint8_t> out_, in_;
    std::size_t slot_ = 0;
    bool corrupted_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<PingPong>(argc, argv); }
