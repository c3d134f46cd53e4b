#include "reach.hpp"

#include <algorithm>
#include <memory>

namespace gfft {
namespace {

constexpr std::size_t line = 64 / sizeof(Number);  // numbers of a line of the cache

std::size_t lines_of(std::size_t numbers) { return (numbers + line - 1) / line * line; }

}  // namespace

Reach::Reach(Share const& share, bool of_node, std::int64_t team)
    : share_(share),
      of_node_(of_node),
      team_(team),
      mates_{share.rank},
      within_(static_cast<std::size_t>(share.ranks), false),
      vectors_(static_cast<std::size_t>(share.ranks), Vectors{}) {
    if (of_node_) {
        share.context.claim_outside(static_cast<double>(numbers() * sizeof(Number)));
    } else {
        own_.emplace(share.context.buffer<Number>(numbers()));
        std::ranges::fill(own_->span(), Number(0));
        share.context.watched.emplace_back(own_->mapping().bytes());
    }
}

// x, the intermediate result and the transform, in this order; each begins at a cache line.
std::size_t Reach::numbers() const { return 2 * lines_of(share_.in()) + share_.out() + line; }

void Reach::set_up() {
    octant::Context& context = share_.context;
    if (of_node_) {
        octant::Comm const node = context.group.node();
        node_.emplace(node.split(team_ > 0 ? node.rank() / static_cast<int>(team_) : 0, node.rank()));
        mates_.resize(static_cast<std::size_t>(node_->size()));
        octant::check(MPI_Allgather(&share_.rank, 1, MPI_INT, mates_.data(), 1, MPI_INT, node_->get()));
        window_.emplace(*node_, numbers() * sizeof(Number));
        window_->touch(*node_);
        if (context.pages.transparent()) window_->request_huge_pages(*node_);
        std::ranges::fill(window_->mine(), std::byte{0});
        context.watched.emplace_back(window_->mine());
    }
    for (std::size_t mate = 0; mate < mates_.size(); ++mate) {
        int const rank = mates_[mate];
        within_[static_cast<std::size_t>(rank)] = true;
        void* begin = window_ ? static_cast<void*>(window_->of(static_cast<int>(mate)).data()) : own_->data();
        std::size_t room = numbers() * sizeof(Number);
        auto* const x = static_cast<Number*>(std::align(line * sizeof(Number), 1, begin, room));
        std::size_t const in = lines_of(static_cast<std::size_t>(share_.rows.size(rank) * share_.plan.columns()));
        vectors_[static_cast<std::size_t>(rank)] = {x, x + in, x + 2 * in};
    }
}

void Reach::synchronise() const {
    if (window_) window_->publish(*node_);
}

}  // namespace gfft
