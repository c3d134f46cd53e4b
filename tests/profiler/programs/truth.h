// What a program knows about its own profile: each call with its bytes and its line, and each message with its peer.
// They are lines of JSON in the file $TRUTH/PID; without the variable, nothing is written.
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE* truth_file;
static char const* truth_communicator = "";  // name of the communicator of the following calls; "": not compared
static char const* truth_region = "";        // likewise, of the region
static char const* truth_case = "";

static inline FILE* truth_output(void) {
    char const* folder = getenv("TRUTH");
    if (!truth_file && folder) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%ld", folder, (long)getpid());
        truth_file = fopen(path, "a");
    }
    return truth_file;
}

static inline void truth_call(char const* call, uint64_t bytes, char const* file, char const* function, int line) {
    FILE* output = truth_output();
    if (output)
        fprintf(output,
                "{\"call\": \"%s\", \"bytes\": %llu, \"function\": \"%s\", \"line\": %d, \"file\": \"%s\", "
                "\"communicator\": \"%s\", \"region\": \"%s\", \"case\": \"%s\"}\n",
                call, (unsigned long long)bytes, function, line, strrchr(file, '/') + 1, truth_communicator,
                truth_region, truth_case);
}

static inline void truth_message(char const* kind, int peer, uint64_t bytes) {
    FILE* output = truth_output();
    if (output)
        fprintf(output, "{\"peer\": %d, \"kind\": \"%s\", \"bytes\": %llu}\n", peer, kind, (unsigned long long)bytes);
}

// One call that is recorded with `amount` bytes; the last four are variants with one message, and large counts.
#define T(name, amount, ...) (truth_call("MPI_" #name, (uint64_t)(amount), __FILE__, __func__, __LINE__), MPI_##name(__VA_ARGS__))
#define T_SENT(name, amount, peer, ...) (truth_message("sent", peer, (uint64_t)(amount)), T(name, amount, __VA_ARGS__))
#define T_RECEIVED(name, amount, peer, ...) \
    (truth_message("received", peer, (uint64_t)(amount)), T(name, amount, __VA_ARGS__))
#define T_LARGE(name, amount, ...) \
    (truth_call("MPI_" #name, (uint64_t)(amount), __FILE__, __func__, __LINE__), MPI_##name##_c(__VA_ARGS__))
#define T_SENT_LARGE(name, amount, peer, ...) \
    (truth_message("sent", peer, (uint64_t)(amount)), T_LARGE(name, amount, __VA_ARGS__))
#define T_RECEIVED_LARGE(name, amount, peer, ...) \
    (truth_message("received", peer, (uint64_t)(amount)), T_LARGE(name, amount, __VA_ARGS__))

static inline void check(int holds, char const* what, int line) {
    if (!holds) {
        fprintf(stderr, "line %d: %s does not hold\n", line, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
#define CHECK(condition) check(!!(condition), #condition, __LINE__)
