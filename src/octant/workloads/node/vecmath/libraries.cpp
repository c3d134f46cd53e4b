#include "libraries.hpp"

#include "functions.hpp"

#include "blas/blas.hpp"
#include "octant/failure.hpp"
#include "octant/shared_library.hpp"
#include "octant/width.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace vecmath {
namespace {

using octant::Exit;
using octant::Refusal;

struct Width {
    std::string name;
    int bits;
    Calls calls;
};

std::vector<Width> widths() {
    std::vector<Width> found{{"scalar", 0, calls_scalar()}, {"128", 128, calls_128()}};
    if constexpr (octant::x86) {
        if (octant::has_avx2()) found.push_back({"256", 256, calls_256()});
        if (octant::has_avx512()) found.push_back({"512", 512, calls_512()});
    }
    return found;
}

template <class Real>
constexpr bool single = std::is_same_v<Real, float>;

template <class Real>
Loop<Real> call_of(Width const& width, Function const& function) {
    Loops<Real> const* loops = nullptr;
    if constexpr (single<Real>)
        loops = &width.calls.singles;
    else
        loops = &width.calls.doubles;
    return function.second == Second::none ? loops->one : loops->two;
}

class Library {
  public:
    Library(std::string const& path, std::vector<std::string> const& files, std::string const& hint) {
        std::string first, reason;
        for (std::string const& file : path == "auto" ? files : std::vector<std::string>{path}) {
            library_ = octant::SharedLibrary(file, reason);
            if (library_.loaded()) return;
            if (first.empty()) first = reason;
        }
        throw Refusal("cannot load the library (" + first + "); try " + hint, Exit::not_supported);
    }
    [[nodiscard]] Entry find(std::string const& symbol) const {
        return reinterpret_cast<Entry>(library_.address(symbol));
    }
    // The first of these that it has.
    [[nodiscard]] std::pair<Entry, std::string> first(std::vector<std::string> const& symbols) const {
        for (std::string const& symbol : symbols)
            if (Entry const entry = find(symbol); entry != nullptr) return {entry, symbol};
        throw Refusal("cannot find " + symbols.front() + " (not in the library); try library=libm",
                      Exit::not_supported);
    }

  private:
    octant::SharedLibrary library_;
};

std::string file_of(Entry entry) { return octant::file_of(reinterpret_cast<void const*>(entry)); }

void expect_accuracy(Wish const& wish, std::vector<std::string> const& known) {
    if (wish.accuracy == "auto" || std::ranges::find(known, wish.accuracy) != known.end()) return;
    std::string names;
    for (auto const& one : known) names += one + ", ";
    throw Refusal("cannot use accuracy=" + wish.accuracy + " with library=" + wish.library + "; try " + names + "auto",
                  Exit::not_supported);
}

void expect_no_path(Wish const& wish) {
    if (wish.path != "auto")
        throw Refusal("cannot use path with library=" + wish.library + "; try path=auto", Exit::not_supported);
}

template <class Real>
Implementation<Real> called(Width const& width, Function const& function, std::pair<Entry, std::string> const& found) {
    return {call_of<Real>(width, function),
            {found.first, 0},
            0,
            false,
            {{"library", file_of(found.first)}, {"symbol", found.second}, {"width", width.name}}};
}

template <class Real>
Implementation<Real> of_libm(Function const& function, Wish const& wish) {
    expect_accuracy(wish, {});
    expect_no_path(wish);
    std::string const symbol = std::string(function.name) + (single<Real> ? "f" : "");
    auto found = called<Real>(widths().front(), function, {scalar_entry(function, single<Real>), symbol});
    found.documented_ulp = function.libm_ulp;
    found.keeps_specials = true;
    return found;
}

// Names of the vector function ABI: the set of instructions, N for unmasked, the elements, a v for each input.
template <class Real>
Implementation<Real> of_libmvec(Function const& function, Wish const& wish) {
    expect_accuracy(wish, {});
    auto known = widths();
    known.erase(known.begin());  // it has no scalar functions
    Width const width = octant::chosen_width(known, wish.width);
    Library const library(wish.path, {"libmvec.so.1"}, "glibc 2.22 or later, or library=relaxed");
    char const set = !octant::x86 ? 'n' : width.bits == 128 ? 'b' : width.bits == 256 ? 'd' : 'e';
    std::string const lanes = std::to_string(width.bits / 8 / static_cast<int>(sizeof(Real)));
    std::string const symbol = std::string("_ZGV") + set + "N" + lanes +
                               (function.second == Second::none ? "v_" : "vv_") + function.name +
                               (single<Real> ? "f" : "");
    auto found = called<Real>(width, function, library.first({symbol}));
    found.documented_ulp = 4;
    return found;
}

template <class Real>
Implementation<Real> of_sleef(Function const& function, Wish const& wish) {
    expect_accuracy(wish, {"u10", "u35"});
    Width const width = octant::chosen_width(widths(), wish.width);
    Library const library(wish.path, {"libsleef.so.3", "libsleef.so"}, "apt-get install libsleef3, or path=");
    std::string name = std::string("Sleef_") + function.name;
    if (width.bits == 0)
        name += single<Real> ? "f" : "";
    else
        name += (single<Real> ? "f" : "d") + std::to_string(width.bits / 8 / static_cast<int>(sizeof(Real)));
    bool const close = wish.accuracy != "u35";
    auto const names = close ? std::vector<std::string>{name + "_u10", name + "_u05"} : std::vector{name + "_u35"};
    auto found = called<Real>(width, function, library.first(names));
    found.documented_ulp = close ? 1 : 3.5;
    return found;
}

// Flags of Intel's library: low, high or enhanced performance accuracy; errors are not reported.
enum Mode : std::int64_t { low_accuracy = 1, high_accuracy = 2, enhanced_performance = 3, no_reports = 0x100 };

template <class Real>
void vml_one(Called called, Real const* a, Real const* /*b*/, Real* y, std::size_t n) {
    reinterpret_cast<void (*)(int, Real const*, Real*, std::int64_t)>(called.entry)(static_cast<int>(n), a, y,
                                                                                    called.mode);
}

template <class Real>
void vml_two(Called called, Real const* a, Real const* b, Real* y, std::size_t n) {
    reinterpret_cast<void (*)(int, Real const*, Real const*, Real*, std::int64_t)>(called.entry)(static_cast<int>(n), a,
                                                                                                 b, y, called.mode);
}

std::vector<std::string> vml_files() {
    std::vector<std::string> files;
    for (auto const& one : octant::blas::available())
        if (one.name == "mkl") files.push_back(one.path);
    files.insert(files.end(), {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"});
    return files;
}

template <class Real>
Implementation<Real> of_vml(Function const& function, Wish const& wish) {
    expect_accuracy(wish, {"ha", "la", "ep"});
    Library const library(wish.path, vml_files(), "pip install mkl, or path=/path/to/libmkl_rt.so");
    constexpr int sequential = 1;
    if (Entry const choose = library.find("MKL_Set_Threading_Layer"); choose != nullptr)
        reinterpret_cast<int (*)(int)>(choose)(sequential);  // else it starts a thread for each core
    bool const one_input = function.second == Second::none;
    auto const [entry, symbol] = library.first({std::string(single<Real> ? "vms" : "vmd") + function.in_vml});
    Mode const mode = wish.accuracy == "ha"   ? high_accuracy
                      : wish.accuracy == "ep" ? enhanced_performance
                                              : low_accuracy;
    // Half the bits are 26 of 53 and 11 of 24.
    double const half = std::ldexp(1, single<Real> ? 13 : 27);
    return {one_input ? vml_one<Real> : vml_two<Real>,
            {entry, mode | no_reports},
            mode == high_accuracy  ? 1
            : mode == low_accuracy ? 4
                                   : half,
            mode != enhanced_performance,
            {{"library", file_of(entry)}, {"symbol", symbol}, {"width", "selected by the library"}}};
}

template <class Real>
Implementation<Real> compiled_here(Function const& function, Wish const& wish) {
    expect_accuracy(wish, {});
    expect_no_path(wish);
    bool const strict = wish.library == "strict";
    Loop<Real> loop = nullptr;
    if constexpr (single<Real>)
        loop = strict ? strict_single(function.name) : relaxed_single(function.name);
    else
        loop = strict ? strict_double(function.name) : relaxed_double(function.name);
    return {loop,
            {},
            strict ? function.libm_ulp : std::max(4.0, function.libm_ulp),
            strict,
            {{"library", "compiled with this program"}, {"width", "selected by the compiler"}}};
}

template <class Real>
Estimates<Real> estimates_at(std::string const& width) {
    if constexpr (octant::x86 && single<Real>) {
        if (octant::has_avx512() && (width == "512" || width == "auto")) return estimates_single_512();
        if (octant::has_avx2() && (width == "256" || width == "auto")) return estimates_single_256();
    } else if constexpr (octant::x86) {
        if (octant::has_avx512() && (width == "512" || width == "auto")) return estimates_double_512();
    }
    return {};
}

template <class Real>
Implementation<Real> estimated(Function const& function, Wish const& wish) {
    expect_accuracy(wish, {});
    expect_no_path(wish);
    auto const loops = estimates_at<Real>(wish.width);
    std::string_view const name = function.name;
    Loop<Real> const loop = name == "div"     ? loops.div
                            : name == "recip" ? loops.recip
                            : name == "sqrt"  ? loops.sqrt
                            : name == "rsqrt" ? loops.rsqrt
                                              : nullptr;
    if (loop == nullptr)
        throw Refusal(
            "cannot use library=estimate for " + std::string(name) + " and width=" + wish.width +
                " (available: div, recip, sqrt, rsqrt with AVX-512, or AVX2 in single precision); try library=strict",
            Exit::not_supported);
    return {loop, {}, 4, false, {{"library", "compiled with this program"}, {"width", wish.width}}};
}

template <class Real>
Real reciprocal(Real x) {
    return 1 / x;
}
template <class Real>
Real reciprocal_root(Real x) {
    return 1 / std::sqrt(x);
}
template <class Real>
Real quotient(Real x, Real z) {
    return x / z;
}

template <class Real>
Entry own_scalar(std::string_view name) {
    if (name == "div") return reinterpret_cast<Entry>(quotient<Real>);
    if (name == "recip") return reinterpret_cast<Entry>(reciprocal<Real>);
    if (name == "rsqrt") return reinterpret_cast<Entry>(reciprocal_root<Real>);
    return nullptr;
}

}  // namespace

Entry scalar_entry(Function const& function, bool of_single) {
    Entry const own = of_single ? own_scalar<float>(function.name) : own_scalar<double>(function.name);
    if (own != nullptr) return own;
    std::string const symbol = std::string(function.name) + (of_single ? "f" : "");
    void* const found = dlsym(RTLD_DEFAULT, symbol.c_str());
    if (found == nullptr)
        throw Refusal("cannot find " + symbol + " (not in the C library); try another function", Exit::not_supported);
    return reinterpret_cast<Entry>(found);
}

template <class Real>
Implementation<Real> implementation(Function const& function, Wish const& wish) {
    if (wish.library == "libm") return of_libm<Real>(function, wish);
    if (wish.library == "libmvec") return of_libmvec<Real>(function, wish);
    if (wish.library == "sleef") return of_sleef<Real>(function, wish);
    if (wish.library == "vml") return of_vml<Real>(function, wish);
    if (wish.library == "estimate") return estimated<Real>(function, wish);
    return compiled_here<Real>(function, wish);
}

template Implementation<double> implementation(Function const& function, Wish const& wish);
template Implementation<float> implementation(Function const& function, Wish const& wish);

}  // namespace vecmath
