// Memory that a process has taken, and how much of it stays when it is released in one of several ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace memory {

struct Resident {  // as the kernel counts it
    std::int64_t bytes = 0;
    std::int64_t lazy = 0;  // of them, the kernel may take at any time (MADV_FREE)
};

[[nodiscard]] Resident resident();  // throws Refusal if the kernel does not report it

// Bytes of resident pages, by the page table and not by the kernel's counters; unmapped pages are not resident.
[[nodiscard]] std::int64_t resident_bytes_of(std::byte const* begin, std::byte const* end);

enum class Way { free_below_held, free, trim, unmap, lazy, dontneed };  // from `unmap` on of one mapping

class Region {  // `bytes` in blocks from malloc, or in one mapping
  public:
    Region(Way way, std::int64_t bytes, std::int64_t block);
    Region(Region const&) = delete;
    Region& operator=(Region const&) = delete;
    ~Region();
    // Memory in use, with the overhead of the allocator and a pointer to each block.
    [[nodiscard]] static double bytes_for(Way way, std::int64_t bytes, std::int64_t block) noexcept;

    void take();                                                 // throws Refusal; touches nothing
    void write(std::uint64_t seed) const;                        // a word of its own on each page
    [[nodiscard]] std::int64_t wrong(std::uint64_t seed) const;  // pages that do not hold it
    void release();      // its way; what a way keeps mapped may be written again
    void end();          // all of it goes, also what a way keeps
    void spoil() const;  // a page

    [[nodiscard]] std::int64_t there() const { return resident_bytes_of(begin_, end_); }  // of where it is, or was

  private:
    [[nodiscard]] static bool maps(Way way) noexcept { return way >= Way::unmap; }
    void free_blocks();
    void unmap();
    template <class Body>
    void each_page(Body const& body) const;

    Way way_;
    std::size_t bytes_, block_;
    std::vector<std::byte*> blocks_;
    std::byte* held_ = nullptr;  // a block above all others
    std::byte *begin_ = nullptr, *end_ = nullptr;
    bool is_mapped_ = false;
};

template <class Body>
void Region::each_page(Body const& body) const {
    constexpr std::size_t page = 4096;
    if (maps(way_)) {
        for (std::byte* at = begin_; at < end_; at += page) body(reinterpret_cast<std::uint64_t*>(at));
        return;
    }
    for (std::byte* const block : blocks_)  // malloc aligns to two words
        for (std::size_t at = 0; at + sizeof(std::uint64_t) <= block_; at += page)
            body(reinterpret_cast<std::uint64_t*>(block + at));
}

}  // namespace memory
