// pattern=operations: chains of one operation. One chain measures the latency, many independent chains the
// throughput.
#include "rows.hpp"
#include "words.hpp"

#include "kernels/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace core {
namespace {

using octant::Context;
using octant::Refusal;

constexpr long turns_a_chunk = 256;
constexpr int operations_of_a_nop = 256;

struct Named {
    std::string name, width;
    Operation operation;
    bool fused = true;
};

// All that this processor has, narrow to wide.
std::vector<Named> known() {
    std::vector<Named> found;
    for (auto const& [name, operation] : word_operations()) found.push_back({name, "scalar", operation});
    std::vector<Floating> widths{floating_scalar(), floating_128()};
    if constexpr (octant::x86) {
        if (octant::has_avx2()) widths.push_back(floating_256());
        if (octant::has_avx512()) widths.push_back(floating_512());
    }
    for (Floating const& one : widths) {
        std::string const width = one.bits == 0 ? "scalar" : std::to_string(one.bits);
        for (auto const& [name, operation] : {std::pair{"fadd", one.fadd},
                                              {"fmul", one.fmul},
                                              {"fma", one.fma},
                                              {"divide", one.divide},
                                              {"sqrt", one.sqrt},
                                              {"reciprocal", one.reciprocal},
                                              {"rsqrt", one.rsqrt},
                                              {"compare", one.compare}})
            found.push_back({name, width, operation, one.fused});
    }
    return found;
}

Loop const& form_of(Operation const& operation, bool many) { return many ? operation.throughput : operation.latency; }

// Throws Refusal: the processor does not have it, or not at this width.
Named chosen(octant::Knobs const& knobs, bool many) {
    std::string const& name = knobs.word("operation");
    std::string const& width = knobs.word("width");
    std::vector<Named> fitting;
    std::string widths;
    for (Named const& one : known())
        if (one.name == name && form_of(one.operation, many).run != nullptr) {
            fitting.push_back(one);
            widths += (widths.empty() ? "" : ", ") + one.width;
        }
    if (width == "auto" && !fitting.empty()) return fitting.back();
    auto const found = std::ranges::find(fitting, width, &Named::width);
    if (found != fitting.end()) return *found;
    std::string const what = "cannot measure the " + knobs.word("form") + " of operation=" + name;
    if (fitting.empty())
        throw Refusal(what + " (not available on this processor); try another form or operation",
                      octant::Exit::not_supported);
    throw Refusal(what + " at width=" + width + " (available: " + widths + "); try width=auto",
                  octant::Exit::not_supported);
}

class Operations {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs(), .defaults = {{"pages", "try-thp"}}}; }

    explicit Operations(Context& context)
        : named_(chosen(context.knobs, context.knobs.word("form") == "throughput")),
          loop_(form_of(named_.operation, context.knobs.word("form") == "throughput")),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.notes = {{"width", named_.width}, {"chains", std::to_string(loop_.chains)}};
        if (named_.name == "fma") context.notes.emplace_back("fused", named_.fused ? "yes" : "no");
        context.on_each_thread([&](int number) {
            Lane& lane = lanes_[static_cast<std::size_t>(number)];
            link_table(lane.table);
            for (int i = 0; i < elements(); ++i) set_first(lane.firsts + i * bytes_each(), i, lane);
        });
    }

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        std::memcpy(mine.values, mine.firsts, static_cast<std::size_t>(elements() * bytes_each()));
        loop_.run(mine.values, turns_a_chunk);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        long const each = turns_a_chunk * links * loop_.chains;
        return {{"operations", named_.name == "nop" ? each * operations_of_a_nop : each}};
    }

    // Compares each element of each chain, bit for bit, with the same operations in sequence.
    octant::Results verify() {
        for (std::size_t t = 0; t < lanes_.size() && !corrupted_; ++t) chunk(static_cast<int>(t), 0);
        double wrong = 0;
        for (Lane const& lane : lanes_)
            for (int i = 0; i < elements(); ++i) {
                alignas(8) std::byte expected[sizeof(double)];
                set_first(expected, i, lane);
                loop_.plain(expected, turns_a_chunk);
                if (std::memcmp(expected, lane.values + i * bytes_each(), static_cast<std::size_t>(bytes_each())) != 0)
                    ++wrong;
            }
        octant::Results found{{"elements that differ from the reference loop", wrong, "1", 0}};
        if (named_.name == "rounding")
            found.push_back({"rounding modes without effect", rounding_changes() && !corrupted_ ? 0.0 : 1.0, "1", 0});
        return found;
    }

    void corrupt(std::size_t) {
        verify();
        corrupted_ = true;
        lanes_.back().values[0] ^= std::byte{1};
    }

  private:
    struct alignas(4096) Lane {
        Line table[table_lines];
        alignas(64) std::byte values[max_elements * sizeof(double)];
        std::byte firsts[max_elements * sizeof(double)];  // where they begin in each chunk
    };

    [[nodiscard]] int elements() const { return loop_.chains * loop_.lanes; }
    [[nodiscard]] int bytes_each() const { return named_.operation.element == Element::single ? 4 : 8; }

    // Initial value of element i: a full mantissa, or zero for comparisons.
    void set_first(std::byte* to, int i, Lane const& lane) const {
        auto const put = [to](auto value) { std::memcpy(to, &value, sizeof value); };
        double const real = 1.5 + 0.25 * octant::random_at(static_cast<std::uint64_t>(i), 0);
        if (named_.operation.element == Element::single)
            put(static_cast<float>(real));
        else if (named_.operation.element == Element::real)
            put(named_.name == "sqrt" ? real * Root::b : real);
        else if (named_.name == "load" && loop_.chains == 1)
            put(reinterpret_cast<std::uint64_t>(&lane.table[0]));
        else
            put(named_.name == "compare" ? std::uint64_t{0} : octant::mixed(static_cast<std::uint64_t>(i) + 1));
    }

    Named named_;
    Loop loop_;
    std::vector<Lane> lanes_;
    bool corrupted_ = false;
};

}  // namespace

octant::Row operations_row() { return octant::row<Operations>("operations"); }

}  // namespace core
