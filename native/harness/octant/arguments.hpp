// The command line of a kernel's program.
#pragma once

#include <string>
#include <vector>

namespace octant {

struct Arguments {
    bool describe = false;
    int ranks = 0;  // with --describe: whether that many ranks can do it; 0: not asked
    std::string output = "-";
    std::string launch;
    std::vector<std::string> words;  // knobs: name=value

    [[nodiscard]] static Arguments parse(int argc, char** argv);  // throws Refusal: a value is missing, or no number
};

}  // namespace octant
