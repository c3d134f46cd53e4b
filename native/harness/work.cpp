#include "series.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace octant {
namespace {

using Json = nlohmann::ordered_json;

// One entry for each role, of this rank: null, or the lanes that have it and what each of them does.
Json mine(RankPart const& part, std::vector<Counts> const& work) {
    Json roles = Json::array();
    for (std::size_t role = 0; role < part.info.roles.size(); ++role) {
        auto const lanes = std::ranges::count(part.measured.lanes, role, &Lane::role);
        Json counts = Json::object();
        for (auto const& [name, value] : work[role]) counts[name] = value;
        roles.push_back(lanes == 0 ? Json() : Json{{"lanes", lanes}, {"counts", counts}});
    }
    return roles;
}

// A count over the ranks that have a role: the sum, and each rank's where they differ.
void add_count(Json& entry, std::string const& name, std::vector<Json> const& ranks) {
    std::vector<std::int64_t> values;
    std::int64_t sum = 0;
    for (auto const& rank : ranks) {
        values.push_back(rank["lanes"].get<std::int64_t>() * rank["counts"].value(name, std::int64_t{0}));
        sum += values.back();
    }
    entry["counts"][name] = sum;
    if (std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) != values.end())
        entry["by_rank"][name] = values;
}

}  // namespace

std::string work_text(Comm const& group, RankPart const& part, std::vector<Counts> const& work) {
    auto const texts = group.gather(mine(part, work).dump());
    JsonText text;
    for (std::size_t role = 0; !texts.empty() && role < part.info.roles.size(); ++role) {
        std::vector<Json> ranks;
        std::int64_t lanes = 0;
        Json names = Json::object();
        for (auto const& one : texts) {
            Json const its = Json::parse(one)[role];
            if (its.is_null()) continue;
            lanes += its["lanes"].get<std::int64_t>();
            names.update(its["counts"]);
            ranks.push_back(its);
        }
        if (ranks.empty() || (names.empty() && !part.info.roles[role].timed)) continue;
        Json entry = {{"group", part.group},
                      {"role", part.info.roles[role].name},
                      {"lanes", lanes},
                      {"batch", part.measured.batch[role]},
                      {"counts", Json::object()}};
        for (auto const& [name, value] : names.items()) add_count(entry, name, ranks);
        text.raw(entry.dump());
    }
    return text.text();
}

}  // namespace octant
