#include "octant/pinning.hpp"

#include "octant/failure.hpp"
#include "octant/noise.hpp"
#include "octant/seats.hpp"

#include <omp.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace octant {
namespace {

// True where the system let every thread have its mask.
bool apply(Masks const& masks) {
    auto const threads = static_cast<int>(masks.size());
    int refused = 0;
#pragma omp parallel num_threads(threads) reduction(+ : refused)
    { refused += allow_cpus(masks[static_cast<std::size_t>(omp_get_thread_num())]) ? 0 : 1; }
    return refused == 0;
}

std::vector<std::int64_t> together(Masks const& masks) {
    std::set<std::int64_t> all;
    for (auto const& mask : masks) all.insert(mask.begin(), mask.end());
    return {all.begin(), all.end()};
}

// Gives every thread of every rank a hardware thread of its own, from its rank's mask: ranks in order take the first
// free ones of the drawn order, and those before give way where they can (Kuhn's matching).
class Seats {
  public:
    Seats(std::vector<std::vector<std::int64_t>> masks, int threads, std::uint64_t seed)
        : masks_(std::move(masks)), threads_(static_cast<std::size_t>(threads)) {
        std::set<std::int64_t> all;
        for (auto const& mask : masks_) all.insert(mask.begin(), mask.end());
        std::map<std::int64_t, std::size_t> places;
        for (auto cpu : seat_order(hardware_threads(std::vector(all.begin(), all.end())), seed))
            places.emplace(cpu, places.size());
        for (auto& mask : masks_) std::ranges::sort(mask, {}, [&](std::int64_t cpu) { return places.at(cpu); });
        for (std::size_t i = 0; enough_ && i < masks_.size() * threads_; ++i) {
            std::set<std::int64_t> tried;
            enough_ = masks_[i / threads_].empty() || seat(i, tried);
        }
    }
    [[nodiscard]] bool enough() const noexcept { return enough_; }
    [[nodiscard]] std::vector<std::int64_t> in_order() const {  // rank by rank, thread by thread; -1: needs none
        std::vector<std::int64_t> seats(masks_.size() * threads_, -1);
        for (auto const& [cpu, thread] : sitting_) seats[thread] = cpu;
        return seats;
    }

  private:
    bool seat(std::size_t thread, std::set<std::int64_t>& tried) {
        auto const& mask = masks_[thread / threads_];
        auto const free = std::ranges::find_if(mask, [&](auto cpu) { return !sitting_.contains(cpu); });
        if (free != mask.end()) {
            sitting_[*free] = thread;
            return true;
        }
        for (auto cpu : mask)
            if (tried.insert(cpu).second && seat(sitting_.at(cpu), tried)) {
                sitting_[cpu] = thread;
                return true;
            }
        return false;
    }

    std::vector<std::vector<std::int64_t>> masks_;
    std::size_t threads_;
    std::map<std::int64_t, std::size_t> sitting_;  // hardware thread to thread
    bool enough_ = true;
};

// Whether each thread is already bound to its own hardware thread.
bool seated(Masks const& masks) {
    std::set<std::int64_t> taken;
    return std::ranges::all_of(masks,
                               [&](auto const& mask) { return mask.size() == 1 && taken.insert(mask.front()).second; });
}

}  // namespace

Masks masks_of_threads(int threads) {
    Masks masks(static_cast<std::size_t>(threads));
    int given = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : given)
    {
        masks[static_cast<std::size_t>(omp_get_thread_num())] = allowed_cpus();
        given += 1;
    }
    if (given != threads)
        throw Refusal("cannot start threads=" + std::to_string(threads) + " (OpenMP provides " + std::to_string(given) +
                      "); try a larger OMP_THREAD_LIMIT");
    return masks;
}

ScopedMasks::~ScopedMasks() { apply(masks_); }

Pinned pin_threads(Comm const& node, Masks const& before, bool pin, bool library_threads, bool works,
                   std::uint64_t seed) {
    Seats const seats(node.gather(works ? together(before) : std::vector<std::int64_t>{}),
                      static_cast<int>(before.size()), seed);  // of use on the first rank
    bool const shared = node.broadcast(std::int64_t{seats.enough() ? 0 : 1}) != 0;
    if (!pin || shared) return {shared, false};
    auto all = seats.in_order();
    auto const threads = before.size();
    all.resize(static_cast<std::size_t>(node.size()) * threads);
    for (auto& cpu : all) cpu = node.broadcast(cpu);
    if (!works) return {shared, false};
    if (seated(before) && !library_threads) return {shared, false};  // its seats are these, drawn in another order
    Masks own(threads);
    for (std::size_t t = 0; t < threads; ++t)
        for (std::size_t u = 0; u < threads; ++u)
            if (library_threads || t == u)
                own[t].push_back(static_cast<int>(all[static_cast<std::size_t>(node.rank()) * threads + u]));
    return {shared, !apply(own)};
}

}  // namespace octant
