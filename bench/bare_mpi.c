/* The peer of octant's MPI patterns: the loops that anybody would write. Arguments: pattern, bytes, blocks, steps of a block.
 * Every block is timed on every rank; of each the slowest rank's seconds for one step are printed (pingpong: half of rank 0's). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *out, *in;
static int rank, ranks, bytes;

static void pingpong(void) {
    int const other = 1 - rank;
    if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
}

static void exchange(void) { /* with both neighbours in a ring; both messages arrive in one buffer, as in IMB */
    int const left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request request[2];
    MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Recv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void allreduce(void) { MPI_Allreduce(out, in, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    char const* const pattern = argv[1];
    bytes = atoi(argv[2]);
    int const blocks = atoi(argv[3]), steps = atoi(argv[4]), early = blocks / 10 + 1;
    void (*step)(void) = !strcmp(pattern, "pingpong")    ? pingpong
                         : !strcmp(pattern, "exchange")  ? exchange
                         : !strcmp(pattern, "allreduce") ? allreduce
                                                         : barrier;
    /* one block, and never the same place in a page: copies between equal places take up to a quarter longer */
    size_t const room = ((size_t)bytes + 63) / 64 * 64 + 64;
    out = aligned_alloc(4096, (2 * room + 4095) / 4096 * 4096), in = out + room;
    double* const seconds = malloc((size_t)(early + blocks) * sizeof(double));
    if (!out || !seconds) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 0, room); /* untouched memory would be one page of zeros, read from the first cache */
    memset(in, 2, room);
    memset(seconds, 0, (size_t)(early + blocks) * sizeof(double));
    for (int i = 0; i < early + blocks; ++i) { /* a call that all enter together begins behind a barrier, as in IMB */
        if (step == allreduce) MPI_Barrier(MPI_COMM_WORLD);
        double const begin = MPI_Wtime();
        for (int k = 0; k < steps; ++k) step();
        seconds[i] = (MPI_Wtime() - begin) / steps;
    }
    double* const slowest = malloc((size_t)(early + blocks) * sizeof(double));
    if (step == pingpong)
        for (int i = 0; i < early + blocks; ++i) slowest[i] = seconds[i] / 2;
    else
        MPI_Reduce(seconds, slowest, early + blocks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = early; rank == 0 && i < early + blocks; ++i) printf("%.12f\n", slowest[i]);
    MPI_Finalize();
    return 0;
}
