// Where the files of this process's control groups are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octant {

struct ControlGroup {
    std::string path;    // "/job/step"
    std::string folder;  // with its files; not every group of a hierarchy has one for each controller
};

// The process's group for a controller and the groups above it, innermost first: of version 1, else of version 2; empty
// where there is none. In a container the path may lie outside of the mount: the mount then counts. `root`: of a
// recorded tree.
[[nodiscard]] std::vector<ControlGroup> control_groups(std::string const& controller, std::string const& root = "/");

// The number that a file begins with.
[[nodiscard]] std::optional<std::int64_t> number_in(std::string const& file);

}  // namespace octant
