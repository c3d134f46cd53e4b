// The rows of the table that the knob `pattern` chooses from, and the knobs that they share.
#pragma once

#include "octant/kernel.hpp"

#include <vector>

namespace onesided {

enum class Shape {
    pair,        // the group's first rank is origin, its last is target
    both,        // these two are origin and target of each other
    one_to_all,  // the first rank is origin, all others are targets
    all_to_all,  // every rank is origin, all others are its targets
    neighbours,  // every rank is origin, the ranks before and behind it in a ring are its targets
    all_to_one   // every rank is origin, the first rank is the target
};
enum class Operation { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };

struct Pattern {
    Shape shape;
    Operation operation;
    bool local = false;  // completed at the origin alone
};

// Common properties of the rows: knobs, pace, and the roles origin, target and idle, in this order.
[[nodiscard]] octant::KernelInfo common_info();

[[nodiscard]] std::vector<octant::Row> transfer_rows();
[[nodiscard]] std::vector<octant::Row> passive_rows();
[[nodiscard]] octant::Row window_row();

}  // namespace onesided
