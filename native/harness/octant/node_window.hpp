// Memory shared by all ranks of a node: a shared MPI window, which disappears with its processes.
#pragma once

#include "octant/mpi.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace octant {

class NodeWindow {  // making, freeing and destroying it are collective: make it in set_up()
  public:
    // `bytes` of this rank. `contiguous`: the parts of all ranks are contiguous and may share pages; otherwise each
    // begins with a page. Not touched here. Throws Refusal on all ranks: ranks on several nodes, or not enough space
    // for shared memory.
    NodeWindow(Comm const& comm, std::size_t bytes, bool contiguous = false);
    NodeWindow(NodeWindow const&) = delete;
    NodeWindow& operator=(NodeWindow const&) = delete;
    ~NodeWindow();

    [[nodiscard]] std::span<std::byte> of(int rank) const noexcept { return parts_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] std::span<std::byte> mine() const noexcept { return of(rank_); }
    [[nodiscard]] std::span<std::byte> all() const noexcept;  // from the first part to the end of the last
    // Collective: each rank touches its part. Throws Refusal on all of them: not enough shared memory (in
    // containers often 64 MiB), which would end the process at a store.
    void touch(Comm const& comm) const;
    // Collective, before spans are handed out: requests huge pages, and touches all of it, each rank its part. The
    // result is read back as for other memory. MPI libraries map their windows where
    // no huge page fits, so that parts now lie in a second mapping of the same memory. Linux 6.1 and later.
    void request_huge_pages(Comm const& comm);
    // Makes stores of all ranks visible to all: a barrier with the fences that MPI requires.
    void publish(Comm const& comm) const;
    void sync() const;  // memory fence; not collective

  private:
    MPI_Win handle_ = MPI_WIN_NULL;
    int rank_;
    std::vector<std::span<std::byte>> parts_;
    std::span<std::byte> reserved_ = {};  // addresses around the second mapping, if there is one
};

}  // namespace octant
