#include "links.hpp"

#include <set>

namespace onesided {
namespace {

Links one_to_all(int rank, int ranks) {
    if (rank != 0) return {{}, {0}};
    Links links;
    for (int target = 1; target < ranks; ++target) links.out.push_back({target, 0});
    return links;
}

// The region of a source in a target's window: its place among the others.
Links all_to_all(int rank, int ranks) {
    Links links{{}, {}, static_cast<std::size_t>(ranks - 1)};
    for (int distance = 1; distance < ranks; ++distance) {
        int const target = (rank + distance) % ranks;
        links.out.push_back({target, static_cast<std::size_t>(rank < target ? rank : rank - 1)});
    }
    for (int source = 0; source < ranks; ++source)
        if (source != rank) links.sources.push_back(source);
    return links;
}

}  // namespace

Links links_of(Shape shape, int rank, int ranks) {
    int const next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    switch (shape) {
        case Shape::pair:
        case Shape::one_to_all:
            return one_to_all(rank, ranks);
        case Shape::both:
        case Shape::all_to_all:
            return all_to_all(rank, ranks);
        case Shape::neighbours:
            return {{{next, 0}, {before, 1}}, {before, next}, 2};
        case Shape::all_to_one:
            return {{{0, 0}}, {}, 1};
    }
    return {};
}

std::vector<int> Links::targets() const {
    std::set<int> found;
    for (auto const& link : out) found.insert(link.target);
    return {found.begin(), found.end()};
}

std::vector<int> origins_of(Shape shape, int rank, int ranks) {
    std::vector<int> found;
    for (int origin = 0; origin < ranks; ++origin)
        for (int target : links_of(shape, origin, ranks).targets())
            if (target == rank) found.push_back(origin);
    return found;
}

}  // namespace onesided
