// The knob `width`: selects a variant of a loop.
#pragma once

#include "octant/failure.hpp"

#include <string>
#include <vector>

namespace octant {

// `known` are the variants that run here, each with a `name`, narrow to wide; "auto" is the widest. Throws Refusal.
template <class Width>
[[nodiscard]] Width chosen_width(std::vector<Width> const& known, std::string const& name) {
    if (name == "auto") return known.back();
    std::string names;
    for (Width const& width : known) {
        if (width.name == name) return width;
        names += width.name + ", ";
    }
    throw Refusal("cannot use width=" + name + " (this processor has " + names + "not that); try width=auto",
                  Exit::not_supported);
}

}  // namespace octant
