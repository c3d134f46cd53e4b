// Network devices of Linux: the part of rtnetlink(7) that an emulated link needs.
#pragma once

#include <cstdint>
#include <string>

namespace octant::link {

inline constexpr char device[] = "link0";  // the end of the link in each host
inline constexpr std::uint32_t burst_bytes = 16U << 10U;
inline constexpr std::uint32_t queue_bytes = 4U << 20U;

// In the network namespace that the caller is in when it is made. Every call throws Refusal if the kernel refuses.
class Netlink {
  public:
    Netlink();
    ~Netlink();
    Netlink(Netlink const&) = delete;
    Netlink& operator=(Netlink const&) = delete;
    Netlink(Netlink&&) = delete;
    Netlink& operator=(Netlink&&) = delete;

    // Two devices that are joined: `name` here, `link0` in the namespace that `there` is open on.
    void add_pair(std::string const& name, int there);
    void add_bridge(std::string const& name);
    void join(std::string const& name, std::string const& bridge);
    void add_address(std::string const& name, std::uint32_t address, unsigned bits);  // address in host order
    void set_mtu(std::string const& name, std::uint32_t bytes);
    // Without an address of IPv6, which would be of no use for a second after this: its uniqueness is tried first.
    void raise(std::string const& name);
    void add_bucket(std::string const& name, std::uint64_t bits_per_s);

  private:
    class Message;
    void send_request(Message& message, char const* what);
    int file_;
    std::uint32_t number_ = 0;
};

}  // namespace octant::link
