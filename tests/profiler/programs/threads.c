// Threads that call MPI at the same time, complete requests of others, and end one after the other.
#include "truth.h"

#include <pthread.h>

enum { threads = 4, rounds = 40, short_lived = 40 };

static int rank, partner;
static MPI_Request handed[threads];
static pthread_barrier_t line;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Lines of the truth of several threads.
#define ONE(name, amount, ...) \
    (pthread_mutex_lock(&lock), truth_call("MPI_" #name, (uint64_t)(amount), __FILE__, __func__, __LINE__), \
     pthread_mutex_unlock(&lock), MPI_##name(__VA_ARGS__))

static void message(char const* kind) {
    pthread_mutex_lock(&lock);
    truth_message(kind, partner, 4);
    pthread_mutex_unlock(&lock);
}

// Each thread exchanges messages; then it starts a request that its neighbour completes.
static void* exchange(void* argument) {
    int const me = (int)(intptr_t)argument, next = (me + 1) % threads;
    int value = me, other, others[threads];
    MPI_Request requests[2];
    for (int i = 0; i < rounds; ++i) {
        message("received");
        ONE(Irecv, 4, &other, 1, MPI_INT, partner, me, MPI_COMM_WORLD, &requests[0]);
        message("sent");
        ONE(Isend, 4, &value, 1, MPI_INT, partner, me, MPI_COMM_WORLD, &requests[1]);
        ONE(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
    }
    message("received");
    ONE(Irecv, 4, &others[me], 1, MPI_INT, partner, 100 + me, MPI_COMM_WORLD, &handed[me]);
    pthread_barrier_wait(&line);
    message("sent");
    ONE(Send, 4, &value, 1, MPI_INT, partner, 100 + me, MPI_COMM_WORLD);
    ONE(Wait, 0, &handed[next], MPI_STATUS_IGNORE);
    pthread_barrier_wait(&line);
    return NULL;
}

static void* one_call(void* argument) {
    char values[8] = {0};
    (void)argument;
    ONE(Send, 0, values, 8, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    return NULL;
}

static void* no_call(void* argument) { return argument; }

int main(int argc, char** argv) {
    int provided;
    pthread_t ids[threads];
    T(Init_thread, 0, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    T(Comm_rank, 0, MPI_COMM_WORLD, &rank);
    partner = rank ^ 1;
    pthread_barrier_init(&line, NULL, threads);
    for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, exchange, (void*)(intptr_t)i);
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    for (int i = 0; i < short_lived; ++i) {
        pthread_create(&ids[0], NULL, i % 2 ? no_call : one_call, NULL);
        pthread_join(ids[0], NULL);
    }
    T(Barrier, 0, MPI_COMM_WORLD);
    T(Finalize, 0);
    return 0;
}
