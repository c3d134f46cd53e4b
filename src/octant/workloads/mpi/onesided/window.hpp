// Memory that other ranks reach, made in each of the four ways that MPI has.
#pragma once

#include "octant/mpi.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace onesided {

inline std::vector<std::string> const window_words{"create", "allocate", "dynamic", "shared"};

// Whether MPI allocates the memory of a window of this kind; otherwise the caller does.
[[nodiscard]] inline bool brings_memory(std::string const& kind) { return kind == "allocate" || kind == "shared"; }

// Throws Refusal on all ranks: those of several nodes cannot share memory.
void check_ranks(octant::Comm const& comm, std::string const& kind);

// Owns an MPI_Win. Making and destroying it are collective over its communicator.
class Window {
  public:
    // `memory`: of `bytes`, which the window offers, where the kind does not bring its own.
    Window(octant::Comm const& comm, std::string const& kind, std::byte* memory, std::size_t bytes);
    Window(Window const&) = delete;
    Window& operator=(Window const&) = delete;
    ~Window();

    [[nodiscard]] MPI_Win get() const noexcept { return handle_; }
    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    // Displacement of the memory of `target` in operations.
    [[nodiscard]] MPI_Aint begin_of(int target) const { return begins_[static_cast<std::size_t>(target)]; }
    void free();  // collective

  private:
    void make_shared(octant::Comm const& comm, std::size_t bytes);
    void make_dynamic(octant::Comm const& comm, std::size_t bytes);

    MPI_Win handle_ = MPI_WIN_NULL;
    std::byte* data_;
    std::vector<MPI_Aint> begins_;
};

}  // namespace onesided
