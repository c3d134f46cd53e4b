/* The peer of octant's onesided: the loop that anybody would write. Arguments: put or get, bytes, flush, lock, fence or pscw, rounds of a
   block. Prints the origin's seconds of one operation with its completion, a block a line; with pscw the slower rank's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 2001 };

static void one(int rank, int put, char* mine, int bytes, MPI_Win window) {
    if (rank != 0) return;
    if (put)
        MPI_Put(mine, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
    else
        MPI_Get(mine, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
}

static void round_of(char how, int rank, int put, char* mine, int bytes, MPI_Win window, MPI_Group peer) {
    if (how == 'l' && rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    if (how == 'p' && rank == 0) MPI_Win_start(peer, 0, window);
    if (how == 'p' && rank == 1) MPI_Win_post(peer, 0, window);
    one(rank, put, mine, bytes, window);
    if (how == 'f' && rank == 0) MPI_Win_flush(1, window);
    if (how == 'l' && rank == 0) MPI_Win_unlock(1, window);
    if (how == 'e') MPI_Win_fence(0, window);
    if (how == 'p' && rank == 0) MPI_Win_complete(window);
    if (how == 'p' && rank == 1) MPI_Win_wait(window);
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    int const put = strcmp(argv[1], "put") == 0, bytes = atoi(argv[2]), rounds = atoi(argv[4]);
    char const how = strcmp(argv[3], "fence") == 0 ? 'e' : argv[3][0];
    size_t const room = ((size_t)bytes + 4096) / 4096 * 4096;
    char *mine = aligned_alloc(4096, room), *theirs = NULL;
    if (mine == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(mine, 1, room);
    MPI_Win window;
    MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &theirs, &window);
    memset(theirs, 2, room);
    MPI_Group all, peer;
    int const other = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &peer);
    static double seconds[BLOCKS], slower[BLOCKS];
    if (how == 'f') MPI_Win_lock_all(0, window);
    if (how == 'e') MPI_Win_fence(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    int const passive = how == 'f' || how == 'l';
    for (int block = 0; block < BLOCKS && (rank == 0 || !passive); ++block) {
        double const begin = MPI_Wtime();
        for (int i = 0; i < rounds; ++i) round_of(how, rank, put, mine, bytes, window, peer);
        seconds[block] = (MPI_Wtime() - begin) / rounds;
    }
    MPI_Barrier(MPI_COMM_WORLD); /* where a passive target waits */
    if (how != 'p') memset(seconds, 0, rank == 0 ? 0 : sizeof seconds);
    MPI_Reduce(seconds, slower, BLOCKS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int block = 1; rank == 0 && block < BLOCKS; ++block) printf("%.12f\n", slower[block]);
    if (how == 'f') MPI_Win_unlock_all(window);
    if (how == 'e') MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
    free(mine);
    MPI_Finalize();
    return 0;
}
