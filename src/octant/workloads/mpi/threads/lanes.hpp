// Common parts of the rows: threads that call MPI concurrently, each with its own messages.
#pragma once

#include "kernels/pattern.hpp"
#include "octant/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lanes {

[[nodiscard]] octant::KernelInfo shared_info();
[[nodiscard]] std::vector<octant::Row> message_rows();
[[nodiscard]] std::vector<octant::Row> collective_rows();

struct Lane {  // of one thread
    MPI_Comm comm = MPI_COMM_NULL;
    int tag = 0;
    std::vector<std::uint8_t*> out, in;  // places for messages
    std::vector<MPI_Request> requests;
};

struct Source {  // of a message
    int rank, place;
};

class Lanes {
  public:
    // `places`: messages that lie side by side, to be sent and to be received.
    Lanes(octant::Context& context, std::size_t places);
    void set_up();  // communicators

    // Runs `body(lane)` as often as a step repeats it, on every thread at once.
    void step(std::function<void(Lane&)> const& body);
    // The same three times, with contents that differ each time: filled, poisoned, and what arrived compared. Place k
    // of this rank's `in` is from `sources[k]`.
    void check(std::function<void(Lane&)> const& body, std::vector<Source> const& sources);
    void on_each(std::function<void(Lane&, int)> const& body) const;  // with the thread's number

    [[nodiscard]] octant::Comm const& group() const noexcept { return context_.group; }
    [[nodiscard]] int threads() const noexcept { return static_cast<int>(all_.size()); }
    [[nodiscard]] std::int64_t repeats() const noexcept { return repeats_; }
    [[nodiscard]] int bytes() const noexcept { return bytes_; }
    [[nodiscard]] int window() const noexcept { return window_; }
    [[nodiscard]] octant::Mismatch& wrong(int lane) noexcept { return wrong_[static_cast<std::size_t>(lane)]; }
    // One check of what all threads of this rank found; spoilt where a fault is injected.
    [[nodiscard]] octant::Result found(char const* what);
    void corrupt() noexcept { spoilt_ = true; }
    [[nodiscard]] bool spoilt() const noexcept { return spoilt_; }

    // What this rank does in a step, of which each thread does one of `repeats()` after the other: messages and bytes
    // of one, the turns by which IMB divides the time, and the bytes from which it makes the bandwidth.
    [[nodiscard]] octant::Counts counts(std::int64_t messages, std::int64_t turns, std::int64_t passed) const;
    // Fork-join overhead of the threads in a step, s.
    [[nodiscard]] octant::Results results() const;

  private:
    octant::Context& context_;
    std::int64_t repeats_;
    int bytes_, window_;
    bool own_comms_;
    octant::Buffer<std::uint8_t> memory_;
    mutable std::vector<Lane> all_;  // each is its thread's
    std::vector<octant::Comm> comms_;
    std::vector<octant::Mismatch> wrong_;
    bool spoilt_ = false;
};

}  // namespace lanes
