// Fused multiply-adds on registers alone, once for every vector width and precision. No other header: what is compiled
// for one instruction set must not leak into the rest of the program.
#pragma once

#include "octant/vector.hpp"

namespace peakflops {

// Independent chains: more than latency (4 to 5 cycles) times units (2) on all supported processors. With the two
// constants they fit into 16 registers; with 32 registers there are twice as many.
template <int bits>
inline constexpr int chains = !octant::x86 || bits == 512 ? 24 : 12;

// `turns` times x = x * factor + step in every lane of every chain; `state` holds and receives chains x lanes values.
// In addition, `additions` dependent integer additions per turn, which take one cycle each. If they need more cycles
// than the multiply-adds, the time of a turn gives the actual clock frequency of the busy core.
template <class Real>
using Loop = void (*)(Real* state, Real factor, Real step, long turns);

template <class V>
inline void opaque(V& value) {  // the compiler must neither know the value nor move, merge or drop the work
#if defined(__x86_64__)
    asm volatile("" : "+v"(value));
#else
    asm volatile("" : "+w"(value));
#endif
}

template <class Real, int bits, int additions>
void multiply_add(Real* state, Real factor, Real step, long turns) {
    using V = octant::Vector<Real, bits>;
    constexpr int most = additions > chains<bits> ? additions : chains<bits>;
    V x[chains<bits>];
    V many_factors = V{} + factor, many_steps = V{} + step;
    unsigned long sum = 0, one = 1;
    opaque(many_factors);
    opaque(many_steps);
    asm volatile("" : "+r"(one));  // in a register: recent cores add constants while renaming, at no cycle at all
#pragma GCC unroll 32
    for (int k = 0; k < chains<bits>; ++k) x[k] = reinterpret_cast<V const*>(state)[k];
    for (long i = 0; i < turns; ++i)
#pragma GCC unroll 32
        for (int k = 0; k < most; ++k) {
            if (k < chains<bits>) {
                V next = x[k] * many_factors + many_steps;
                opaque(next);
                x[k] = next;
            }
            if (k < additions) {
                sum += one;
                asm volatile("" : "+r"(sum));
            }
        }
#pragma GCC unroll 32
    for (int k = 0; k < chains<bits>; ++k) reinterpret_cast<V*>(state)[k] = x[k];
}

template <class Real>
struct Set {
    Loop<Real> alone;
    Loop<Real>
        with_few_additions;  // chains x 3/4 additions: the chain decides where there are two units, two thirds busy
    Loop<Real> with_many_additions;  // chains x 5/4 additions: the chain decides even where there is one unit
};

struct Loops {
    Set<double> doubles;
    Set<float> singles;
    int bits;  // 0: one element at a time
    int chains;
    bool fused;  // one instruction for multiply and add
};

#if defined(__x86_64__) && !defined(__FMA__)
inline constexpr bool fused_here = false;
#else
inline constexpr bool fused_here = true;
#endif

template <class Real, int bits>
constexpr Set<Real> set() {
    return {multiply_add<Real, bits, 0>, multiply_add<Real, bits, chains<bits> * 3 / 4>,
            multiply_add<Real, bits, chains<bits> * 5 / 4>};
}

template <int bits>
Loops loops() {
    return {set<double, bits>(), set<float, bits>(), bits, chains<bits>, fused_here};
}

Loops scalar_loops();
Loops loops_128();
Loops loops_256();
Loops loops_512();

}  // namespace peakflops
