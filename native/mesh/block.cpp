#include "block.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mesh {
namespace {

constexpr double diffusion = 0.2;  // stable up to 0.25

// New values of the cells of one field of `size` x `size` cells, with a frame of ghost cells.
double sweep_field(double const* now, double* next, std::ptrdiff_t size) {
    std::ptrdiff_t const width = size + 2;
    double largest = 0.0;
    for (std::ptrdiff_t row = 1; row <= size; ++row)
        for (std::ptrdiff_t at = row * width + 1; at <= row * width + size; ++at) {
            double const change =
                diffusion * (now[at - 1] + now[at + 1] + now[at - width] + now[at + width] - 4.0 * now[at]);
            next[at] = now[at] + change;
            largest = std::max(largest, std::abs(change));
        }
    return largest;
}

}  // namespace

Block::Block(Place const& place, int size, int fields) : place_(place), size_(size), fields_(fields) {
    double damping = 0.0;
    for (std::size_t direction = 0; direction < 2; ++direction) {
        auto const cells = static_cast<std::size_t>(place.blocks[direction]) * static_cast<std::size_t>(size);
        double const angle = std::numbers::pi / static_cast<double>(cells);
        damping += 4.0 * std::sin(angle) * std::sin(angle);
        for (std::size_t cell = 0; cell < cells; ++cell)
            waves_[direction].push_back(std::cos(2.0 * angle * static_cast<double>(cell)));
    }
    factor_ = 1.0 - diffusion * damping;
    now_.resize(index(fields, 0, 0));
    next_ = now_;
    for (int field = 0; field < fields; ++field)
        for (int row = 0; row < size; ++row)
            for (int column = 0; column < size; ++column)
                now_[index(field, row + 1, column + 1)] = exact(place, field, row, column);
}

std::size_t Block::index(int field, int row, int column) const {
    auto const width = static_cast<std::size_t>(size_) + 2;
    return (static_cast<std::size_t>(field) * width + static_cast<std::size_t>(row)) * width +
           static_cast<std::size_t>(column);
}

double Block::exact(Place const& place, int field, int row, int column) const {
    auto const cell = [&](std::size_t direction, int offset) {
        return static_cast<std::size_t>(place.at[direction]) * static_cast<std::size_t>(size_) +
               static_cast<std::size_t>(offset);
    };
    return decay_ * (1.0 + field) * waves_[0][cell(0, column)] * waves_[1][cell(1, row)];
}

void Block::pack(Side side, std::span<double> values) const {
    int const line = side == Side::west || side == Side::south ? 1 : size_;
    auto to = values.begin();
    for (int field = 0; field < fields_; ++field)
        for (int along = 1; along <= size_; ++along)
            *to++ =
                now_[side == Side::west || side == Side::east ? index(field, along, line) : index(field, line, along)];
}

void Block::unpack(Side side, std::span<double const> values) {
    int const line = side == Side::west || side == Side::south ? 0 : size_ + 1;
    auto from = values.begin();
    for (int field = 0; field < fields_; ++field)
        for (int along = 1; along <= size_; ++along)
            now_[side == Side::west || side == Side::east ? index(field, along, line) : index(field, line, along)] =
                *from++;
}

double Block::sweep() {
    double largest = 0.0;
    for (int field = 0; field < fields_; ++field)
        largest = std::max(largest, sweep_field(&now_[index(field, 0, 0)], &next_[index(field, 0, 0)], size_));
    return largest;
}

void Block::advance() {
    now_.swap(next_);
    decay_ *= factor_;
}

std::vector<double> Block::part(int part, int parts) const {
    auto const cells = static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
    auto const length = std::max<std::size_t>(1, cells / static_cast<std::size_t>(parts));
    std::vector<double> values(length);
    for (std::size_t n = 0; n < length; ++n) {
        auto const cell = static_cast<int>((static_cast<std::size_t>(part) * length + n) % cells);
        values[n] = now_[index(0, cell / size_ + 1, cell % size_ + 1)];
    }
    return values;
}

double Block::error_of_part(Place const& place, int part, std::span<double const> values) const {
    auto const cells = static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
    double largest = 0.0;
    for (std::size_t n = 0; n < values.size(); ++n) {
        auto const cell = static_cast<int>((static_cast<std::size_t>(part) * values.size() + n) % cells);
        largest = std::max(largest, std::abs(values[n] - exact(place, 0, cell / size_, cell % size_)));
    }
    return largest;
}

double Block::error() const {
    double largest = 0.0;
    for (int field = 0; field < fields_; ++field)
        for (int row = 0; row < size_; ++row)
            for (int column = 0; column < size_; ++column)
                largest = std::max(
                    largest, std::abs(now_[index(field, row + 1, column + 1)] - exact(place_, field, row, column)));
    return largest;
}

}  // namespace mesh
