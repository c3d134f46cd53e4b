#include "engine/routing.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace octant::network {

void refuse_routing(std::string_view topology, RoutingChoice const& choice,
                    std::vector<std::string_view> const& known) {
    throw UnknownWord(
        "cannot route '" + choice.name + "' on a " + std::string(topology) + " network (it has no such routing)",
        choice.name, known);
}

void require_policy(RoutingChoice const& choice, std::string_view topology,
                    std::vector<std::string_view> const& known) {
    static constexpr std::array<std::string_view, 2> everywhere{"detour", "recompute"};
    if (std::ranges::count(everywhere, choice.policy) > 0) return;
    if (std::find(known.begin(), known.end(), choice.policy) != known.end()) return;
    auto list = known;
    list.insert(list.end(), everywhere.begin(), everywhere.end());
    throw UnknownWord("cannot apply failover policy '" + choice.policy + "' to a " + std::string(topology) +
                          " network (it has no such policy)",
                      choice.policy, list);
}

std::vector<int> dimension_order(RoutingChoice const& choice, int dimensions) {
    std::vector<int> natural(at(dimensions));
    std::iota(natural.begin(), natural.end(), 0);
    if (choice.order.empty()) return natural;
    if (!std::is_permutation(natural.begin(), natural.end(), choice.order.begin(), choice.order.end())) {
        std::string all;
        for (int const dimension : natural) all += (all.empty() ? "" : ", ") + std::to_string(dimension);
        throw std::invalid_argument("cannot go through the dimensions in that order (each must occur once); try " +
                                    all);
    }
    return choice.order;
}

}  // namespace octant::network
