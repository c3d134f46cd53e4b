// Memory has the requested pages, or is refused. The read-back covers exactly one buffer.
#include "octant/memory.hpp"

#include "check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr std::size_t size = std::size_t{6} << 20;
using octant::Mapping;
using octant::NodePolicy;
using octant::PagePolicy;

octant::PageResidency given(Mapping const& mapping) { return octant::read_page_residency(mapping.bytes()); }

void policies(octant::Checks& checks) {
    checks.that(PagePolicy::parse("2MiB").pool_page_bytes == 2 << 20, "a pool's size");
    checks.that(PagePolicy::parse(std::to_string(sysconf(_SC_PAGESIZE))).name == "base", "the base page is no pool");
    checks.refused([] { static_cast<void>(PagePolicy::parse("3MiB")); }, "not a page size");
    checks.refused([] { static_cast<void>(PagePolicy::parse("huge")); }, "not a page size");
    for (auto const* const word : {"bind:0+1", "bind:0,1", "bind:0-1", "interleave:1,0"})
        checks.that(NodePolicy::parse(word).nodes == std::vector<int>{0, 1}, word);
    checks.that(NodePolicy::parse("bind:0,2-3+5").nodes == std::vector<int>{0, 2, 3, 5}, "a list with a range");
    for (auto const* const word : {"bind:0,", "bind:,1", "bind:0++1", "bind:3-1", "bind:0-1024", "bind:-1", "bind:1-"})
        checks.refused([&] { static_cast<void>(NodePolicy::parse(word)); }, "cannot ");
    checks.refused([] { static_cast<void>(NodePolicy::parse("bind")); }, "memory=bind");
    checks.refused([] { static_cast<void>(NodePolicy::parse("local:1")); }, "memory=local:1");
    checks.refused([] { Mapping(size, PagePolicy::parse("base"), NodePolicy::parse("bind:1000")); }, "memory policy");
    checks.refused([] { Mapping(size, PagePolicy::parse("16GiB"), NodePolicy::parse("default")); }, "pages=16GiB");
}

void read_back(octant::Checks& checks) {
    Mapping const first(size, PagePolicy::parse("base"), NodePolicy::parse("default"));
    Mapping const second(size, PagePolicy::parse("base"), NodePolicy::parse("default"));
    std::memset(first.data(), 1, first.size());
    checks.that(given(first).resident_bytes == static_cast<std::int64_t>(size), "all of the first is there");
    checks.that(given(first).huge_bytes == 0, "pages=base gives no huge pages");
    checks.that(given(second).resident_bytes == 0, "the second was not touched, and its neighbour is not counted");
    std::memset(second.data(), 1, size / 2);
    checks.that(given(second).resident_bytes == static_cast<std::int64_t>(size) / 2, "half of the second");
    checks.that(!given(first).pages_on_node.empty(), "the nodes are known");
    checks.that(given(second).pages_on_node.size() <= given(first).pages_on_node.size(), "no more nodes than pages");
}

void requested_pages(octant::Checks& checks) {
    for (auto const* const word : {"thp", "try-thp"})
        checks.that(PagePolicy::parse(word).transparent(), "asks for transparent huge pages");
    for (auto const* const word : {"default", "base", "2MiB"})
        checks.that(!PagePolicy::parse(word).transparent(), "does not");
    checks.refused([] { static_cast<void>(PagePolicy::parse("try")); }, "cannot use pages=try ");
}

// Transparent pages of 64 KiB, where this kernel has them: refused, or given and read back as root alone can.
void sized(octant::Checks& checks) {
    auto const policy = PagePolicy::parse("64KiB");
    if (policy.transparent_page_bytes == 0) return;  // a pool, or none of that size
    try {
        Mapping const buffer(size, policy, NodePolicy::parse("default"));
        std::memset(buffer.data(), 1, buffer.size());
        auto const found = octant::read_page_residency(buffer.bytes(), policy.transparent_page_bytes);
        checks.that(found.page_bytes == 0 || found.huge_bytes > 0, "seen, or not to be seen");
        checks.that(found.resident_bytes == static_cast<std::int64_t>(size), "all areas are counted");
    } catch (octant::Refusal const& refusal) {
        checks.that(std::string(refusal.what()).find("cannot use pages=64KiB") == 0, "with the command that helps");
    }
    Mapping const small(size, PagePolicy::parse("base"), NodePolicy::parse("default"));
    std::memset(small.data(), 1, small.size());
    auto const found = octant::read_page_residency(small.bytes(), 65536);
    checks.that(found.huge_bytes == 0, "base pages are none of 64 KiB");
    checks.that(found.page_bytes > 0 || geteuid() != 0, "and root sees that");
}

void owners(octant::Checks& checks) {
    Mapping source(size, PagePolicy::parse("thp"), NodePolicy::parse("local"));
    auto* const data = source.data();
    checks.that(reinterpret_cast<std::uintptr_t>(data) % (2 << 20) == 0, "aligned to a huge page");
    Mapping const target(std::move(source));
    checks.that(target.data() == data, "moving hands it over");
    std::memset(target.data(), 1, target.size());
    checks.that(given(target).resident_bytes >= static_cast<std::int64_t>(size), "and it can be used");
}

std::int64_t mapped_pages() {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages;
}

// A constructor that refuses gives back what it has mapped before, whichever of its steps refuses.
void refusals_leave_nothing(octant::Checks& checks) {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    PagePolicy const no_such_pages{"12KiB", 0, 12288}, base = PagePolicy::parse("base");
    auto const before = mapped_pages();
    checks.refused([&] { Mapping(bytes, no_such_pages, NodePolicy::parse("default")); }, "cannot use pages=12KiB");
    checks.refused([&] { Mapping(bytes, base, NodePolicy::parse("bind:1000")); }, "cannot apply memory policy");
    checks.that((mapped_pages() - before) * sysconf(_SC_PAGESIZE) < static_cast<std::int64_t>(bytes), "no mapping");
}

// Numbers of the physical pages, in order; empty where only root may see them.
std::vector<std::int64_t> physical_pages(Mapping const& mapping) {
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<std::uint64_t> entries(mapping.size() / page);
    int const file = open("/proc/self/pagemap", O_RDONLY);  // answers whole entries only, so no stream can read it
    auto const from = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(mapping.data()) / page * sizeof entries[0]);
    if (pread(file, entries.data(), entries.size() * sizeof entries[0], from) < 0) entries.clear();
    close(file);
    std::vector<std::int64_t> found;
    for (auto const entry : entries)
        if (auto const number = entry & ((std::uint64_t{1} << 55U) - 1); number != 0)
            found.push_back(static_cast<std::int64_t>(number));
    return found;
}

std::vector<std::int64_t> drawn_pages(octant::Checks& checks, std::uint64_t seed) {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    Mapping const drawn(bytes, PagePolicy::parse("base"), NodePolicy::parse("default"));
    drawn.draw_pages(0, bytes / 2, seed);
    checks.that(given(drawn).resident_bytes == bytes / 2, "the first half");
    drawn.draw_pages(bytes / 2, bytes, seed + 1);
    checks.that(given(drawn).resident_bytes == bytes && given(drawn).huge_bytes == 0, "all of it, on base pages");
    return physical_pages(drawn);
}

void layouts(octant::Checks& checks) {
    using octant::Layout;
    checks.that(octant::layout_of("auto", {"base"}) == Layout::fitting, "base pages are drawn");
    checks.that(octant::layout_of("auto", {"default"}) == Layout::given, "those of the system's choice are not");
    checks.that(octant::layout_of("random", {"default"}) == Layout::random, "unless asked for");
    checks.that(octant::layout_of("given", {"base"}) == Layout::given, "or asked not to");
    checks.refused([] { static_cast<void>(octant::layout_of("random", {"thp"})); }, "layout=random with pages=thp");
    auto const first = drawn_pages(checks, 1), second = drawn_pages(checks, 3);
    if (first.empty()) return;  // not root
    std::set<std::int64_t> const before(first.begin(), first.end());
    std::size_t again = 0, neighbours = 0;
    std::map<std::int64_t, std::size_t> distances;
    for (std::size_t i = 0; i < second.size(); ++i) {
        again += before.count(second[i]);
        if (i > 0) neighbours = std::max(neighbours, ++distances[second[i] - second[i - 1]]);
    }
    checks.that(second.size() == 256 && again < 128, "the next launch gets other pages");
    checks.that(neighbours < 64, "at no constant distance");
}

}  // namespace

int main() {
    octant::Checks checks;
    policies(checks);
    read_back(checks);
    requested_pages(checks);
    sized(checks);
    owners(checks);
    refusals_leave_nothing(checks);
    layouts(checks);
    return checks.result();
}
