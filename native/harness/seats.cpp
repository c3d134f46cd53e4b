#include "octant/seats.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <tuple>

namespace octant {
namespace {

int number_in(std::string const& path) {  // -1: none; of a list, the first
    int number = -1;
    return std::ifstream(path) >> number ? number : -1;
}

int domain_of(std::string const& folder) {
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator(folder, error)) {
        std::string const name = entry.path().filename();
        if (int domain = 0; std::sscanf(name.c_str(), "node%d", &domain) == 1) return domain;
    }
    return 0;
}

// Intel's efficiency cores, where there are others: "16-23".
bool is_efficient(int cpu) {
    std::ifstream list("/sys/devices/cpu_atom/cpus");
    for (std::string part; std::getline(list, part, ',');) {
        int first = 0, last = 0;
        int const numbers = std::sscanf(part.c_str(), "%d-%d", &first, &last);
        if (numbers > 0 && first <= cpu && cpu <= (numbers == 2 ? last : first)) return true;
    }
    return false;
}

// Sort key of a group of hardware threads: larger groups first, those of equal size in random order.
struct Draw {
    std::int64_t minus_size = 0;
    std::uint64_t number = 0;
    auto operator<=>(Draw const&) const = default;
};

}  // namespace

std::vector<HardwareThread> hardware_threads(std::span<std::int64_t const> cpus) {
    std::vector<HardwareThread> found;
    for (auto const number : cpus) {
        auto const cpu = static_cast<int>(number);
        std::string const folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
        int const core = number_in(folder + "topology/thread_siblings_list");
        int const kind = is_efficient(cpu) ? 0 : number_in(folder + "cpu_capacity");
        int const package = number_in(folder + "topology/physical_package_id");
        int cache = number_in(folder + "cache/index3/shared_cpu_list");
        if (cache < 0) cache = number_in(folder + "cache/index2/shared_cpu_list");
        found.push_back({cpu, kind, package, domain_of(folder), cache, core < 0 ? cpu : core});
    }
    return found;
}

std::vector<std::int64_t> seat_order(std::vector<HardwareThread> threads, std::uint64_t seed) {
    std::ranges::sort(threads, {}, &HardwareThread::cpu);
    std::mt19937_64 random(seed);
    std::map<int, std::size_t> kinds;  // in the order of their lowest hardware threads
    std::map<std::vector<int>, Draw> groups;
    auto const of = [](HardwareThread const& one) {
        return std::array<std::vector<int>, 4>{std::vector{one.kind, one.package},
                                               {one.kind, one.package, one.domain},
                                               {one.kind, one.package, one.domain, one.cache},
                                               {one.kind, one.package, one.domain, one.cache, one.core}};
    };
    for (auto const& one : threads) {
        kinds.try_emplace(one.kind, kinds.size());
        for (auto const& group : of(one)) --groups.try_emplace(group, Draw{0, random()}).first->second.minus_size;
    }
    std::ranges::shuffle(threads, random);
    std::map<std::vector<int>, int> taken;  // of each core so far
    using Place = std::tuple<int, std::size_t, Draw, Draw, Draw, Draw, std::int64_t>;
    std::vector<Place> places;
    for (auto const& one : threads) {
        auto const [package, domain, cache, core] = of(one);
        places.emplace_back(taken[core]++, kinds[one.kind], groups[package], groups[domain], groups[cache],
                            groups[core], one.cpu);
    }
    std::ranges::sort(places);
    std::vector<std::int64_t> order;
    for (auto const& place : places) order.push_back(std::get<6>(place));
    return order;
}

}  // namespace octant
