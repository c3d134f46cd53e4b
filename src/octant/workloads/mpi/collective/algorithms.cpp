#include "algorithms.hpp"

#include "collective.hpp"

namespace collective {

std::span<octant::Algorithm const> algorithms() {
    static std::vector<octant::Algorithm> const all = [] {
        std::vector<octant::Algorithm> found;
        for (auto const& some : {own::trees(), own::reductions(), own::blocks()})
            found.insert(found.end(), some.begin(), some.end());
        return found;
    }();
    return all;
}

}  // namespace collective
