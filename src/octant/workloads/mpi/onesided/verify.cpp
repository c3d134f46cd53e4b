// What the operations did, against what they must have done. A window's memory is read and written by its owner inside
// an epoch for itself alone, so that the check holds where the public copy of a window is not the private one.
#include "octant/failure.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace onesided {

using octant::check;

namespace {

constexpr int passes = 3, rounds = 8, increments = 10;

double first_value(std::size_t index) { return static_cast<double>(3 + index % 4); }
double operand(std::size_t index) { return static_cast<double>(1 + index % 3); }

}  // namespace

void Transfers::own(std::function<void()> const& body) const {
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks_->rank(), 0, window_->get()));
    body();
    check(MPI_Win_unlock(ranks_->rank(), window_->get()));
}

// Runs `act` on windows that `reset` has filled; on return it is complete on all ranks.
void Transfers::settle(std::function<void()> const& reset, std::function<void()> const& act) const {
    bool const late = fault_ == 1;
    if (!late) own(reset);
    barrier();
    epochs_->open();
    act();
    epochs_->close();
    barrier();
    if (late) own(reset);
    barrier();
}

octant::Results Transfers::verify() {
    octant::Mismatch found;
    if (plays_) {
        epochs_->close();
        if (counts())
            verify_count(found);
        else if (changes())
            verify_changed(found);
        else
            for (int pass = 0; pass < passes; ++pass) verify_moved(found, pass);
        barrier();  // all have read their windows
        epochs_->open();
    }
    std::string const name = changes() ? "values that differ from sequential execution" : "wrong bytes received";
    return {{name, found.count(), "1", 0, found.where()}};
}

// Other bytes in each pass and at each place, at both ends of what rotating buffers walk over.
void Transfers::verify_moved(octant::Mismatch& found, int pass) {
    std::size_t const slot = pass == passes - 1 ? slots_ - window_count_ : 0;
    bool const puts = pattern_.operation == Operation::put;
    auto const index_of = [&](std::size_t region, std::size_t j) { return (region * window_count_ + j) * bytes_; };
    auto const at = [&](std::byte* base, std::size_t region, std::size_t j) {
        return std::span(reinterpret_cast<std::uint8_t*>(place(base, region, slot + j)), bytes_);
    };
    auto const reset = [&] {
        for (std::size_t region = 0; region < links_.regions; ++region)
            for (std::size_t j = 0; j < window_count_; ++j)
                if (!puts)
                    octant::fill_pattern(at(window_->data(), region, j), group_.rank(), pass, index_of(region, j));
                else if (region < links_.sources.size())
                    octant::poison(at(window_->data(), region, j), name_of(links_.sources[region]), pass,
                                   index_of(region, j));
    };
    for (std::size_t k = 0; k < links_.out.size(); ++k)
        for (std::size_t j = 0; j < window_count_; ++j) {
            auto const& [target, region] = links_.out[k];
            if (puts)
                octant::fill_pattern(at(local_->data(), k, j), group_.rank(), pass, index_of(region, j));
            else
                octant::poison(at(local_->data(), k, j), name_of(target), pass, index_of(region, j));
        }
    settle(reset, [&] { perform(slot); });
    for (std::size_t k = 0; k < links_.out.size() && !puts; ++k)
        for (std::size_t j = 0; j < window_count_; ++j)
            found.compare(at(local_->data(), k, j), group_.rank(), name_of(links_.out[k].target), pass,
                          index_of(links_.out[k].region, j));
    if (!puts) return;
    own([&] {
        for (std::size_t region = 0; region < links_.sources.size(); ++region)
            for (std::size_t j = 0; j < window_count_; ++j)
                found.compare(at(window_->data(), region, j), group_.rank(), name_of(links_.sources[region]), pass,
                              index_of(region, j));
    });
}

// Eight operations of each origin on each value, and what each of them fetched. Of eight comparisons four find another
// value.
void Transfers::verify_changed(octant::Mismatch& found) {
    std::size_t const values = bytes_ / element_.size();
    bool const compares = pattern_.operation == Operation::compare_and_swap;
    int const origins = targets_one_rank() ? ranks_->size() : 1;
    bool const is_target = targets_one_rank() ? ranks_->rank() == 0 : !acts();
    std::vector<double> expected(values);
    for (std::size_t i = 0; i < values; ++i) expected[i] = first_value(i);
    auto const each = [&](std::byte* base, auto const& body) {
        for (std::size_t j = 0; j < window_count_; ++j)
            for (std::size_t i = 0; i < values; ++i) body(place(base, 0, j) + i * element_.size(), i);
    };
    auto const compare = [&](std::byte const* at, std::size_t i, char const* what, int round) {
        double const value = element_.load(at);
        if (!(value == expected[i]))
            found.add("rank " + std::to_string(group_.rank()) + ", value " + std::to_string(i) + what +
                      std::to_string(round) + ": " + std::to_string(value) + " instead of " +
                      std::to_string(expected[i]));
    };
    auto const reset = [&] {
        each(window_->data(), [&](std::byte* at, std::size_t i) { element_.store(at, first_value(i)); });
    };
    auto const act = [&] {
        for (int round = 0; round < rounds; ++round) {
            bool const finds = round % 2 == 0;
            double const swapped = 20 + round;
            each(local_->data(), [&](std::byte* at, std::size_t i) {
                element_.store(at, compares ? swapped : operand(i));
                if (compares) element_.store(at + compared, finds ? expected[i] : expected[i] + 1);
            });
            if (acts() && fetches())
                each(fetched_->data(), [&](std::byte* at, std::size_t) { element_.store(at, 99); });
            perform(0);
            if (acts() && fetches())
                each(fetched_->data(),
                     [&](std::byte* at, std::size_t i) { compare(at, i, ", fetched in round ", round); });
            for (std::size_t i = 0; i < values; ++i) {
                for (int origin = 0; origin < origins && !compares; ++origin)
                    expected[i] = element_.applied(expected[i], operand(i));
                if (compares && finds) expected[i] = swapped;
            }
        }
    };
    settle(reset, act);
    if (!is_target) return;
    own([&] { each(window_->data(), [&](std::byte* at, std::size_t i) { compare(at, i, " after round ", rounds); }); });
}

// Every rank adds one ten times: no increment may be lost, and no two may find the same value.
void Transfers::verify_count(octant::Mismatch& found) {
    std::vector<std::int64_t> fetched;
    auto const all = static_cast<std::int64_t>(window_count_) * increments * ranks_->size();
    auto const act = [&] {
        for (int round = 0; round < increments; ++round) {
            perform(0);
            for (std::size_t j = 0; j < window_count_; ++j)
                fetched.push_back(static_cast<std::int64_t>(element_.load(place(fetched_->data(), 0, j))));
        }
    };
    for (std::size_t j = 0; j < window_count_; ++j) element_.store(place(local_->data(), 0, j), 1);
    settle([&] { element_.store(window_->data(), 0); }, act);
    if (fault_ == 3) ++fetched.front(), --fetched.back();  // the same sum
    auto const found_by = ranks_->gather(fetched);
    if (ranks_->rank() != 0) return;
    double counted = 0;
    own([&] { counted = element_.load(window_->data()); });
    auto const wraps_at = element_.size() == 1 ? std::int64_t{256} : INT64_MAX;
    if (!(counted == static_cast<double>(all % wraps_at)))
        found.add("the counter is " + std::to_string(counted) + " instead of " + std::to_string(all % wraps_at));
    std::vector<std::int64_t> each(static_cast<std::size_t>(all)), values;
    for (std::int64_t i = 0; i < all; ++i) each[static_cast<std::size_t>(i)] = i % wraps_at;
    for (auto const& some : found_by) values.insert(values.end(), some.begin(), some.end());
    std::ranges::sort(each);
    std::ranges::sort(values);
    auto const [wanted, wrong] = std::ranges::mismatch(each, values);
    if (wrong != values.end())
        found.add("the sorted values contain " + std::to_string(*wrong) + " instead of " + std::to_string(*wanted));
}

}  // namespace onesided
