// Sustained memory bandwidth: McCalpin's four loops over arrays of doubles and others of their kind, and reads in other
// orders: strided, gathered, of many streams side by side, and a transposition.
#include "rows.hpp"

#include <algorithm>

namespace stream {

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {
        {"kernel",
         KnobKind::word,
         "triad",
         "pattern=contiguous: loop",
         {"load", "copy", "scale", "add", "triad", "write", "update"}},
        {"bytes", KnobKind::bytes, "256MiB", "footprint of all arrays and threads of a rank", {}, 3072},
        {"store",
         KnobKind::word,
         "plain",
         "plain: regular stores; streaming: non-temporal stores; interleaved: non-temporal stores alternating over "
         "four pages; libc: memcpy or memset; rep: rep movsb or stosb; best: fastest in a short trial",
         {"plain", "streaming", "interleaved", "libc", "rep", "best"}},
        {"width",
         KnobKind::word,
         "auto",
         "vector width in bits; auto: the widest",
         {"auto", "scalar", "128", "256", "512"}},
        {"prefetch", KnobKind::bytes, "0", "software prefetch distance in bytes; 0: none", {}, 0, 4096},
        {"offset", KnobKind::bytes, "0", "additional page offset of each further array", {}, 0, 8192},
        {"align",
         KnobKind::word,
         "page",
         "page offset of the arrays: page: 0, or a number of bytes",
         {"page", "2048", "1024", "512", "256", "128", "64", "32", "16", "8"}},
        {"data",
         KnobKind::word,
         "private",
         "private: a part per thread; shared: every thread reads the whole array (kernel=load)",
         {"private", "shared"}},
        {"stride", KnobKind::bytes, "64", "pattern=strided: distance between loads", {}, 8, std::int64_t{1} << 30},
        {"index",
         KnobKind::word,
         "random",
         "pattern=gather: random: whole footprint; page: random within consecutive 4 KiB pages; sorted: as page, in "
         "ascending order",
         {"random", "page", "sorted"}},
        {"streams", KnobKind::integer, "1", "pattern=streams: number of concurrent read streams", {}, 1, max_streams},
        {"tile", KnobKind::integer, "8", "pattern=transposed: tile size, elements per side", {}, 1, 64}};
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

void require_bytes(octant::Context const& context, std::ptrdiff_t have_bytes, std::ptrdiff_t min_bytes,
                   std::string const& what) {
    if (have_bytes >= min_bytes) return;
    throw octant::Refusal("cannot use " + what + " with bytes=" + context.knobs.values().at("bytes") + " (it takes " +
                              std::to_string(min_bytes) + " bytes for each of " + std::to_string(context.threads) +
                              " threads); try bytes=" + std::to_string(min_bytes * context.threads),
                          octant::Exit::not_supported);
}

}  // namespace stream

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern",
                            {stream::contiguous_row(), stream::strided_row(), stream::gather_row(),
                             stream::streams_row(), stream::transposed_row()});
}
