#include "matrix.hpp"

#include <algorithm>

namespace hpl {

void entries(double* out, std::int64_t count, std::uint64_t x, octant::hpl::Jump column, octant::hpl::Jump eight) {
    constexpr int lanes = 8;  // chains of dependent multiplications that are under way at once
    std::uint64_t lane[lanes];
    for (auto& one : lane) one = x, x = column(x);
    std::int64_t const whole = count / lanes * lanes;
    for (std::int64_t first = 0; first < whole; first += lanes)
        for (int i = 0; i < lanes; ++i) {
            out[first + i] = octant::hpl::entry(lane[i]);
            lane[i] = eight(lane[i]);
        }
    for (std::int64_t i = whole; i < count; ++i) out[i] = octant::hpl::entry(lane[i - whole]);
}

Rows::Rows(Layout const& layout, std::uint64_t seed)
    : layout_(layout),
      column_(octant::hpl::jump(static_cast<std::uint64_t>(layout.n()))),
      eight_(octant::hpl::jump(8 * static_cast<std::uint64_t>(layout.n()))),
      to_next_block_(octant::hpl::jump(static_cast<std::uint64_t>(layout.block() * (layout.rows.processes - 1) + 1))) {
    auto const first_row = static_cast<std::uint64_t>(layout.rows.global(0, layout.row));
    for (std::int64_t first = 0; first < layout.local_columns; first += layout.block()) {
        auto const column = static_cast<std::uint64_t>(layout.columns.global(first, layout.column));
        // HPL's first number is the one after its seed.
        states_.push_back(octant::hpl::jump(1 + first_row + column * static_cast<std::uint64_t>(layout.n()))(seed));
    }
}

void Rows::next(double* out) {
    std::int64_t const block = layout_.block();
    ++row_;
    bool const last_of_block = row_ % block == 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
        std::int64_t const first = static_cast<std::int64_t>(i) * block;
        entries(out + first, std::min(block, layout_.local_columns - first), states_[i], column_, eight_);
        states_[i] = last_of_block ? to_next_block_(states_[i]) : octant::hpl::jump(1)(states_[i]);
    }
}

}  // namespace hpl
