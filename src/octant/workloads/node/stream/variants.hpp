// Store instructions of the loops of pattern=contiguous.
#pragma once

#include "rows.hpp"

namespace stream {

struct Kind {
    char const* name;
    int arrays, arrays_read, arrays_written, arrays_allocated, flops;
    double (*plain)(double b, double c);  // the oracle
    [[nodiscard]] bool has_a() const { return arrays_written == 1; }
    [[nodiscard]] bool has_b() const { return arrays > arrays_written; }
    [[nodiscard]] bool has_c() const { return arrays > 2; }
};

[[nodiscard]] std::size_t kind_index(std::string const& name);
[[nodiscard]] Kind const& kind_of(std::size_t index);

struct Variant {
    std::string name;  // of the knob `store`
    Loop loop = nullptr;
    bool allocates = true;  // plain stores read a line before they change it
    bool drains = false;    // a fence belongs to it
    bool whole = false;     // one call for all of a lane's part: it chooses by the length
};

// Those that this kernel has here; the quickest of them is store=best.
[[nodiscard]] std::vector<Variant> variants(std::size_t kind, Width const& width, bool asks, bool aligned);

// The knob `store`: one of them, or all for `best`. Throws Refusal.
[[nodiscard]] std::vector<Variant> variants_of(octant::Context const& context, std::size_t kind, Width const& width);

}  // namespace stream
