// Common parts of the rows: knobs, message buffers, and the check of received data.
#pragma once

#include "kernels/pattern.hpp"
#include "octant/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace p2p {

// The knobs of every row; a row adds its roles, pace and phases.
[[nodiscard]] octant::KernelInfo shared_info();

// Rows by family, in the order in which they are offered.
[[nodiscard]] std::vector<octant::Row> pair_rows();
[[nodiscard]] std::vector<octant::Row> ring_rows();
[[nodiscard]] std::vector<octant::Row> window_rows();
[[nodiscard]] std::vector<octant::Row> halo_rows();
[[nodiscard]] std::vector<octant::Row> persistent_rows();
[[nodiscard]] std::vector<octant::Row> type_rows();
[[nodiscard]] std::vector<octant::Row> matching_rows();
[[nodiscard]] std::vector<octant::Row> large_rows();

// One message of a step: whom it goes to or comes from, and which of its sender's messages of the step it is.
struct Piece {
    int rank;
    int number;
};

// Layout of a message: blocks of `block` bytes at a distance of `pitch` bytes; both are equal if it is contiguous.
struct Shape {
    std::size_t bytes, block, pitch;
    [[nodiscard]] std::size_t extent() const noexcept {
        return block == 0 ? 0 : (bytes + block - 1) / block * pitch - (pitch - block);
    }
};

// Buffers for messages, used round-robin: the same few each time (hot), or all of a larger piece of memory (rotating).
class Places {
  public:
    // `room`: number of buffers that a check needs at once; `hot`: number of buffers that are used with hot buffers. No
    // memory is allocated if `room` is 0.
    Places(octant::Context& context, std::size_t extent, std::size_t room, std::size_t hot);

    [[nodiscard]] std::size_t next() noexcept {  // the number of a place
        std::size_t const found = at_;
        at_ = at_ + 1 == last_ ? first_ : at_ + 1;
        return found;
    }
    [[nodiscard]] std::uint8_t* operator[](std::size_t place) const noexcept {
        return memory_.data() + place * stride_;
    }
    [[nodiscard]] std::span<std::uint8_t> whole(std::size_t place) const noexcept { return {(*this)[place], stride_}; }
    // Only `count` of them from now on: the first or, `far`, the last.
    void narrow(std::size_t count, bool far) noexcept;
    void widen() noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] octant::Mapping const& mapping() const noexcept { return memory_.mapping(); }

  private:
    std::size_t stride_, walked_, count_;
    octant::Buffer<std::uint8_t> memory_;
    std::size_t first_ = 0, last_, at_ = 0;
};

// The messages that one rank sends and receives in a step. A row sends what `next_out()` gives, receives into
// `next_in()`, and never looks into them; contents are compared in a separate pass.
class Messages {
  public:
    // Faults that are injected; the first three are also the numbers of the checks that see nothing else.
    enum Fault { flipped, shorter, beyond, stale, swapped };
    struct Room {
        std::size_t out = 1, in = 1;          // most messages of a checked step; 0: none
        std::size_t hot_out = 1, hot_in = 1;  // number of hot buffers
    };
    Messages(octant::Context& context, Room room) : Messages(context, room, one_piece(context)) {}
    Messages(octant::Context& context, Room room, Shape shape);

    [[nodiscard]] std::uint8_t* next_out() noexcept { return out_[out_.next()]; }
    [[nodiscard]] std::uint8_t* next_in() noexcept { return in_[in_.next()]; }
    [[nodiscard]] Places& out() noexcept { return out_; }
    [[nodiscard]] Places& in() noexcept { return in_; }
    [[nodiscard]] int count() const noexcept { return count_; }  // bytes of a message, as MPI counts
    [[nodiscard]] int sent() const noexcept { return sent_; }    // those to send: fewer where a fault is injected
    [[nodiscard]] std::int64_t bytes() const noexcept { return count_; }
    [[nodiscard]] int from(int rank) const noexcept { return any_ ? MPI_ANY_SOURCE : rank; }  // by the knob `source`

    // Number of messages of a window that are compared: more would need more memory than the window itself.
    [[nodiscard]] static int checked(octant::Context const& context);

    // Sends contents that differ in each pass and compares what arrives. `out` and `in` in the order of next_out() and
    // next_in(); `transfer` does one step and leaves the status of each receive, in the order of `in`.
    [[nodiscard]] octant::Results verify(std::vector<Piece> const& out, std::vector<Piece> const& in,
                                         std::function<void(MPI_Status*)> const& transfer);
    [[nodiscard]] int fault() const noexcept { return fault_; }
    // A message without gaps. Throws Refusal: an int does not count so many bytes.
    [[nodiscard]] static Shape one_piece(octant::Context const& context);
    // Fault injected into the next verification: see README.md, "How it is verified".
    void corrupt(std::size_t fault) noexcept { fault_ = static_cast<int>(fault); }

  private:
    void fill(std::vector<Piece> const& out, int pass);
    void poison(std::vector<Piece> const& in, int pass);
    void compare(std::vector<Piece> const& in, int pass, std::span<MPI_Status> statuses);
    void compare_one(std::uint8_t const* place, Piece const& piece, int pass);
    void compare_unused_bytes(std::span<std::uint8_t const> place, Piece const& piece);
    void compare_length(Piece const& piece, MPI_Status& status);

    Shape shape_;
    int rank_;
    bool any_;
    int count_, sent_;
    Places out_, in_;
    octant::Mismatch contents_, lengths_, others_;
    int fault_ = -1;
};

// The status of one receive for MPI, where `all` may be none.
[[nodiscard]] inline MPI_Status* status_of(MPI_Status* all, int receive) noexcept {
    return all == nullptr ? MPI_STATUS_IGNORE : all + receive;
}
[[nodiscard]] inline MPI_Status* statuses_of(MPI_Status* all) noexcept {
    return all == nullptr ? MPI_STATUSES_IGNORE : all;
}

// The first and the last rank of a group; the others are idle.
struct Pair {
    explicit Pair(octant::Comm const& group)
        : calls(group.rank() == 0),
          plays(calls || group.rank() == group.size() - 1),
          peer(calls ? group.size() - 1 : 0) {}
    bool calls, plays;
    int peer;
    [[nodiscard]] std::size_t role() const noexcept { return calls ? 0 : plays ? 1 : 2; }
    [[nodiscard]] static std::vector<octant::Role> roles() {
        return {{.name = "caller"}, {.name = "answerer", .timed = false}, {.name = "idle", .timed = false}};
    }
};

// A right neighbour and a left one, for every rank of a group.
struct Ring {
    explicit Ring(octant::Comm const& group)
        : right((group.rank() + 1) % group.size()), left((group.rank() + group.size() - 1) % group.size()) {}
    int right, left;
};

// The operations of a rank in a step. Two counts of the first rank of the group implement IMB's definition of a
// pattern: its time is divided by `turns`, and its bandwidth is computed from `bytes_passed`.
[[nodiscard]] octant::Counts counts(octant::Comm const& group, std::int64_t messages, std::int64_t bytes,
                                    std::int64_t turns, std::int64_t passed);

}  // namespace p2p
