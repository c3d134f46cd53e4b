/* The peer of octant's randomaccess: plain loops of HPCC's updates. Arguments: bytes of the table (a power of two), streams
   (1 or 8, held in registers), seconds. Prints updates per second of each sample of about 100 us, one per line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { streams_at_most = 8 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline uint64_t next(uint64_t a) { return (a << 1) ^ ((int64_t)a < 0 ? 7 : 0); }

/* Streams that are multiples of each other by a power of two would follow each other through the same lines. */
static uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

static uint64_t one(uint64_t* table, uint64_t mask, uint64_t a, long updates) {
    for (long i = 0; i < updates; ++i) {
        a = next(a);
        table[a & mask] ^= a;
    }
    return a;
}

static void eight(uint64_t* restrict table, uint64_t mask, uint64_t* restrict at, long updates) {
    uint64_t a[streams_at_most];
    for (int k = 0; k < streams_at_most; ++k) a[k] = at[k];
    for (long i = 0; i < updates; i += streams_at_most)
#pragma GCC unroll 8
        for (int k = 0; k < streams_at_most; ++k) {
            a[k] = next(a[k]);
            table[a[k] & mask] ^= a[k];
        }
    for (int k = 0; k < streams_at_most; ++k) at[k] = a[k];
}

int main(int argc, char** argv) {
    if (argc != 4) return 1;
    size_t const bytes = strtoull(argv[1], NULL, 10);
    long const updates = 65536;
    uint64_t at[streams_at_most];
    uint64_t* table = aligned_alloc(4096, bytes);
    if (table == NULL || bytes < 4096) return 1;
    madvise(table, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes / 8; ++i) table[i] = i;
    for (int k = 0; k < streams_at_most; ++k) at[k] = mixed(0x9E3779B97F4A7C15U * (uint64_t)(k + 1));
    double const end = seconds() + atof(argv[3]);
    for (double begin = seconds(); begin < end; begin = seconds()) {
        if (atoi(argv[2]) == 1)
            at[0] = one(table, bytes / 8 - 1, at[0], updates);
        else
            eight(table, bytes / 8 - 1, at, updates);
        printf("%.6e\n", (double)updates / (seconds() - begin));
    }
    return 0;
}
