#include "octant/memory.hpp"

#include "transparent.hpp"

#include "octant/amounts.hpp"
#include "octant/failure.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

namespace octant {
namespace {

constexpr std::int64_t thp_bytes = std::int64_t{2} << 20;

// Memory policies of mbind(2); numbers from the kernel's interface, so that no libnuma is needed.
enum Mode { mode_default = 0, mode_preferred = 1, mode_bind = 2, mode_interleave = 3, mode_local = 4 };

// Numbers and ranges, joined by '+' or, as numactl writes them, by ',': "0+2", "0,2-3".
std::vector<int> parse_nodes(std::string const& text) {
    constexpr std::int64_t most = 1023;
    auto const number = [](std::string const& part) {
        auto const node = parse_integer(part);
        if (node < 0 || node > most) throw Refusal("cannot use memory node " + part + "; try a number from 0 to 1023");
        return node;
    };
    std::set<int> nodes;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
        to = text.find_first_of("+,", from);
        std::string const part = text.substr(from, to == std::string::npos ? to : to - from);
        auto const dash = part.find('-');
        auto const first = number(part.substr(0, dash));
        auto const last = dash == std::string::npos ? first : number(part.substr(dash + 1));
        if (last < first)
            throw Refusal("cannot read the memory nodes '" + part + "' (its first number is above its last); try 0-3");
        for (auto node = first; node <= last; ++node) nodes.insert(static_cast<int>(node));
    }
    return {nodes.begin(), nodes.end()};
}

std::vector<int> online_nodes() {
    std::vector<int> nodes;
    for (int node = 0; node < 1024; ++node)
        if (std::ifstream("/sys/devices/system/node/node" + std::to_string(node) + "/meminfo")) nodes.push_back(node);
    return nodes.empty() ? std::vector<int>{0} : nodes;
}

void bind_memory(void* address, std::size_t bytes, NodePolicy const& policy) {
    if (policy.mode == mode_default) return;
    std::vector<int> const nodes =
        policy.nodes.empty() && policy.mode == mode_interleave ? online_nodes() : policy.nodes;
    std::vector<unsigned long> mask(1024 / (8 * sizeof(unsigned long)), 0);
    for (int node : nodes) mask[static_cast<std::size_t>(node) / 64] |= 1UL << (node % 64);
    bool const masked = !nodes.empty();
    if (syscall(SYS_mbind, address, bytes, policy.mode, masked ? mask.data() : nullptr, masked ? 1025UL : 0UL, 0UL) !=
        0)
        throw Refusal("cannot apply memory policy '" + policy.name + "' (" + std::strerror(errno) +
                          "); try memory=default, or a node that `octant machine` lists",
                      Exit::not_supported);
}

std::int64_t page_bytes(std::string const& text) {
    try {
        return parse_bytes(text);
    } catch (Refusal const&) {  // a word, not a number
        return 0;
    }
}

// The data of a mapping begins and ends at multiples of it.
std::size_t alignment_of(PagePolicy const& pages) {
    return static_cast<std::size_t>(pages.pool_page_bytes > 0 ? pages.pool_page_bytes : thp_bytes);
}

std::size_t rounded_up(std::size_t number, std::size_t multiple) {
    return (number + multiple - 1) / multiple * multiple;
}

std::string pool_of(std::int64_t page_bytes) {
    return "/sys/kernel/mm/hugepages/hugepages-" + std::to_string(page_bytes / 1024) + "kB/";
}

std::string pool_hint(std::int64_t page_bytes, std::size_t bytes) {
    std::string const folder = pool_of(page_bytes);
    std::ifstream file(folder + "free_hugepages");
    std::string free = "no such pool";
    if (file) {
        file >> free;
        free += " free";
    }
    auto const needed = (static_cast<std::int64_t>(bytes) + page_bytes - 1) / page_bytes;
    return std::to_string(needed) + " pages needed, " + free + "); try pages=thp, or as root: echo " +
           std::to_string(needed) + " > " + folder + "nr_hugepages";
}

}  // namespace

std::vector<int> NodePolicy::bound_to() const {
    if (mode == mode_bind) return nodes;
    constexpr std::size_t words = 1024 / (8 * sizeof(unsigned long));
    int of_process = mode_default;
    std::array<unsigned long, words + 1> mask{};
    if (mode != mode_default || syscall(SYS_get_mempolicy, &of_process, mask.data(), 1025UL, nullptr, 0UL) != 0)
        return {};
    constexpr int flags = 0xE000;  // that the kernel adds to the mode
    std::vector<int> found;
    for (int node = 0; (of_process & ~flags) == mode_bind && node < 1024; ++node)
        if ((mask[static_cast<std::size_t>(node) / 64] >> (node % 64) & 1UL) != 0) found.push_back(node);
    return found;
}

PagePolicy PagePolicy::parse(std::string const& text) {
    if (text == "default" || text == "base" || PagePolicy{text}.transparent()) return {text};
    auto const bytes = page_bytes(text);
    if (!std::has_single_bit(static_cast<std::uint64_t>(bytes)) || bytes < 4096)
        throw Refusal("cannot use pages=" + text + " (not a page size); try default, base, thp, try-thp, 2MiB or 1GiB");
    if (bytes == sysconf(_SC_PAGESIZE)) return {"base"};
    if (!std::ifstream(pool_of(bytes) + "nr_hugepages") && has_transparent(bytes)) return {text, 0, bytes};
    return {text, bytes};
}

NodePolicy NodePolicy::parse(std::string const& text) {
    auto const colon = text.find(':');
    std::string const kind = text.substr(0, colon);
    std::vector<int> const nodes =
        colon == std::string::npos ? std::vector<int>{} : parse_nodes(text.substr(colon + 1));
    if (kind == "default" && nodes.empty()) return {text, mode_default, {}};
    if (kind == "local" && nodes.empty()) return {text, mode_local, {}};
    if (kind == "interleave") return {text, mode_interleave, nodes};
    if (kind == "bind" && !nodes.empty()) return {text, mode_bind, nodes};
    if ((kind == "preferred" || kind == "prefer") && nodes.size() == 1) return {text, mode_preferred, nodes};
    throw Refusal("cannot read memory=" + text +
                  "; try default, local, interleave, interleave:0+1, bind:0 or preferred:0");
}

// The owner is complete once the memory is mapped, so that its destructor gives the memory back if a later step throws.
Mapping::Mapping(std::size_t bytes, PagePolicy const& pages, NodePolicy const& nodes) : Mapping(bytes, pages) {
    nodes_ = nodes;
    std::size_t const page = alignment_of(pages), rounded = rounded_up(size_, page);
    // What lies around the data is closed: a stray access faults, and the kernel cannot merge two buffers into one
    // area, whose read-back would then count both.
    if (pages.pool_page_bytes == 0) {
        if (data_ > base_) mprotect(base_, static_cast<std::size_t>(data_ - base_), PROT_NONE);
        mprotect(data_ + rounded, mapped_ - static_cast<std::size_t>(data_ - base_) - rounded, PROT_NONE);
    }
    if (pages.transparent_page_bytes > 0) advise_transparent(data_, rounded, pages);
    if (pages.transparent()) madvise(data_, rounded, MADV_HUGEPAGE);  // what came of it is read back in given()
    if (pages.name == "base") madvise(data_, rounded, MADV_NOHUGEPAGE);
    bind_memory(data_, rounded, nodes);
}

Mapping::Mapping(std::size_t bytes, PagePolicy const& pages) : size_(std::max<std::size_t>(bytes, 1)) {
    std::size_t const page = alignment_of(pages), rounded = rounded_up(size_, page);
    auto const base_page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    bool const pooled = pages.pool_page_bytes > 0;
    mapped_ = pooled ? rounded : rounded + page + base_page;  // room to align what is not from a pool, and for a guard
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (pooled) flags |= MAP_HUGETLB | (std::countr_zero(page) << 26);
    void* const address = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (address == MAP_FAILED) {
        int const reason = errno;
        std::string const what = "cannot map " + std::to_string(size_) + " bytes with pages=" + pages.name + " (";
        throw Refusal(what + (pooled ? pool_hint(pages.pool_page_bytes, size_)
                                     : std::strerror(reason) + std::string("); try a smaller size")),
                      Exit::not_supported);
    }
    base_ = static_cast<std::byte*>(address);
    data_ = base_ +
            (rounded_up(reinterpret_cast<std::uintptr_t>(address), page) - reinterpret_cast<std::uintptr_t>(address));
}

Mapping::Mapping(Mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      size_(other.size_),
      nodes_(std::move(other.nodes_)) {}

Mapping::~Mapping() {
    if (base_ != nullptr) munmap(base_, mapped_);
}

PageResidency read_page_residency(std::span<std::byte const> memory, std::int64_t transparent_page_bytes) {
    PageResidency found;
    found.bytes = static_cast<std::int64_t>(memory.size());
    auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
    std::ifstream smaps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t low = 0, high = 0;
        if (line.find('-') != std::string::npos && std::sscanf(line.c_str(), "%lx-%lx ", &low, &high) == 2) {
            inside = low < address + memory.size() && address < high;
            continue;
        }
        long kib = 0;
        if (!inside) continue;
        if (std::sscanf(line.c_str(), "Rss: %ld kB", &kib) == 1) found.resident_bytes += kib * 1024;
        if (std::sscanf(line.c_str(), "KernelPageSize: %ld kB", &kib) == 1)
            found.page_bytes = std::max(found.page_bytes, kib * std::int64_t{1024});
        if (std::sscanf(line.c_str(), "AnonHugePages: %ld kB", &kib) == 1 ||
            std::sscanf(line.c_str(), "ShmemPmdMapped: %ld kB", &kib) == 1 ||
            std::sscanf(line.c_str(), "FilePmdMapped: %ld kB", &kib) == 1)
            found.huge_bytes += kib * 1024;
        if (std::sscanf(line.c_str(), "Private_Hugetlb: %ld kB", &kib) == 1 ||
            std::sscanf(line.c_str(), "Shared_Hugetlb: %ld kB", &kib) == 1) {
            found.huge_bytes += kib * 1024;
            found.resident_bytes += kib * 1024;
        }
    }
    if (transparent_page_bytes > 0) {
        auto const huge = bytes_in_compounds(memory, static_cast<std::size_t>(transparent_page_bytes));
        found.huge_bytes = std::max<std::int64_t>(huge, 0);
        if (huge < 0) found.page_bytes = 0;
    }
    constexpr std::size_t looks = 64;
    std::vector<void*> pages;
    for (std::size_t i = 0; i < looks; ++i)
        pages.push_back(const_cast<std::byte*>(memory.data()) + memory.size() / looks * i);
    std::vector<int> status(looks, -1);
    if (syscall(SYS_move_pages, 0, looks, pages.data(), nullptr, status.data(), 0) == 0)
        for (int node : status)
            if (node >= 0) ++found.pages_on_node[node];
    return found;
}

}  // namespace octant
