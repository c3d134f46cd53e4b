// What one core can do: latency and throughput of its operations, how far ahead it looks, how many misses it has in
// flight, and what a wrong guess costs.
#include "rows.hpp"

namespace core {

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {{"operation",
             KnobKind::word,
             "add",
             "pattern=operations: operation that is repeated",
             {"add", "multiply", "popcount", "load", "forward", "nop", "rounding", "fadd", "fmul", "fma", "divide",
              "sqrt", "reciprocal", "rsqrt", "compare"}},
            {"form",
             KnobKind::word,
             "latency",
             "latency: one dependent chain; throughput: many independent chains",
             {"latency", "throughput"}},
            {"width",
             KnobKind::word,
             "auto",
             "vector width in bits of fadd … compare; auto: the widest",
             {"auto", "scalar", "128", "256", "512"}},
            {"filler", KnobKind::word, "nop", "pattern=rob-size: instructions between two loads", {"nop", "add"}},
            {"bytes",
             KnobKind::bytes,
             "64MiB",
             "pattern=rob-size, mlp: footprint of the loads, a power of two",
             {},
             16 * 1024,
             std::int64_t{1} << 38},
            {"seed", KnobKind::integer, "1", "seed of the random order"}};
}

std::optional<octant::Refusal> one_thread(int, int threads, octant::Knobs const& knobs) {
    if (threads == 1) return {};
    return octant::Refusal("cannot measure pattern=" + knobs.word("pattern") +
                               " with several threads (the pattern is single-threaded); try several ranks",
                           octant::Exit::not_supported);
}

}  // namespace core

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern",
                            {core::operations_row(), core::rob_size_row(), core::mlp_row(), core::branch_row()});
}
