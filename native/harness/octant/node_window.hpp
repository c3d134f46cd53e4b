// Memory that all ranks of a node load from and store to: a shared window of MPI, which is gone with its processes.
#pragma once

#include "octant/mpi.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace octant {

class NodeWindow {  // making, freeing and destroying it are collective: make it in set_up()
  public:
    // `bytes` of this rank. `contiguous`: the parts of all ranks lie one behind the other, and may share pages; else
    // each begins a page. Not touched here. Throws Refusal on all ranks: some share no memory with the others, or it
    // does not fit where MPI keeps it.
    NodeWindow(Comm const& comm, std::size_t bytes, bool contiguous = false);
    NodeWindow(NodeWindow const&) = delete;
    NodeWindow& operator=(NodeWindow const&) = delete;
    ~NodeWindow();

    [[nodiscard]] std::span<std::byte> of(int rank) const noexcept { return parts_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] std::span<std::byte> mine() const noexcept { return of(rank_); }
    [[nodiscard]] std::span<std::byte> all() const noexcept;  // from the first part to the end of the last
    // Collective: each rank touches its part. Throws Refusal on all of them: there is not as much shared memory (in
    // containers often 64 MiB), which would otherwise kill whoever stores there.
    void touch(Comm const& comm) const;
    // Collective, before spans are handed out: asks for huge pages, and touches all of it, each rank its part. What the
    // system does not grant stays as it is, which is read back like any memory's. MPI libraries map their windows where
    // no huge page fits, so that parts now lie in a second mapping of the same memory. Linux 6.1 and later.
    void take_huge_pages(Comm const& comm);
    // What each rank stored before is seen by all after it: a barrier, with the fences that MPI asks for.
    void publish(Comm const& comm) const;
    void sync() const;  // what I wrote becomes visible, and I see what others did; not collective

  private:
    MPI_Win handle_ = MPI_WIN_NULL;
    int rank_;
    std::vector<std::span<std::byte>> parts_;
    std::span<std::byte> reserved_ = {};  // addresses around the second mapping, if there is one
};

}  // namespace octant
