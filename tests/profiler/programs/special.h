// Cases of callbacks that call MPI, large counts, regions, and call sites.
#pragma once

#include "memory.h"

#include <dlfcn.h>

// Calls of MPI inside of a call of MPI are not recorded: these have no T.
static void add(void* in, void* out, int* count, MPI_Datatype* type) {
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count; ++i) ((int*)out)[i] += ((int*)in)[i];
}

static int copy_attribute(MPI_Comm communicator, int key, void* extra, void* in, void* out, int* flag) {
    int ranks;
    (void)key, (void)extra;
    MPI_Comm_size(communicator, &ranks);
    *(void**)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm communicator, int key, void* value, void* extra) {
    int mine;
    (void)key, (void)value, (void)extra;
    MPI_Comm_rank(communicator, &mine);
    return MPI_SUCCESS;
}

static void nested(void) {
    int values[4] = {1, 1, 1, 1}, sums[4], key;
    MPI_Op operation;
    MPI_Comm copy;
    T(Op_create, 0, add, 1, &operation);
    for (int i = 0; i < 3; ++i) T(Allreduce, 16, values, sums, 4, MPI_INT, operation, MPI_COMM_WORLD);
    T(Reduce, 16, values, sums, 4, MPI_INT, operation, 0, MPI_COMM_WORLD);
    T(Op_free, 0, &operation);
    T(Comm_create_keyval, 0, copy_attribute, delete_attribute, &key, NULL);
    T(Comm_set_attr, 0, MPI_COMM_WORLD, key, NULL);
    T(Comm_dup, 0, MPI_COMM_WORLD, &copy);
    T(Comm_free, 0, &copy);
    T(Comm_delete_attr, 0, MPI_COMM_WORLD, key);
    T(Comm_free_keyval, 0, &key);
}

// The callback of MPI_COMM_SELF is called by MPI_Finalize.
static void at_the_end(void) {
    int key;
    T(Comm_create_keyval, 0, MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL);
    T(Comm_set_attr, 0, MPI_COMM_SELF, key, NULL);
    T(Comm_free_keyval, 0, &key);
}

// Variants with large counts are recorded under the name of the call.
static void large_counts(void) {
#if MPI_VERSION >= 4
    double values[8 * most] = {0}, others[8 * most];
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Count counts[most];
    MPI_Aint places[most];
    for (int i = 0; i < size; ++i) counts[i] = 2, places[i] = 2 * i;
    if (rank % 2 == 0)
        T_SENT_LARGE(Send, 32, partner, values, 4, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
    else
        T_RECEIVED_LARGE(Recv, 32, partner, others, 4, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &status);
    for (int i = 0; i < 100; ++i) {
        truth_message("received", partner, 64);
        T_LARGE(Irecv, 64, others, 8, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &requests[0]);
        T_SENT_LARGE(Isend, 64, partner, values, 8, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &requests[1]);
        T(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
    }
    truth_message("sent", partner, 8);
    T_RECEIVED_LARGE(Sendrecv, 8, partner, values, 1, MPI_DOUBLE, partner, tag, others, 1, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    T_LARGE(Bcast, rank ? 0 : 16, values, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 100; ++i) T_LARGE(Allreduce, 8, values, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    T_LARGE(Allgatherv, 16, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, others, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    T_LARGE(Alltoallv, 16 * size, values, counts, places, MPI_DOUBLE, others, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    T_LARGE(Gatherv, 16, values, 2, MPI_DOUBLE, others, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    T_LARGE(Scatterv, rank ? 0 : 16 * size, values, counts, places, MPI_DOUBLE, others, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    T_LARGE(Reduce_scatter, 16 * size, values, others, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    T_LARGE(Send_init, 0, values, 2, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &requests[0]);
    truth_message("sent", partner, 16);
    T(Start, 16, &requests[0]);
    T_RECEIVED_LARGE(Recv, 16, partner, others, 2, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Request_free, 0, &requests[0]);
#endif
}

typedef void region_function(char const*);
typedef void plain_function(void);

static void begin(char const* name) {
    region_function* function = (region_function*)dlsym(RTLD_DEFAULT, "octant_region_begin");
    if (function) function(name);
}

static void end(void) {
    plain_function* function = (plain_function*)dlsym(RTLD_DEFAULT, "octant_region_end");
    if (function) function();
}

static void call(char const* name) {
    plain_function* function = (plain_function*)dlsym(RTLD_DEFAULT, name);
    if (function) function();
}

static void regions(void) {
    begin("outer");
    truth_region = "outer";
    T(Barrier, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
        begin("inner");
        truth_region = "inner";
        T(Barrier, 0, MPI_COMM_WORLD);
        T(Barrier, 0, MPI_COMM_WORLD);
        end();
    }
    truth_region = "outer";
    T(Barrier, 0, MPI_COMM_WORLD);
    end();
    truth_region = "";
    T(Barrier, 0, MPI_COMM_WORLD);
}

// Calls without T are not recorded, because recording is switched off.
static void switched_off(void) {
    T(Barrier, 0, MPI_COMM_WORLD);
    T(Pcontrol, 0, 0);  // is recorded, because it begins before
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    T(Barrier, 0, MPI_COMM_WORLD);
    static char const* const pairs[][2] = {{"summary_stop", "summary_start"}, {"summary_stop_", "summary_start_"}};
    if (!dlsym(RTLD_DEFAULT, "summary_stop")) return;
    for (int i = 0; i < 2; ++i) {
        call(pairs[i][0]);
        MPI_Barrier(MPI_COMM_WORLD);
        call(pairs[i][1]);
        T(Barrier, 0, MPI_COMM_WORLD);
    }
}

// A request that was started before recording was switched off, and one that completes after it.
static void requests_switched_off(void) {
    int value = 1, other;
    MPI_Request requests[2];
    truth_message("received", partner, 4);
    T(Irecv, 4, &other, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[0]);
    T_SENT(Isend, 4, partner, &value, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[1]);
    T(Pcontrol, 0, 0);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(&other, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Pcontrol(1);
    T(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
}

// A call that fails is a call without bytes and messages, and the program gets its error.
static void errors(void) {
    int value = 0, kind = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    T(Comm_set_errhandler, 0, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int const code = T(Send, 0, &value, 1, MPI_INT, size + 5, tag, MPI_COMM_WORLD);
    T(Error_class, 0, code, &kind);
    CHECK(kind == MPI_ERR_RANK);
    CHECK(T(Irecv, 0, &value, -1, MPI_INT, partner, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    CHECK(T(Bcast, 0, &value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(T(Allreduce, 0, &value, &kind, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS);
    T(Comm_set_errhandler, 0, MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    T(Barrier, 0, MPI_COMM_WORLD);
}

static void leaf(int bytes) {
    T(Bcast, rank ? 0 : bytes, (char[64]){0}, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void sites(void) {
    leaf(3);
    leaf(5);
    for (int i = 0; i < 4; ++i)
        if (i % 2)
            T(Barrier, 0, MPI_COMM_WORLD);
        else
            T(Barrier, 0, MPI_COMM_WORLD);
    T(Barrier, 0, MPI_COMM_WORLD), T(Bcast, rank ? 0 : 1, (char[1]){0}, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
}
