// What one core can do: latency and throughput of its operations, how far ahead it looks, how many misses it has in
// flight, and what a wrong guess costs.
#include "rows.hpp"

namespace core {

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {
        {"operation",
         KnobKind::word,
         "add",
         "what pattern=operations repeats",
         {"add", "multiply", "popcount", "load", "forward", "nop", "rounding", "fadd", "fmul", "fma", "divide", "sqrt",
          "reciprocal", "rsqrt", "compare"}},
        {"form", KnobKind::word, "latency", "one chain of operations, or many side by side", {"latency", "throughput"}},
        {"width",
         KnobKind::word,
         "auto",
         "vector bits of fadd … compare; auto: the widest",
         {"auto", "scalar", "128", "256", "512"}},
        {"filler", KnobKind::word, "nop", "instructions between two loads of pattern=rob-size", {"nop", "add"}},
        {"bytes",
         KnobKind::bytes,
         "64MiB",
         "footprint of the loads of pattern=rob-size and mlp, a power of two",
         {},
         16 * 1024,
         std::int64_t{1} << 38},
        {"seed", KnobKind::integer, "1", "of the random order"}};
}

std::optional<octant::Refusal> one_thread(int, int threads, octant::Knobs const& knobs) {
    if (threads == 1) return {};
    return octant::Refusal("cannot measure pattern=" + knobs.word("pattern") +
                               " with several threads (one thread steps through its parts); try several ranks",
                           octant::Exit::not_supported);
}

}  // namespace core

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern",
                            {core::operations_row(), core::rob_size_row(), core::mlp_row(), core::branch_row()});
}
