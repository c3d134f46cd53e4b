// Mathematical functions over vectors: how fast, and how exact, in one result.
#include "accuracy.hpp"
#include "control.hpp"
#include "functions.hpp"
#include "libraries.hpp"
#include "truth.hpp"

#include "kernels/random.hpp"
#include "kernels/worst.hpp"
#include "octant/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace {

using octant::Buffer;
using octant::Context;
using vecmath::Function;
using vecmath::Spread;

constexpr double of_neighbour_ulp = 0.001;   // the distance to the next number is 1 ulp plus the rest of the value
constexpr std::size_t min_arguments = 4096;  // different ones, whatever the length: no branch is learnt by heart
enum Check : std::size_t { error, from_libm, specials, control_bits };

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (Function const& one : vecmath::functions) all.emplace_back(one.name);
    return all;
}

// The vectors of a thread are contiguous; each call takes the next one.
template <class Real>
struct Job {
    Function const& function;
    Spread spread;
    bool mixed;  // one argument in a hundred is a special value
    std::size_t n, all, threads;
    vecmath::Implementation<Real> by;
    Buffer<Real> a, b, y;
    struct alignas(64) Place {
        std::size_t first = 0;
    };
    std::vector<Place> places;

    Job(Context& context, Function const& of)
        : function(of),
          spread(context.knobs.word("arguments") == "exponents" ? Spread::exponents : Spread::values),
          mixed(context.knobs.word("arguments") == "mixed"),
          n(static_cast<std::size_t>(context.knobs.integer("n"))),
          all((min_arguments + n - 1) / n * n),
          threads(static_cast<std::size_t>(context.threads)),
          by(vecmath::implementation<Real>(of, {context.knobs.word("library"), context.knobs.word("width"),
                                                context.knobs.word("accuracy"), context.knobs.word("path")})),
          a(context.buffer<Real>(all * threads)),
          b(context.buffer<Real>(two() ? all * threads : 0)),
          y(context.buffer<Real>(all * threads)),
          places(threads) {
        context.on_each_thread([&](int lane) {
            std::size_t const first = static_cast<std::size_t>(lane) * all;
            for (std::size_t i = 0; i < all; ++i) {
                a[first + i] = timed_argument(i, 0);
                if (two()) b[first + i] = timed_argument(i, 1);
                y[first + i] = 0;
            }
        });
    }

    [[nodiscard]] bool two() const { return function.second != vecmath::Second::none; }
    [[nodiscard]] Real drawn(std::size_t i, int input) const {
        return static_cast<Real>(vecmath::argument(function, spread, sizeof(Real) == sizeof(float), i, input));
    }
    [[nodiscard]] static std::uint64_t dice(std::size_t i) { return octant::mixed((i + 1) * octant::golden_step + 7); }
    [[nodiscard]] bool is_special(std::size_t i) const { return mixed && dice(i) % 100 == 0; }
    [[nodiscard]] Real timed_argument(std::size_t i, int input) const {
        auto const special = vecmath::special_values();
        if (input == 0 && is_special(i)) return static_cast<Real>(special[(dice(i) >> 32) % special.size()]);
        return drawn(i, input);
    }

    void call(std::size_t lane, std::size_t first) {
        std::size_t const from = lane * all + first;
        by.loop(by.called, a.data() + from, b.data() + from, y.data() + from, n);
    }
    void next(int lane) {
        std::size_t& first = places[static_cast<std::size_t>(lane)].first;
        call(static_cast<std::size_t>(lane), first);
        first += n;
        if (first == all) first = 0;
    }

    // Computed by the implementation, in a separate vector.
    [[nodiscard]] std::vector<Real> values_at(std::vector<Real> const& first, std::vector<Real> const& second) const {
        std::vector<Real> results(first.size(), std::numeric_limits<Real>::quiet_NaN());
        by.loop(by.called, first.data(), second.data(), results.data(), results.size());
        return results;
    }

    [[nodiscard]] vecmath::Accuracy accuracy(bool spoilt) const {
        std::vector<Real> first(vecmath::truths), second(vecmath::truths);
        for (std::size_t i = 0; i < first.size(); ++i) first[i] = drawn(i, 0), second[i] = drawn(i, 1);
        auto results = values_at(first, second);
        if (spoilt) spoil(first, results);
        return vecmath::accuracy(function, spread, results);
    }

    // As if computed in half the precision or, of arguments uniform in exponent, as if large ones were reduced with too
    // few bits.
    void spoil(std::vector<Real> const& arguments, std::vector<Real>& results) const {
        Real greatest = 0;
        for (Real const argument : arguments) greatest = std::max(greatest, std::abs(argument));
        Real const large = std::min(greatest / 2, Real{1 << 20});
        for (std::size_t i = 0; i < results.size(); ++i)
            if (spread == Spread::values)
                results[i] = half(results[i]);
            else if (std::abs(arguments[i]) > large)
                results[i] -= std::ldexp(results[i], -10);
    }

    static Real half(Real value) {
        if constexpr (sizeof(Real) == sizeof(double)) return static_cast<double>(static_cast<float>(value));
        if (!std::isnormal(value)) return value;
        return std::ldexp(std::round(std::ldexp(value, 11 - std::ilogb(value))), std::ilogb(value) - 11);
    }

    // The largest difference of the timed vectors from the C library's function, element by element.
    [[nodiscard]] double difference(bool spoilt) {
        auto const entry = vecmath::scalar_entry(function, sizeof(Real) == sizeof(float));
        std::ranges::fill(y.span(), std::numeric_limits<Real>::signaling_NaN());
        double worst = 0;
        for (std::size_t lane = 0; lane < threads; ++lane) {
            for (std::size_t first = 0; first < all; first += n) call(lane, first);
            if (spoilt)  // as if the last elements that fill no vector were left out
                std::fill_n(y.data() + (lane + 1) * all - std::min<std::size_t>(n, 3), std::min<std::size_t>(n, 3),
                            Real{0});
            for (std::size_t i = 0; i < all; ++i) {
                std::size_t const at = lane * all + i;
                if (is_special(i)) continue;  // those are judged apart
                Real const right = vecmath::scalar_value(function, entry, a[at], two() ? b[at] : Real{});
                octant::keep_worst(worst, vecmath::distance_ulp(y[at], right));
            }
        }
        return worst;
    }

    // Special values whose result is not that of the C library: another sign, no number, or too far away.
    [[nodiscard]] double unlike(bool spoilt) const {
        auto const special = vecmath::special_values();
        std::vector<Real> first, second;
        for (double const one : special)
            for (double const other : two() ? special : special.first(1)) {
                first.push_back(static_cast<Real>(one));
                second.push_back(static_cast<Real>(other));
            }
        auto results = values_at(first, second);
        auto const entry = vecmath::scalar_entry(function, sizeof(Real) == sizeof(float));
        double count = 0;
        for (std::size_t i = 0; i < first.size(); ++i) {
            Real const right = vecmath::scalar_value(function, entry, first[i], second[i]);
            if (spoilt && (results[i] == 0 || std::isnan(results[i]))) results[i] = 0;  // as if -0 were 0, and NaN too
            count += vecmath::is_close(results[i], right, by.documented_ulp + function.libm_ulp) ? 0 : 1;
        }
        return count;
    }
};

class VecMath {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {.knobs = {
                    {"function", KnobKind::word, "exp", "function", names()},
                    {"n", KnobKind::integer, "1000", "vector length", {}, 1, std::int64_t{1} << 30},
                    {"library",
                     KnobKind::word,
                     "libm",
                     "library; strict, relaxed, estimate: loops compiled with this program",
                     {"libm", "libmvec", "sleef", "vml", "strict", "relaxed", "estimate"}},
                    {"element", KnobKind::word, "double", "element type", {"double", "single"}},
                    {"arguments",
                     KnobKind::word,
                     "values",
                     "distribution of arguments: uniform values, uniform exponents, or values with 1 % special values",
                     {"values", "exponents", "mixed"}},
                    {"width",
                     KnobKind::word,
                     "auto",
                     "vector width in bits (libmvec, SLEEF, estimate); auto: the widest",
                     {"auto", "scalar", "128", "256", "512"}},
                    {"accuracy",
                     KnobKind::word,
                     "auto",
                     "accuracy: SLEEF u10 (auto) or u35; VML ha, la (auto) or ep",
                     {"auto", "u10", "u35", "ha", "la", "ep"}},
                    {"path", KnobKind::word, "auto", "path of the library; auto: system library"},
                }};
    }

    explicit VecMath(Context& context) : context_(context), before_(controls()), job_(make(context)) {
        std::visit(
            [&](auto const& job) {
                context.watched = {job.a.mapping().bytes(), job.y.mapping().bytes()};
                if (job.two()) context.watched.push_back(job.b.mapping().bytes());
                context.notes.insert(context.notes.end(), job.by.facts.begin(), job.by.facts.end());
            },
            job_);
    }

    void chunk(int lane, std::int64_t) {
        if (auto* const job = std::get_if<Job<double>>(&job_))
            job->next(lane);
        else
            std::get<Job<float>>(job_).next(lane);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return std::visit(
            [](auto const& job) -> octant::Counts {
                auto const bytes = static_cast<std::int64_t>(job.n * sizeof(job.a[0]));
                return {{"elements", static_cast<std::int64_t>(job.n)},
                        {"bytes_read", (job.two() ? 2 : 1) * bytes},
                        {"bytes_written", bytes}};
            },
            job_);
    }

    octant::Results verify() {
        return std::visit([&](auto& job) { return checked(job); }, job_);
    }

    octant::Results results() {
        auto const found = std::visit([](auto const& job) { return job.accuracy(false); }, job_);
        return {{"99.9th percentile error", found.quantile_ulp, "ulp"},
                {"not correctly rounded", found.not_rounded, "1"}};
    }

    void corrupt(std::size_t check) { spoilt_ = check; }

  private:
    using Either = std::variant<Job<double>, Job<float>>;

    static Either make(Context& context) {
        Function const& function = vecmath::function_named(context.knobs.word("function"));
        if (context.knobs.word("element") == "double")
            return Either(std::in_place_type<Job<double>>, context, function);
        return Either(std::in_place_type<Job<float>>, context, function);
    }

    template <class J>
    octant::Results checked(J& job) {
        double const documented = job.by.documented_ulp;
        octant::Results found{
            {"largest error", job.accuracy(spoilt_ == error).largest_ulp, "ulp", documented + of_neighbour_ulp},
            {"difference from libm", job.difference(spoilt_ == from_libm), "ulp", documented + job.function.libm_ulp},
            {"special values differ", job.unlike(spoilt_ == specials), "1"},
            {"threads with changed rounding or flush-to-zero mode", changed_controls(), "1", 0}};
        if (job.by.keeps_specials) found[specials].bound = 0;
        return found;
    }

    // Control registers of every thread, before a library is loaded.
    [[nodiscard]] std::vector<std::uint64_t> controls() const {
        std::vector<std::uint64_t> found(static_cast<std::size_t>(context_.threads));
        context_.on_each_thread([&](int lane) { found[static_cast<std::size_t>(lane)] = vecmath::control(); });
        return found;
    }

    // A library whose loading makes small numbers zero does so for the whole process: other figures would be wrong.
    [[nodiscard]] double changed_controls() const {
        if (spoilt_ == control_bits) vecmath::set_control(vecmath::control() | vecmath::flushes_to_zero);
        auto const now = controls();
        if (spoilt_ == control_bits) vecmath::set_control(before_[0]);
        double count = 0;
        for (std::size_t i = 0; i < now.size(); ++i) count += now[i] == before_[i] ? 0 : 1;
        return count;
    }

    Context& context_;
    std::vector<std::uint64_t> before_;
    Either job_;
    std::optional<std::size_t> spoilt_;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<VecMath>(argc, argv); }
