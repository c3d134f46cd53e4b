#include "exchange.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace hpl {

Moves::Moves(Panel const& panel) : sources(static_cast<std::size_t>(panel.width())) {
    std::int64_t const first = panel.first(), end = first + panel.width();
    std::iota(sources.begin(), sources.end(), first);
    std::unordered_map<std::int64_t, std::int64_t> below;  // row -> whose numbers it has by now
    for (int i = 0; i < panel.width(); ++i) {
        std::int64_t const pivot = panel.pivot(i);
        auto const at = static_cast<std::size_t>(i);
        if (pivot < end)
            std::swap(sources[at], sources[static_cast<std::size_t>(pivot - first)]);
        else
            std::swap(sources[at], below.try_emplace(pivot, pivot).first->second);
    }
    for (auto const& [to, from] : below) down.push_back({to, static_cast<int>(from - first)});
    std::ranges::sort(down, {}, &Down::to);
}

std::int64_t Exchange::scratch_numbers(Layout const& layout, int processes) {
    return processes == 1 ? 0 : 4 * std::min(layout.block(), layout.n()) * layout.local_columns;
}

void Exchange::move(Panel const& panel, Moves const& moves, std::int64_t begin, std::int64_t end, double* matrix,
                    double* u, std::int64_t leading) {
    std::int64_t const count = end - begin;
    if (count <= 0) return;
    if (along_column_.size() == 1) return move_local_rows(panel, moves, begin, count, matrix, u, leading);
    // The process with the top sends all of it, the others those of their rows that come to the top: all get all.
    int const top = layout_.rows.owner(panel.first());
    std::vector<int> counts(static_cast<std::size_t>(along_column_.size()), 0), places(counts.size());
    auto const owner = [&](std::int64_t global) { return static_cast<std::size_t>(layout_.rows.owner(global)); };
    std::int64_t const first = panel.first(), width = panel.width();
    auto const from_below = [&](std::int64_t source) { return source >= first + width; };
    std::vector<std::int64_t> slot(moves.sources.size());  // within what its owner sends
    counts[static_cast<std::size_t>(top)] = static_cast<int>(width);
    for (std::size_t i = 0; i < slot.size(); ++i)
        slot[i] = from_below(moves.sources[i]) ? counts[owner(moves.sources[i])]++ : moves.sources[i] - first;
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    double* const all = scratch_.data();
    double* const mine = all + 2 * width * count;
    octant::expects((2 * width + counts[static_cast<std::size_t>(layout_.row)]) * count <=
                    static_cast<std::int64_t>(scratch_.size()));
    if (layout_.row == top)
        for (std::int64_t i = 0; i < width; ++i) std::copy_n(row(matrix, first + i) + begin, count, mine + i * count);
    for (std::size_t i = 0; i < slot.size(); ++i)
        if (from_below(moves.sources[i]) && layout_.has_row(moves.sources[i]))
            std::copy_n(row(matrix, moves.sources[i]) + begin, count, mine + slot[i] * count);
    auto const scaled = [&](std::vector<int> of) {
        for (int& one : of) one *= static_cast<int>(count);
        return of;
    };
    auto const lengths = scaled(counts), offsets = scaled(places);
    octant::check(MPI_Allgatherv(mine, lengths[static_cast<std::size_t>(layout_.row)], MPI_DOUBLE, all, lengths.data(),
                                 offsets.data(), MPI_DOUBLE, along_column_.get()));
    if (lengths[static_cast<std::size_t>(layout_.row)] > 0)
        sent_.add(along_column_.size() - 1, lengths[static_cast<std::size_t>(layout_.row)]);
    for (std::size_t i = 0; i < slot.size(); ++i)
        std::copy_n(all + (places[owner(moves.sources[i])] + slot[i]) * count, count,
                    u + static_cast<std::int64_t>(i) * leading);
    for (auto const& [to, from] : moves.down)
        if (layout_.has_row(to))
            std::copy_n(all + (places[static_cast<std::size_t>(top)] + from) * count, count, row(matrix, to) + begin);
}

void Exchange::move_local_rows(Panel const& panel, Moves const& moves, std::int64_t begin, std::int64_t count,
                               double* matrix, double* u, std::int64_t leading) {
    for (std::size_t i = 0; i < moves.sources.size(); ++i)
        std::copy_n(row(matrix, moves.sources[i]) + begin, count, u + static_cast<std::int64_t>(i) * leading);
    for (auto const& [to, from] : moves.down)
        std::copy_n(row(matrix, panel.first() + from) + begin, count, row(matrix, to) + begin);
}

}  // namespace hpl
