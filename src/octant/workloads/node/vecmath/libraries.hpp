// Implementations of the functions: libraries that are loaded at run time, and compiled loops.
#pragma once

#include "loops.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vecmath {

struct Function;

struct Wish {  // from the knobs
    std::string library, width, accuracy, path;
};

template <class Real>
struct Implementation {
    Loop<Real> loop = nullptr;
    Called called;
    double documented_ulp = 0;                               // the largest error by its own documentation
    bool keeps_specials = false;                             // it promises special values as the C standard has them
    std::vector<std::pair<std::string, std::string>> facts;  // library, symbol, width
};

// Throws octant::Refusal: not installed, it has no such function, or the processor has no such vectors.
template <class Real>
[[nodiscard]] Implementation<Real> implementation(Function const& function, Wish const& wish);

// The C library's own function of one element, or one-line code of our own for what it does not have.
[[nodiscard]] Entry scalar_entry(Function const& function, bool single);

// Loops that were compiled here.
[[nodiscard]] Loop<double> strict_double(std::string_view name);
[[nodiscard]] Loop<float> strict_single(std::string_view name);
[[nodiscard]] Loop<double> relaxed_double(std::string_view name);
[[nodiscard]] Loop<float> relaxed_single(std::string_view name);

}  // namespace vecmath
