// Packet-level simulation: every link is a first-in-first-out server, time is a whole number of picoseconds, and events
// of one instant happen in the order of the packets' numbers, so a run is the same everywhere.
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "engine/solvers.hpp"

namespace octant::network {

namespace {

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
};

struct Leg {
    Node to;
    std::int64_t packets;
};

// One source of packets with a window of its own: an active node (uniform), a flow, or a task with its flows in order.
struct Sender {
    Node from;
    std::int64_t packets;
    std::vector<Leg> legs{};  // none: anywhere
    std::size_t leg = 0;
    std::int64_t sent = 0;
    std::vector<std::uint64_t> given_up{};  // paths that were found dead
};

class Simulation {
  public:
    Simulation(Topology const& topology, Health const& health, Routing const& routing, Traffic const& traffic,
               UnitCost const& shape, PacketOptions const& options, Recovery& recovery)
        : topology_(topology), routing_(routing), traffic_(traffic), options_(options), recovery_(recovery) {
        auto const capacity = capacities(topology, health, shape);
        service_ps_.resize(capacity.size());
        for (std::size_t l = 0; l < capacity.size(); ++l) {
            if (capacity[l] <= 0) dead_.push_back(static_cast<LinkId>(l));
            service_ps_[l] = capacity[l] > 0 ? std::llround(options.units_per_packet / capacity[l] * 1e12) : 0;
        }
        for (auto const& kind : topology.classes()) latency_ps_.push_back(kind.latency_ps);
        free_ps_.assign(capacity.size(), 0);
        carried_.assign(capacity.size(), 0);
        if (!traffic.uniform) list_flows();
        for (Node const node : traffic.active) senders_.push_back({node, options.packets});
    }

    Solution run() {
        std::int64_t total = 0;
        for (auto const& sender : senders_) total += sender.packets;
        for (std::size_t s = 0; s < senders_.size(); ++s) {
            for (int w = 0; w < options_.window && w < senders_[s].packets; ++w) launch(static_cast<std::uint32_t>(s));
        }
        // Uniform senders go on until all of them together are done, so that none leaves early and eases the rest.
        std::int64_t const warm = traffic_.uniform ? total * 3 / 10 : 0;
        std::int64_t delivered = 0, warm_ps = 0, last_ps = 0, events = 0;
        while (!events_.empty() && delivered < total) {
            auto const [ps, number] = events_.top();
            events_.pop();
            ++events;
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
        // Of uniform traffic one round is one unit from every sender; of flows it is the whole run.
        double const per_packet = traffic_.uniform ? static_cast<double>(senders_.size()) / static_cast<double>(total)
                                                   : options_.units_per_packet;
        for (auto const count : carried_) answer.loads.push_back(static_cast<double>(count) * per_packet);
        answer.events = events;
        return answer;
    }

  private:
    void list_flows() {
        Flows const& flows = traffic_.flows;
        std::map<std::pair<Node, int>, std::size_t> tasks;
        for (std::size_t f = 0; f < flows.size(); ++f) {
            auto const packets =
                static_cast<std::int64_t>(std::ceil(flows.units[f] / options_.units_per_packet - 1e-9));
            if (packets == 0) continue;
            std::size_t number = senders_.size();
            if (options_.in_order) {
                std::pair const task(flows.from[f], flows.job.empty() ? 0 : static_cast<int>(flows.job[f]));
                number = tasks.try_emplace(task, number).first->second;
            }
            if (number == senders_.size()) senders_.push_back({flows.from[f], 0});
            senders_[number].packets += packets;
            senders_[number].legs.push_back({flows.to[f], packets});
        }
    }

    static Node next_of(Sender& sender) {
        while (sender.legs[sender.leg].packets == 0) ++sender.leg;
        --sender.legs[sender.leg].packets;
        return sender.legs[sender.leg].to;
    }

    void launch(std::uint32_t number) {
        Sender& sender = senders_[number];
        auto const count = static_cast<std::uint64_t>(sender.sent++);
        std::uint64_t const draw = mix(options_.seed * 0x632be59bd9b4e019ULL + number) + count;
        Node const to = sender.legs.empty() ? traffic_.active[mix(draw) % traffic_.active.size()] : next_of(sender);
        std::uint32_t id;
        if (idle_.empty()) {
            id = static_cast<std::uint32_t>(packets_.size());
            packets_.emplace_back();
            paths_.emplace_back();
        } else {
            id = idle_.back();
            idle_.pop_back();
        }
        packets_[id] = {number, 0, draw, 0, to};
        if (choose_path(id)) events_.push({now_ps_, id});  // else every way is dead: it stays undelivered
    }

    [[nodiscard]] static std::uint64_t name_of(std::vector<LinkId> const& path) {
        std::uint64_t name = 0;
        for (LinkId const link : path) name = mix(name ^ static_cast<std::uint64_t>(link));
        return name;
    }

    // A path that the sender has not given up; false where the routing knows no other.
    bool choose_path(std::uint32_t id) {
        Packet& packet = packets_[id];
        auto const& gone = senders_[packet.sender].given_up;
        for (int attempt = 0; attempt < 256; ++attempt, ++packet.draw) {
            paths_[id].clear();
            routing_.path(senders_[packet.sender].from, packet.to, packet.draw, paths_[id]);
            if (gone.empty() || std::find(gone.begin(), gone.end(), name_of(paths_[id])) == gone.end()) return true;
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
        if (is_dead(link, start_ps + service_ps_[at(link)])) {
            lose(id, ps);
            return false;
        }
        std::int64_t const done_ps = start_ps + service_ps_[at(link)];
        free_ps_[at(link)] = done_ps;
        ++carried_[at(link)];
        events_.push({done_ps + latency_ps_[at(topology_.class_of(link))], id});
        return false;
    }

    [[nodiscard]] bool is_dead(LinkId link, std::int64_t ps) const {
        if (link == options_.failing && ps > options_.fails_ps) return true;
        return std::find(dead_.begin(), dead_.end(), link) != dead_.end();
    }

    // Nobody tells the sender: its timer does. After enough silent repeats it pings the path, then stops using it.
    void lose(std::uint32_t id, std::int64_t ps) {
        Packet& packet = packets_[id];
        Sender& sender = senders_[packet.sender];
        ++recovery_.lost;
        packet.hop = 0;
        if (options_.timeout_ps <= 0) return;  // no recovery: the packet is gone, and its place in the window with it
        std::int64_t again_ps = ps + options_.timeout_ps;
        if (++packet.failures > options_.retries) {
            again_ps += options_.ping_ps;
            std::uint64_t const bad = name_of(paths_[id]);
            if (std::find(sender.given_up.begin(), sender.given_up.end(), bad) == sender.given_up.end()) {
                sender.given_up.push_back(bad);
                recovery_.detected_ps = std::max(recovery_.detected_ps, again_ps - options_.fails_ps);
            }
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

    Topology const& topology_;
    Routing const& routing_;
    Traffic const& traffic_;
    PacketOptions const& options_;
    Recovery& recovery_;
    std::vector<std::int64_t> service_ps_, latency_ps_, free_ps_, carried_;
    std::vector<LinkId> dead_;
    std::vector<Sender> senders_;
    std::vector<Packet> packets_;
    std::vector<std::vector<LinkId>> paths_;  // of each packet; their memory is used again
    std::vector<std::uint32_t> idle_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::int64_t now_ps_ = 0;
};

}  // namespace

Solution solve_packets(Topology const& topology, Health const& health, Routing const& routing, Traffic const& traffic,
                       UnitCost const& shape, PacketOptions const& options, Recovery& recovery) {
    check_traffic(traffic, topology);
    if (options.window < 1 || !(options.units_per_packet > 0)) {
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
