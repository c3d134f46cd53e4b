// Sustained memory bandwidth: McCalpin's four loops over arrays of doubles and others of their kind, and reads in other
// orders: strided, gathered, of many streams side by side, and a transposition.
#include "rows.hpp"

#include <algorithm>

namespace stream {

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {{"kernel",
             KnobKind::word,
             "triad",
             "which loop of pattern=contiguous",
             {"load", "copy", "scale", "add", "triad", "write", "update"}},
            {"bytes", KnobKind::bytes, "256MiB", "footprint of all arrays and threads of a rank", {}, 3072},
            {"store",
             KnobKind::word,
             "plain",
             "plain; streaming past the caches; interleaved: streaming into four pages in turn; libc: memcpy or "
             "memset; rep: "
             "the processor's copy or fill of strings; best: what a trial before the samples finds quickest",
             {"plain", "streaming", "interleaved", "libc", "rep", "best"}},
            {"width", KnobKind::word, "auto", "vector bits; auto: the widest", {"auto", "scalar", "128", "256", "512"}},
            {"prefetch",
             KnobKind::bytes,
             "0",
             "software prefetch of what is read so many bytes later; 0: none",
             {},
             0,
             4096},
            {"offset",
             KnobKind::bytes,
             "0",
             "each array begins so much further into its page than the one before",
             {},
             0,
             8192},
            {"align",
             KnobKind::word,
             "page",
             "arrays begin with a page, or so many bytes after one",
             {"page", "2048", "1024", "512", "256", "128", "64", "32", "16", "8"}},
            {"data",
             KnobKind::word,
             "private",
             "private: a part for each thread; shared: every thread reads all of one array (kernel=load)",
             {"private", "shared"}},
            {"stride", KnobKind::bytes, "64", "from load to load of pattern=strided", {}, 8, std::int64_t{1} << 30},
            {"index",
             KnobKind::word,
             "random",
             "of pattern=gather: anywhere, within a page of 4 KiB after the other, or those in ascending order",
             {"random", "page", "sorted"}},
            {"streams", KnobKind::integer, "1", "that pattern=streams reads side by side", {}, 1, most_streams},
            {"tile", KnobKind::integer, "8", "rows and columns of the squares of pattern=transposed", {}, 1, 64}};
}

std::vector<Width> widths() {
    std::vector<Width> found{{"scalar", scalar_loops()}, {"128", loops_128()}};
    if constexpr (octant::x86) {
        if (octant::has_avx2()) found.push_back({"256", loops_256()});
        if (octant::has_avx512()) found.push_back({"512", loops_512()});
    }
    return found;
}

std::ptrdiff_t doubles(octant::Context const& context, char const* knob) {
    std::ptrdiff_t const bytes = context.knobs.integer(knob);
    if (bytes % 8 != 0)
        throw octant::Refusal("cannot use " + std::string(knob) + "=" + std::to_string(bytes) +
                                  " (doubles have 8 bytes); try a multiple of 8",
                              octant::Exit::wrong_word);
    return bytes / 8;
}

octant::Counts counts_of_loads(std::ptrdiff_t loads, std::ptrdiff_t lines, std::ptrdiff_t bytes_each) {
    return {{"bytes_read", bytes_each * loads},
            {"bytes_unused", std::max<std::ptrdiff_t>(0, 8 * (line * lines - loads))},
            {"lines", lines},
            {"loads", loads},
            {"flops", loads}};
}

void enough_or_refuse(octant::Context const& context, std::ptrdiff_t have_bytes, std::ptrdiff_t least_bytes,
                      std::string const& what) {
    if (have_bytes >= least_bytes) return;
    throw octant::Refusal("cannot use " + what + " with bytes=" + context.knobs.values().at("bytes") + " (it takes " +
                              std::to_string(least_bytes) + " bytes for each of " + std::to_string(context.threads) +
                              " threads); try bytes=" + std::to_string(least_bytes * context.threads),
                          octant::Exit::not_supported);
}

}  // namespace stream

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern",
                            {stream::contiguous_row(), stream::strided_row(), stream::gather_row(),
                             stream::streams_row(), stream::transposed_row()});
}
