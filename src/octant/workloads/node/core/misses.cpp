// pattern=mlp: more and more chains of loads side by side. The time of a load falls until no more can be on the way.
#include "additions.hpp"
#include "cycle.hpp"
#include "rows.hpp"

#include <array>
#include <string>
#include <utility>

namespace core {
namespace {

constexpr std::array chains{1, 2, 4, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64};
constexpr std::int64_t loads_a_phase = 128;

template <int count>
void follow(Node const** at, std::int64_t loads) {
    Node const* x[count];
#pragma GCC unroll 64
    for (int k = 0; k < count; ++k) x[k] = at[k];
    for (std::int64_t i = 0; i < loads; ++i)
#pragma GCC unroll 64
        for (int k = 0; k < count; ++k) x[k] = x[k]->next;
#pragma GCC unroll 64
    for (int k = 0; k < count; ++k) at[k] = x[k];
}

using Follow = void (*)(Node const**, std::int64_t);

template <std::size_t... each>
constexpr std::array<Follow, sizeof...(each)> follows(std::index_sequence<each...>) {
    return {follow<chains[each]>...};
}

constexpr auto follow_chains = follows(std::make_index_sequence<chains.size()>());

class MemoryLevelParallelism {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo found{.knobs = knobs(), .pace = octant::Pace::steps, .takes = one_thread};
        for (int const count : chains) found.phases.push_back("chains " + std::to_string(count));
        found.phases.push_back("additions");
        return found;
    }

    explicit MemoryLevelParallelism(octant::Context& context) : context_(context), cycle_(context, max_chains) {}

    void step() {
        for (std::size_t i = 0; i < chains.size(); ++i) {
            auto const mark = context_.phase(i);
            follow_chains[i](cycle_.at.data(), loads_a_phase);
        }
        add_up();
        for (int const count : chains) cycle_.count(count, loads_a_phase);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::int64_t loads = 0;
        for (int const count : chains) loads += count * loads_a_phase;
        return {{"loads", loads}, {"loads_of_chain", loads_a_phase}, {"additions", Additions::each}};
    }

    octant::Results verify() { return {cycle_.check(), additions_.check()}; }

    void corrupt(std::size_t check) {
        if (check == 0)
            cycle_.spoil();
        else
            additions_.spoil();
    }

  private:
    void add_up() {
        auto const mark = context_.phase(chains.size());
        additions_.run();
    }

    octant::Context& context_;
    Cycle cycle_;
    Additions additions_;
};

}  // namespace

octant::Row mlp_row() { return octant::row<MemoryLevelParallelism>("mlp"); }

}  // namespace core
