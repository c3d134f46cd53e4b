#include "energy.hpp"

#include "octant/system_file.hpp"

#include <dirent.h>

#include <algorithm>
#include <optional>

namespace octant::bind {
namespace {

std::string name_in(std::string const& folder) {
    std::string text = file_text(folder + "/name", 64);
    text.resize(std::min(text.size(), text.find('\n')));
    return text;
}

std::optional<std::int64_t> number_of(std::string const& file) { return leading_number<std::int64_t>(file_text(file)); }

}  // namespace

void Energy::begin(std::string const& sysfs) {
    std::string const top = sysfs + "/class/powercap";
    std::vector<std::string> zones;
    DIR* const entries = opendir(top.c_str());
    if (entries == nullptr) return;
    while (dirent const* const entry = readdir(entries))
        if (std::string_view(entry->d_name).find(':') != std::string_view::npos) zones.emplace_back(entry->d_name);
    closedir(entries);
    std::ranges::sort(zones);  // "intel-rapl:0" before its parts "intel-rapl:0:1" and "intel-rapl-mmio:0" in any order
    std::ranges::stable_sort(zones, {}, [](std::string const& zone) { return zone.find("mmio") != std::string::npos; });
    for (auto const& zone : zones) {
        EnergyDomain domain;
        domain.folder = top + "/" + zone;
        domain.name = name_in(domain.folder);
        auto const last = zone.rfind(':');
        if (zone.find(':') != last) domain.name = name_in(top + "/" + zone.substr(0, last)) + "/" + domain.name;
        auto const counter = number_of(domain.folder + "/energy_uj");
        // The same counter may be shown a second time by another interface (MMIO).
        bool const known = std::ranges::find(domains_, domain.name, &EnergyDomain::name) != domains_.end();
        if (!counter || known || domain.name.empty()) continue;
        domain.last_uj = *counter;
        domain.range_uj = number_of(domain.folder + "/max_energy_range_uj").value_or(0);
        domains_.push_back(std::move(domain));
    }
}

void Energy::sample() {
    for (auto& domain : domains_) {
        auto const counter = number_of(domain.folder + "/energy_uj");
        if (!counter || (*counter < domain.last_uj && domain.range_uj <= 0)) {
            domain.readable = false;
            continue;
        }
        // After max_energy_range_uj comes 0, see the powercap documentation of the kernel.
        domain.sum_uj += *counter - domain.last_uj + (*counter < domain.last_uj ? domain.range_uj : 0);
        domain.last_uj = *counter;
    }
}

}  // namespace octant::bind
