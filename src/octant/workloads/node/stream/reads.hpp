// Hot loops that take one double after the other, in an order of their own. `ahead`: the caches are asked for what is
// read so many doubles later.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stream {

// The sum of every `stride`-th double. `loads` is a multiple of 8.
using Strided = double (*)(double const* from, std::ptrdiff_t stride, std::ptrdiff_t loads, std::ptrdiff_t ahead);
[[nodiscard]] Strided strided_loads(bool asks);

// The sum of the doubles that the list names. `loads` is a multiple of 8; the list goes on for `ahead` more.
using Gathered = double (*)(double const* from, std::uint32_t const* index, std::ptrdiff_t loads, std::ptrdiff_t ahead);
[[nodiscard]] Gathered gathered_loads(bool asks);

// A band of `edge` rows becomes one of columns. `columns` is a multiple of `edge`; rows of both are `pitch` apart.
struct Tiles {
    std::ptrdiff_t edge, columns, pitch;
};
using Transposed = void (*)(double* to, double const* from, Tiles tiles, std::ptrdiff_t ahead);
[[nodiscard]] Transposed transposed_tiles(bool asks);

}  // namespace stream
