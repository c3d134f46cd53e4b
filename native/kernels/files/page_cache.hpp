// What of a file lies in the page cache of this host, and its way out of there.
#pragma once

#include <cstdint>

namespace octant {

// Share of the pages of a file, or of its first bytes, in the page cache (mincore); 1 if not known.
[[nodiscard]] double cached_share(int file, std::int64_t first_bytes = INT64_MAX);

// Syncs the file and asks the system to forget it. Pages that the system is still reading ahead stay: once more until
// none is left, or for 10 ms. Returns the share that is left.
double drop_from_cache(int file, bool in_memory);

// Pages that wait for write-back (cachestat, Linux 6.5); -1 if not known.
[[nodiscard]] std::int64_t dirty_pages(int file);

}  // namespace octant
