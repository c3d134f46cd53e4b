#include "copies.hpp"

#include "octant/vector.hpp"

#include <algorithm>

namespace gfft {

void copy_rows(Rows to, Rows from, std::int64_t rows, std::int64_t width) {
    for (std::int64_t row = 0; row < rows; ++row, to.first += to.pitch, from.first += from.pitch)
        std::copy_n(from.first, width, to.first);
}

void stream_rows(Rows to, Rows from, std::int64_t rows, std::int64_t width) {
    using V = octant::Vector<double, 128>;
    for (std::int64_t row = 0; row < rows; ++row, to.first += to.pitch, from.first += from.pitch) {
        auto* const out = reinterpret_cast<V*>(to.first);
        auto const* const in = reinterpret_cast<V const*>(from.first);
        for (std::int64_t i = 0; i < width; ++i) octant::store_streaming(out + i, in[i]);
    }
    octant::drain_stores();
}

}  // namespace gfft
