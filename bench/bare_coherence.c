/* The peer of octant's coherence: two threads that pass a number on, as plain C. Arguments: exchange or handover, the
   two hardware threads, round trips in a sample, seconds. Prints seconds one way of each sample, one per line. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    _Alignas(128) _Atomic uint64_t there;
    _Alignas(128) _Atomic uint64_t back;
} lines;
static _Alignas(128) atomic_int stop;
static int one_line;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) exit(1);
}

static void* answer(void* cpu) {
    run_on(*(int*)cpu);
    for (uint64_t count = 0;; count += 2) {
        if (one_line) {
            uint64_t seen = count + 1;
            while (!atomic_compare_exchange_weak_explicit(&lines.there, &seen, count + 2, memory_order_acq_rel, memory_order_relaxed)) {
                seen = count + 1;
                if (atomic_load_explicit(&stop, memory_order_relaxed)) return NULL;
            }
        } else {
            while (atomic_load_explicit(&lines.there, memory_order_acquire) != count + 1)
                if (atomic_load_explicit(&stop, memory_order_relaxed)) return NULL;
            atomic_store_explicit(&lines.back, count + 2, memory_order_release);
        }
    }
}

static uint64_t call(uint64_t count, long trips) {
    for (uint64_t end = count + 2 * (uint64_t)trips; count < end; count += 2) {
        if (one_line) {
            uint64_t seen = count;
            while (!atomic_compare_exchange_weak_explicit(&lines.there, &seen, count + 1, memory_order_acq_rel, memory_order_relaxed)) seen = count;
        } else {
            atomic_store_explicit(&lines.there, count + 1, memory_order_release);
            while (atomic_load_explicit(&lines.back, memory_order_acquire) != count + 2) {}
        }
    }
    if (one_line)
        while (atomic_load_explicit(&lines.there, memory_order_acquire) != count) {}
    return count;
}

int main(int argc, char** argv) {
    if (argc != 6) return 1;
    one_line = strcmp(argv[1], "exchange") == 0;
    int other = atoi(argv[3]);
    long const trips = atol(argv[4]);
    run_on(atoi(argv[2]));
    lines.there = lines.back = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, &other) != 0) return 1;
    uint64_t count = call(0, trips);
    double const end = seconds() + atof(argv[5]);
    for (double begin = seconds(); begin < end; begin = seconds()) {
        count = call(count, trips);
        printf("%.6e\n", (seconds() - begin) / (2 * (double)trips));
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    return 0;
}
