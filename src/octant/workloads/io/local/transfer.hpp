// Transfers between memory and an open file: one after the other, or several at once in the background.
#pragma once

#include "octant/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace local {

struct Transfer {
    int file = -1;
    bool writes = false;
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    std::int64_t offset = 0;

    void advance(std::size_t done) noexcept {
        memory += done;
        bytes -= done;
        offset += static_cast<std::int64_t>(done);
    }
};

// Refusal for an errno; 0: end of file before the end of the transfer.
[[nodiscard]] octant::Refusal refused(Transfer const& one, int error);

// Repeats calls until the transfer is complete. Throws Refusal.
void move_whole(Transfer one);

class Engine {
  public:
    Engine() = default;
    Engine(Engine const&) = delete;
    Engine& operator=(Engine const&) = delete;
    virtual ~Engine() = default;
    // Begins a transfer; where as many as may be are under way, waits for one of them. Throws Refusal, also of an
    // earlier one.
    virtual void post(Transfer const& one) = 0;
    virtual void finish() = 0;  // until all have ended; throws Refusal
};

// `word`: "calls" (blocking), "uring", "threads", or "background": io_uring, where the system refuses it threads.
// `used` becomes the name of what was taken, with the reason where it is second choice.
[[nodiscard]] std::unique_ptr<Engine> engine_of(std::string const& word, unsigned depth, std::string& used);

// io_uring; nullptr with the reason where the system has none.
[[nodiscard]] std::unique_ptr<Engine> uring_of(unsigned depth, std::string& why_not);

}  // namespace local
