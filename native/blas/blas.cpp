#include "blas/blas.hpp"

#include "blas/isa.hpp"
#include "blas/plain.hpp"
#include "kernels/random.hpp"
#include "octant/clock.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace octant::blas {
namespace {

constexpr int trial_n = 512;  // of the product that is timed: some 6 ms
constexpr int trial_rounds = 5;
constexpr double clearly = 1.03;  // faster than one before it in the list: of equals always the same is taken
constexpr double hopeless = 0.4;  // of the best rate in the first round: not tried again

std::string names_of(std::vector<Named> const& libraries) {
    std::string text;
    for (Named const& one : libraries) text += one.name + ", ";
    return text;
}

std::string path_of(std::string const& name) {
    if (name.find('/') != std::string::npos || name.find(".so") != std::string::npos) return name;
    auto const known = available();
    for (Named const& one : known)
        if (one.name == name) return one.path;
    if (known.empty())
        throw Refusal("cannot find " + name +
                          " (the environment variable OCTANT_BLAS is not set); try `octant run`, which sets it, or "
                          "library=/path/to/libopenblas.so",
                      Exit::not_supported);
    throw Refusal("cannot use library=" + name + " (no such library was found); try " + names_of(known) +
                      "plain or the path of a BLAS library",
                  Exit::not_supported);
}

// A library without such a function is assumed to be single-threaded. BLIS uses 64-bit integers.
template <class Number>
bool set_threads(Symbols const& symbols, char const* set_name, char const* get_name, int threads) {
    auto const set = symbols.find<void (*)(Number)>(set_name);
    if (set == nullptr) return false;
    set(threads);
    auto const get = symbols.find<Number (*)()>(get_name);
    return get == nullptr || get() == threads;
}

bool apply_threads(Symbols const& symbols, int threads) {
    return set_threads<int>(symbols, "openblas_set_num_threads", "openblas_get_num_threads", threads) ||
           set_threads<int>(symbols, "MKL_Set_Num_Threads", "MKL_Get_Max_Threads", threads) ||
           set_threads<std::int64_t>(symbols, "bli_thread_set_num_threads", "bli_thread_get_num_threads", threads) ||
           set_threads<int>(symbols, "armpl_set_num_threads", "armpl_get_num_threads", threads) ||
           set_threads<int>(symbols, "nvpl_blas_set_num_threads", "nvpl_blas_get_max_threads", threads) || threads == 1;
}

void add_facts(Symbols const& symbols, Library& library) {
    using Text = char const* (*)();
    if (auto const config = symbols.find<Text>("openblas_get_config"))
        library.facts.emplace_back("library_version", config());
    else if (auto const version = symbols.find<Text>("bli_info_get_version_str"))
        library.facts.emplace_back("library_version", std::string("BLIS ") + version());
    else if (auto const text = symbols.find<void (*)(char*, int)>("mkl_get_version_string")) {
        std::array<char, 256> line{};
        text(line.data(), static_cast<int>(line.size()) - 1);
        std::string_view const found = line.data();
        library.facts.emplace_back("library_version", found.substr(0, found.find_last_not_of(' ') + 1));
    }
    if (std::string const core = core_of(symbols); !core.empty()) library.facts.emplace_back("library_core", core);
    library.facts.emplace_back("library_integers", library.wide ? "64 bits" : "32 bits");
    if (library.dgemm.fortran) library.facts.emplace_back("library_interface", "Fortran");
}

// Tests A B + C with small integers and a leading dimension larger than the matrix against the definition.
template <class T>
bool right_product(Gemm<T> const& gemm) {
    std::array<T, 8> a{}, b{}, got{}, expected{};
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto const x = static_cast<float>(i);
        if constexpr (is_complex<T>)
            a[i] = T(x, x - 3), b[i] = T(2 - x, x);
        else
            a[i] = x - 3, b[i] = 2 - x;
        got[i] = expected[i] = a[i] + b[i];
    }
    T const two(2), minus(-1);
    gemm(row_major, as_is, as_is, 2, 2, 3, two, a.data(), 4, b.data(), 2, minus, got.data(), 3);
    plain::gemm<T>(row_major, as_is, as_is, 2, 2, 3, factor(two), a.data(), 4, b.data(), 2, factor(minus),
                   expected.data(), 3);
    return got == expected;  // exact in every precision
}

bool right_system(Dtrsm const& dtrsm) {
    std::array<double, 6> const a{1, 2, 3, 4, 5, 6};
    std::array<double, 4> solved{1, 2, 3, 4}, solution = solved;
    dtrsm(row_major, left, lower, as_is, any_diagonal, 2, 2, 2, a.data(), 3, solved.data(), 2);
    plain::dtrsm(row_major, left, lower, as_is, any_diagonal, 2, 2, 2, a.data(), 3, solution.data(), 2);
    return std::ranges::equal(solved, solution, [](double x, double y) { return std::abs(x - y) < 1e-12; });
}

bool right_answers(Library const& library) {
    return right_product(library.dgemm) && right_product(library.sgemm) && right_system(library.dtrsm) &&
           (!library.zgemm || right_product(library.zgemm)) && (!library.cgemm || right_product(library.cgemm));
}

template <class Call>
void find_call(Symbols const& symbols, bool wide, std::string const& name, Call& call) {
    using Narrow = decltype(call.narrow);
    using Wide = decltype(call.wide);
    using Fortran = decltype(call.fortran);
    if (wide)
        call.wide = symbols.find<Wide>("cblas_" + name);
    else
        call.narrow = symbols.find<Narrow>("cblas_" + name);
    if (!call) call.fortran = symbols.find<Fortran>(name + "_");
    call.wide_fortran = wide;
}

Library open(std::string const& path) {
    Symbols const symbols(path);
    Library found;
    found.facts = {{"library", path}};
    found.symbols = symbols;
    return found;
}

void find_calls(Library& library) {
    library.wide = library.symbols.wide_integers();
    find_call(library.symbols, library.wide, "dgemm", library.dgemm);
    find_call(library.symbols, library.wide, "sgemm", library.sgemm);
    find_call(library.symbols, library.wide, "zgemm", library.zgemm);
    find_call(library.symbols, library.wide, "cgemm", library.cgemm);
    find_call(library.symbols, library.wide, "dtrsm", library.dtrsm);
}

class Trial {  // of products on the same operands
  public:
    Trial() : a_(count), b_(count), c_(count) {
        for (std::size_t i = 0; i < count; ++i) a_[i] = random_at(i, 1), b_[i] = random_at(i, 2);
    }
    double flops_per_s(Library const& library) {
        std::int64_t const begin = now_ns();
        library.dgemm(row_major, as_is, as_is, trial_n, trial_n, trial_n, 1, a_.data(), trial_n, b_.data(), trial_n, 0,
                      c_.data(), trial_n);
        return 2e9 * trial_n * trial_n * trial_n / static_cast<double>(std::max<std::int64_t>(1, now_ns() - begin));
    }

  private:
    static constexpr std::size_t count = std::size_t{trial_n} * trial_n;
    std::vector<double> a_, b_, c_;
};

struct FastestLibrary {
    std::int64_t place = -1;  // in the list; -1: none can be used
    std::string trials;       // "openblas 41.2, blis 24.0 Gflop/s"
};

// Repeats all libraries one after the other, so that other work on the machine affects all alike, and takes the best
// rate of each.
FastestLibrary quickest(std::vector<Named> const& known, int threads, std::string const& isa) {
    std::vector<std::pair<std::size_t, Library>> usable;
    for (std::size_t i = 0; i < known.size(); ++i) try {
            usable.emplace_back(i, load(known[i].path, threads, isa));
        } catch (Refusal const&) {
            continue;  // `library=NAME` prints the reason
        }
    std::vector<double> rates(usable.size(), 0);
    Trial trial;
    for (int round = 0; round <= trial_rounds; ++round)
        for (std::size_t i = 0; i < usable.size(); ++i) {
            if (round > 1 && rates[i] < hopeless * std::ranges::max(rates)) continue;
            double const rate = trial.flops_per_s(usable[i].second);
            if (round > 0) rates[i] = std::max(rates[i], rate);  // the first allocates and starts threads
        }
    FastestLibrary best;
    double best_rate = 0;
    for (std::size_t i = 0; i < usable.size(); ++i) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), " %.1f", rates[i] * 1e-9);
        best.trials += (best.trials.empty() ? "" : ", ") + known[usable[i].first].name + text.data();
        if (rates[i] > clearly * best_rate)
            best_rate = rates[i], best.place = static_cast<std::int64_t>(usable[i].first);
    }
    if (best.place >= 0) best.trials += " Gflop/s";
    return best;
}

std::string const& name_at(std::vector<Named> const& known, std::int64_t place) {
    if (place < 0)
        throw Refusal(
            "cannot find a usable BLAS library (see OCTANT_BLAS); try library=/path/to/libopenblas.so, or "
            "library=plain",
            Exit::not_supported);
    if (static_cast<std::size_t>(place) >= known.size())
        throw Refusal("cannot use library=auto (hosts have different libraries); try a path", Exit::not_supported);
    return known[static_cast<std::size_t>(place)].name;
}

}  // namespace

std::vector<Named> available(char const* variable) {
    char const* const text = std::getenv(variable);
    std::vector<Named> found;
    for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
        std::string_view const entry = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
        std::size_t const equals = entry.find('=');
        if (entry.empty()) continue;
        if (equals == std::string_view::npos)
            found.push_back({"openblas", std::string(entry)});
        else
            found.push_back({std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))});
    }
    return found;
}

Library load(std::string const& name, int threads, std::string const& isa) {
    if (name == "plain") {
        if (threads != 1)
            throw Refusal("cannot use library=plain with threads=" + std::to_string(threads) +
                          " (single-threaded); try threads=1");
        if (isa != "native") throw Refusal("cannot use isa=" + isa + " with library=plain; try isa=native");
        return {.dgemm = {.narrow = plain::gemm<double>},
                .sgemm = {.narrow = plain::gemm<float>},
                .dtrsm = {.narrow = plain::dtrsm},
                .facts = {{"library", "plain"}},
                .zgemm = {.narrow = plain::gemm<std::complex<double>>},
                .cgemm = {.narrow = plain::gemm<std::complex<float>>}};
    }
    std::string const path = path_of(name);
    announce(isa);
    Library found = open(path);
    choose(found.symbols, isa, path);
    find_calls(found);
    if (!found.dgemm || !found.sgemm || !found.dtrsm)
        throw Refusal("cannot use " + path + " (no dgemm, sgemm or dtrsm in it); try library=openblas",
                      Exit::not_supported);
    if (!apply_threads(found.symbols, threads))
        throw Refusal(
            "cannot set " + std::to_string(threads) + " threads in " + path + "; try threads=1, or OMP_NUM_THREADS",
            Exit::not_supported);
    if (!right_answers(found))
        throw Refusal("cannot use " + path + " (wrong result of a test product); try library=openblas",
                      Exit::not_supported);
    check_choice(found.symbols, isa, path);
    add_facts(found.symbols, found);
    return found;
}

Library load(Comm const& group, std::string const& name, int threads, std::string const& isa) {
    std::int64_t place = 0;
    FastestLibrary found;
    auto const known = available();
    if (name == "auto") {
        if (group.rank() == 0 && known.size() == 1) found.place = 0;
        if (group.rank() == 0 && known.size() > 1) found = quickest(known, threads, isa);
        place = group.broadcast(found.place);  // whatever this host's list is: the others wait for it
    }
    Library library;
    std::string reason;
    try {
        library = load(name == "auto" ? name_at(known, place) : name, threads, isa);
    } catch (Refusal const& refusal) {
        if (refusal.code() != Exit::not_supported) throw;  // of the words, which all ranks have
        reason = refusal.what();
    }
    if (group.max(std::int64_t{reason.empty() ? 0 : 1}) > 0) {
        for (auto const& text : group.gather(reason))
            if (reason.empty()) reason = text;
        throw Refusal(reason, Exit::not_supported);  // rank 0 has a text
    }
    if (!found.trials.empty()) library.facts.emplace_back("library_trials", found.trials);
    return library;
}

}  // namespace octant::blas
