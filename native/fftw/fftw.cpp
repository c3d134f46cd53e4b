#include "fftw/fftw.hpp"

#include "octant/clock.hpp"
#include "octant/failure.hpp"

#include <array>
#include <complex>
#include <cstdlib>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>

namespace octant::fftw {
namespace {

constexpr int forward = -1;  // of fftw3.h, as are the flags
constexpr unsigned estimate_flag = 1U << 6U, patient_flag = 1U << 5U, no_vectors_flag = 1U << 17U;

template <class Real>
struct Interface {
    using Number = std::complex<Real>;
    using Complex = void* (*)(int rank, int const* n, int howmany, Number* in, int const* inembed, int istride,
                              int idist, Number* out, int const* onembed, int ostride, int odist, int sign,
                              unsigned flags);
    using OfReal = void* (*)(int rank, int const* n, int howmany, Real* in, int const* inembed, int istride, int idist,
                             Number* out, int const* onembed, int ostride, int odist, unsigned flags);
};

template <class Function>
Function needed(Symbols const& symbols, std::string const& name) {
    auto const found = symbols.find<Function>(name);
    if (found == nullptr)
        throw Refusal(
            "cannot use " + symbols.file() + " (missing in its FFTW 3 interface: " + name + "); try library=fftw",
            Exit::not_supported);
    return found;
}

unsigned flags_of(Wish const& wish) {
    unsigned const effort = wish.effort == "estimate" ? estimate_flag : wish.effort == "patient" ? patient_flag : 0U;
    return effort | (wish.vectors ? 0U : no_vectors_flag);
}

// "fftw-3.3.10-sse2-avx" of FFTW itself; others have no such text.
std::string version_of(Symbols const& symbols) {
    std::string_view const prefix = "fftw-";
    auto const* const text = symbols.find<char const*>("version");
    if (text != nullptr && std::string_view(text, prefix.size()) == prefix) return text;
    if (auto const mkl = symbols.other<void (*)(char*, int)>("mkl_get_version_string")) {
        std::array<char, 256> line{};
        mkl(line.data(), static_cast<int>(line.size()) - 1);
        std::string_view const found = line.data();
        return std::string(found.substr(0, found.find_last_not_of(' ') + 1));
    }
    return "unknown";
}

// By default, the library starts a thread per core.
void set_one_thread(Symbols const& symbols) {
    constexpr int sequential = 1;
    if (auto const choose = symbols.other<int (*)(int)>("MKL_Set_Threading_Layer")) choose(sequential);
}

template <class Real>
void* planned(Symbols const& symbols, fft::Shape const& shape, Real* in, Real* out, unsigned flags) {
    bool const apart = shape.interleaved;
    std::int64_t const rows = shape.rows > 0 ? shape.rows : 1;
    std::array<int, 2> lengths{static_cast<int>(rows), static_cast<int>(shape.n)};
    int const rank = shape.rows > 0 ? 2 : 1, many = static_cast<int>(shape.batch);
    int const* const n = lengths.data() + 2 - rank;
    int const stride = apart ? many : 1;
    auto const dist = [&](std::int64_t line) { return apart ? 1 : static_cast<int>(rows * line); };
    auto* const numbers = reinterpret_cast<std::complex<Real>*>(out);
    if (shape.real) {
        auto const make = needed<typename Interface<Real>::OfReal>(symbols, "plan_many_dft_r2c");
        return make(rank, n, many, in, nullptr, stride, dist(shape.n), numbers, nullptr, stride, dist(shape.line_out()),
                    flags);
    }
    auto const make = needed<typename Interface<Real>::Complex>(symbols, "plan_many_dft");
    return make(rank, n, many, reinterpret_cast<std::complex<Real>*>(in), nullptr, stride, dist(shape.n), numbers,
                nullptr, stride, dist(shape.n), forward, flags);
}

std::string text_of(Symbols const& symbols, void* plan) {
    auto const write = symbols.find<char* (*)(void*)>("sprint_plan");
    char* const text = write == nullptr ? nullptr : write(plan);
    std::string const found = text == nullptr ? "" : text;
    std::free(text);  // see the manual of FFTW
    return found;
}

}  // namespace

std::string instructions(std::string const& plan) {
    std::set<std::string> found;
    for (std::size_t at = plan.find('"'); at != std::string::npos; at = plan.find('"', at + 1)) {
        std::size_t const end = plan.find('"', at + 1);
        if (end == std::string::npos) break;
        std::string const piece = plan.substr(at + 1, end - at - 1);
        at = end;
        std::size_t const size = piece.find_first_of("0123456789", piece.find('_'));
        if (size == std::string::npos) continue;
        std::size_t const rest = piece.find('_', size);
        found.insert(rest == std::string::npos ? "none" : piece.substr(rest + 1));
    }
    std::string text;
    for (auto const& one : found) text += (text.empty() ? "" : ", ") + one;
    return text;
}

template <class Real>
Plan<Real>::Plan(Wish const& wish, fft::Shape const& shape, Real* in, Real* out) {
    if (std::max(shape.parts_in(), shape.parts_out()) > std::numeric_limits<int>::max())
        throw Refusal("cannot plan a transform of " + std::to_string(shape.parts_out() / 2) +
                      " numbers (FFTW's interface has 32-bit lengths); try library=" + wish.ours);
    Symbols const symbols(wish.library, std::is_same_v<Real, float>, wish.ours);
    std::string const version = version_of(symbols);
    bool const is_fftw = version.starts_with("fftw-");
    if (!wish.vectors && !is_fftw)
        throw Refusal(
            "cannot use simd=no with " + symbols.file() + " (only FFTW itself plans without vectors); try library=fftw",
            Exit::not_supported);
    execute_ = needed<void (*)(void*)>(symbols, "execute");
    destroy_ = needed<void (*)(void*)>(symbols, "destroy_plan");
    set_one_thread(symbols);
    if (auto const forget = symbols.find<void (*)()>("forget_wisdom"); forget != nullptr && wish.forgets) forget();
    if (auto const limit = symbols.find<void (*)(double)>("set_timelimit")) limit(wish.patience_s);
    std::int64_t const begin = now_ns();
    plan_ = planned(symbols, shape, in, out, flags_of(wish));
    planning_s_ = static_cast<double>(now_ns() - begin) * 1e-9;
    if (plan_ == nullptr)
        throw Refusal("cannot plan this transform (" + symbols.file() + " made no plan); try library=" + wish.ours,
                      Exit::not_supported);
    facts_ = {{"library", symbols.file()}, {"library_version", version}};
    if (is_fftw) facts_.emplace_back("instructions", instructions(text_of(symbols, plan_)));
}

template <class Real>
Plan<Real>::Plan(Plan&& other) noexcept
    : plan_(std::exchange(other.plan_, nullptr)),
      execute_(other.execute_),
      destroy_(other.destroy_),
      planning_s_(other.planning_s_),
      facts_(std::move(other.facts_)) {}

template <class Real>
Plan<Real>::~Plan() {
    if (plan_ != nullptr) destroy_(plan_);
}

template class Plan<double>;
template class Plan<float>;

}  // namespace octant::fftw
