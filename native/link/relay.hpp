// Carries packets between two hosts at a rate and with a delay, and keeps what each packet really waited.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

namespace octant::link {

struct Delays {
    std::vector<std::int64_t> ns;  // of each packet that arrived, from the end of its time on the wire to its delivery
    std::int64_t dropped = 0;      // packets for which the queue, or the other end, had no room
    bool real_time = false;        // whether the relay could go before all other processes
};

// Works in a thread of its own from construction to `stop`.
class Relay {
  public:
    // `ends`: of two tun devices, not blocking. Throws Refusal: the system starts no more threads.
    Relay(std::vector<int> ends, std::uint64_t bits_per_s, std::int64_t delay_ns);
    ~Relay();
    Relay(Relay const&) = delete;
    Relay& operator=(Relay const&) = delete;
    Relay(Relay&&) = delete;
    Relay& operator=(Relay&&) = delete;

    Delays stop();

  private:
    struct Packet {
        std::int64_t departs_ns;  // its last bit left
        std::vector<char> bytes;
    };
    struct Direction {
        int from, to;
        std::int64_t free_ns = 0;  // when the wire has sent all that waits
        std::size_t waiting_bytes = 0;
        std::deque<Packet> waiting;
    };
    void carry();
    void take(Direction& direction);
    void deliver(Direction& direction);
    [[nodiscard]] std::int64_t next_ns() const;

    std::uint64_t bits_per_s_;
    std::int64_t delay_ns_;
    std::vector<Direction> directions_;
    Delays delays_;
    std::atomic<bool> stopped_ = false;
    int stop_file_;
    std::thread thread_;
};

}  // namespace octant::link
