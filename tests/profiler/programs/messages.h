// Cases of point-to-point communication. Ranks 2k and 2k+1 are partners.
#pragma once

#include "truth.h"

static int rank, size, partner;
static int const tag = 7;

static void blocking(void) {
    double values[100] = {0}, others[100];
    MPI_Status status;
    if (rank % 2 == 0) {
        for (int i = 0; i < 10; ++i) T_SENT(Send, 800, partner, values, 100, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
        T_SENT(Ssend, 4, partner, values, 1, MPI_INT, partner, tag, MPI_COMM_WORLD);
        T_SENT(Send, 0, partner, NULL, 0, MPI_INT, partner, tag, MPI_COMM_WORLD);
        T_RECEIVED(Recv, 0, partner, others, 0, MPI_INT, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        T_SENT(Rsend, 12, partner, values, 3, MPI_INT, partner, tag, MPI_COMM_WORLD);
    } else {
        for (int i = 0; i < 10; ++i) T_RECEIVED(Recv, 800, partner, others, 100, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &status);
        T_RECEIVED(Recv, 4, partner, others, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        T_RECEIVED(Recv, 0, partner, others, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &status);
        MPI_Request request;
        truth_message("received", partner, 12);
        T(Irecv, 12, others, 3, MPI_INT, partner, tag, MPI_COMM_WORLD, &request);
        T_SENT(Send, 0, partner, NULL, 0, MPI_INT, partner, tag, MPI_COMM_WORLD);
        T(Wait, 0, &request, MPI_STATUS_IGNORE);
    }
}

static void buffered(void) {
    static char space[4096];
    int value = 3, other = 0, bytes;
    void* detached;
    T(Buffer_attach, 0, space, (int)sizeof space);
    T_SENT(Bsend, 4, partner, &value, 1, MPI_INT, partner, tag, MPI_COMM_WORLD);
    T_RECEIVED(Recv, 4, partner, &other, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    T(Buffer_detach, 0, &detached, &bytes);
    CHECK(other == 3);
}

// Sends and receives in one call: the bytes of the call are those that are sent.
static void exchanges(void) {
    double values[8] = {0}, others[8];
    MPI_Status status;
    truth_message("sent", partner, 64);
    T_RECEIVED(Sendrecv, 64, partner, values, 8, MPI_DOUBLE, partner, tag, others, 8, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_message("sent", partner, 16);
    T_RECEIVED(Sendrecv, 16, partner, values, 2, MPI_DOUBLE, partner, tag, others, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    truth_message("sent", partner, 40);
    T_RECEIVED(Sendrecv_replace, 40, partner, values, 5, MPI_DOUBLE, partner, tag, partner, tag, MPI_COMM_WORLD, &status);
    T_SENT(Sendrecv, 8, partner, values, 1, MPI_DOUBLE, partner, tag, others, 8, MPI_DOUBLE, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &status);
    T_RECEIVED(Recv, 8, partner, others, 1, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &status);
#if MPI_VERSION >= 4
    MPI_Request request;
    truth_message("sent", partner, 24);
    T_RECEIVED(Isendrecv, 24, partner, values, 3, MPI_DOUBLE, partner, tag, others, 3, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &request);
    T(Wait, 0, &request, &status);
#endif
}

// No destination: calls without bytes, messages and peers.
static void without_peer(void) {
    char values[1000] = {0};
    MPI_Request requests[2];
    MPI_Status status;
    for (int i = 0; i < 10; ++i) T(Send, 0, values, 1000, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    T(Recv, 0, values, 1000, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    T(Recv, 0, values, 1000, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &status);
    T(Isend, 0, values, 1000, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &requests[0]);
    T(Irecv, 0, values, 1000, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &requests[1]);
    T(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
    T(Sendrecv_replace, 0, values, 1000, MPI_CHAR, MPI_PROC_NULL, tag, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &status);
}

static void start_pair(int* values, int* others, MPI_Request requests[2]) {
    truth_message("received", partner, 4);
    T(Irecv, 4, others, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[0]);
    T_SENT(Isend, 4, partner, values, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[1]);
}

// Every call that completes requests, with and without statuses, and handles that are used again.
static void completions(void) {
    int values[4] = {1, 2, 3, 4}, others[4], index, count, indices[2], flag = 0;
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    for (int i = 0; i < 50; ++i) {
        start_pair(values, others, requests);
        T(Waitall, 0, 2, requests, i % 2 ? MPI_STATUSES_IGNORE : statuses);
    }
    start_pair(values, others, requests);
    T(Wait, 0, &requests[1], MPI_STATUS_IGNORE);
    T(Wait, 0, &requests[0], &status);
    T(Wait, 0, &requests[0], &status);  // MPI_REQUEST_NULL
    start_pair(values, others, requests);
    for (int i = 0; i < 3; ++i) T(Waitany, 0, 2, requests, &index, i ? MPI_STATUS_IGNORE : &status);
    CHECK(index == MPI_UNDEFINED);
    start_pair(values, others, requests);
    for (int done = 0; done < 2; done += count) T(Waitsome, 0, 2, requests, &count, indices, statuses);
    T(Waitsome, 0, 2, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    start_pair(values, others, requests);
    for (flag = 0; !flag;) T(Test, 0, &requests[0], &flag, &status);
    for (flag = 0; !flag;) T(Test, 0, &requests[1], &flag, MPI_STATUS_IGNORE);
    start_pair(values, others, requests);
    for (flag = 0; !flag;) T(Testall, 0, 2, requests, &flag, statuses);
    start_pair(values, others, requests);
    for (int done = 0; done < 2; done += flag) T(Testany, 0, 2, requests, &index, &flag, &status);
    start_pair(values, others, requests);
    for (int done = 0; done < 2; done += count) T(Testsome, 0, 2, requests, &count, indices, MPI_STATUSES_IGNORE);
    start_pair(values, others, requests);
    for (flag = 0; !flag;) T(Request_get_status, 0, requests[0], &flag, &status);
    T(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
    T(Waitall, 0, 0, NULL, MPI_STATUSES_IGNORE);
}

// MPICH has one handle for all sends that are complete when they are started.
static void shared_handles(void) {
    enum { messages = 40 };
    int values[messages] = {0}, others[messages];
    MPI_Request requests[2 * messages + 2];
    MPI_Status statuses[2 * messages + 2];
    for (int round = 0; round < 2; ++round) {
        MPI_Request* next = requests;
        for (int i = 0; i < messages; ++i) {
            truth_message("received", partner, 4);
            T(Irecv, 4, &others[i], 1, MPI_INT, partner, tag, MPI_COMM_WORLD, next++);
        }
        T(Barrier, 0, MPI_COMM_WORLD);
        for (int i = 0; i < messages; ++i)
            if (i % 2)
                T_SENT(Isend, 4, partner, &values[i], 1, MPI_INT, partner, tag, MPI_COMM_WORLD, next++);
            else
                T_SENT(Isend, 4, partner, &values[i], 1, MPI_INT, partner, tag, MPI_COMM_WORLD, next++);
        T(Isend, 0, values, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, next++);
        T(Irecv, 0, others, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, next++);
        T(Waitall, 0, 2 * messages + 2, requests, round ? statuses : MPI_STATUSES_IGNORE);
    }
}

// A receive that is cancelled has no bytes and no message; a request that is freed is not waited for.
static void cancelled(void) {
    int value = 1, other, flag = 0;
    MPI_Request request;
    MPI_Status status;
    T(Irecv, 0, &other, 1, MPI_INT, partner, 99, MPI_COMM_WORLD, &request);
    T(Cancel, 0, &request);
    T(Wait, 0, &request, &status);
    T(Test_cancelled, 0, &status, &flag);
    CHECK(flag);
    T_SENT(Isend, 4, partner, &value, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, &request);
    T(Request_free, 0, &request);
    T_RECEIVED(Recv, 4, partner, &other, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    T(Barrier, 0, MPI_COMM_WORLD);
}

static void probes(void) {
    double values[10] = {0}, others[10];
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int flag = 0, count;
    for (int i = 0; i < 4; ++i) T_SENT(Isend, 80, partner, values, 10, MPI_DOUBLE, partner, tag + i, MPI_COMM_WORLD, &request), MPI_Request_free(&request), truth_call("MPI_Request_free", 0, __FILE__, __func__, __LINE__);
    T(Probe, 0, partner, tag, MPI_COMM_WORLD, &status);
    T(Get_count, 0, &status, MPI_DOUBLE, &count);
    T_RECEIVED(Recv, 80, partner, others, count, MPI_DOUBLE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!flag) T(Iprobe, 0, partner, tag + 1, MPI_COMM_WORLD, &flag, &status);
    T_RECEIVED(Recv, 80, partner, others, 10, MPI_DOUBLE, partner, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    T(Mprobe, 0, partner, tag + 2, MPI_COMM_WORLD, &message, &status);
    T_RECEIVED(Mrecv, 80, partner, others, 10, MPI_DOUBLE, &message, &status);
    for (flag = 0; !flag;) T(Improbe, 0, MPI_ANY_SOURCE, tag + 3, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    truth_message("received", partner, 80);
    T(Imrecv, 80, others, 10, MPI_DOUBLE, &message, &request);
    T(Wait, 0, &request, MPI_STATUS_IGNORE);
    T(Barrier, 0, MPI_COMM_WORLD);
}

// Bytes of persistent requests belong to the call that starts them.
static void persistent(void) {
    int values[16] = {0}, others[16];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    T(Send_init, 0, values, 16, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[0]);
    T(Recv_init, 0, others, 16, MPI_INT, partner, tag, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        truth_message("sent", partner, 64);
        truth_message("received", partner, 64);
        T(Startall, 64 + 64, 2, requests);
        T(Waitall, 0, 2, requests, i ? statuses : MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; ++i) {
        truth_message("sent", partner, 64);
        truth_message("received", partner, 64);
        T(Start, 64, &requests[1]);
        T(Start, 64, &requests[0]);
        T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
        T(Wait, 0, &requests[1], MPI_STATUS_IGNORE);
    }
    T(Request_free, 0, &requests[0]);
    T(Request_free, 0, &requests[1]);
#if MPI_VERSION >= 4
    MPI_Request sum;
    T(Allreduce_init, 0, values, others, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &sum);
    for (int i = 0; i < 2; ++i) {
        T(Start, 64, &sum);
        T(Wait, 0, &sum, MPI_STATUS_IGNORE);
    }
    T(Request_free, 0, &sum);
#endif
}

// The message of a partitioned request has the bytes of all partitions.
static void partitioned(void) {
#if MPI_VERSION >= 4
    enum { partitions = 4, count = 8 };
    double values[partitions * count] = {0}, others[partitions * count];
    MPI_Request requests[2];
    int flag, list[1] = {3};
    T(Psend_init, 0, values, partitions, count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    T(Precv_init, 0, others, partitions, count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 2; ++i) {
        truth_message("sent", partner, 256);
        truth_message("received", partner, 256);
        T(Startall, 256 + 256, 2, requests);
        T(Pready, 0, 0, requests[0]);
        T(Pready_range, 0, 1, 2, requests[0]);
        T(Pready_list, 0, 1, list, requests[0]);
        for (flag = 0; !flag;) T(Parrived, 0, requests[1], 0, &flag);
        T(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
    }
    T(Request_free, 0, &requests[0]);
    T(Request_free, 0, &requests[1]);
#endif
}

// A handle of a type that was freed may be used again for a type of another size.
static void types(void) {
    char values[64] = {0}, others[64];
    for (int i = 1; i <= 8; ++i) {
        MPI_Datatype type;
        T(Type_contiguous, 0, i, MPI_INT, &type);
        T(Type_commit, 0, &type);
        if (rank % 2 == 0)
            T_SENT(Send, 8 * i, partner, values, 2, type, partner, tag, MPI_COMM_WORLD);
        else
            T_RECEIVED(Recv, 8 * i, partner, others, 2, type, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        T(Type_free, 0, &type);
    }
    MPI_Datatype spaced, pair;  // bytes are those of the data, not those between them
    T(Type_vector, 0, 3, 2, 4, MPI_INT, &spaced);
    T(Type_commit, 0, &spaced);
    T(Type_dup, 0, spaced, &pair);
    truth_message("sent", partner, 24);
    T_RECEIVED(Sendrecv, 24, partner, values, 1, spaced, partner, tag, others, 1, pair, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    T(Type_free, 0, &spaced);
    T(Type_free, 0, &pair);
}
