/* The peer of octant's gemm: a bare loop that calls the same library. Arguments: library, element (s, d, c or z), n, calls
   in a sample, samples. Prints the seconds of a call, one sample a line. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void (*dgemm_t)(int, int, int, int, int, int, double, void const*, int, void const*, int, double, void*, int);
typedef void (*sgemm_t)(int, int, int, int, int, int, float, void const*, int, void const*, int, float, void*, int);
typedef void (*complex_t)(int, int, int, int, int, int, void const*, void const*, int, void const*, int, void const*, void*,
                          int);

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(void* numbers, size_t count, int single) {
    for (size_t i = 0; i < count; ++i) {
        double const value = 2.0 * rand() / RAND_MAX - 1;
        if (single)
            ((float*)numbers)[i] = (float)value;
        else
            ((double*)numbers)[i] = value;
    }
}

int main(int argc, char** argv) {
    void* library = argc == 6 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) return 1;
    char const element = argv[2][0];
    char name[32];
    snprintf(name, sizeof name, "scipy_cblas_%cgemm", element);
    void* const gemm = dlsym(library, name);
    void (*threads)(int) = (void (*)(int))dlsym(library, "scipy_openblas_set_num_threads");
    int const n = atoi(argv[3]), calls = atoi(argv[4]), samples = atoi(argv[5]);
    int const single = element == 's' || element == 'c', parts = element == 'c' || element == 'z' ? 2 : 1;
    size_t const count = (size_t)n * (size_t)n * (size_t)parts, size = count * (single ? 4 : 8);
    void *a = aligned_alloc(4096, (size + 4095) / 4096 * 4096), *b = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    void* c = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (gemm == NULL || threads == NULL || a == NULL || b == NULL || c == NULL) return 1;
    threads(1);
    fill(a, count, single);
    fill(b, count, single);
    fill(c, count, single);
    double const one[2] = {1, 0}, zero[2] = {0, 0};
    float const short_one[2] = {1, 0}, short_zero[2] = {0, 0};
    for (int i = 0; i <= samples; ++i) {
        double const begin = seconds();
        for (int call = 0; call < calls; ++call) {
            if (element == 'd') ((dgemm_t)gemm)(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
            if (element == 's') ((sgemm_t)gemm)(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
            if (element == 'z') ((complex_t)gemm)(101, 111, 111, n, n, n, one, a, n, b, n, zero, c, n);
            if (element == 'c') ((complex_t)gemm)(101, 111, 111, n, n, n, short_one, a, n, b, n, short_zero, c, n);
        }
        if (i > 0) printf("%.9g\n", (seconds() - begin) / calls);
    }
    return 0;
}
