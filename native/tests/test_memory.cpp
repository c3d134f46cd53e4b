// Memory is what was asked for, or is refused; the read-back counts one buffer and no other.
#include "octant/memory.hpp"

#include "check.hpp"

#include <unistd.h>

#include <cstring>
#include <vector>

namespace {

constexpr std::size_t size = std::size_t{6} << 20;
using octant::Mapping;
using octant::NodePolicy;
using octant::PagePolicy;

void policies(octant::Checks& checks) {
    checks.that(PagePolicy::parse("2MiB").pool_page_bytes == 2 << 20, "a pool's size");
    checks.that(PagePolicy::parse(std::to_string(sysconf(_SC_PAGESIZE))).name == "base", "the base page is no pool");
    checks.refused([] { static_cast<void>(PagePolicy::parse("3MiB")); }, "not a page size");
    checks.refused([] { static_cast<void>(PagePolicy::parse("huge")); }, "pages=huge (not a page size");
    checks.that(NodePolicy::parse("bind:0+1").nodes == std::vector<int>{0, 1}, "two nodes");
    checks.refused([] { static_cast<void>(NodePolicy::parse("bind")); }, "memory=bind");
    checks.refused([] { static_cast<void>(NodePolicy::parse("local:1")); }, "memory=local:1");
    checks.refused([] { Mapping(size, PagePolicy::parse("base"), NodePolicy::parse("bind:1000")); }, "memory policy");
    checks.refused([] { Mapping(size, PagePolicy::parse("16GiB"), NodePolicy::parse("default")); }, "pages=16GiB");
}

void read_back(octant::Checks& checks) {
    Mapping const first(size, PagePolicy::parse("base"), NodePolicy::parse("default"));
    Mapping const second(size, PagePolicy::parse("base"), NodePolicy::parse("default"));
    std::memset(first.data(), 1, first.size());
    checks.that(first.given().resident_bytes == static_cast<std::int64_t>(size), "all of the first is there");
    checks.that(first.given().huge_bytes == 0, "pages=base gives no huge pages");
    checks.that(second.given().resident_bytes == 0, "the second was not touched, and its neighbour is not counted");
    std::memset(second.data(), 1, size / 2);
    checks.that(second.given().resident_bytes == static_cast<std::int64_t>(size) / 2, "half of the second");
    checks.that(!first.given().pages_on_node.empty(), "the nodes are known");
    checks.that(second.given().pages_on_node.size() <= first.given().pages_on_node.size(), "no more nodes than pages");
}

void owners(octant::Checks& checks) {
    Mapping source(size, PagePolicy::parse("thp"), NodePolicy::parse("local"));
    auto* const data = source.data();
    checks.that(reinterpret_cast<std::uintptr_t>(data) % (2 << 20) == 0, "aligned to a huge page");
    Mapping const target(std::move(source));
    checks.that(target.data() == data, "moving hands it over");
    std::memset(target.data(), 1, target.size());
    checks.that(target.given().resident_bytes >= static_cast<std::int64_t>(size), "and it can be used");
}

}  // namespace

int main() {
    octant::Checks checks;
    policies(checks);
    read_back(checks);
    owners(checks);
    return checks.result();
}
