// Services of the harness for kernels.
#pragma once

#include "octant/info.hpp"
#include "octant/kept_files.hpp"
#include "octant/memory.hpp"
#include "octant/mpi.hpp"
#include "octant/phases.hpp"
#include "octant/progress.hpp"
#include "octant/scratch.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace octant {

struct Readings {  // values recorded by a kernel, of one rank
    std::vector<std::vector<double>> values;
    bool on = false;  // inside a timed step
};

struct Context {
    Comm const& world;
    Comm const& group;  // communicator of the group; not for use in the constructor of a kernel
    Knobs const& knobs;
    int threads = 1;
    PagePolicy pages;
    NodePolicy nodes;
    Layout layout = Layout::given;
    bool share_cores = false;                                     // more threads than hardware threads of a node
    std::int64_t memory_left_bytes = INT64_MAX;                   // memory that this rank may still claim
    std::int64_t pool_left_bytes = INT64_MAX;                     // of the huge-page pool that `pages` names
    std::vector<std::span<std::byte const>> watched = {};         // memory whose page residency is recorded
    std::vector<std::pair<std::string, std::string>> notes = {};  // facts for the record: "library", "variant", …

    template <class T>
    [[nodiscard]] Buffer<T> buffer(std::size_t count) {
        claim(static_cast<double>(count) * sizeof(T));
        if (!draws(count * sizeof(T))) return Buffer<T>(count, pages, nodes);
        Buffer<T> buffer(count, {"base"}, nodes);
        draw(buffer.mapping());
        return buffer;
    }
    // Fraction of the available memory that stays unclaimed, for page tables, stacks, the MPI library and the harness.
    static constexpr std::int64_t unclaimed_part = 32;
    [[nodiscard]] std::int64_t left_bytes() const noexcept {  // for buffers
        return pages.pool_page_bytes > 0 ? pool_left_bytes : memory_left_bytes;
    }
    void claim(double bytes);          // of buffers; throws Refusal: more than is left
    void claim_outside(double bytes);  // of memory that has no `pages`: vectors, windows, files in memory
    // Notes that the kernel uses another size than requested.
    void note_rounded(std::int64_t asked_bytes, std::int64_t used_bytes);
    // Runs `body(lane)` on the measuring threads (first touch).
    // Rethrows the first exception of a thread unchanged.
    void on_each_thread(std::function<void(int)> const& body) const;

    // Times `phase` of KernelInfo until the mark's scope ends; for the thread that calls step(), inside step().
    [[nodiscard]] Mark phase(std::size_t phase) noexcept { return marks.mark(phase); }
    // In the constructor, on all ranks of the group: this point records no phases.
    void without_phases() { marks = Marks(); }
    void record(std::size_t reading, double value) {  // inside step()
        if (readings.on) readings.values[reading].push_back(value);
    }
    void progress(double share);  // of a long step, 0 to 1
    // Returns the duration of `body`; for decisions in prepare(), not for figures.
    [[nodiscard]] double seconds_of(std::function<void()> const& body) const;
    void synchronise();  // synchronises the ranks of the group between two phases; not timed
    [[nodiscard]] std::string const& scratch() const;  // folder for files, removed after the point; throws Refusal

    // Keeps a file in the run's folder, where the record of this point names it with its rank, length and checksum; any
    // rank may, at any time outside the timed part, and a file of the same name replaces the last one. At most 16 MiB a
    // file and 64 MiB a launch: what is more is left out, and the record says so. Throws Refusal: as KeptFiles::keep.
    template <class T>
        requires std::is_trivially_copyable_v<T>
    void keep(std::string const& name, std::string const& kind, std::span<T const> data) {
        files.keep(name, kind, std::as_bytes(data), memory_left_bytes);
    }

    std::span<double const> after_init = {};  // what `Program::after_init` measured on this rank

    // For the harness only.
    Sync sync = Sync::none;
    Marks marks = Marks{};
    Readings readings = {};
    KeptFiles files = KeptFiles{};
    Progress* progress_file = nullptr;
    Scratch const* scratch_folder = nullptr;
    bool drawn = false;  // pages of a buffer were selected at random

  private:
    [[nodiscard]] bool draws(std::size_t bytes) const;  // the pages of a buffer; throws Refusal: it cannot be
    void draw(Mapping const& mapping);
};

// Synchronises all ranks of `comm` by a method, and returns when this rank may start.
void synchronise(Comm const& comm, Sync method);

// Lead time of a start by clock, ns: long enough for the message to reach all ranks.
[[nodiscard]] inline std::int64_t slack_ns(Comm const& comm) { return 20'000 + 2'000LL * comm.size(); }

}  // namespace octant
