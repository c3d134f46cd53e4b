// Geometry of the two-level direct network, and its uniform loads by counting.
#include "topology/two_level.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "engine/routing.hpp"
#include "routing/two_level.hpp"
#include "topology/two_level_kinds.hpp"

namespace octant::network {

namespace {

constexpr std::string_view kind_name = "two-level-direct";

void require_holes(TwoLevelShape const& shape) {
    int const octants = shape.drawers * shape.octants;
    std::set<int> const holes(shape.holes.begin(), shape.holes.end());
    if (!holes.empty() && (*holes.begin() < 0 || *holes.rbegin() >= octants)) {
        throw std::invalid_argument("cannot exclude octants that do not exist (a supernode has 0 … " +
                                    std::to_string(octants - 1) + ")");
    }
    if (holes.size() == at(octants)) {
        throw std::invalid_argument("cannot exclude all octants of a supernode; exclude fewer");
    }
}

Extent extent_of(TwoLevelShape const& shape) {
    require_part(kind_name, "supernodes", shape.supernodes);
    require_part(kind_name, "drawers per supernode", shape.drawers);
    require_part(kind_name, "octants per drawer", shape.octants);
    require_part(kind_name, "links per host", shape.gang);
    require_part(kind_name, "D ports per octant", shape.d_ports);
    if (shape.octants < 2) throw std::invalid_argument("cannot build drawers of one octant; try 2 or more");
    Count const octants = Count(shape.drawers) * shape.octants;  // of a supernode
    Count const nodes = octants * shape.supernodes;
    Count const l_links = nodes * (octants.value() - 1);
    Count const d_links = Count(shape.supernodes) * (shape.supernodes - 1) * shape.gang *
                          (shape.host_in_every_drawer ? shape.drawers : 1);
    return {kind_name, nodes, nodes, l_links + d_links, 3};
}

// Groups of links, one for all of a class that carry exactly the same load: there are few different loads.
class Groups {
  public:
    void add(int kind, LinkId link, double load, double links) {
        auto const [place, fresh] = number_.try_emplace({kind, load}, groups_.size());
        if (fresh) groups_.push_back({link, load, 0});
        groups_[place->second].links += links;
    }
    std::vector<LoadGroup> take() { return std::move(groups_); }

  private:
    std::map<std::pair<int, double>, std::size_t> number_;
    std::vector<LoadGroup> groups_;
};

}  // namespace

TwoLevel::TwoLevel(TwoLevelShape shape, std::vector<LinkClass> classes, SelfTraffic self)
    : Topology(extent_of(shape), std::move(classes), self), shape_(std::move(shape)) {
    require_holes(shape_);
    per_supernode_ = shape_.drawers * shape_.octants;
    hosts_ = shape_.host_in_every_drawer ? shape_.drawers : 1;
    int const among = shape_.host_in_every_drawer ? shape_.octants : per_supernode_;
    block_ = (shape_.supernodes + among - 1) / among;
    if (block_ * shape_.gang > shape_.d_ports) {
        throw std::invalid_argument("cannot cable " + std::to_string(shape_.supernodes) +
                                    " supernodes (a hub would need " + std::to_string(block_ * shape_.gang) +
                                    " D ports and has " + std::to_string(shape_.d_ports) +
                                    "); try a smaller gang or one host per supernode");
    }
    remote_ = nodes() * (shape_.octants - 1);
    d_ = remote_ + nodes() * (per_supernode_ - shape_.octants);
    links_ = d_ + shape_.supernodes * (shape_.supernodes - 1) * links_of_pair();
}

std::string TwoLevel::node_name(Node node) const {
    int const octant = node % per_supernode_;
    return "supernode " + std::to_string(node / per_supernode_) + " drawer " + std::to_string(octant / shape_.octants) +
           " octant " + std::to_string(octant % shape_.octants);
}

std::string TwoLevel::relation(Node from, Node to) const {
    if (from == to) return "same octant";
    if (from / shape_.octants == to / shape_.octants) return "same drawer";
    return from / per_supernode_ == to / per_supernode_ ? "same supernode" : "other supernodes";
}

Ends TwoLevel::fabric_ends(LinkId link) const {
    if (link < remote_) {
        Node const from = link / (shape_.octants - 1);
        int const slot = link % (shape_.octants - 1);
        int const x = from % shape_.octants;
        return {from, from - x + slot + (slot >= x ? 1 : 0)};
    }
    if (link < d_) {
        int const others = per_supernode_ - shape_.octants;
        Node const from = (link - remote_) / others;
        int const slot = (link - remote_) % others;
        int const drawer = from % per_supernode_ / shape_.octants;
        int const to_drawer = slot / shape_.octants + (slot / shape_.octants >= drawer ? 1 : 0);
        return {from, from - from % per_supernode_ + to_drawer * shape_.octants + slot % shape_.octants};
    }
    int rest = (link - d_) / shape_.gang;
    int const drawer = rest % hosts_;
    rest /= hosts_;
    int const from = rest / (shape_.supernodes - 1);
    int const slot = rest % (shape_.supernodes - 1);
    int const to = slot + (slot >= from ? 1 : 0);
    return {from * per_supernode_ + host(to, drawer), to * per_supernode_ + host(from, drawer)};
}

std::string TwoLevel::fabric_name(LinkId link) const {
    auto const [from, to] = fabric_ends(link);
    std::string const gang = link < d_ ? "" : " (" + std::to_string((link - d_) % shape_.gang) + ")";
    return classes()[at(fabric_class(link))].name + " " + node_name(from) + " → " + node_name(to) + gang;
}

int TwoLevel::alike(int supernode) const {
    for (int other = 0; other < shape_.supernodes; ++other) {
        if (other != supernode && host(other, 0) == host(supernode, 0)) return other;
    }
    return supernode;
}

std::unique_ptr<Routing> TwoLevel::route(RoutingChoice const& choice, Health const& health) const {
    auto own = route_two_level(*this, choice, health);  // refuses what it does not know, whatever the policy
    return choice.policy == "recompute" ? shortest_paths(*this, health) : std::move(own);
}

bool TwoLevel::all_compute(std::vector<Node> const& nodes) const {
    auto const in_hole = [this](Node node) { return std::ranges::count(shape_.holes, node % per_supernode_) > 0; };
    std::size_t const each = at(per_supernode_) - std::set(shape_.holes.begin(), shape_.holes.end()).size();
    return nodes.size() == each * at(shape_.supernodes) && std::ranges::none_of(nodes, in_hole);
}

std::unique_ptr<Kinds> TwoLevel::kinds(std::vector<Node> const& active, LinkId fixed) const {
    if (!all_compute(active)) return nullptr;
    return std::make_unique<TwoLevelKinds>(*this, fixed);
}

// Counts instead of routing: supernodes that hang on the same host octant are alike, and so are all links of a gang.
std::optional<std::vector<LoadGroup>> TwoLevel::uniform(RoutingChoice const& choice,
                                                        std::vector<Node> const& nodes) const {
    if (choice.name != "direct" || choice.policy == "recompute" || !all_compute(nodes)) return std::nullopt;
    int const n = shape_.supernodes;
    std::vector<int> active(at(per_supernode_), 1);
    for (int const hole : shape_.holes) active[at(hole)] = 0;
    std::vector<double> in_drawer(at(shape_.drawers), 0);
    for (int x = 0; x < per_supernode_; ++x) in_drawer[at(x / shape_.octants)] += active[at(x)];
    double per_supernode = 0;
    for (double const octants : in_drawer) per_supernode += octants;
    double const total = per_supernode * n;

    std::vector<int> first_of_host, size_of_host;  // classes of supernodes: first member and how many
    for (int s = 0; s < n; ++s) {
        auto const same = [&](int member) { return host(member, 0) == host(s, 0); };
        auto const found = std::find_if(first_of_host.begin(), first_of_host.end(), same);
        if (found == first_of_host.end()) {
            first_of_host.push_back(s);
            size_of_host.push_back(1);
        } else {
            ++size_of_host[at(found - first_of_host.begin())];
        }
    }
    Groups groups;
    auto const senders = [&](int drawer) {
        return shape_.host_in_every_drawer ? in_drawer[at(drawer)] : per_supernode;
    };
    std::vector<double> load(at(per_supernode_ * per_supernode_));
    for (std::size_t c = 0; c < first_of_host.size(); ++c) {
        int const s = first_of_host[c];
        for (int x = 0; x < per_supernode_; ++x) {
            for (int y = 0; y < per_supernode_; ++y) {
                load[at(x * per_supernode_ + y)] = active[at(x)] * active[at(y)] / total;
            }
        }
        for (std::size_t other = 0; other < first_of_host.size(); ++other) {
            int const t = first_of_host[other];
            double const peers = size_of_host[other] - (other == c ? 1 : 0);
            if (peers <= 0) continue;
            for (int drawer = 0; drawer < hosts_; ++drawer) {
                int const gate = host(t, drawer);  // leaves and arrives there: cabling is symmetric
                double const out = peers * per_supernode / total;
                double const in = peers * senders(drawer) / total;
                int const begin = shape_.host_in_every_drawer ? drawer * shape_.octants : 0;
                int const end = shape_.host_in_every_drawer ? begin + shape_.octants : per_supernode_;
                for (int x = begin; x < end; ++x) load[at(x * per_supernode_ + gate)] += out * active[at(x)];
                for (int y = 0; y < per_supernode_; ++y) load[at(gate * per_supernode_ + y)] += in * active[at(y)];
                groups.add(d, d_link(s, t == s ? alike(s) : t, drawer, 0),
                           senders(drawer) * per_supernode / total / shape_.gang,
                           size_of_host[c] * peers * shape_.gang);
            }
        }
        for (int x = 0; x < per_supernode_; ++x) {
            for (int y = 0; y < per_supernode_; ++y) {
                if (x == y) continue;
                int const kind = x / shape_.octants == y / shape_.octants ? l_local : l_remote;
                groups.add(kind, l_link(s, x, y), load[at(x * per_supernode_ + y)], size_of_host[c]);
            }
        }
    }
    int const first = static_cast<int>(std::find(active.begin(), active.end(), 1) - active.begin());
    double const remote_part = self() == SelfTraffic::endpoint ? 1.0 : 1.0 - 1.0 / total;
    groups.add(injection, injection_of(first), remote_part, total);
    groups.add(ejection, ejection_of(first), remote_part, total);
    if (self() == SelfTraffic::memory) groups.add(local, local_of(first), 1.0 / total, total);
    return groups.take();
}

}  // namespace octant::network
