// What a workload's kernel.cpp provides, and the main program that times it.
//
// A kernel never holds a clock and never prints. It comes in one of two kinds:
//   a *lane kernel* offers chunk(lane, index): a piece of work that one thread does alone (about 100 us after
//   batching);
//     lanes run at once and the rates of overlapping windows are summed afterwards (bandwidth, compute, noise);
//   a *step kernel* offers step(): one repetition by all ranks together (messages, collectives).
#pragma once

#include "octant/failure.hpp"
#include "octant/knobs.hpp"
#include "octant/memory.hpp"
#include "octant/mpi.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace octant {

// Counted from the source, for one chunk or step of one lane or rank. Rates are derived later, in Python.
struct Work {
    std::int64_t bytes_read = 0;
    std::int64_t bytes_written = 0;
    std::int64_t bytes_allocated = 0;  // lines that plain stores make a write-allocate cache read first
    std::int64_t flops = 0;
    std::int64_t loads = 0;     // dependent loads
    std::int64_t messages = 0;  // messages one after the other
    std::int64_t message_bytes = 0;
    std::int64_t quanta = 0;  // fixed work quanta
};

enum class Sync { none, barrier, dissemination, clock };
enum class Timing { slowest, root };  // which rank's time is a step's time

struct KernelInfo {
    std::string name;
    std::vector<Knob> knobs;
    Sync sync = Sync::clock;
    Timing timing = Timing::slowest;
    int least_ranks = 1;
    bool library_threads = false;      // `threads` are the library's; the kernel has one lane
    std::int64_t sample_ns = 100'000;  // lane kernels: chunks are batched to samples of about this; 0: never batched
};

// What a kernel may ask of the harness while it is built.
struct Context {
    Comm const& world;
    Knobs const& knobs;
    int threads;
    PagePolicy pages;
    NodePolicy nodes;
    std::int64_t memory_left_bytes = INT64_MAX;  // that this rank may still take: more would get it killed
    std::vector<Mapping const*> watched = {};    // buffers whose pages are read back
    std::vector<std::pair<std::string, std::string>> notes = {};  // facts for the record: "library", "variant", …

    template <class T>
    [[nodiscard]] Buffer<T> buffer(std::size_t count) {
        claim(static_cast<double>(count) * sizeof(T));
        return Buffer<T>(count, pages, nodes);
    }
    void claim(double bytes);  // throws Refusal: more than is left
    // Runs `body(lane)` on the threads that will measure, so that each page is touched by the thread that uses it.
    void on_each_thread(std::function<void(int)> const& body) const;
};

template <class K>
concept Kernel = requires(Context& context, K& kernel) {
    { K::info() } -> std::same_as<KernelInfo>;
    K(context);
    { kernel.work() } -> std::same_as<Work>;
    { kernel.verify() } -> std::same_as<Verdict>;  // a separate pass after the timing; collective over the ranks
    kernel.corrupt();                              // spoils one result, so that tests can see verify() fail
};
template <class K>
concept LaneKernel = Kernel<K> && requires(K& kernel, int lane, std::int64_t index) { kernel.chunk(lane, index); };
// A lane kernel whose work lowers the clock (wide vectors do) may offer cycles(lane, which), `which` 0 or 1: a piece of
// its own work beside a chain of dependent additions that takes longer, and returns the length of the chain.
template <class K>
concept TellsClock = LaneKernel<K> && requires(K& kernel, int lane, int which) {
    { kernel.cycles(lane, which) } -> std::same_as<std::int64_t>;
};
template <class K>
concept StepKernel = Kernel<K> && requires(K& kernel) { kernel.step(); };

// The erased form that the harness drives: one virtual call a batch, none inside it.
class Runnable {
  public:
    Runnable() = default;
    Runnable(Runnable const&) = delete;
    Runnable& operator=(Runnable const&) = delete;
    virtual ~Runnable() = default;
    [[nodiscard]] virtual bool has_lanes() const = 0;
    virtual void run(int lane, std::int64_t first, std::int64_t count) = 0;
    virtual Work work() = 0;
    virtual Verdict verify() = 0;
    virtual void corrupt() = 0;
    virtual std::int64_t cycles(int lane, int which) = 0;  // 0: the kernel does not tell
};

template <class K>
    requires LaneKernel<K> || StepKernel<K>
class Adapter final : public Runnable {
  public:
    explicit Adapter(Context& context) : kernel_(context) {}
    [[nodiscard]] bool has_lanes() const override { return LaneKernel<K>; }
    void run(int lane, std::int64_t first, std::int64_t count) override {
        for (std::int64_t i = first; i < first + count; ++i) {
            if constexpr (LaneKernel<K>)
                kernel_.chunk(lane, i);
            else
                kernel_.step();
        }
        static_cast<void>(lane);
    }
    Work work() override { return kernel_.work(); }
    Verdict verify() override { return kernel_.verify(); }
    void corrupt() override { kernel_.corrupt(); }
    std::int64_t cycles(int lane, int which) override {
        if constexpr (TellsClock<K>) return kernel_.cycles(lane, which);
        static_cast<void>(lane);
        static_cast<void>(which);
        return 0;
    }

  private:
    K kernel_;
};

using Build = std::unique_ptr<Runnable> (*)(Context&);
int run_program(int argc, char** argv, KernelInfo const& info, Build build);

template <class K>
int run(int argc, char** argv) {
    return run_program(argc, argv, K::info(), [](Context& context) -> std::unique_ptr<Runnable> {
        return std::make_unique<Adapter<K>>(context);
    });
}

}  // namespace octant
