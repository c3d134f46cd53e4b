// Packet-level simulation: every link is a first-in-first-out server, time is a whole number of picoseconds, and events
// of one instant happen in the order of the packets' numbers, so a run is the same everywhere. Queues have no bound and
// links no credits: only the windows of the senders limit what is in flight.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <queue>
#include <unordered_set>

#include "engine/solvers.hpp"
#include "engine/work.hpp"

namespace octant::network {

namespace {

constexpr double max_packets = 1e8;
constexpr std::int64_t max_in_flight = 4'000'000;
constexpr int max_dead_paths = 64;  // that one packet finds dead; of a graph with a bridge there may be any number
constexpr std::int64_t max_links_in_flight = 500'000'000;
constexpr double max_ps = 4e18;  // of simulated time, half of what a whole number of picoseconds can hold

struct Event {
    std::int64_t ps;
    std::uint32_t packet;
    friend bool operator>(Event const& a, Event const& b) {
        return std::pair(a.ps, a.packet) > std::pair(b.ps, b.packet);
    }
};

struct Packet {
    std::uint32_t sender;
    std::uint32_t hop;
    std::uint64_t draw;
    std::int64_t failures;  // of this copy's path so far
    Node to;
    double part;  // of a full packet's payload
};

struct Leg {
    Node to;
    std::int64_t packets;
    double last_part;  // of a full packet's payload that the last one holds
};

// One source of packets with a window of its own: an active node (uniform), a flow, or a task with its flows in order.
struct Sender {
    Node from;
    std::int64_t packets;
    std::vector<Leg> legs{};  // none: anywhere
    std::size_t leg = 0;
    std::int64_t sent = 0;
    std::unordered_set<std::uint64_t> abandoned_paths{};  // paths that were found dead
};

// Packets of one flow; a billionth less, so that rounding makes no packet of its own.
double packets_of(double units, PacketOptions const& options) {
    return std::ceil(units / options.units_per_packet - 1e-9);
}

// Returns the advice if the simulation would take too long.
char const* suggest_alternative(Traffic const& traffic, PacketOptions const& options) {
    if (options.failing >= 0) return "smaller messages (--megabytes) or a smaller size";
    return traffic.uniform ? "a smaller size, or --solver queue" : "smaller flows (--bytes), or --solver max-min";
}

// All packets of a run, as a real number that cannot overflow; refuses more than can be simulated.
double count_packets(Traffic const& traffic, PacketOptions const& options) {
    double packets = static_cast<double>(options.packets) * static_cast<double>(traffic.active.size());
    for (double const units : traffic.flows.units) packets += packets_of(units, options);
    if (packets <= max_packets) return packets;
    char text[200];
    std::snprintf(text, sizeof text,
                  "cannot simulate %.3g packets one by one (at most %.3g; each hop of each takes up to half "
                  "a microsecond); try %s",
                  packets, max_packets, suggest_alternative(traffic, options));
    throw std::invalid_argument(text);
}

// Each packet in flight is held in memory with its path.
void check_in_flight(std::vector<Sender> const& senders, int window) {
    std::int64_t in_flight = 0;
    for (auto const& sender : senders) in_flight += std::min<std::int64_t>(window, sender.packets);
    if (in_flight <= max_in_flight) return;
    throw std::invalid_argument("cannot keep " + std::to_string(in_flight) + " packets in flight (at most " +
                                std::to_string(max_in_flight) +
                                ", about 200 bytes each); try a smaller --window or --size");
}

// Service time of a packet on every link.
class Servers {
  public:
    Servers(Topology const& topology, Health const& health, UnitCost const& shape, double units_per_packet,
            double packets)
        : topology_(topology), health_(health), shape_(shape), units_per_packet_(units_per_packet) {
        for (double const capacity : capacities(topology, health, shape)) {
            double const ps = capacity > 0 ? units_per_packet / capacity * 1e12 : 0;
            if (ps * packets > max_ps) {
                throw std::invalid_argument(
                    "cannot simulate that long (one link would take weeks for all packets); try smaller flows");
            }
            full_ps_.push_back(capacity > 0 ? std::llround(ps) : dead_ps);
        }
    }

    [[nodiscard]] bool dead(LinkId link) const { return full_ps_[at(link)] == dead_ps; }
    [[nodiscard]] std::int64_t latency_ps(LinkId link) const {
        return topology_.classes()[at(topology_.class_of(link))].latency_ps;
    }

    // A packet that is not full has less payload, but the headers of a full one, and it counts as one packet.
    [[nodiscard]] std::int64_t service_ps(LinkId link, double part) const {
        if (dead(link)) return 0;
        if (part == 1.0) return full_ps_[at(link)];
        int const kind = topology_.class_of(link);
        LinkClass const& carries = topology_.classes()[at(kind)];
        double const missing = shape_.payload_bytes * (1 - part);
        double const bytes = kind < first_fabric_class
                                 ? shape_.payload_bytes - missing
                                 : std::max(shape_.wire_bytes * part, shape_.wire_bytes - missing);
        double const s = std::max(bytes / carries.bytes_per_s, shape_.packets / carries.packets_per_s);
        return std::llround(s * units_per_packet_ / health_.left(link) * 1e12);
    }

  private:
    static constexpr std::int64_t dead_ps = -1;
    Topology const& topology_;
    Health const& health_;
    UnitCost const& shape_;
    double units_per_packet_;
    std::vector<std::int64_t> full_ps_;
};

class Simulation {
  public:
    Simulation(Topology const& topology, Health const& health, Routing const& routing, Traffic const& traffic,
               UnitCost const& shape, PacketOptions const& options, Recovery& recovery)
        : routing_(routing),
          traffic_(traffic),
          options_(options),
          recovery_(recovery),
          servers_(topology, health, shape, options.units_per_packet, count_packets(traffic, options)),
          work_(count_packets(traffic, options), suggest_alternative(traffic, options)) {
        free_ps_.assign(at(topology.links()), 0);
        carried_.assign(at(topology.links()), 0);
        if (!traffic.uniform) list_flows();
        for (Node const node : traffic.active) senders_.push_back({node, options.packets});
        check_in_flight(senders_, options.window);
    }

    Solution run() {
        std::int64_t total = 0;
        for (auto const& sender : senders_) total += sender.packets;
        for (std::size_t s = 0; s < senders_.size(); ++s) {
            for (int w = 0; w < options_.window && w < senders_[s].packets; ++w) launch(static_cast<std::uint32_t>(s));
            if (s % check_interval == 0) work_.advance(0);
        }
        // Uniform senders go on until all of them together are done, so that none leaves early and eases the rest.
        std::int64_t const warm = traffic_.uniform ? total * 3 / 10 : 0;
        std::int64_t delivered = 0, warm_ps = 0, last_ps = 0, events = 0;
        while (!events_.empty() && delivered < total) {
            auto const [ps, number] = events_.top();
            events_.pop();
            if (++events % check_interval == 0) count(check_interval);
            if (!forward(ps, number)) continue;
            last_ps = ps;
            if (++delivered == warm) warm_ps = ps;
            finish(number, ps);
        }
        recovery_.undelivered = total - delivered;
        Solution answer{.solver = "packets"};
        double const scale = traffic_.uniform ? options_.units_per_packet / static_cast<double>(senders_.size()) : 1.0;
        double const rounds = traffic_.uniform ? static_cast<double>(delivered - warm) * scale : 1.0;
        double const seconds = static_cast<double>(last_ps - warm_ps) * 1e-12;
        answer.rounds_per_s = recovery_.undelivered > 0 ? 0 : seconds > 0 ? rounds / seconds : unlimited;
        // For uniform traffic a round is one unit from every sender, for flows the whole run.
        double const per_packet = traffic_.uniform ? static_cast<double>(senders_.size()) / static_cast<double>(total)
                                                   : options_.units_per_packet;
        for (double const full : carried_) answer.loads.push_back(full * per_packet);
        answer.events = events;
        return answer;
    }

  private:
    static constexpr std::int64_t check_interval = 1024;  // events between two updates of the work

    // A packet has an event at the end of every link of its path and one at its beginning.
    [[gnu::noinline]] void count(std::int64_t events) {
        work_.advance(static_cast<double>(events * launched_) / static_cast<double>(launched_ + hops_));
    }

    void list_flows() {
        Flows const& flows = traffic_.flows;
        std::map<std::pair<Node, int>, std::size_t> tasks;
        for (std::size_t f = 0; f < flows.size(); ++f) {
            auto const packets = static_cast<std::int64_t>(packets_of(flows.units[f], options_));
            if (packets <= 0) continue;
            double const rest = flows.units[f] / options_.units_per_packet - static_cast<double>(packets - 1);
            std::size_t number = senders_.size();
            if (options_.in_order) {
                std::pair const task(flows.from[f], flows.job.empty() ? 0 : static_cast<int>(flows.job[f]));
                number = tasks.try_emplace(task, number).first->second;
            }
            if (number == senders_.size()) senders_.push_back({flows.from[f], 0});
            senders_[number].packets += packets;
            senders_[number].legs.push_back({flows.to[f], packets, rest > 1 - 1e-9 ? 1.0 : rest});
        }
    }

    // The leg of a sender's next packet, which is taken off it.
    static Leg const& next_of(Sender& sender) {
        while (sender.legs[sender.leg].packets == 0) ++sender.leg;
        --sender.legs[sender.leg].packets;
        return sender.legs[sender.leg];
    }

    void launch(std::uint32_t number) {
        Sender& sender = senders_[number];
        auto const count = static_cast<std::uint64_t>(sender.sent++);
        std::uint64_t const draw = mix(options_.seed * 0x632be59bd9b4e019ULL + number) + count;
        Node to;
        double part = 1.0;
        if (sender.legs.empty()) {
            to = traffic_.active[mix(draw) % traffic_.active.size()];
        } else {
            Leg const& leg = next_of(sender);
            to = leg.to;
            if (leg.packets == 0) part = leg.last_part;
        }
        std::uint32_t id;
        if (idle_.empty()) {
            id = static_cast<std::uint32_t>(packets_.size());
            packets_.emplace_back();
            paths_.emplace_back();
        } else {
            id = idle_.back();
            idle_.pop_back();
        }
        packets_[id] = {number, 0, draw, 0, to, part};
        if (choose_path(id)) events_.push({now_ps_, id});  // else every way is dead: it stays undelivered
        ++launched_;
        hops_ += static_cast<std::int64_t>(paths_[id].size());
        if (hops_ > max_links_in_flight && launched_ == static_cast<std::int64_t>(packets_.size()))
            throw std::invalid_argument("cannot keep so many packets in flight (their routes have more than " +
                                        std::to_string(max_links_in_flight) +
                                        " links); try --window 1, or a smaller size");
    }

    [[nodiscard]] static std::uint64_t name_of(std::vector<LinkId> const& path) {
        std::uint64_t name = 0;
        for (LinkId const link : path) name = mix(name ^ static_cast<std::uint64_t>(link));
        return name;
    }

    // Finds a path that the sender has not abandoned; false if the routing has no other.
    bool choose_path(std::uint32_t id) {
        Packet& packet = packets_[id];
        auto const& gone = senders_[packet.sender].abandoned_paths;
        for (int attempt = 0; attempt < 256; ++attempt, ++packet.draw) {
            paths_[id].clear();
            routing_.path(senders_[packet.sender].from, packet.to, packet.draw, paths_[id]);
            if (gone.empty() || !gone.contains(name_of(paths_[id]))) return true;
        }
        return false;
    }

    // Moves a packet over its next link; true when it has arrived.
    bool forward(std::int64_t ps, std::uint32_t id) {
        now_ps_ = ps;
        Packet& packet = packets_[id];
        auto const& path = paths_[id];
        if (packet.hop == path.size()) return true;
        LinkId const link = path[packet.hop++];
        std::int64_t const start_ps = std::max(ps, free_ps_[at(link)]);
        std::int64_t const done_ps = start_ps + servers_.service_ps(link, packet.part);
        if (is_dead(link, done_ps)) {
            lose(id, ps);
            return false;
        }
        free_ps_[at(link)] = done_ps;
        carried_[at(link)] += packet.part;
        events_.push({done_ps + servers_.latency_ps(link), id});
        return false;
    }

    [[nodiscard]] bool is_dead(LinkId link, std::int64_t ps) const {
        if (link == options_.failing && ps > options_.fails_ps) return true;
        return servers_.dead(link);
    }

    // The sender detects the loss only by its timer. After enough unanswered repeats it pings the path, then stops
    // using it.
    void lose(std::uint32_t id, std::int64_t ps) {
        Packet& packet = packets_[id];
        Sender& sender = senders_[packet.sender];
        ++recovery_.lost;
        packet.hop = 0;
        if (options_.timeout_ps <= 0) return;  // no recovery: the packet is gone, and its place in the window with it
        std::int64_t again_ps = ps + options_.timeout_ps;
        if (++packet.failures > options_.retries) {
            if (packet.failures - options_.retries > max_dead_paths) return;  // it stays undelivered
            again_ps += options_.ping_ps;
            if (sender.abandoned_paths.insert(name_of(paths_[id])).second)
                recovery_.detected_ps = std::max(recovery_.detected_ps, again_ps - options_.fails_ps);
            if (!choose_path(id)) return;  // there is no other way: the packet stays undelivered
        }
        ++recovery_.resent;
        events_.push({again_ps, id});
    }

    void finish(std::uint32_t id, std::int64_t ps) {
        if (packets_[id].failures > 0)
            recovery_.recovered_ps = std::max(recovery_.recovered_ps, ps - options_.fails_ps);
        std::uint32_t const number = packets_[id].sender;
        idle_.push_back(id);
        if (traffic_.uniform || senders_[number].sent < senders_[number].packets) launch(number);
    }

    Routing const& routing_;
    Traffic const& traffic_;
    PacketOptions const& options_;
    Recovery& recovery_;
    Servers servers_;
    std::vector<std::int64_t> free_ps_;
    std::vector<double> carried_;  // full packets
    std::vector<Sender> senders_;
    std::vector<Packet> packets_;
    std::vector<std::vector<LinkId>> paths_;  // of each packet; their memory is used again
    std::vector<std::uint32_t> idle_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::int64_t now_ps_ = 0;
    std::int64_t launched_ = 0, hops_ = 0;  // packets, and links of all their paths
    Work work_;                             // a step is a packet
};

}  // namespace

Solution solve_packets(Topology const& topology, Health const& health, Routing const& routing, Traffic const& traffic,
                       UnitCost const& shape, PacketOptions const& options, Recovery& recovery) {
    check_traffic(traffic, topology);
    if (options.window < 1 || (traffic.uniform && options.packets < 1) || !(options.units_per_packet > 0)) {
        throw std::invalid_argument("cannot simulate packets without a window or with empty packets");
    }
    recovery = {};
    Simulation simulation(topology, health, routing, traffic, shape, options, recovery);
    Solution answer = simulation.run();
    double const rate = answer.rounds_per_s;
    rank(topology, health, shape, answer);
    answer.rounds_per_s = rate;
    return answer;
}

}  // namespace octant::network
