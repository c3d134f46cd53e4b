// Copies of parts of rows.
#pragma once

#include "kernels/fft/reference.hpp"

#include <cstdint>

namespace gfft {

using octant::fft::Number;

struct Rows {
    Number* first;
    std::int64_t pitch;
};
void copy_rows(Rows to, Rows from, std::int64_t rows, std::int64_t width);
// The same past the caches; `to` begins lines of the cache, and `width` is whole lines.
void stream_rows(Rows to, Rows from, std::int64_t rows, std::int64_t width);

}  // namespace gfft
