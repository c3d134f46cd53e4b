// A program to be guarded: does what its words say, one after the other, and prints the milliseconds that it ran by its
// own clock. spin=MS and cpu=MS (of CPU time), memory=MIB, children=N (of 5 ms each), threads=N (bound in turn, for
// 200 ms), outlive, daemon (in a session of its own; ignores SIGTERM), sleep=MS, stop=MS (by SIGSTOP), raise=N, exit=N.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ms(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static void spin(clockid_t clock, double for_ms) {
    double const end = ms(clock) + for_ms;
    while (ms(clock) < end) {
    }
}

static void fill(size_t mib) {
    char* const memory = malloc(mib << 20);
    memset(memory, 1, mib << 20);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

static void* work(void* number) {
    cpu_set_t all, one;
    int cpu = (int)(size_t)number, found = -1;
    sched_getaffinity(0, sizeof all, &all);
    cpu %= CPU_COUNT(&all);
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &all) && cpu-- == 0) found = i;
    CPU_ZERO(&one);
    CPU_SET(found, &one);
    sched_setaffinity(0, sizeof one, &one);
    char name[16];
    snprintf(name, sizeof name, "worker \"%d\"", (int)(size_t)number);
    prctl(PR_SET_NAME, name);
    spin(CLOCK_THREAD_CPUTIME_ID, 200);
    return NULL;
}

static void leave_behind(int daemon) {
    if (fork() != 0) {
        if (daemon) usleep(20000);  // until it has made itself one
        return;
    }
    if (daemon) {
        signal(SIGTERM, SIG_IGN);
        if (setsid() < 0 || fork() != 0) _exit(0);
    }
    for (;;) pause();
}

int main(int argc, char** argv) {
    double const begin = ms(CLOCK_MONOTONIC);
    for (int i = 1; i < argc; ++i) {
        char* const value = strchr(argv[i], '=');
        int const number = value == NULL ? 0 : atoi(value + 1);
        if (value != NULL) *value = 0;
        if (strcmp(argv[i], "spin") == 0) spin(CLOCK_MONOTONIC, number);
        if (strcmp(argv[i], "cpu") == 0) spin(CLOCK_PROCESS_CPUTIME_ID, number);
        if (strcmp(argv[i], "sleep") == 0) usleep(1000 * (unsigned)number);
        if (strcmp(argv[i], "memory") == 0) fill((size_t)number);
        if (strcmp(argv[i], "outlive") == 0) leave_behind(0);
        if (strcmp(argv[i], "daemon") == 0) leave_behind(1);
        if (strcmp(argv[i], "raise") == 0) raise(number);
        if (strcmp(argv[i], "exit") == 0) return number;
        for (int k = 0; strcmp(argv[i], "children") == 0 && k < number; ++k) {
            pid_t const child = fork();
            if (child == 0) spin(CLOCK_PROCESS_CPUTIME_ID, 5);
            if (child == 0) _exit(1);  // which is not the status of the program
            if (k % 2 == 0) waitpid(child, NULL, 0);
        }
        while (strcmp(argv[i], "children") == 0 && wait(NULL) > 0) {
        }
        if (strcmp(argv[i], "threads") == 0) {
            pthread_t threads[64];
            for (int k = 0; k < number; ++k) pthread_create(&threads[k], NULL, work, (void*)(size_t)k);
            for (int k = 0; k < number; ++k) pthread_join(threads[k], NULL);
        }
        if (strcmp(argv[i], "stop") == 0) {
            pid_t const child = fork();
            if (child == 0) {
                usleep(1000 * (unsigned)number);
                kill(getppid(), SIGCONT);
                _exit(0);
            }
            raise(SIGSTOP);
            waitpid(child, NULL, 0);
        }
    }
    printf("%.6f\n", ms(CLOCK_MONOTONIC) - begin);
    return 0;
}
