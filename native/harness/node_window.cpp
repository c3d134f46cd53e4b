#include "octant/node_window.hpp"

#include "octant/failure.hpp"

#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace octant {
namespace {

constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
constexpr int populate = 23, collapse = 25;  // MADV_POPULATE_WRITE and MADV_COLLAPSE, which older headers lack

std::uintptr_t address_of(std::byte const* byte) { return reinterpret_cast<std::uintptr_t>(byte); }
std::uintptr_t down(std::uintptr_t address, std::uintptr_t to) { return address / to * to; }

// The place in its file of memory that one shared mapping holds; nothing where there is no such mapping.
std::optional<std::uintptr_t> offset_of(std::span<std::byte const> memory) {
    std::ifstream maps("/proc/self/maps");
    std::uintptr_t const begin = address_of(memory.data()), end = begin + memory.size();
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t low = 0, high = 0, offset = 0;
        char rights[5] = {};
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &low, &high, rights, &offset) != 4) continue;
        if (low <= begin && end <= high) return rights[3] == 's' ? std::optional(offset + begin - low) : std::nullopt;
    }
    return {};
}

// As far as the system grants them. A page that another rank holds for a moment is tried again.
void collapse_to_huge_pages(std::uintptr_t first, std::size_t bytes) {
    constexpr int trials = 10;
    constexpr auto pause = std::chrono::milliseconds(1);
    for (int trial = 0; trial < trials; ++trial) {
        if (madvise(reinterpret_cast<void*>(first), bytes, collapse) == 0 || errno != EAGAIN) return;
        std::this_thread::sleep_for(pause);
    }
}

// MPI libraries keep windows in files there. More than fits is not refused but ends the process at the first touch.
void require_shared_memory(Comm const& comm, std::size_t bytes) {
    constexpr char const* where = "/dev/shm";
    std::int64_t const all = comm.sum(static_cast<std::int64_t>(bytes));
    struct statvfs room {};
    bool const known = statvfs(where, &room) == 0 && room.f_blocks > 0;  // no blocks: mounted without a limit
    auto const left = static_cast<std::int64_t>(room.f_bavail) * static_cast<std::int64_t>(room.f_frsize);
    if (comm.size() > 1 && comm.max(std::int64_t{known && all > left ? 1 : 0}) != 0)
        throw Refusal("cannot share " + std::to_string(all >> 20) + " MiB between the ranks (" + where + " has " +
                          std::to_string(left >> 20) + " MiB); try transport=messages, or a larger " + where,
                      Exit::not_supported);
}

}  // namespace

NodeWindow::NodeWindow(Comm const& comm, std::size_t bytes, bool contiguous) : rank_(comm.rank()) {
    if (comm.max(static_cast<std::int64_t>(comm.size() - comm.node().size())) > 0)
        throw Refusal("cannot share memory between the ranks (they are on several nodes); try transport=messages",
                      Exit::not_supported);
    require_shared_memory(comm, bytes);
    MPI_Info info = MPI_INFO_NULL;
    check(MPI_Info_create(&info));
    check(MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true"));
    std::byte* data = nullptr;
    int const code =
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, comm.get(), static_cast<void*>(&data), &handle_);
    check(MPI_Info_free(&info));
    check(code);
    for (int rank = 0; rank < comm.size(); ++rank) {
        MPI_Aint size = 0;
        int unit = 0;
        std::byte* begin = nullptr;
        check(MPI_Win_shared_query(handle_, rank, &size, &unit, static_cast<void*>(&begin)));
        parts_.emplace_back(begin, static_cast<std::size_t>(size));
    }
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_));
}

std::span<std::byte> NodeWindow::all() const noexcept {
    std::byte *begin = nullptr, *end = nullptr;
    for (auto const part : parts_) {
        if (part.empty()) continue;
        begin = begin == nullptr ? part.data() : std::min(begin, part.data());
        end = std::max(end, part.data() + part.size());
    }
    return {begin, static_cast<std::size_t>(end - begin)};
}

void NodeWindow::touch(Comm const& comm) const {
    std::span<std::byte> const part = mine();
    std::uintptr_t const begin = down(address_of(part.data()), static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)));
    std::size_t const bytes = address_of(part.data()) + part.size() - begin;
    bool const failed = madvise(reinterpret_cast<void*>(begin), bytes, populate) != 0 && errno != EINVAL;
    if (comm.max(std::int64_t{failed ? 1 : 0}) == 0) return;
    throw Refusal(
        "cannot use " + std::to_string(comm.sum(static_cast<std::int64_t>(part.size())) >> 20) +
            " MiB of shared memory (not enough space, see df /dev/shm); try transport=messages, or a smaller size",
        Exit::not_supported);
}

void NodeWindow::request_huge_pages(Comm const& comm) {
    std::span<std::byte> const memory = all();
    auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto const offset = reserved_.empty() && !memory.empty() ? offset_of(memory) : std::nullopt;
    if (offset) {
        std::uintptr_t const before = *offset % page;
        std::size_t const bytes = memory.size() + before, room = bytes + 2 * huge;
        void* const at = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at != MAP_FAILED) reserved_ = {static_cast<std::byte*>(at), room};
        // An address that is as far into a huge page as the file's offset; a length of 0 leaves the first mapping.
        std::size_t const ahead = (*offset - before + huge - address_of(reserved_.data()) % huge) % huge;
        void* const second = reserved_.empty() ? MAP_FAILED
                                               : mremap(memory.data() - before, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                                        reserved_.data() + ahead);
        if (second != MAP_FAILED) {
            madvise(second, bytes, MADV_HUGEPAGE);
            for (auto& part : parts_)
                if (!part.empty())
                    part = {static_cast<std::byte*>(second) + before + (part.data() - memory.data()), part.size()};
        }
    }
    std::span<std::byte> const part = mine();
    for (std::size_t at = 0; at < part.size(); at += page) {
        auto volatile* const byte = part.data() + at;
        *byte = *byte;
    }
    comm.barrier();
    // Each the huge pages that begin in its part, then all of them into its own tables.
    std::uintptr_t const end = address_of(part.data()) + part.size();
    for (std::uintptr_t at = down(address_of(part.data()) + huge - 1, huge); at < end; at += huge)
        collapse_to_huge_pages(at, huge);
    comm.barrier();
    std::uintptr_t const first = down(address_of(all().data()), page);
    collapse_to_huge_pages(first, address_of(all().data()) + all().size() - first);
}

void NodeWindow::sync() const { check(MPI_Win_sync(handle_)); }

void NodeWindow::publish(Comm const& comm) const {
    sync();
    comm.barrier();
    sync();
}

NodeWindow::~NodeWindow() {
    if (handle_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(handle_);
    MPI_Win_free(&handle_);
    if (!reserved_.empty()) munmap(reserved_.data(), reserved_.size());
}

}  // namespace octant
