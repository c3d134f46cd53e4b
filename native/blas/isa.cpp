#include "blas/isa.hpp"

#include "octant/failure.hpp"

#include <strings.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace octant::blas {
namespace {

struct Words {  // for the same instructions
    std::string_view isa;
    char const* openblas;  // its name of a core
    char const* blis;      // likewise
    int mkl;               // its number of a set
};
constexpr std::array<Words, 4> known{{{"avx512", "SkylakeX", "skx", 4},
                                      {"avx2", "Haswell", "haswell", 2},
                                      {"avx", "Sandybridge", "sandybridge", 1},
                                      {"sse", "Nehalem", "penryn", 0}}};
constexpr int max_cores = 64;  // of BLIS, by number

Words const* words_of(std::string const& isa) {
    for (Words const& one : known)
        if (one.isa == isa) return &one;
    return nullptr;
}

[[noreturn]] void refuse(std::string const& isa, std::string const& path, std::string const& why) {
    throw Refusal("cannot use isa=" + isa + " with " + path + " (" + why + "); try isa=native", Exit::not_supported);
}

using NameOfCore = char const* (*)(int);

int blis_number(NameOfCore name, std::string_view wanted) {
    for (int number = 0; number < max_cores; ++number) {
        char const* const text = name(number);
        if (text == nullptr) break;
        if (text == wanted) return number;
    }
    return -1;
}

}  // namespace

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names{"native"};
    for (Words const& one : known) names.emplace_back(one.isa);
    return names;
}

void announce(std::string const& isa) {
    if (Words const* const words = words_of(isa)) setenv("OPENBLAS_CORETYPE", words->openblas, 1);
}

void choose(Symbols const& symbols, std::string const& isa, std::string const& path) {
    Words const* const words = words_of(isa);
    if (words == nullptr) return;
    if (auto const name = symbols.find<NameOfCore>("bli_arch_string")) {
        int const number = blis_number(name, words->blis);
        if (number < 0) refuse(isa, path, std::string("no kernels for ") + words->blis);
        setenv("BLIS_ARCH_TYPE", std::to_string(number).c_str(), 1);
    } else if (auto const enable = symbols.find<int (*)(int)>("MKL_Enable_Instructions")) {
        if (enable(words->mkl) == 0) refuse(isa, path, "refused on this processor, or the library was already in use");
    } else if (core_of(symbols).empty()) {
        refuse(isa, path, "the library has no such setting");
    }
}

void check_choice(Symbols const& symbols, std::string const& isa, std::string const& path) {
    Words const* const words = words_of(isa);
    std::string const core = core_of(symbols);
    if (words == nullptr || core.empty()) return;
    bool const is_blis = symbols.find<NameOfCore>("bli_arch_string") != nullptr;
    if (strcasecmp(core.c_str(), is_blis ? words->blis : words->openblas) != 0)
        refuse(isa, path, "the library uses its kernels for " + core);
}

std::string core_of(Symbols const& symbols) {
    if (auto const core = symbols.find<char const* (*)()>("openblas_get_corename")) return core();
    auto const number = symbols.find<int (*)()>("bli_arch_query_id");
    auto const name = symbols.find<NameOfCore>("bli_arch_string");
    if (number == nullptr || name == nullptr) return "";
    if (auto const start = symbols.find<void (*)()>("bli_init")) start();  // it aborts if a query comes first
    return name(number());
}

}  // namespace octant::blas
