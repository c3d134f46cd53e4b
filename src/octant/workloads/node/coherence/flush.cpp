// Instructions that write a line back to memory, or take it out of all caches.
#include "kernels/random.hpp"
#include "octant/failure.hpp"
#include "octant/vector.hpp"
#include "rows.hpp"

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace coherence {
namespace {

struct alignas(64) Flushed {
    std::uint64_t value;
    Flushed const* next;  // along a random cycle
};
enum class Instruction { clflush, clflushopt, clwb, civac, cvac };

Instruction instruction_of(std::string const& word) {
    if (word == "clflush") return Instruction::clflush;
    if (word == "clflushopt") return Instruction::clflushopt;
    if (word == "clwb") return Instruction::clwb;
    return word == "civac" ? Instruction::civac : Instruction::cvac;
}

#if defined(__x86_64__)

bool has(Instruction instruction) {
    if (instruction == Instruction::clflush) return (octant::cpuid(1).d >> 19 & 1U) != 0;
    if (instruction == Instruction::clflushopt) return (octant::cpuid(7).b >> 23 & 1U) != 0;
    return instruction == Instruction::clwb && (octant::cpuid(7).b >> 24 & 1U) != 0;
}

void flush(Instruction instruction, Flushed* first, std::size_t count) {
    if (instruction == Instruction::clflush)
        for (std::size_t i = 0; i < count; ++i) octant::flush_line(first + i);
    else if (instruction == Instruction::clflushopt)
        for (std::size_t i = 0; i < count; ++i) asm volatile("clflushopt %0" : "+m"(first[i]));
    else
        for (std::size_t i = 0; i < count; ++i) asm volatile("clwb %0" : "+m"(first[i]));
    octant::drain_stores();
}

#elif defined(__aarch64__)

bool has(Instruction instruction) { return instruction == Instruction::civac || instruction == Instruction::cvac; }

void flush(Instruction instruction, Flushed* first, std::size_t count) {
    if (instruction == Instruction::civac)
        for (std::size_t i = 0; i < count; ++i) asm volatile("dc civac, %0" ::"r"(first + i) : "memory");
    else
        for (std::size_t i = 0; i < count; ++i) asm volatile("dc cvac, %0" ::"r"(first + i) : "memory");
    asm volatile("dsb ish" ::: "memory");
}

#else

bool has(Instruction) { return false; }
void flush(Instruction, Flushed*, std::size_t) {}

#endif

void write(Flushed* first, std::size_t count, std::uint64_t turn) {
    for (std::size_t i = 0; i < count; ++i) first[i].value = turn + i;
    asm volatile("" ::: "memory");
}

void link(Flushed* first, std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    octant::Random random(1);
    for (std::size_t i = count - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (std::size_t i = 0; i < count; ++i) first[order[i]].next = first + order[i + 1 < count ? i + 1 : 0];
}

std::uint64_t follow_pointers(Flushed const* first) {
    std::uint64_t sum = 0;
    Flushed const* at = first;
    do {
        sum += at->value;
        at = at->next;
    } while (at != first);
    asm volatile("" : "+r"(sum));
    return sum;
}

class Flush {
  public:
    enum Phases : std::size_t { flushing, reload };
    static octant::KernelInfo info() { return info_with({"flushing", "reload"}); }

    explicit Flush(octant::Context& context)
        : context_(context),
          instruction_(instruction_of(context.knobs.word("instruction"))),
          dirty_(context.knobs.word("state") == "dirty"),
          lines_(context.buffer<Flushed>(static_cast<std::size_t>(context.knobs.integer("bytes")) / sizeof(Flushed))) {
        if (!has(instruction_))
            throw octant::Refusal("cannot flush lines with " + context.knobs.word("instruction") +
                                      " (this processor has no such instruction); try another instruction",
                                  octant::Exit::not_supported);
        link(lines_.data(), lines_.size());
        write(lines_.data(), lines_.size(), turn_);
        flush(instruction_, lines_.data(), lines_.size());
        context.watched = {lines_.mapping().bytes()};
    }

    void step() {
        if (dirty_) write(lines_.data(), lines_.size(), ++turn_);
        wrong_ += follow_pointers(lines_.data()) == expected() ? 0 : 1;
        {
            auto const mark = context_.phase(flushing);
            flush(instruction_, lines_.data(), lines_.size());
        }
        auto const mark = context_.phase(reload);
        wrong_ += follow_pointers(lines_.data()) == expected() ? 0 : 1;
    }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"lines", static_cast<std::int64_t>(lines_.size())}};
    }

    // After the last flush: what is read now was in memory, or comes from where it was put back to.
    octant::Results verify() {
        double wrong = static_cast<double>(wrong_);
        for (std::size_t i = 0; i < lines_.size(); ++i) wrong += lines_[i].value == turn_ + i ? 0 : 1;
        return {{"lines with wrong contents", wrong, "1", 0}};
    }
    void corrupt(std::size_t) { lines_[lines_.size() / 2].value ^= 1; }

  private:
    [[nodiscard]] std::uint64_t expected() const {
        return lines_.size() * turn_ + lines_.size() * (lines_.size() - 1) / 2;
    }

    octant::Context& context_;
    Instruction instruction_;
    bool dirty_;
    octant::Buffer<Flushed> lines_;
    std::uint64_t turn_ = 1;
    std::int64_t wrong_ = 0;
};

}  // namespace

octant::Row flush_row() { return octant::row<Flush>("flush"); }

}  // namespace coherence
