/* The peer of octant's fft: FFTW 3 as anybody would call it, in one process. Arguments: numbers, seconds that planning with `measure` may
   take. Prints a line when the plan is made, with the seconds that took; then, for each line that it reads, the seconds of seven transforms. */
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
    if (argc != 3) return 2;
    size_t const n = strtoull(argv[1], NULL, 10);
    fftw_complex* const in = fftw_malloc(n * sizeof *in);
    fftw_complex* const out = fftw_malloc(n * sizeof *out);
    fftw_set_timelimit(atof(argv[2]));
    double const begin = now();
    fftw_plan const plan = fftw_plan_dft_1d((int)n, in, out, FFTW_FORWARD, FFTW_MEASURE);
    printf("%.9f\n", now() - begin);
    fflush(stdout);
    for (size_t i = 0; i < n; ++i) in[i][0] = (double)(i % 7) / 7, in[i][1] = (double)(i % 5) / 5;
    for (int c; (c = getchar()) != EOF;) {
        if (c != '\n') continue;
        for (int i = 0; i < 7; ++i) {
            double const start = now();
            fftw_execute(plan);
            printf("%.9f%c", now() - start, i == 6 ? '\n' : ' ');
        }
        fflush(stdout);
    }
    fftw_destroy_plan(plan);
    fftw_free(in);
    fftw_free(out);
    return 0;
}
