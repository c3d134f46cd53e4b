/* The peer of octant's gemm: a bare loop that calls the same library. Arguments: library, n, calls. Prints the seconds of
   each call, one a line. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void (*dgemm_t)(int, int, int, int, int, int, double, double const*, int, double const*, int, double, double*, int);

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
    void* library = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) return 1;
    dgemm_t dgemm = (dgemm_t)dlsym(library, "scipy_cblas_dgemm");
    void (*threads)(int) = (void (*)(int))dlsym(library, "scipy_openblas_set_num_threads");
    int const n = atoi(argv[2]), calls = atoi(argv[3]);
    size_t const count = (size_t)n * (size_t)n;
    double *a = aligned_alloc(64, count * 8), *b = aligned_alloc(64, count * 8), *c = aligned_alloc(64, count * 8);
    if (dgemm == NULL || threads == NULL || a == NULL || b == NULL || c == NULL) return 1;
    threads(1);
    for (size_t i = 0; i < count; ++i) {
        a[i] = 2.0 * rand() / RAND_MAX - 1;
        b[i] = 2.0 * rand() / RAND_MAX - 1;
        c[i] = 0;
    }
    for (int i = 0; i <= calls; ++i) {
        double const begin = seconds();
        dgemm(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
        if (i > 0) printf("%.9f\n", seconds() - begin);
    }
    return 0;
}
