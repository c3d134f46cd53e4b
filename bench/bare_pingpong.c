/* The peer of octant's pingpong: the loop that anybody would write. Arguments: bytes, rounds of a block. Prints one-way seconds, a block a line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const bytes = argc == 3 ? atoi(argv[1]) : 8, rounds = argc == 3 ? atoi(argv[2]) : 1000;
    size_t const room = ((size_t)bytes + 4096) / 4096 * 4096;
    char *out = aligned_alloc(4096, room), *in = aligned_alloc(4096, room);
    if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 1, room); /* untouched memory would be one page of zeros, read from the first cache */
    memset(in, 2, room);
    static double seconds[5001]; /* printing, or a barrier, between blocks would chill the first messages of the next */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int block = 0; block < 5001; ++block) {
        double const begin = MPI_Wtime();
        for (int i = 0; i < rounds; ++i) {
            if (rank == 0) {
                MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
        }
        seconds[block] = (MPI_Wtime() - begin) / (2.0 * rounds);
    }
    for (int block = 1; rank == 0 && block < 5001; ++block) printf("%.12f\n", seconds[block]);
    MPI_Finalize();
    return 0;
}
