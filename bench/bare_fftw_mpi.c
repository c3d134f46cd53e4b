/* The peer of octant's gfft: FFTW's MPI interface, input and result in natural order. Arguments and output as bare_fftw's; a time is that
   of the slowest rank. While rank 0 waits for a line the others sleep: they must not take the cores of what is measured in between. */
#include <fftw3-mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void transforms(fftw_plan plan, int rank) {
    for (int i = 0; i < 7; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        double mine = MPI_Wtime(), slowest = 0;
        fftw_execute(plan);
        mine = MPI_Wtime() - mine;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%.9f%c", slowest, i == 6 ? '\n' : ' ');
    }
    if (rank == 0) fflush(stdout);
}

static int may_go_on(int rank, int ranks) { /* 1: a line has come */
    int go = 0;
    if (rank == 0) {
        int c = getchar();
        while (c != '\n' && c != EOF) c = getchar();
        go = c != EOF;
        for (int other = 1; other < ranks; ++other) MPI_Send(&go, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
        return go;
    }
    for (int there = 0; !there; usleep(200)) MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return go;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) return 2;
    fftw_mpi_init();
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ptrdiff_t const n = atoll(argv[1]);
    ptrdiff_t in_count, in_first, out_count, out_first;
    ptrdiff_t const room = fftw_mpi_local_size_1d(n, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE, &in_count, &in_first,
                                                  &out_count, &out_first);
    fftw_complex* const in = fftw_alloc_complex((size_t)room);
    fftw_complex* const out = fftw_alloc_complex((size_t)room);
    fftw_set_timelimit(atof(argv[2]));
    double const begin = MPI_Wtime();
    fftw_plan const plan = fftw_mpi_plan_dft_1d(n, in, out, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE);
    if (rank == 0) printf("%.9f\n", MPI_Wtime() - begin);
    if (rank == 0) fflush(stdout);
    for (ptrdiff_t i = 0; i < in_count; ++i) in[i][0] = (double)(i % 7) / 7, in[i][1] = (double)(i % 5) / 5;
    while (may_go_on(rank, ranks)) transforms(plan, rank);
    fftw_destroy_plan(plan);
    fftw_free(in);
    fftw_free(out);
    MPI_Finalize();
    return 0;
}
