/* A bare loop over a vector function of libmvec: bare_vecmath SYMBOL N LOW HIGH, which prints the seconds of one
   element, a line for each block of about 200 us. With N = 0 it reads doubles and writes the function's values.
   Vectors have 512 bits where the compiler is allowed them, else 256. */
#include <dlfcn.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __AVX512F__
typedef __m512d vector;
#else
typedef __m256d vector;
#endif
enum { lanes = sizeof(vector) / sizeof(double), pool = 4096, blocks = 400 };
typedef vector (*function)(vector);

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) static void apply(function f, double const* x, double* y, long n) {
    long i = 0;
    for (; i + lanes <= n; i += lanes) *(vector*)(y + i) = f(*(vector const*)(x + i));
    for (; i < n; ++i) {
        vector one;
        for (int k = 0; k < lanes; ++k) one[k] = x[i];
        y[i] = f(one)[0];
    }
}

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    void* const library = dlopen("libmvec.so.1", RTLD_NOW);
    function const f = library ? (function)dlsym(library, argv[1]) : NULL;
    if (f == NULL) return 3;
    long const n = atol(argv[2]);
    double const low = atof(argv[3]), high = atof(argv[4]);
    if (n == 0) {
        double value, result;
        while (fread(&value, sizeof value, 1, stdin) == 1) {
            apply(f, &value, &result, 1);
            fwrite(&result, sizeof result, 1, stdout);
        }
        return 0;
    }
    long const vectors = (pool + n - 1) / n, stride = (n + lanes - 1) / lanes * lanes, all = vectors * stride;
    double* const x = aligned_alloc(64, (size_t)all * sizeof *x);
    double* const y = aligned_alloc(64, (size_t)all * sizeof *y);
    for (long i = 0; i < all; ++i) x[i] = low + (high - low) * drand48(), y[i] = 0;
    long calls = 1;
    for (double took = 0; took < 200e-6; calls *= took < 200e-6 ? 2 : 1) {
        double const begin = now_s();
        for (long c = 0; c < calls; ++c) apply(f, x + c % vectors * stride, y + c % vectors * stride, n);
        took = now_s() - begin;
    }
    for (int b = 0; b < blocks; ++b) {
        double const begin = now_s();
        for (long c = 0; c < calls; ++c) apply(f, x + c % vectors * stride, y + c % vectors * stride, n);
        printf("%.9e\n", (now_s() - begin) / (double)(calls * n));
    }
    return 0;
}
