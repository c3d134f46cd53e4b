#include "relay.hpp"

#include "netlink.hpp"
#include "octant/thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace octant::link {
namespace {

constexpr std::size_t head_bytes = 14;     // of a frame of Ethernet, which a token bucket counts too
constexpr std::size_t max_bytes = 65536;   // of a packet
constexpr std::size_t max_kept = 4000000;  // delays: 32 MB
constexpr std::int64_t second_ns = 1000000000;

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * second_ns + now.tv_nsec;
}

}  // namespace

Relay::Relay(std::vector<int> ends, std::uint64_t bits_per_s, std::int64_t delay_ns)
    : bits_per_s_(bits_per_s),
      delay_ns_(delay_ns),
      directions_{{ends.at(0), ends.at(1), 0, 0, {}}, {ends.at(1), ends.at(0), 0, 0, {}}},
      stop_file_(eventfd(0, EFD_CLOEXEC)),
      thread_(start_thread([this] { carry(); }, "a link without delay")) {}

Relay::~Relay() {
    if (thread_.joinable()) stop();
    close(stop_file_);
}

Delays Relay::stop() {
    stopped_ = true;
    std::uint64_t const one = 1;
    static_cast<void>(write(stop_file_, &one, sizeof one));  // where it fails the thread looks after a second
    thread_.join();
    return std::exchange(delays_, {});
}

// A rank that polls would keep its hardware thread for a time slice of milliseconds: where it is allowed, the relay
// goes first.
void Relay::carry() {
    sched_param const first{sched_get_priority_min(SCHED_FIFO) + 9};  // before ranks that have real-time priority too
    delays_.real_time = pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) == 0;
    prctl(PR_SET_TIMERSLACK, 1UL);
    std::array<pollfd, 3> files{
        {{directions_[0].from, POLLIN, 0}, {directions_[1].from, POLLIN, 0}, {stop_file_, POLLIN, 0}}};
    while (!stopped_) {
        std::int64_t const next = next_ns();
        std::int64_t const wait_ns = next == 0 ? second_ns : std::max<std::int64_t>(0, next - now_ns());
        timespec const patience{wait_ns / second_ns, wait_ns % second_ns};
        ppoll(files.data(), files.size(), &patience, nullptr);
        for (auto& direction : directions_) {
            take(direction);
            deliver(direction);
        }
    }
}

std::int64_t Relay::next_ns() const {
    std::int64_t next = 0;
    for (auto const& direction : directions_) {
        if (direction.waiting.empty()) continue;
        std::int64_t const due = direction.waiting.front().departs_ns + delay_ns_;
        next = next == 0 ? due : std::min(next, due);
    }
    return next;
}

void Relay::take(Direction& direction) {
    std::array<char, max_bytes> packet;  // NOLINT: not set, on purpose
    for (;;) {
        ssize_t const got = read(direction.from, packet.data(), packet.size());
        if (got <= 0) return;
        auto const bytes = static_cast<std::size_t>(got);
        if (direction.waiting_bytes + bytes > queue_bytes) {
            ++delays_.dropped;
            continue;
        }
        auto const wire_ns = static_cast<std::int64_t>((bytes + head_bytes) * 8 * second_ns / bits_per_s_);
        direction.free_ns = std::max(now_ns(), direction.free_ns) + wire_ns;
        direction.waiting_bytes += bytes;
        direction.waiting.push_back({direction.free_ns, {packet.data(), packet.data() + bytes}});
    }
}

void Relay::deliver(Direction& direction) {
    while (!direction.waiting.empty() && direction.waiting.front().departs_ns + delay_ns_ <= now_ns()) {
        auto const& packet = direction.waiting.front();
        ssize_t const sent = write(direction.to, packet.bytes.data(), packet.bytes.size());
        if (sent != static_cast<ssize_t>(packet.bytes.size()))
            ++delays_.dropped;
        else if (delays_.ns.size() < max_kept)
            delays_.ns.push_back(now_ns() - packet.departs_ns);
        direction.waiting_bytes -= packet.bytes.size();
        direction.waiting.pop_front();
    }
}

}  // namespace octant::link
