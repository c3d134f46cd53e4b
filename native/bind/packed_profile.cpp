#include "packed_profile.hpp"

#include "../profiler/packed_format.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace octant::bind {
namespace {

// Reads into `to` from an offset; what is behind the end of the file, or cannot be read, is zero.
void read_at(int file, std::size_t offset, std::span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size()) {
        ssize_t const count = pread(file, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += static_cast<std::size_t>(count);
    }
    std::ranges::fill(to.subspan(done), std::byte{0});
}

template <typename T>
std::vector<T> read_table(int file, std::size_t offset, std::size_t count) {
    std::vector<T> found(count);
    read_at(file, offset, std::as_writable_bytes(std::span(found)));
    return found;
}

template <typename T>
void append(std::vector<char>& to, T const& one) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::size_t const before = to.size();
    to.resize(before + sizeof one);
    std::memcpy(to.data() + before, &one, sizeof one);
}

template <typename T>
void append_all(std::vector<char>& to, std::vector<T> const& table) {
    for (auto const& one : table) append(to, one);
}

bool has_our_layout(octant_header const& header) {
    return std::memcmp(header.magic, OCTANT_PROFILE_MAGIC, sizeof header.magic) == 0 &&
           header.version == OCTANT_PROFILE_VERSION && header.header_bytes == sizeof(octant_header) &&
           header.entry_bytes == sizeof(octant_entry) && header.peer_bytes == sizeof(octant_peer) &&
           header.slab_bytes >= sizeof(octant_slab);
}

std::uint32_t append_totals(int file, std::vector<char>& to) {
    std::uint32_t written = 0;
    auto const totals = read_table<octant_total>(file, sizeof(octant_header), octant_max_calls);
    for (std::uint32_t call = 0; call < totals.size(); ++call) {
        if (totals[call].calls == 0) continue;
        append(to, octant_packed_total{call, 0, totals[call]});
        ++written;
    }
    return written;
}

// The slab at an offset of the file; returns whether it is in use.
bool append_slab(int file, std::size_t offset, std::uint32_t number, std::vector<char>& to) {
    std::uint32_t used = 0;
    read_at(file, offset, std::as_writable_bytes(std::span(&used, 1)));
    if (used == 0) return false;
    auto const slabs = read_table<octant_slab>(file, offset, 1);
    octant_slab const& slab = slabs.front();
    octant_packed_slab head{};
    head.number = number;
    head.used = slab.used;
    head.tid = slab.tid;
    head.threads = slab.threads;
    head.mpi_ticks = slab.mpi_ticks;
    head.mpi_calls = slab.mpi_calls;
    head.first_ticks = slab.first_ticks;
    head.last_ticks = slab.last_ticks;
    std::size_t const at = to.size();
    append(to, head);
    std::uint32_t region = 0;
    for (auto const& time : slab.region_times) {
        if (time.visits != 0 || time.open_ticks != 0) {
            append(to, octant_packed_region_time{region, 0, time});
            ++head.region_times;
        }
        ++region;
    }
    for (auto const& entry : slab.table)
        if (entry.site != 0) {
            append(to, entry);
            ++head.entries;
        }
    for (auto const& peer : slab.peer_table)
        if (peer.key != 0) {
            append(to, peer);
            ++head.peers;
        }
    std::memcpy(to.data() + at, &head, sizeof head);
    return true;
}

}  // namespace

std::string pack_profile(int file, std::vector<char>& packed) {
    auto const header = read_table<octant_header>(file, 0, 1).front();
    if (!has_our_layout(header)) return "it has no header of this version";
    std::size_t const begin = packed.size();
    octant_packed head{};
    std::memcpy(head.magic, OCTANT_PACKED_MAGIC, sizeof head.magic);
    head.version = OCTANT_PACKED_VERSION;
    head.head_bytes = sizeof head;
    head.header_bytes = sizeof header;
    head.communicators = std::min<std::uint32_t>(header.communicators, octant_max_communicators);
    head.regions = std::min<std::uint32_t>(header.regions, octant_max_regions);
    head.modules = std::min<std::uint32_t>(header.modules, octant_max_modules);
    append(packed, head);
    append(packed, header);
    head.totals = append_totals(file, packed);
    std::size_t offset = sizeof header + octant_max_calls * sizeof(octant_total);
    append_all(packed, read_table<octant_communicator>(file, offset, head.communicators));
    offset += octant_max_communicators * sizeof(octant_communicator);
    append_all(packed, read_table<octant_region>(file, offset, head.regions));
    offset += octant_max_regions * sizeof(octant_region);
    append_all(packed, read_table<octant_module>(file, offset, head.modules));
    std::uint32_t const slabs = std::min<std::uint32_t>(header.slabs, octant_max_threads);
    for (std::uint32_t number = 0; number < slabs; ++number)
        head.slabs += append_slab(file, header.slabs_at + std::size_t{number} * header.slab_bytes, number, packed);
    head.bytes = packed.size() - begin;
    std::memcpy(packed.data() + begin, &head, sizeof head);
    return "";
}

}  // namespace octant::bind
