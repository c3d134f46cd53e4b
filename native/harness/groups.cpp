#include "octant/groups.hpp"

#include "octant/amounts.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace octant {
namespace {

std::vector<std::string> split(std::string const& text, char at) {
    std::vector<std::string> parts;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
        to = text.find(at, from);
        parts.push_back(text.substr(from, to == std::string::npos ? to : to - from));
    }
    return parts;
}

std::vector<int> consecutive(int first, int count) {
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

class Reader {  // of one value of the knob
  public:
    Reader(std::string const& text, int ranks) : text_(text), ranks_(ranks) {}

    [[nodiscard]] std::vector<std::vector<int>> members() const {
        if (text_ == "all") return {consecutive(0, ranks_)};
        if (text_.starts_with("first:")) return {consecutive(0, size(text_.substr(6)))};
        if (text_.find_first_of("+/") != std::string::npos) return lists();
        int const each = size(text_);
        std::vector<std::vector<int>> all;
        for (int first = 0; first + each <= ranks_; first += each) all.push_back(consecutive(first, each));
        return all;
    }

  private:
    [[noreturn]] void refuse(std::string const& why, std::string const& instead) const {
        throw Refusal("cannot use groups=" + text_ + " (" + why + "); try " + instead, Exit::wrong_word);
    }
    [[nodiscard]] int number(std::string const& word) const {
        try {
            return static_cast<int>(std::clamp<std::int64_t>(parse_integer(word), -1, 1 << 30));
        } catch (Refusal const&) {
            refuse("'" + word + "' is no whole number", "all, a size such as 2, first:2, or lists such as 0+1/2+3");
        }
    }
    [[nodiscard]] int size(std::string const& word) const {
        int const count = number(word);
        if (count < 1) refuse("a group has at least one rank", "groups=1");
        if (count > ranks_)
            refuse(ranks_ == 1 ? "there is one rank" : "there are " + std::to_string(ranks_) + " ranks",
                   "groups=" + std::to_string(ranks_) + ", or --ranks " + std::to_string(count));
        return count;
    }
    [[nodiscard]] std::string without_overlap() const {
        std::string values = text_;
        std::ranges::replace(values, '/', ',');
        return "each rank once" + (values == text_ ? "" : ", or groups=" + values + ", one after the other");
    }
    [[nodiscard]] std::vector<std::vector<int>> lists() const {
        std::vector<std::vector<int>> all;
        std::set<int> seen;
        for (auto const& part : split(text_, '/')) {
            all.emplace_back();
            for (auto const& word : split(part, '+')) {
                int const rank = number(word);
                if (rank < 0 || rank >= ranks_)
                    refuse("there is no rank " + word, "ranks from 0 to " + std::to_string(ranks_ - 1));
                if (!seen.insert(rank).second) refuse("rank " + word + " is in two places", without_overlap());
                all.back().push_back(rank);
            }
        }
        return all;
    }

    std::string const& text_;
    int ranks_;
};

}  // namespace

Groups Groups::parse(std::string const& text, int ranks, int least) {
    Groups const found{Reader(text, ranks).members()};
    for (auto const& group : found.members)
        if (static_cast<int>(group.size()) < least) {
            std::string const needed = std::to_string(least);
            std::string const count = std::to_string(group.size()) + (group.size() == 1 ? " rank" : " ranks");
            if (ranks < least)
                throw Refusal("cannot run on " + count + " (it needs " + needed + "); try --ranks " + needed,
                              Exit::wrong_word);
            throw Refusal("cannot use groups=" + text + " (it needs " + needed + " ranks in a group, and one has " +
                              count + "); try groups=" + needed,
                          Exit::wrong_word);
        }
    return found;
}

int Groups::of(int rank) const {
    auto const found =
        std::ranges::find_if(members, [&](auto const& group) { return std::ranges::find(group, rank) != group.end(); });
    return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

int Groups::place_of(int rank) const {
    int const mine = of(rank);
    if (mine < 0) return -1;
    auto const& group = members[static_cast<std::size_t>(mine)];
    return static_cast<int>(std::ranges::find(group, rank) - group.begin());
}

std::vector<int> Groups::idle(int ranks) const {
    std::set<int> at_work;
    for (auto const& group : members) at_work.insert(group.begin(), group.end());
    std::vector<int> idle;
    for (int rank = 0; rank < ranks; ++rank)
        if (!at_work.contains(rank)) idle.push_back(rank);
    return idle;
}

}  // namespace octant
