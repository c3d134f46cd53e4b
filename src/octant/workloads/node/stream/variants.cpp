#include "variants.hpp"

#include <algorithm>
#include <cstring>

namespace stream {
namespace {

constexpr std::size_t load = 0, copy = 1, write = 5;
constexpr Kind kinds[kernels] = {
    {"load", 1, 1, 0, 0, 1, [](double b, double) { return b; }},
    {"copy", 2, 1, 1, 1, 0, [](double b, double) { return b; }},
    {"scale", 2, 1, 1, 1, 1, [](double b, double) { return factor * b; }},
    {"add", 3, 2, 1, 1, 1, [](double b, double c) { return b + c; }},
    {"triad", 3, 2, 1, 1, 2, [](double b, double c) { return b + factor * c; }},
    {"write", 1, 0, 1, 1, 0, [](double, double) { return filled; }},
    {"update", 1, 1, 1, 0, 1, [](double b, double) { return factor * b; }},  // of what a held, which is b's
};

double libc_copy(double* a, double const* b, double const*, std::ptrdiff_t n, std::ptrdiff_t) {
    std::memcpy(a, b, 8 * static_cast<std::size_t>(n));
    return 0;
}
double libc_write(double* a, double const*, double const*, std::ptrdiff_t n, std::ptrdiff_t) {
    std::memset(a, written_byte, 8 * static_cast<std::size_t>(n));
    return 0;
}

double rep_copy(double* a, double const* b, double const*, std::ptrdiff_t n, std::ptrdiff_t) {
    octant::rep_copy(a, b, 8 * n);
    return 0;
}
double rep_write(double* a, double const*, double const*, std::ptrdiff_t n, std::ptrdiff_t) {
    octant::rep_fill(a, written_byte, 8 * n);
    return 0;
}

}  // namespace

std::size_t kind_index(std::string const& name) {
    auto const found = std::ranges::find(kinds, name, &Kind::name);
    return static_cast<std::size_t>(found - std::begin(kinds));
}

Kind const& kind_of(std::size_t index) { return kinds[index]; }

std::vector<Variant> variants(std::size_t kind, Width const& width, bool asks, bool aligned) {
    auto const loop = [&](Form form) { return width.loops.loops[static_cast<int>(form)][asks ? 1 : 0][kind]; };
    std::vector<Variant> found{{"plain", loop(Form::plain)}};
    if (kind == load) return found;
    if (octant::has_streaming_stores && aligned) {
        found.push_back({"streaming", loop(Form::streaming), false, true});
        found.push_back({"interleaved", loop(Form::interleaved), false, true});
    }
    if (asks || (kind != copy && kind != write)) return found;
    found.push_back({"libc", kind == copy ? libc_copy : libc_write, false, false, true});
    if (octant::has_rep_strings) found.push_back({"rep", kind == copy ? rep_copy : rep_write, false, false, true});
    return found;
}

std::vector<Variant> variants_of(octant::Context const& context, std::size_t kind, Width const& width) {
    auto const& knobs = context.knobs;
    std::string const& store = knobs.word("store");
    bool const asks = knobs.integer("prefetch") > 0;
    std::string const& align = knobs.word("align");
    bool const aligned = align == "page" || std::stoi(align) >= 64;
    auto const known = variants(kind, width, asks, aligned);
    if (store == "best") return known;
    std::string const wanted = kind == load && store == "streaming" ? "plain" : store;  // it stores nothing
    auto const found = std::ranges::find(known, wanted, &Variant::name);
    if (found != known.end()) return {*found};
    std::string names;
    for (auto const& one : known) names += (names.empty() ? "" : ", ") + one.name;
    throw octant::Refusal("cannot use store=" + store + " (kernel=" + knobs.word("kernel") + " has " + names + " here" +
                              (aligned ? "" : ", unaligned arrays") + (asks ? ", software prefetch" : "") +
                              "); try store=best",
                          octant::Exit::not_supported);
}

}  // namespace stream
