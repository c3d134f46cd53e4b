// The command line of a kernel's program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octant {

struct Arguments {
    bool describe = false;
    int ranks = 0;  // with --describe: whether that many ranks can do it; 0: not asked
    std::string output = "-";
    std::string launch;
    // Draws the order of the points and the hardware threads that are taken; without: as written, and new ones.
    std::optional<std::uint64_t> seed;
    std::vector<std::string> words;  // knobs: name=value

    [[nodiscard]] static Arguments parse(int argc,
                                         char** argv);  // throws Refusal: a value is missing or cannot be read
};

}  // namespace octant
