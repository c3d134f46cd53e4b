// Integer, memory and state operations; in a file whose loops are not made wider than they are written.
#include "words.hpp"

#include <cfenv>

namespace core {
namespace {

using Word = std::uint64_t;

constexpr int word_chains = 10;  // fit into the integer registers

void opaque_word(Word& value) { asm volatile("" : "+r"(value)); }

struct Plus {
    static constexpr Word c = 0x9E3779B97F4A7C15;
    static Word link(Word x, Word by) { return x + by; }
};
struct Times {
    static constexpr Word c = 0xD1342543DE82EF95;
    static Word link(Word x, Word by) { return x * by; }
};
struct Count {
    static constexpr Word c = 0;
    static Word link(Word x, Word) {
#if defined(__x86_64__)
        asm volatile("popcnt %0, %0" : "+r"(x) : : "cc");
        return x;
#else
        return static_cast<Word>(__builtin_popcountll(x));
#endif
    }
};
struct Follow {
    static constexpr Word c = 0;
    static Word link(Word at, Word) { return *reinterpret_cast<Word const volatile*>(at); }
};

template <class Op, int chains>
void run_words(void* state, long turns) {
    Word x[chains], by = Op::c;
    auto* const memory = static_cast<Word*>(state);
    opaque_word(by);  // in a register: recent cores add constants while renaming, at no cycle at all
#pragma GCC unroll 16
    for (int k = 0; k < chains; ++k) x[k] = memory[k];
    for (long i = 0; i < turns; ++i)
#pragma GCC unroll 8
        for (long link = 0; link < links; ++link)
#pragma GCC unroll 16
            for (int k = 0; k < chains; ++k) {
                x[k] = Op::link(x[k], by);
                opaque_word(x[k]);
            }
#pragma GCC unroll 16
    for (int k = 0; k < chains; ++k) memory[k] = x[k];
}

template <class Op>
void plain_words(void* state, long turns) {
    Word& x = *static_cast<Word*>(state);
    for (long number = 0; number < turns * links; ++number) x = Op::link(x, Op::c);
}

// A load each, which an addition of its own chain counts.
void load_chains(void* state, long turns) {
    Word x[word_chains];
    auto* const memory = static_cast<Word*>(state);
    Word volatile loaded[word_chains];
#pragma GCC unroll 16
    for (int k = 0; k < word_chains; ++k) {
        x[k] = memory[k];
        loaded[k] = Plus::c;
    }
    for (long i = 0; i < turns; ++i)
#pragma GCC unroll 4
        for (long link = 0; link < links; ++link)
#pragma GCC unroll 16
            for (int k = 0; k < word_chains; ++k) {
                x[k] += loaded[k];
                opaque_word(x[k]);
            }
#pragma GCC unroll 16
    for (int k = 0; k < word_chains; ++k) memory[k] = x[k];
}

// Each addition loads what the one before it stored.
template <int chains>
void forward(void* state, long turns) {
    auto* const memory = static_cast<Word volatile*>(state);
    Word by = Plus::c;
    opaque_word(by);
    for (long i = 0; i < turns; ++i)
#pragma GCC unroll 4
        for (long link = 0; link < links; ++link)
#pragma GCC unroll 16
            for (int k = 0; k < chains; ++k) memory[k] = memory[k] + by;
}

// `links` blocks a turn, each of an addition and 255 instructions that do nothing.
void do_nothing(void* state, long turns) {
    Word x = *static_cast<Word*>(state), by = Plus::c;
    opaque_word(by);
    for (long i = 0; i < turns * links; ++i) {
        x += by;
        opaque_word(x);
        asm volatile(".rept 255\n nop\n .endr");  // of a byte each on x86: longer ones are limited by what is fetched
    }
    *static_cast<Word*>(state) = x;
}

void set_rounding(bool up) {
#if defined(__x86_64__)
    _mm_setcsr((_mm_getcsr() & ~0x6000U) | (up ? 0x4000U : 0U));
#else
    std::fesetround(up ? FE_UPWARD : FE_TONEAREST);
#endif
}

// Upward and to nearest by turns. It leaves the mode in which programs start.
void change_rounding(void* state, long turns) {
    Word x = *static_cast<Word*>(state);
#if defined(__x86_64__)
    unsigned const nearest = _mm_getcsr() & ~0x6000U;
    unsigned volatile modes[2] = {nearest | 0x4000U, nearest};
#endif
    for (long i = 0; i < turns; ++i) {
#pragma GCC unroll 32
        for (long link = 0; link < links; ++link) {
#if defined(__x86_64__)
            asm volatile("ldmxcsr %0" : : "m"(modes[link % 2]));
#else
            set_rounding(link % 2 == 0);
#endif
            x += Plus::c;
            opaque_word(x);
        }
    }
    set_rounding(false);
    *static_cast<Word*>(state) = x;
}

template <class Op>
Operation both() {
    return {{run_words<Op, 1>, plain_words<Op>, 1, 1}, {run_words<Op, word_chains>, plain_words<Op>, word_chains, 1}};
}

}  // namespace

std::vector<std::pair<std::string, Operation>> word_operations() {
    Run const sums = plain_words<Plus>;
    return {{"add", both<Plus>()},
            {"multiply", both<Times>()},
            {"popcount", both<Count>()},
            {"load", {{run_words<Follow, 1>, plain_words<Follow>, 1, 1}, {load_chains, sums, word_chains, 1}}},
            {"forward", {{forward<1>, sums, 1, 1}, {forward<word_chains>, sums, word_chains, 1}}},
            {"nop", {{}, {do_nothing, sums, 1, 1}}},
            {"rounding", {{change_rounding, sums, 1, 1}, {}}}};
}

void link_table(Line (&table)[table_lines]) {
    constexpr unsigned step = 5, shift = 27;  // of a congruential generator with all 64 values in its period
    for (unsigned i = 0; i < table_lines; ++i)
        table[i].next = reinterpret_cast<Word>(&table[(i * step + shift) % table_lines]);
}

bool rounding_changes() {
    double const volatile one = 1, small = 0x1p-60;
    set_rounding(true);
    double const volatile up = one + small;
    set_rounding(false);
    double const volatile nearest = one + small;
    return up > 1 && nearest == 1;
}

}  // namespace core
