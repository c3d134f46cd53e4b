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
        if (text_.starts_with("shift:")) return shifted(split(text_.substr(6), ':'));
        if (text_.starts_with("round:")) return paired_in_round(number(text_.substr(6)));
        if (text_ == "mirror") return mirrored(1);
        if (text_.starts_with("mirror:")) return mirrored(size(text_.substr(7)));
        if (text_.starts_with("far:")) return opposite(split(text_.substr(4), 'x'));
        if (text_.find_first_of("+/") != std::string::npos) return lists();
        int const each = size(text_);
        std::vector<std::vector<int>> all;
        for (int first = 0; first + each <= ranks_; first += each) all.push_back(consecutive(first, each));
        return all;
    }

  private:
    [[noreturn]] void refuse(std::string const& why, std::string const& alternative) const {
        throw Refusal("cannot use groups=" + text_ + " (" + why + "); try " + alternative, Exit::wrong_word);
    }
    [[nodiscard]] int number(std::string const& word) const {
        try {
            return static_cast<int>(std::clamp<std::int64_t>(parse_integer(word), -1, 1 << 30));
        } catch (Refusal const&) {
            refuse("'" + word + "' is not an integer",
                   "all, a size such as 2, first:2, shift:P/2, mirror, or lists such as 0+1/2+3");
        }
    }
    [[nodiscard]] int size(std::string const& word) const {
        int const count = number(word);
        if (count < 1) refuse("a group has at least one rank", "groups=1");
        if (count > ranks_)
            refuse(ranks_ == 1 ? "there is one rank" : "there are " + ranks_text(),
                   "groups=" + std::to_string(ranks_) + ", or --ranks " + std::to_string(count));
        return count;
    }
    [[nodiscard]] std::string without_overlap() const {
        std::string values = text_;
        std::ranges::replace(values, '/', ',');
        return "each rank once" + (values == text_ ? "" : ", or groups=" + values + ", in separate runs");
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
                if (!seen.insert(rank).second) refuse("rank " + word + " appears twice", without_overlap());
                all.back().push_back(rank);
            }
        }
        return all;
    }

    // Pairs i with i + K, in blocks of 2 K; `words`: K, which may be a part of all ranks (P/2), and how many pairs.
    [[nodiscard]] std::vector<std::vector<int>> shifted(std::vector<std::string> const& words) const {
        bool const of_all = words[0].starts_with("P/");
        int const number_of = number(of_all ? words[0].substr(2) : words[0]);
        if (number_of < 1 || words.size() > 2)
            refuse("shift distance must be at least 1", "groups=shift:1, shift:P/2 or shift:1:1");
        int const by = of_all ? ranks_ / number_of : number_of;
        if (by < 1 || by >= ranks_)
            refuse("no rank has a partner among " + ranks_text(), "groups=shift:P/2, or --ranks " + enough_for(by));
        std::vector<std::vector<int>> all;
        for (int rank = 0; rank + by < ranks_; ++rank)
            if (rank % (2 * by) < by) all.push_back({rank, rank + by});
        if (words.size() == 1) return all;
        int const most = number(words[1]), found = static_cast<int>(all.size());
        if (most < 1 || most > found)
            refuse("there are 1 to " + std::to_string(found) + " pairs", "groups=shift:" + words[0]);
        all.resize(static_cast<std::size_t>(most));
        return all;
    }
    // The pairs of one round of a tournament (the circle method): in rounds 0 to P - 2, for odd P to P - 1, each rank
    // meets every other once.
    [[nodiscard]] std::vector<std::vector<int>> paired_in_round(int round) const {
        int const circle =
            ranks_ - 1 + ranks_ % 2;  // the last rank keeps its position; for odd numbers, it does not exist
        if (round < 0 || round >= circle)
            refuse("there are rounds 0 to " + std::to_string(circle - 1) + " of " + ranks_text(), "groups=round:0");
        std::vector<std::vector<int>> all;
        if (ranks_ % 2 == 0) all.push_back({round, ranks_ - 1});
        for (int by = 1; by <= (circle - 1) / 2; ++by) {
            int const one = (round + by) % circle, other = (round - by + circle) % circle;
            all.push_back({std::min(one, other), std::max(one, other)});
        }
        if (all.empty()) refuse("no rank has a partner among " + ranks_text(), "--ranks 2");
        return all;
    }
    // Pairs of the same place in nodes of `each` ranks, the first node with the last.
    [[nodiscard]] std::vector<std::vector<int>> mirrored(int each) const {
        int const nodes = ranks_ / each;
        if (nodes < 2) refuse("no rank has a partner among " + ranks_text(), "--ranks " + std::to_string(2 * each));
        std::vector<std::vector<int>> all;
        for (int rank = 0; rank < nodes / 2 * each; ++rank)
            all.push_back({rank, (nodes - 1 - rank / each) * each + rank % each});
        return all;
    }
    // Pairs of the same place in nodes half of the grid apart in each of its dimensions, the first counted fastest.
    [[nodiscard]] std::vector<std::vector<int>> opposite(std::vector<std::string> const& words) const {
        std::vector<int> edges;
        std::int64_t nodes = 1;
        for (auto const& word : words) {
            edges.push_back(size(word));
            nodes *= edges.back();
            if (edges.back() > 1 && edges.back() % 2 != 0)
                refuse("an odd edge has no opposite node", "even edges such as far:4x4x2");
            if (nodes > ranks_)
                refuse("the grid has more nodes than there are ranks", "--ranks " + std::to_string(nodes));
        }
        if (nodes < 2) refuse("the grid has one node", "far:2");
        int const each = ranks_ / static_cast<int>(nodes);
        std::vector<std::vector<int>> all;
        for (int node = 0; node < nodes; ++node) {
            int partner = 0, step = 1;
            for (int const edge : edges) {
                partner += ((node / step) % edge + edge / 2) % edge * step;
                step *= edge;
            }
            for (int place = 0; node < partner && place < each; ++place)
                all.push_back({node * each + place, partner * each + place});
        }
        return all;
    }
    [[nodiscard]] std::string ranks_text() const { return std::to_string(ranks_) + (ranks_ == 1 ? " rank" : " ranks"); }
    [[nodiscard]] static std::string enough_for(int by) { return std::to_string(2 * std::max(1, by)); }

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
