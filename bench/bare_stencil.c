/* The peer of octant's stencil: the plain triple loop over a grid of n x n x planes points, with zeros around it, and memory
   from huge pages where the system grants them. Arguments: element (single or double), n, planes, seconds. Prints points per
   second of each step, one per line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { reach = 4 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* memory(size_t bytes) {
    size_t const huge = (size_t)2 << 20;
    void* const found = aligned_alloc(huge, (bytes + huge - 1) / huge * huge);
    if (found == NULL) exit(1);
    madvise(found, bytes, MADV_HUGEPAGE);
    return found;
}

#define LOOPS(Real, name)                                                                                              \
    static void step_##name(Real const* restrict u, Real* restrict old, Real const* restrict factor, long n,           \
                            long planes, long pitch, long plane) {                                                     \
        Real const c[] = {(Real)(-3 * 205.0 / 72), (Real)(8.0 / 5), (Real)(-1.0 / 5), (Real)(8.0 / 315),               \
                          (Real)(-1.0 / 560)};                                                                         \
        for (long z = reach; z < planes + reach; ++z)                                                                  \
            for (long y = reach; y < n + reach; ++y) {                                                                 \
                long const row = z * plane + y * pitch + reach;                                                        \
                for (long i = row; i < row + n; ++i) {                                                                 \
                    Real sum = c[0] * u[i];                                                                            \
                    for (long k = 1; k <= reach; ++k)                                                                  \
                        sum += c[k] * (u[i - k] + u[i + k] + u[i - k * pitch] + u[i + k * pitch] + u[i - k * plane] +  \
                                       u[i + k * plane]);                                                              \
                    old[i] = 2 * u[i] - old[i] + factor[i] * sum;                                                      \
                }                                                                                                      \
            }                                                                                                          \
    }                                                                                                                  \
    static void run_##name(long n, long planes, double for_s) {                                                        \
        long const pitch = n + 2 * reach, plane = pitch * pitch;                                                       \
        size_t const count = (size_t)(plane * (planes + 2 * reach));                                                   \
        Real *u = memory(count * sizeof(Real)), *old = memory(count * sizeof(Real));                                   \
        Real* const factor = memory(count * sizeof(Real));                                                             \
        for (size_t i = 0; i < count; ++i) u[i] = old[i] = factor[i] = 0;                                              \
        for (long z = reach; z < planes + reach; ++z)                                                                  \
            for (long y = reach; y < n + reach; ++y)                                                                   \
                for (long x = reach; x < n + reach; ++x) {                                                             \
                    long const i = z * plane + y * pitch + x;                                                          \
                    uint64_t const bits = (uint64_t)i * 0x9E3779B97F4A7C15U;                                           \
                    u[i] = old[i] = (Real)((double)(bits >> 40) * 0x1p-24 - 0.5);                                      \
                    factor[i] = (Real)0.06;                                                                            \
                }                                                                                                      \
        double const end = seconds() + for_s;                                                                          \
        for (double begin = seconds(); begin < end; begin = seconds()) {                                               \
            step_##name(u, old, factor, n, planes, pitch, plane);                                                      \
            Real* const next = old;                                                                                    \
            old = u;                                                                                                   \
            u = next;                                                                                                  \
            printf("%.6e\n", (double)n * (double)n * (double)planes / (seconds() - begin));                            \
        }                                                                                                              \
    }

LOOPS(float, single)
LOOPS(double, double)

int main(int argc, char** argv) {
    if (argc != 5) return 1;
    long const n = atol(argv[2]), planes = atol(argv[3]);
    if (n < 1 || planes < 1) return 1;
    if (strcmp(argv[1], "single") == 0)
        run_single(n, planes, atof(argv[4]));
    else
        run_double(n, planes, atof(argv[4]));
    return 0;
}
