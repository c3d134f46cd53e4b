// The command line of a kernel's program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octant {

struct Arguments {
    bool describe = false;
    int ranks = 0;  // with --describe: number of ranks to check; 0: none
    std::string output = "-";
    std::string launch;
    // Seed of the order of points and of the choice of hardware threads; without it: order as given, random choice.
    std::optional<std::uint64_t> seed;
    std::vector<std::string> words;  // knobs: name=value

    [[nodiscard]] static Arguments parse(int argc,
                                         char** argv);  // throws Refusal: a value is missing or cannot be read
};

}  // namespace octant
