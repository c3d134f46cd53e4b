// The entries of HPL's matrix: (i, j) is number i + j n of its sequence, the right side is column n.
#pragma once

#include "layout.hpp"

#include "kernels/hpl_random.hpp"

#include <cstdint>
#include <vector>

namespace hpl {

// `count` entries of a row: the first is that of state x, `column` leads from one to the next, `eight` over eight.
void entries(double* out, std::int64_t count, std::uint64_t x, octant::hpl::Jump column, octant::hpl::Jump eight);

class Rows {  // makes the local part of one row after the other
  public:
    Rows(Layout const& layout, std::uint64_t seed);
    void next(double* out);  // local_columns numbers

  private:
    Layout const& layout_;
    octant::hpl::Jump column_, eight_, to_next_block_;
    std::vector<std::uint64_t> states_;  // at the first column of each local block
    std::int64_t row_ = 0;
};

}  // namespace hpl
