// Hosts that are none: a namespace each for network, name and files, joined by devices that only they can see.
#pragma once

#include "words.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace octant::link {

// Traffic that left a host through its end of the link.
struct Crossed {
    std::int64_t bytes = 0;  // of packets, without the head of the frame for a tun device
    std::int64_t packets = 0;
};

// Lives as long as this process and those inside. Nothing of it has a name in the system, so nothing is left behind.
class Network {
  public:
    // Throws Refusal where the system allows none. Needs a process of one thread.
    explicit Network(Plan const& plan);

    // Ends of the relay, one a host; empty where there is no delay.
    [[nodiscard]] std::vector<int> const& relayed() const noexcept { return relayed_; }
    // Until a connection of our own from the first host to each other succeeds. Throws Refusal.
    void wait_until_connected() const;
    [[nodiscard]] std::vector<Crossed> crossed() const;

  private:
    void make_hosts();
    void join_by_wire(std::uint64_t bits_per_s);
    void join_by_switch(std::uint64_t bits_per_s);
    void join_by_relay();

    std::size_t hosts_;
    std::vector<int> relayed_;
    int switch_ = -1;  // namespace of the switch, which would go without it
};

// Moves this process into a host of the network that process `owner` made, on its share of the owner's hardware
// threads. Throws Refusal.
void enter(int owner, std::size_t host, std::size_t hosts);

}  // namespace octant::link
