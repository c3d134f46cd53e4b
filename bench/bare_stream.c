/* The peer of octant's stream: a plain triad. Arguments: bytes of all three arrays, seconds. Prints bytes per second of each
   sample of about 100 us, one per line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double passes(double* restrict a, double const* restrict b, double const* restrict c, size_t n, long count) {
    double const begin = seconds();
    for (long pass = 0; pass < count; ++pass) {
        for (size_t i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i];
        __asm__ volatile("" : : : "memory");
    }
    return seconds() - begin;
}

int main(int argc, char** argv) {
    if (argc != 3) return 1;
    size_t const n = strtoull(argv[1], NULL, 10) / 24 / 8 * 8;
    double *a = aligned_alloc(64, 8 * n), *b = aligned_alloc(64, 8 * n), *c = aligned_alloc(64, 8 * n);
    if (n == 0 || a == NULL || b == NULL || c == NULL) return 1;
    for (size_t i = 0; i < n; ++i) a[i] = 0, b[i] = (double)i, c[i] = 1;
    long count = 1;
    while (passes(a, b, c, n, count) < 1e-4) count *= 2;
    double const end = seconds() + atof(argv[2]);
    while (seconds() < end) printf("%.6e\n", 24.0 * (double)n * (double)count / passes(a, b, c, n, count));
    for (size_t i = 0; i < n; ++i)
        if (a[i] != (double)i + 3) return 1;
    return 0;
}
