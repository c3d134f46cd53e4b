// Threads of the kernel's own, each sent to a hardware thread of its choice, and the pages that they share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace octant {
struct Context;
}

namespace coherence {

// The hardware threads that this rank may use, ascending; one of each core where `among` is "core".
[[nodiscard]] std::vector<int> hardware_threads_of(octant::Context const& context, std::string const& among);

class Seat {  // puts the calling thread on one hardware thread, and gives it its mask back
  public:
    explicit Seat(int cpu);  // throws Refusal
    Seat(Seat const&) = delete;
    Seat& operator=(Seat const&) = delete;
    ~Seat();

  private:
    std::vector<int> before_;
};

class Helper {  // a thread that sleeps until it is sent somewhere to do something
  public:
    Helper();  // throws Refusal: the system starts no more threads
    Helper(Helper const&) = delete;
    Helper& operator=(Helper const&) = delete;
    ~Helper();

    // Returns when the helper is on that hardware thread and about to begin. Throws Refusal: it may not be there.
    void send(int cpu, std::function<void()> work);
    // Returns when it has finished, with the hardware thread on which it ended.
    [[nodiscard]] int finished();

  private:
    enum State : int { idle, sent, there, refused, done, leaving };
    void work();
    int wait_while(int state);

    std::atomic<int> state_ = idle;
    int cpu_ = -1;
    std::function<void()> work_;
    std::thread thread_;  // last: it uses the others
};

class Pages {  // fresh from the system, not touched yet
  public:
    explicit Pages(std::size_t bytes);  // throws Refusal
    Pages(Pages const&) = delete;
    Pages& operator=(Pages const&) = delete;
    ~Pages();
    [[nodiscard]] std::byte* data() const noexcept { return data_; }

  private:
    std::byte* data_;
    std::size_t bytes_;
};

}  // namespace coherence
