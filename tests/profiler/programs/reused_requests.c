/* Pairs of threads, one of which starts requests that the other completes. The library gives the handle of a completed request to another
   pair before the call that completed it has returned. Pair p sends N messages of p + 1 bytes to itself. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>

enum { pairs = 4, rounds = 20000 };

static MPI_Comm communicators[pairs];
static MPI_Request requests[pairs][2];
static int is_started[pairs];
static char buffers[pairs][2][64];

static void wait_until(int* value, int wanted) {
    while (__atomic_load_n(value, __ATOMIC_ACQUIRE) != wanted) sched_yield();
}

static void* start(void* argument) {
    int const pair = *(int*)argument;
    for (int round = 0; round < rounds; ++round) {
        wait_until(&is_started[pair], 0);
        MPI_Irecv(buffers[pair][0], 64, MPI_BYTE, 0, 0, communicators[pair], &requests[pair][0]);
        MPI_Isend(buffers[pair][1], pair + 1, MPI_BYTE, 0, 0, communicators[pair], &requests[pair][1]);
        __atomic_store_n(&is_started[pair], 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void complete(MPI_Request* both, int round) {
    int flag = 0, count = 0, indices[2];
    if (round % 3 == 0) {
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    } else if (round % 3 == 1) {
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        while (!flag) MPI_Test(&both[1], &flag, MPI_STATUS_IGNORE);
    } else {
        for (int done = 0; done < 2; done += count) MPI_Waitsome(2, both, &count, indices, MPI_STATUSES_IGNORE);
    }
}

static void* finish(void* argument) {
    int const pair = *(int*)argument;
    for (int round = 0; round < rounds; ++round) {
        wait_until(&is_started[pair], 1);
        complete(requests[pair], round);
        __atomic_store_n(&is_started[pair], 0, __ATOMIC_RELEASE);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided, numbers[pairs];
    pthread_t threads[2][pairs];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int pair = 0; pair < pairs; ++pair) {
        numbers[pair] = pair;
        MPI_Comm_dup(MPI_COMM_SELF, &communicators[pair]);
    }
    for (int pair = 0; pair < pairs; ++pair) {
        pthread_create(&threads[0][pair], NULL, start, &numbers[pair]);
        pthread_create(&threads[1][pair], NULL, finish, &numbers[pair]);
    }
    for (int pair = 0; pair < pairs; ++pair) {
        pthread_join(threads[0][pair], NULL);
        pthread_join(threads[1][pair], NULL);
    }
    for (int pair = 0; pair < pairs; ++pair) MPI_Comm_free(&communicators[pair]);
    MPI_Finalize();
    return 0;
}
