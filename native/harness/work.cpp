#include "series.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace octant {
namespace {

struct RoleWork {  // of one rank in one role
    std::int64_t lanes = 0;
    Counts counts = {};  // of each of these lanes, each name once

    [[nodiscard]] std::int64_t of_all_lanes(std::string const& name) const {
        auto const found = std::ranges::find(counts, name, &Count::name);
        return found == counts.end() ? 0 : lanes * found->value;
    }
};

// Returns, at rank 0 of the group, the work of each rank in this role, in rank order; empty elsewhere.
std::vector<RoleWork> gather_work(Comm const& group, RankPart const& part, Counts const& counts, std::size_t role) {
    std::vector<std::int64_t> values = {std::ranges::count(part.measured.lanes, role, &Lane::role)};
    std::string names;
    for (auto const& [name, value] : counts) {
        values.push_back(value);
        names += name + '\0';
    }
    auto const all_values = group.gather(values);
    auto const all_names = group.gather(names);
    std::vector<RoleWork> found;
    for (std::size_t rank = 0; rank < all_values.size(); ++rank) {
        RoleWork work{.lanes = all_values[rank][0]};
        std::size_t at = 0;
        for (std::size_t i = 1; work.lanes > 0 && i < all_values[rank].size(); ++i) {
            std::string const name = all_names[rank].c_str() + at;
            at += name.size() + 1;
            auto const known = std::ranges::find(work.counts, name, &Count::name);
            if (known == work.counts.end())
                work.counts.push_back({name, all_values[rank][i]});
            else
                known->value = all_values[rank][i];
        }
        found.push_back(std::move(work));
    }
    return found;
}

// The names of all ranks, each once, in the order in which they first occur.
std::vector<std::string> names_of(std::vector<RoleWork> const& ranks) {
    std::vector<std::string> names;
    for (auto const& rank : ranks)
        for (auto const& count : rank.counts)
            if (std::ranges::find(names, count.name) == names.end()) names.push_back(count.name);
    return names;
}

// Counts over the ranks that have a role: the sums, and each rank's where they differ.
void write_counts(JsonText& text, std::vector<RoleWork> const& ranks, std::vector<std::string> const& names) {
    JsonText differing;
    text.key("counts").open('{');
    for (auto const& name : names) {
        std::vector<std::int64_t> values;
        for (auto const& rank : ranks) values.push_back(rank.of_all_lanes(name));
        text.key(name).number(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
        if (std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) != values.end())
            differing.key(name).list(values);
    }
    text.close('}');
    if (differing.text().empty()) return;
    text.key("by_rank").open('{');
    text.raw(differing.text());
    text.close('}');
}

}  // namespace

std::string work_text(Comm const& group, RankPart const& part, std::vector<Counts> const& work) {
    JsonText text;
    for (std::size_t role = 0; role < part.info.roles.size(); ++role) {
        auto ranks = gather_work(group, part, work[role], role);
        std::erase_if(ranks, [](RoleWork const& rank) { return rank.lanes == 0; });
        auto const names = names_of(ranks);
        if (ranks.empty() || (names.empty() && !part.info.roles[role].timed)) continue;
        std::int64_t lanes = 0;
        for (auto const& rank : ranks) lanes += rank.lanes;
        text.open('{');
        text.key("group").number(part.group);
        text.key("role").word(part.info.roles[role].name);
        text.key("lanes").number(lanes);
        text.key("batch").number(part.measured.batch[role]);
        write_counts(text, ranks, names);
        text.close('}');
    }
    return text.text();
}

}  // namespace octant
