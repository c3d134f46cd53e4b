// Transparent pages of a size of their own, smaller than those of a page table's upper levels.
#pragma once

#include "octant/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace octant {

// Whether the kernel has transparent pages of this size, granted or not.
[[nodiscard]] bool has_transparent(std::int64_t page_bytes);
// Requests pages of exactly this size. Throws Refusal if the system grants none.
void advise_transparent(std::byte* data, std::size_t bytes, PagePolicy const& pages);
// Bytes of the memory that lie in physical pages of at least this size; -1: only root may see it.
[[nodiscard]] std::int64_t bytes_in_compounds(std::span<std::byte const> memory, std::size_t page_bytes);

}  // namespace octant
