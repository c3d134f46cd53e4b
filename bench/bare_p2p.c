/* The peer of octant's p2p: the loops that anybody would write, for two ranks. Arguments: pattern (pingpong, exchange, window, or open:
   a window without acknowledgement), bytes, steps, and optionally how many steps are timed together (1; the OSU benchmarks time all of
   them). Prints the seconds of a message, a line for each timed stretch. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5001, WINDOW = 64 };
static MPI_Comm ranks; /* of the benchmark's own, as those have that run on groups of ranks: 1 % slower than the world's in MPICH 5 */

static void there_and_back(int rank, char* out, char* in, int bytes) {
    if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, 1, 0, ranks);
    MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 0, ranks, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, bytes, MPI_BYTE, 0, 0, ranks);
}

static void both_neighbours(int rank, char* out, char* in, int bytes) { /* of two ranks they are one */
    MPI_Request sends[2];
    int const other = 1 - rank;
    MPI_Isend(out, bytes, MPI_BYTE, other, 0, ranks, &sends[0]);
    MPI_Isend(out, bytes, MPI_BYTE, other, 1, ranks, &sends[1]);
    MPI_Recv(in, bytes, MPI_BYTE, other, 0, ranks, MPI_STATUS_IGNORE);
    MPI_Recv(in, bytes, MPI_BYTE, other, 1, ranks, MPI_STATUS_IGNORE);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

static void window(int rank, char* out, char* in, int bytes, int acknowledged) {
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; ++i)
        if (rank == 0)
            MPI_Isend(out, bytes, MPI_BYTE, 1, 0, ranks, &requests[i]);
        else
            MPI_Irecv(in, bytes, MPI_BYTE, 0, 0, ranks, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (acknowledged && rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, ranks, MPI_STATUS_IGNORE);
    if (acknowledged && rank == 1) MPI_Send(NULL, 0, MPI_BYTE, 0, 1, ranks);
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &ranks);
    char const pattern = argc > 3 ? argv[1][0] : 'p';
    int const bytes = argc > 3 ? atoi(argv[2]) : 8, asked = argc > 3 ? atoi(argv[3]) : MOST;
    int const together = argc > 4 ? atoi(argv[4]) : 1;
    int const steps = asked < MOST ? asked : MOST;
    size_t const room = ((size_t)bytes + 4096) / 4096 * 4096;
    char *out = aligned_alloc(4096, room), *in = aligned_alloc(4096, room);
    if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 1, room); /* untouched memory would be one page of zeros, read from the first cache */
    memset(in, 2, room);
    static double seconds[MOST]; /* printing, or a barrier, between steps would chill the first messages of the next */
    double const messages = pattern == 'p' ? 2 : pattern == 'e' ? 1 : WINDOW;
    MPI_Barrier(ranks);
    for (int step = 0; step < steps; ++step) {
        double const begin = MPI_Wtime();
        for (int i = 0; i < together; ++i)
            if (pattern == 'p')
                there_and_back(rank, out, in, bytes);
            else if (pattern == 'e')
                both_neighbours(rank, out, in, bytes);
            else
                window(rank, out, in, bytes, pattern == 'w');
        seconds[step] = (MPI_Wtime() - begin) / (messages * together);
        if (pattern == 'o') MPI_Barrier(ranks); /* else the sender runs ahead by many windows */
    }
    if (pattern == 'e') /* where both work alike, a step takes as long as for the slower one */
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : seconds, seconds, steps, MPI_DOUBLE, MPI_MAX, 0, ranks);
    for (int step = 1; rank == 0 && step < steps; ++step) printf("%.12f\n", seconds[step]);
    MPI_Comm_free(&ranks);
    MPI_Finalize();
    return 0;
}
