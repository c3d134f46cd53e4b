// pattern=pages: one line of each of many pages, in random order. The lines differ in their place within the page, so
// that no set of a cache holds more than its part of them; the same chain in larger pages needs fewer translations.
#include "chase.hpp"
#include "rows.hpp"

#include "kernels/random.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace latency {
namespace {

constexpr std::size_t first_sets = 64;  // lines of 4 KiB: as many as the first cache has sets, or fewer

class Pages {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs()}; }

    explicit Pages(octant::Context& context)
        : context_(context),
          count_(static_cast<std::size_t>(context.knobs.integer("count"))),
          lines_(lines_apart(context)),
          nodes_(context.buffer<Node>(room(context))),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.claim_outside(static_cast<double>(sizeof(std::uint32_t) * count_ * lanes_.size()));
        context.on_each_thread([&](int lane) {
            link(lane, static_cast<std::uint64_t>(context.knobs.integer("seed")) + static_cast<std::uint64_t>(lane));
        });
        context.watched = {nodes_.mapping().bytes()};
    }

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.at = follow(mine.at, loads_a_chunk);
        mine.loads += loads_a_chunk;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"loads", loads_a_chunk}}; }

    [[nodiscard]] octant::Results results() const {
        return {{"page size", static_cast<double>(sysconf(_SC_PAGESIZE)), "B"}};
    }

    // The chain is walked once more, by its addresses alone: it comes back after as many lines as there are pages, each
    // in another page; the timed loads ended where so many steps lead; and no place of a page is used more often than
    // the others.
    octant::Results verify() {
        std::vector<Walk> walks(lanes_.size());
        context_.on_each_thread([&](int lane) { walks[static_cast<std::size_t>(lane)] = walk(lane); });
        double astray = 0, crowded = 0;
        for (Walk const& one : walks) {
            astray += one.astray;
            crowded = std::max(crowded, one.crowded);
        }
        return {{"wrong links of the page cycle, or loads at a wrong position", astray, "1", 0},
                {"excess lines at the most frequent offset in a page", crowded, "1", 1}};
    }

    void corrupt(std::size_t check) {
        if (check == 0)  // two cycles of half the pages each
            std::swap(node(0, order_[0])->next, node(0, order_[count_ / 2])->next);
        else  // all in one set
            one_set_ = true, lanes_[0].loads = 0, link(0, 0);
    }

  private:
    struct alignas(64) Lane {
        Node const *begin = nullptr, *at = nullptr;
        std::int64_t loads = 0;
    };
    struct Walk {
        double astray = 0, crowded = 0;
    };

    // Before anything is claimed.
    [[nodiscard]] static std::size_t lines_apart(octant::Context const& context) {
        auto const stride = static_cast<std::uint64_t>(context.knobs.integer("stride"));
        if (stride < line_bytes || !std::has_single_bit(stride))
            throw octant::Refusal("cannot use stride=" + std::to_string(stride) +
                                      " (not a power of two of at least 64); try 4KiB or 64KiB",
                                  octant::Exit::wrong_word);
        return stride / line_bytes;
    }
    [[nodiscard]] std::size_t room(octant::Context const& context) const {
        return count_ * lines_ * static_cast<std::size_t>(context.threads);
    }
    [[nodiscard]] Node* node(int lane, std::size_t page) const {
        // Neighbours have neighbouring places, and each turn through a page's places begins one later: both the low
        // bits of an address and those just above a page go through all their values together.
        std::size_t const place = one_set_ ? 0 : (page + page / lines_) % lines_;
        return nodes_.data() + (count_ * static_cast<std::size_t>(lane) + page) * lines_ + place;
    }

    void link(int lane, std::uint64_t seed) {
        std::vector<std::uint32_t> order(count_);
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t page = 0; page < count_; ++page) node(lane, page)->next = nullptr;  // first touch, in order
        octant::Random random(seed);
        for (std::size_t i = count_ - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
        for (std::size_t i = 0; i < count_; ++i)
            node(lane, order[i])->next = node(lane, order[i + 1 < count_ ? i + 1 : 0]);
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.begin = node(lane, order[0]);
        mine.at = mine.begin;
        if (lane == 0) order_ = std::move(order);
    }

    [[nodiscard]] Walk walk(int lane) const {
        Lane const& mine = lanes_[static_cast<std::size_t>(lane)];
        Node const* const base = nodes_.data() + count_ * lines_ * static_cast<std::size_t>(lane);
        auto const last = static_cast<std::size_t>(mine.loads) % count_;
        std::vector<bool> seen(count_, false);
        std::vector<std::size_t> used(std::min(lines_, first_sets), 0);
        Walk found;
        Node const* at = mine.begin;
        for (std::size_t i = 0; i < count_; ++i, at = at->next) {
            auto const line = static_cast<std::size_t>(at - base);
            if (seen[line / lines_] || (i == last && at != mine.at)) ++found.astray;
            seen[line / lines_] = true;
            ++used[line % used.size()];
        }
        if (at != mine.begin) ++found.astray;
        auto const share = static_cast<double>((count_ - 1) / used.size() + 1);
        found.crowded = std::max(0.0, static_cast<double>(*std::ranges::max_element(used)) - share);
        return found;
    }

    octant::Context& context_;
    std::size_t count_, lines_;
    octant::Buffer<Node> nodes_;
    std::vector<Lane> lanes_;
    std::vector<std::uint32_t> order_;  // of the first lane
    bool one_set_ = false;
};

}  // namespace

octant::Row pages_row() { return octant::row<Pages>("pages"); }

}  // namespace latency
