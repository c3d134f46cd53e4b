#include "octant/sketch.hpp"

#include <numeric>

namespace octant {

void Sketch::write(JsonText& text) const {
    text.open('{');
    text.key("bits").number(bits);
    text.key("count").number(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}));
    text.key("zero").number(counts_[0]);
    text.key("bins").open('[');
    for (std::size_t first = 1; first < counts_.size(); ++first) {
        std::size_t end = first;
        while (end < counts_.size() && counts_[end] > 0) ++end;
        if (end == first) continue;
        text.open('[');
        text.number(first - 1);
        text.list(std::span(counts_).subspan(first, end - first));
        text.close(']');
        first = end;
    }
    text.close(']');
    text.close('}');
}

}  // namespace octant
