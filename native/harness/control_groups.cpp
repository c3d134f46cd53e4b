#include "control_groups.hpp"

#include "octant/system_file.hpp"

#include <unistd.h>

#include <algorithm>

namespace octant {
namespace {

struct Mounted {
    std::string mount;
    std::string path;
};

std::optional<Mounted> mounted(std::string const& controller, std::string const& root) {
    std::string const text = file_text(root + "/proc/self/cgroup");
    std::string const top = root + "/sys/fs/cgroup/";
    std::optional<Mounted> second;
    std::string_view rest = text;
    for (std::string_view line; next_line(rest, line);) {
        auto const first = line.find(':'), last = line.find(':', first + 1);
        if (first == std::string_view::npos || last == std::string_view::npos) continue;
        std::string const controllers(line.substr(first + 1, last - first - 1)), path(line.substr(last + 1));
        bool const mine = ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
        if (!controllers.empty() && !mine) continue;
        auto const mounts = mine ? std::vector{top + controllers, top + controller} : std::vector{top, top + "unified"};
        for (std::string const& mount : mounts) {
            if (access((mount + (mine ? "/cgroup.procs" : "/cgroup.controllers")).c_str(), F_OK) != 0) continue;
            if (mine) return Mounted{mount, path};
            if (!second) second = Mounted{mount, path};
        }
    }
    return second;
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string const& controller, std::string const& root) {
    auto const found = mounted(controller, root);
    if (!found) return {};
    std::vector<ControlGroup> groups{{"/", found->mount}};
    std::string_view rest = found->path;
    while (!rest.empty()) {
        std::string const part(rest.substr(0, rest.find('/')));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        if (part == ".." || part == "." || part.empty()) continue;  // leads out of the mount
        std::string const& above = groups.back().path;
        groups.push_back({above + (above == "/" ? "" : "/") + part, groups.back().folder + "/" + part});
    }
    std::ranges::reverse(groups);
    return groups;
}

std::optional<std::int64_t> number_in(std::string const& file) { return leading_number<std::int64_t>(file_text(file)); }

}  // namespace octant
