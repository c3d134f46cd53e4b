#include "control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace octant {
namespace {

namespace fs = std::filesystem;

struct Mounted {
    fs::path mount;
    std::string path;
};

std::optional<Mounted> mounted(std::string const& controller, fs::path const& root) {
    std::ifstream file(root / "proc/self/cgroup");
    fs::path const top = root / "sys/fs/cgroup";
    std::optional<Mounted> second;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string number, controllers, path;
        if (!std::getline(words, number, ':') || !std::getline(words, controllers, ':')) continue;
        std::getline(words, path);
        bool const mine = ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
        if (!controllers.empty() && !mine) continue;
        auto const mounts = mine ? std::vector{top / controllers, top / controller} : std::vector{top, top / "unified"};
        for (fs::path const& mount : mounts) {
            std::error_code error;
            if (!fs::exists(mount / (mine ? "cgroup.procs" : "cgroup.controllers"), error)) continue;
            if (mine) return Mounted{mount, path};
            if (!second) second = Mounted{mount, path};
        }
    }
    return second;
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string const& controller, fs::path const& root) {
    auto const found = mounted(controller, root);
    if (!found) return {};
    std::vector<ControlGroup> groups{{"/", found->mount}};
    for (auto const& part : fs::path(found->path).relative_path()) {
        if (part == ".." || part.empty()) continue;  // leads out of the mount
        std::string const& above = groups.back().path;
        groups.push_back({above + (above == "/" ? "" : "/") + part.string(), groups.back().folder / part});
    }
    std::ranges::reverse(groups);
    return groups;
}

std::optional<std::int64_t> number_in(fs::path const& file) {
    std::ifstream stream(file);
    std::int64_t number = 0;
    return stream >> number ? std::optional(number) : std::nullopt;
}

}  // namespace octant
