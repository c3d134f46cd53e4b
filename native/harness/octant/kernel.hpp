// Interface of kernels, and the main program that times them. A kernel has no clock and prints nothing; it provides
// chunk(lane, index) or step().
#pragma once

#include "octant/context.hpp"
#include "octant/failure.hpp"
#include "octant/info.hpp"

#include <concepts>
#include <cstdint>
#include <memory>

namespace octant {

template <class K>
concept Kernel = requires(Context& context, K& kernel, std::size_t index) {
    { K::info() } -> std::same_as<KernelInfo>;
    K(context);                                      // buffers; it must not communicate (set_up() may)
    { kernel.work(index) } -> std::same_as<Counts>;  // counts of one chunk of a lane, or of a step of this rank
    { kernel.verify() } -> std::same_as<Results>;    // checks, with bounds; after the timing; collective over the group
    kernel.corrupt(index);                           // falsifies what this check examines, for tests
};
// Work of one independent thread; lanes run concurrently.
template <class K>
concept ChunkKernel = Kernel<K> && requires(K& kernel, int lane, std::int64_t index) { kernel.chunk(lane, index); };
// One repetition by all ranks of a group together.
template <class K>
concept StepKernel = Kernel<K> && requires(K& kernel) { kernel.step(); };

// Collective over the group, once, after the constructors of all ranks: windows, files, communicators. Refuses on all
// ranks or on none. The destructor is collective; it is not called after a failure.
template <class K>
concept SetsUp = Kernel<K> && requires(K& kernel) { kernel.set_up(); };
// Untimed and collective over the group, before each step: a new matrix, cold caches. Excludes batching.
template <class K>
concept Prepares = StepKernel<K> && requires(K& kernel) { kernel.prepare(); };
// Index into KernelInfo::roles of this rank (lane 0), or of a lane. Without it all have the first role.
template <class K>
concept HasRoles = Kernel<K> && requires(K const& kernel, int lane) {
    { kernel.role(lane) } -> std::same_as<std::size_t>;
};
// Further values, after the last step; those of the group's first rank are kept.
template <class K>
concept HasResults = Kernel<K> && requires(K& kernel) {
    { kernel.results() } -> std::same_as<Results>;
};
// A kernel whose work lowers the clock (wide vectors do) may offer cycles(lane, which), `which` 0 or 1: a piece of
// its work together with a longer chain of dependent additions, and returns the length of the chain. Piece 0 has more
// work, which may determine its time on cores with few units; then piece 1 gives the clock.
template <class K>
concept TellsClock = ChunkKernel<K> && requires(K& kernel, int lane, int which) {
    { kernel.cycles(lane, which) } -> std::same_as<std::int64_t>;
};

// The erased form that the harness drives: one virtual call a batch, none inside it.
class Runnable {
  public:
    Runnable() = default;
    Runnable(Runnable const&) = delete;
    Runnable& operator=(Runnable const&) = delete;
    virtual ~Runnable() = default;
    virtual void run(int lane, std::int64_t first, std::int64_t count) = 0;
    [[nodiscard]] virtual Counts work(std::size_t role) = 0;
    [[nodiscard]] virtual Results verify() = 0;
    virtual void corrupt(std::size_t check) = 0;
    virtual void set_up() {}
    [[nodiscard]] virtual bool prepares() const { return false; }
    virtual void prepare() {}
    [[nodiscard]] virtual std::size_t role(int) const { return 0; }
    [[nodiscard]] virtual Results results() { return {}; }
    virtual std::int64_t cycles(int, int) { return 0; }  // 0: not implemented
};

template <class K>
    requires ChunkKernel<K> || StepKernel<K>
class Adapter final : public Runnable {
  public:
    explicit Adapter(Context& context) : kernel_(context) {}
    void run([[maybe_unused]] int lane, std::int64_t first, std::int64_t count) override {
        for (std::int64_t i = first; i < first + count; ++i) {
            if constexpr (ChunkKernel<K>)
                kernel_.chunk(lane, i);
            else
                kernel_.step();
        }
    }
    Counts work(std::size_t role) override { return kernel_.work(role); }
    Results verify() override { return kernel_.verify(); }
    void corrupt(std::size_t check) override { kernel_.corrupt(check); }
    void set_up() override {
        if constexpr (SetsUp<K>) kernel_.set_up();
    }
    [[nodiscard]] bool prepares() const override { return Prepares<K>; }
    void prepare() override {
        if constexpr (Prepares<K>) kernel_.prepare();
    }
    [[nodiscard]] std::size_t role([[maybe_unused]] int lane) const override {
        if constexpr (HasRoles<K>) return kernel_.role(lane);
        return 0;
    }
    Results results() override {
        if constexpr (HasResults<K>) return kernel_.results();
        return {};
    }
    std::int64_t cycles([[maybe_unused]] int lane, [[maybe_unused]] int which) override {
        if constexpr (TellsClock<K>) return kernel_.cycles(lane, which);
        return 0;
    }

  private:
    K kernel_;
};

using Build = std::unique_ptr<Runnable> (*)(Context&);

struct Row {  // one kernel of a program
    std::string name;
    KernelInfo info;
    Build build;
};

// A program: one kernel, or several, of which the knob `chooser` selects one by name. Paces, roles, phases, readings
// and minimum ranks may differ; knobs, synchronisation, and concurrent MPI calls of threads are common.
struct Program {
    std::string chooser;  // "": there is one row
    std::vector<Row> rows;
    // Measured once by each rank of the world, with the knobs of the first point, before the harness or a kernel
    // communicates (only here a first message is the first). The values are Context::after_init.
    std::vector<double> (*after_init)(Comm const& world, Knobs const& knobs) = nullptr;

    [[nodiscard]] Row const& of(Knobs const& knobs) const;
    [[nodiscard]] std::vector<Knob> knobs() const;  // of the kernels with the chooser, followed by those of the harness
};

// Returns knobs, pace, roles, … as JSON.
[[nodiscard]] std::string describe(std::string const& workload, Program const& program);
int run_program(int argc, char** argv, Program const& program);

// Of the folder, "family/name": the build compiles workload_name.cpp into each program.
extern char const* const workload_name;

template <class K>
Row row(std::string name) {
    KernelInfo info = K::info();
    expects((info.pace == Pace::chunks) == ChunkKernel<K>);
    return {std::move(name), std::move(info),
            [](Context& context) -> std::unique_ptr<Runnable> { return std::make_unique<Adapter<K>>(context); }};
}

template <class K>
int run(int argc, char** argv) {
    return run_program(argc, argv, {"", {row<K>("")}});
}

// The first row is the chooser's default.
inline int run_rows(int argc, char** argv, std::string chooser, std::vector<Row> rows) {
    return run_program(argc, argv, {std::move(chooser), std::move(rows)});
}

}  // namespace octant
