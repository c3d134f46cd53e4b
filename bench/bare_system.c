/* The peers of octant's mpi/clock and mpi/mpiio: the loops that anybody would write. Arguments: clock, or write or read with bytes and a
   folder. Prints seconds of one call, the mean of a block of 1000 or each alone, one per line. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 1001, CALLS = 1000 };

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void read_clock(void) {
    volatile double last = 0;
    for (int block = 0; block < BLOCKS; ++block) {
        double const begin = now_s();
        for (int i = 0; i < CALLS; ++i) last = MPI_Wtime();
        printf("%.12g\n", (now_s() - begin) / CALLS);
    }
    (void)last;
}

static void move(int writes, size_t bytes, char const* folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/octant-bare-%d", folder, (int)getpid());
    int const file = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (file < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    unlink(path);
    char* data = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(data, 1, bytes);
    if (pwrite(file, data, bytes, 0) != (ssize_t)bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < BLOCKS; ++i) {
        double const begin = now_s();
        ssize_t const moved = writes ? pwrite(file, data, bytes, 0) : pread(file, data, bytes, 0);
        if (moved != (ssize_t)bytes) MPI_Abort(MPI_COMM_WORLD, 1);
        printf("%.12g\n", now_s() - begin);
    }
    free(data);
    close(file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc == 2)
        read_clock();
    else if (argc == 4)
        move(strcmp(argv[1], "write") == 0, strtoul(argv[2], NULL, 10), argv[3]);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
