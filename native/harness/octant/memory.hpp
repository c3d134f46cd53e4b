// Memory with a page size and NUMA policy, and the residency of its pages as the kernel reports it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace octant {

// "base" (no huge pages), "default" (system default), "thp" (transparent huge pages), "try-thp" (the same, without a
// caveat if the system provides none), or a size such as "2MiB" from the huge-page pool, or transparent pages of that
// size if there is no pool.
struct PagePolicy {
    std::string name;
    std::int64_t pool_page_bytes = 0;         // 0: not from a pool
    std::int64_t transparent_page_bytes = 0;  // explicit size; 0: not requested
    [[nodiscard]] bool transparent() const { return name == "thp" || name == "try-thp"; }
    [[nodiscard]] static PagePolicy parse(std::string const& text);  // throws Refusal
};

// "default" (first touch), "local", "interleave", "bind:0+1", "preferred:0" (also as "prefer:0"). Nodes are numbers and
// ranges, joined by '+' or ','.
struct NodePolicy {
    std::string name;
    int mode = 0;
    std::vector<int> nodes;
    [[nodiscard]] static NodePolicy parse(std::string const& text);  // throws Refusal
    // Nodes from which all pages have to come: of this policy or, if it is the default, of the process's; empty: of
    // none.
    [[nodiscard]] std::vector<int> bound_to() const;
};

// Selection of physical pages: `given` by the system (often those of an earlier process), or at `random`; `fitting`: at
// random if base pages are requested and the buffer fits into L2.
enum class Layout { given, fitting, random };
// "auto", "given" or "random". Throws Refusal: random, but not base pages.
[[nodiscard]] Layout layout_of(std::string const& word, PagePolicy const& pages);

struct PageResidency {  // read back from the kernel, for one buffer
    std::int64_t bytes = 0;
    std::int64_t resident_bytes = 0;
    std::int64_t huge_bytes = 0;                // in pages larger than the base page
    std::int64_t page_bytes = 0;                // kernel page size of the mapping; 0: unknown
    std::map<int, std::int64_t> pages_on_node;  // of a sample of pages
};

// `transparent_page_bytes`: huge are those of at least so many bytes, which the system shows only to root.
[[nodiscard]] PageResidency read_page_residency(std::span<std::byte const> memory,
                                                std::int64_t transparent_page_bytes = 0);

class Mapping {  // owns an anonymous mapping; not touched here (first touch by the thread that uses a page)
  public:
    Mapping(std::size_t bytes, PagePolicy const& pages, NodePolicy const& nodes);  // throws Refusal
    Mapping(Mapping&& other) noexcept;
    Mapping(Mapping const&) = delete;
    Mapping& operator=(Mapping const&) = delete;
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping();
    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return {data_, size_}; }
    // Touches the pages that begin within bytes [first, last). Each is selected from `pool_factor` consecutive
    // pages; the others are released.
    void draw_pages(std::size_t first, std::size_t last, std::uint64_t seed) const;
    static constexpr std::size_t pool_factor = 16;

  private:
    Mapping(std::size_t bytes, PagePolicy const& pages);  // maps and aligns; without the properties of the pages

    std::byte* base_ = nullptr;  // as mapped
    std::size_t mapped_ = 0;
    std::byte* data_ = nullptr;  // aligned to the requested page size
    std::size_t size_ = 0;
    NodePolicy nodes_;
};

// Of the cache of this level, 2 or 3, of hardware thread 0; 0: none, or unknown.
[[nodiscard]] std::int64_t cache_bytes(int level);

template <class T>
class Buffer {
  public:
    Buffer(std::size_t count, PagePolicy const& pages, NodePolicy const& nodes)
        : mapping_(count * sizeof(T), pages, nodes), count_(count) {}
    [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(mapping_.data()); }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::span<T> span() const noexcept { return {data(), count_}; }
    [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data()[i]; }
    [[nodiscard]] Mapping const& mapping() const noexcept { return mapping_; }

  private:
    Mapping mapping_;
    std::size_t count_;
};

}  // namespace octant
