#include "netlink.hpp"

#include "octant/failure.hpp"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace octant::link {

// A request: a fixed head, then attributes, which may hold others.
class Netlink::Message {
  public:
    template <typename Head>
    Message(std::uint16_t type, unsigned flags, Head const& head) {
        nlmsghdr first{};
        first.nlmsg_type = type;
        first.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
        append(&first, sizeof first);
        append(&head, sizeof head);
    }

    void add(unsigned short type, void const* value, std::size_t bytes) {
        std::size_t const begin = open(type);
        append(value, bytes);
        close(begin);
    }
    void add(unsigned short type, std::string const& text) { add(type, text.c_str(), text.size() + 1); }
    void add(unsigned short type, std::uint32_t value) { add(type, &value, sizeof value); }
    void append(void const* value, std::size_t bytes) {
        auto const* first = static_cast<char const*>(value);
        text_.insert(text_.end(), first, first + bytes);
        text_.resize(NLMSG_ALIGN(text_.size()));
    }
    std::size_t open(unsigned short type) {
        std::size_t const begin = text_.size();
        rtattr const head{0, type};
        append(&head, sizeof head);
        return begin;
    }
    void close(std::size_t begin) {
        auto const size = static_cast<unsigned short>(text_.size() - begin);
        std::memcpy(text_.data() + begin, &size, sizeof size);
    }
    std::vector<char>& finished(std::uint32_t number) {
        nlmsghdr head{};
        std::memcpy(&head, text_.data(), sizeof head);
        head.nlmsg_len = static_cast<std::uint32_t>(text_.size());
        head.nlmsg_seq = number;
        std::memcpy(text_.data(), &head, sizeof head);
        return text_;
    }

  private:
    std::vector<char> text_;
};

namespace {

[[noreturn]] void refuse(char const* what, int reason) {
    std::string const module =
        reason == ENOENT || reason == EOPNOTSUPP ? "a Linux kernel with this feature" : "a machine that permits it";
    throw Refusal("cannot emulate a link (no " + std::string(what) + ": " + std::strerror(reason) + "); try " + module,
                  Exit::not_supported);
}

ifinfomsg of_device(std::string const& name, unsigned flags = 0) {
    ifinfomsg head{};
    head.ifi_family = AF_UNSPEC;
    head.ifi_index = name.empty() ? 0 : static_cast<int>(if_nametoindex(name.c_str()));
    head.ifi_flags = flags;
    head.ifi_change = flags;
    return head;
}

}  // namespace

Netlink::Netlink() : file_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    if (file_ < 0) refuse("socket to the kernel", errno);
}

Netlink::~Netlink() { close(file_); }

void Netlink::send_request(Message& message, char const* what) {
    auto const& text = message.finished(++number_);
    if (send(file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) refuse(what, errno);
    std::array<char, 8192> answer{};
    ssize_t const bytes = recv(file_, answer.data(), answer.size(), 0);
    nlmsghdr head{};
    nlmsgerr error{};
    if (bytes < static_cast<ssize_t>(sizeof head + sizeof error)) refuse(what, EPROTO);
    std::memcpy(&head, answer.data(), sizeof head);
    std::memcpy(&error, answer.data() + sizeof head, sizeof error);
    if (head.nlmsg_type != NLMSG_ERROR || error.error != 0) refuse(what, error.error == 0 ? EPROTO : -error.error);
}

void Netlink::add_pair(std::string const& name, int there) {
    Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, of_device(""));
    message.add(IFLA_IFNAME, name);
    auto const info = message.open(IFLA_LINKINFO);
    message.add(IFLA_INFO_KIND, "veth");
    auto const data = message.open(IFLA_INFO_DATA);
    auto const peer = message.open(VETH_INFO_PEER);
    auto const head = of_device("");
    message.append(&head, sizeof head);
    message.add(IFLA_IFNAME, std::string(device));
    message.add(IFLA_NET_NS_FD, static_cast<std::uint32_t>(there));
    for (auto const begin : {peer, data, info}) message.close(begin);
    send_request(message, "pair of virtual devices (veth)");
}

void Netlink::add_bridge(std::string const& name) {
    Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, of_device(""));
    message.add(IFLA_IFNAME, name);
    auto const info = message.open(IFLA_LINKINFO);
    message.add(IFLA_INFO_KIND, "bridge");
    message.close(info);
    send_request(message, "bridge between virtual devices");
}

void Netlink::join(std::string const& name, std::string const& bridge) {
    Message message(RTM_NEWLINK, 0, of_device(name));
    message.add(IFLA_MASTER, if_nametoindex(bridge.c_str()));
    send_request(message, "port of a bridge");
}

void Netlink::add_address(std::string const& name, std::uint32_t address, unsigned bits) {
    ifaddrmsg head{};
    head.ifa_family = AF_INET;
    head.ifa_prefixlen = static_cast<unsigned char>(bits);
    head.ifa_index = if_nametoindex(name.c_str());
    Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, head);
    message.add(IFA_LOCAL, htonl(address));
    message.add(IFA_ADDRESS, htonl(address));
    send_request(message, "address for a virtual device");
}

void Netlink::set_mtu(std::string const& name, std::uint32_t bytes) {
    Message message(RTM_NEWLINK, 0, of_device(name));
    message.add(IFLA_MTU, bytes);
    send_request(message, "packet size of a virtual device");
}

void Netlink::raise(std::string const& name) {
    Message quiet(RTM_NEWLINK, 0, of_device(name));
    auto const families = quiet.open(IFLA_AF_SPEC);
    auto const six = quiet.open(AF_INET6);
    std::uint8_t const none = IN6_ADDR_GEN_MODE_NONE;
    quiet.add(IFLA_INET6_ADDR_GEN_MODE, &none, sizeof none);
    quiet.close(six);
    quiet.close(families);
    try {
        send_request(quiet, "device without IPv6");
    } catch (Refusal const&) {  // a kernel without IPv6 has none to switch off
    }
    Message message(RTM_NEWLINK, 0, of_device(name, IFF_UP));
    send_request(message, "virtual device that is up");
}

// A token bucket: what leaves through the device is slowed down to the rate; what is too much waits in a queue.
void Netlink::add_bucket(std::string const& name, std::uint64_t bits_per_s) {
    tcmsg head{};
    head.tcm_family = AF_UNSPEC;
    head.tcm_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
    head.tcm_parent = TC_H_ROOT;
    tc_tbf_qopt bucket{};
    bucket.rate.linklayer = TC_LINKLAYER_ETHERNET;
    bucket.rate.rate = static_cast<std::uint32_t>(bits_per_s / 8);  // at most 1.25 GB/s: it fits
    bucket.limit = queue_bytes;
    Message message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, head);
    message.add(TCA_KIND, "tbf");
    auto const options = message.open(TCA_OPTIONS);
    message.add(TCA_TBF_PARMS, &bucket, sizeof bucket);
    message.add(TCA_TBF_BURST, burst_bytes);
    message.close(options);
    send_request(message, "token bucket (tbf)");
}

}  // namespace octant::link
