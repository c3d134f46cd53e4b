#include "octant/arguments.hpp"

#include "octant/amounts.hpp"
#include "octant/failure.hpp"

#include <algorithm>

namespace octant {

Arguments Arguments::parse(int argc, char** argv) {
    Arguments found;
    for (int i = 1; i < argc; ++i) {
        std::string const word = argv[i];
        auto const following = [&] {
            if (i + 1 >= argc) throw Refusal("cannot read " + word + " (its value is missing); try " + word + " VALUE");
            return std::string(argv[++i]);
        };
        if (word == "--describe")
            found.describe = true;
        else if (word == "--ranks")
            found.ranks = static_cast<int>(std::clamp<std::int64_t>(parse_integer(following()), 0, 1 << 30));
        else if (word == "--output")
            found.output = following();
        else if (word == "--run")
            found.launch = following();
        else if (word == "--seed")
            found.seed = static_cast<std::uint64_t>(parse_integer(following()));
        else
            found.words.push_back(word);
    }
    return found;
}

}  // namespace octant
