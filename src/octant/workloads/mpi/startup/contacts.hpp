// Messages between every two ranks, in rounds of pairs; the first of them before anything else is sent.
#pragma once

#include "kernels/pattern.hpp"
#include "octant/info.hpp"
#include "octant/mpi.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace startup {

[[nodiscard]] std::vector<octant::Knob> knobs();

// The partner of `rank` in a round; -1: none. In `rounds_of(ranks)` rounds every two ranks are partners exactly once.
[[nodiscard]] int partner(int rank, int ranks, int round);
[[nodiscard]] int rounds_of(int ranks);

struct Contact {      // with a rank to which this rank sends first
    double first_s;   // round trip, once both are ready
    double steady_s;  // the same later on, median
    double late_s;    // by which one was ready after the other
};

struct Contacts {  // of one rank, with all others
    std::int64_t bytes = 0, resident_before = 0, resident_after = 0, wrong = 0;
    std::vector<Contact> met;

    [[nodiscard]] std::vector<double> as_numbers() const;
    [[nodiscard]] static Contacts of_numbers(std::span<double const> numbers);
};

// First messages of this rank with all others. They begin at a common clock time, which needs no message.
[[nodiscard]] Contacts contacts_of(octant::Comm const& world, std::size_t bytes, std::int64_t exchanges);

// One round trip with every other rank; received data are compared if `wrong` is given.
void exchange_with_all(octant::Comm const& comm, std::size_t bytes, octant::Mismatch* wrong, bool spoils);

}  // namespace startup
