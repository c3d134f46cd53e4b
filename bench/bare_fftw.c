/* The peer of octant's transforms: FFTW 3 as anybody would call it, in one process. Arguments: numbers, seconds that planning may take,
   "patient" (else it plans with `measure`). Prints a line when the plan is made, with the seconds that took; then, for each line that it
   reads, seconds of a transform seven times, each of as many in a row as take 100 us. */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) return 2;
    size_t const n = strtoull(argv[1], NULL, 10);
    fftw_complex* const in = fftw_malloc(n * sizeof *in);
    fftw_complex* const out = fftw_malloc(n * sizeof *out);
    fftw_set_timelimit(atof(argv[2]));
    double const begin = now();
    fftw_plan const plan = fftw_plan_dft_1d((int)n, in, out, FFTW_FORWARD, argc == 4 ? FFTW_PATIENT : FFTW_MEASURE);
    printf("%.9f\n", now() - begin);
    fflush(stdout);
    for (size_t i = 0; i < n; ++i) in[i][0] = (double)(i % 7) / 7, in[i][1] = (double)(i % 5) / 5;
    long times = 0;
    double const warm = now();
    do fftw_execute(plan), ++times;
    while (now() - warm < 100e-6);
    for (int c; (c = getchar()) != EOF;) {
        if (c != '\n') continue;
        for (int i = 0; i < 7; ++i) {
            double const start = now();
            for (long j = 0; j < times; ++j) fftw_execute(plan);
            printf("%.3e%c", (now() - start) / (double)times, i == 6 ? '\n' : ' ');
        }
        fflush(stdout);
    }
    fftw_destroy_plan(plan);
    fftw_free(in);
    fftw_free(out);
    return 0;
}
