/* Calls of MPI that do almost nothing, on one rank: what a profiler adds to each is nearly all of their time. Prints a line for each
   operation with its name, its number of calls, and the least thread CPU time of a batch per operation in nanoseconds; the first line is a
   pair of readings of the clock. Arguments: batches, operations of a batch, "off" to disable recording with MPI_Pcontrol. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static MPI_Comm self;
static double buffer[8], other[8];
static uint64_t volatile sink;

static uint64_t read_clock(void) {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#elif defined(__powerpc64__)
    return __builtin_ppc_get_timebase();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec;
#endif
}

static void clock_pair(void) {
    uint64_t const begin = read_clock();
    sink = read_clock() - begin;
}
static void comm_rank(void) {
    int rank;
    MPI_Comm_rank(self, &rank);
}
static void iprobe(void) {
    int flag;
    MPI_Iprobe(0, 1, self, &flag, MPI_STATUS_IGNORE);
}
static void test(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    int flag;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}
static void send(void) { MPI_Send(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, self); }
static void isend_wait(void) {
    MPI_Request request;
    MPI_Isend(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, self, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void barrier(void) { MPI_Barrier(self); }
static void allreduce(void) { MPI_Allreduce(buffer, other, 1, MPI_DOUBLE, MPI_SUM, self); }
static void sendrecv(void) { MPI_Sendrecv(buffer, 0, MPI_DOUBLE, 0, 0, other, 0, MPI_DOUBLE, 0, 0, self, MPI_STATUS_IGNORE); }
static void exchange(void) {
    MPI_Request requests[2];
    MPI_Irecv(other, 1, MPI_DOUBLE, 0, 0, self, &requests[0]);
    MPI_Isend(buffer, 1, MPI_DOUBLE, 0, 0, self, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char** argv) {
    static struct {
        char const* name;
        int calls;
        void (*run)(void);
        double least;
    } rows[] = {{"clock pair", 0, clock_pair, 1e30},      {"Comm_rank", 1, comm_rank, 1e30},
                {"Iprobe, miss", 1, iprobe, 1e30},        {"Test, null request", 1, test, 1e30},
                {"Send to PROC_NULL", 1, send, 1e30},     {"Isend + Wait, PROC_NULL", 2, isend_wait, 1e30},
                {"Barrier, self", 1, barrier, 1e30},      {"Allreduce, self, 8 B", 1, allreduce, 1e30},
                {"Sendrecv, self, 0 B", 1, sendrecv, 1e30}, {"Irecv + Isend + Waitall", 3, exchange, 1e30}};
    enum { count = sizeof rows / sizeof *rows };
    int const batches = argc > 1 ? atoi(argv[1]) : 100, operations = argc > 2 ? atoi(argv[2]) : 2000;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    if (argc > 3 && strcmp(argv[3], "off") == 0) MPI_Pcontrol(0);
    for (int batch = 0; batch < batches; ++batch) {  /* all operations in each round: all see the same disturbances */
        for (int row = 0; row < count; ++row) {
            double const begin = now();
            for (int operation = 0; operation < operations; ++operation) rows[row].run();
            double const took = (now() - begin) / operations;
            if (took < rows[row].least) rows[row].least = took;
        }
    }
    for (int row = 0; row < count; ++row) printf("%s\t%d\t%.2f\n", rows[row].name, rows[row].calls, rows[row].least);
    MPI_Comm_free(&self);
    MPI_Finalize();
    return 0;
}
