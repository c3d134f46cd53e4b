// Cases of collective communication: the bytes of a call are those that its rank contributes.
#pragma once

#include "messages.h"

enum { most = 16 };  // ranks

static void rooted(void) {
    double values[4 * most] = {0}, others[4 * most];
    int counts[most], places[most], total = 0;
    for (int i = 0; i < size; ++i) {
        counts[i] = i + 1;
        places[i] = total;
        total += counts[i];
    }
    for (int root = 0; root < 2; ++root) {
        int const here = rank == root;
        T(Bcast, here ? 32 : 0, values, 4, MPI_DOUBLE, root, MPI_COMM_WORLD);
        T(Reduce, 16, values, others, 2, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        T(Gather, 8, values, 1, MPI_DOUBLE, others, here ? 1 : -5, here ? MPI_DOUBLE : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        T(Scatter, here ? 24 * size : 0, values, here ? 3 : -5, here ? MPI_DOUBLE : MPI_DATATYPE_NULL, others, 3, MPI_DOUBLE, root, MPI_COMM_WORLD);
        T(Gatherv, 8 * (rank + 1), values, rank + 1, MPI_DOUBLE, others, here ? counts : NULL, here ? places : NULL, here ? MPI_DOUBLE : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        T(Scatterv, here ? 8 * total : 0, values, here ? counts : NULL, here ? places : NULL, here ? MPI_DOUBLE : MPI_DATATYPE_NULL, others, rank + 1, MPI_DOUBLE, root, MPI_COMM_WORLD);
    }
}

static void all_to_all(void) {
    float values[8 * most] = {0}, others[8 * most];
    int sent[most], received[most], sent_at[most], received_at[most], sum = 0;
    MPI_Datatype kinds[most];
    for (int i = 0; i < size; ++i) {
        sent[i] = rank + 1;  // to each rank
        received[i] = i + 1;
        sent_at[i] = i * (rank + 1);
        received_at[i] = sum;
        sum += received[i];
        kinds[i] = MPI_FLOAT;
    }
    T(Allreduce, 8, values, others, 2, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    T(Allgather, 12, values, 3, MPI_FLOAT, others, 3, MPI_FLOAT, MPI_COMM_WORLD);
    T(Allgatherv, 4 * (rank + 1), values, rank + 1, MPI_FLOAT, others, received, received_at, MPI_FLOAT, MPI_COMM_WORLD);
    T(Alltoall, 8 * size, values, 2, MPI_FLOAT, others, 2, MPI_FLOAT, MPI_COMM_WORLD);
    T(Alltoallv, 4 * size * (rank + 1), values, sent, sent_at, MPI_FLOAT, others, received, received_at, MPI_FLOAT, MPI_COMM_WORLD);
    int sent_bytes_at[most], received_bytes_at[most];
    for (int i = 0; i < size; ++i) sent_bytes_at[i] = 4 * sent_at[i], received_bytes_at[i] = 4 * received_at[i];
    T(Alltoallw, 4 * size * (rank + 1), values, sent, sent_bytes_at, kinds, others, received, received_bytes_at, kinds, MPI_COMM_WORLD);
    T(Scan, 20, values, others, 5, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    T(Exscan, 20, values, others, 5, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    T(Reduce_scatter_block, 12 * size, values, others, 3, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    T(Reduce_scatter, 4 * sum, values, others, received, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    T(Barrier, 0, MPI_COMM_WORLD);
}

// Arguments that MPI_IN_PLACE makes insignificant are invalid here, which the standard allows.
static void in_place(void) {
    double values[8 * most] = {0}, more[8 * most];
    int counts[most], places[most];
    for (int i = 0; i < size; ++i) counts[i] = 2, places[i] = 2 * i;
    MPI_Datatype const none = MPI_DATATYPE_NULL;
    for (int i = 0; i < 3; ++i) T(Allgather, 16, MPI_IN_PLACE, 0, none, values, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    T(Allgatherv, 16, MPI_IN_PLACE, -1, none, values, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    T(Allreduce, 24, MPI_IN_PLACE, values, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    T(Alltoall, 8 * size, MPI_IN_PLACE, 0, none, values, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    T(Alltoallv, 16 * size, MPI_IN_PLACE, NULL, NULL, none, values, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    int offsets[most];
    MPI_Datatype kinds[most];
    for (int i = 0; i < size; ++i) offsets[i] = 16 * i, kinds[i] = MPI_DOUBLE;
    T(Alltoallw, 16 * size, MPI_IN_PLACE, NULL, NULL, NULL, values, counts, offsets, kinds, MPI_COMM_WORLD);
    T(Scan, 8, MPI_IN_PLACE, values, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    T(Exscan, 8, MPI_IN_PLACE, values, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    T(Reduce_scatter_block, 16 * size, MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    T(Reduce_scatter, 16 * size, MPI_IN_PLACE, values, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int const root = 1, here = rank == root;
    T(Reduce, 8, here ? MPI_IN_PLACE : values, here ? values : NULL, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    T(Gather, 8, here ? MPI_IN_PLACE : values, here ? 0 : 1, here ? none : MPI_DOUBLE, here ? more : NULL, here ? 1 : 0, here ? MPI_DOUBLE : none, root, MPI_COMM_WORLD);
    T(Gatherv, 16, here ? MPI_IN_PLACE : values, here ? 0 : 2, here ? none : MPI_DOUBLE, here ? more : NULL, counts, places, here ? MPI_DOUBLE : none, root, MPI_COMM_WORLD);
    T(Scatter, here ? 8 * size : 0, here ? more : NULL, here ? 1 : 0, here ? MPI_DOUBLE : none, here ? MPI_IN_PLACE : values, here ? 0 : 1, here ? none : MPI_DOUBLE, root, MPI_COMM_WORLD);
    T(Scatterv, here ? 16 * size : 0, here ? more : NULL, counts, places, here ? MPI_DOUBLE : none, here ? MPI_IN_PLACE : values, here ? 0 : 2, here ? none : MPI_DOUBLE, root, MPI_COMM_WORLD);
}

// As their blocking forms; the time between start and end belongs to the call that started them.
static void nonblocking(void) {
    double values[8 * most] = {0}, others[8 * most];
    int counts[most], places[most];
    MPI_Request requests[10];
    for (int i = 0; i < size; ++i) counts[i] = 2, places[i] = 2 * i;
    MPI_Request* next = requests;
    T(Ibarrier, 0, MPI_COMM_WORLD, next++);
    T(Wait, 0, requests, MPI_STATUS_IGNORE);
    next = requests;
    double first[8] = {0};
    T(Ibcast, rank ? 0 : 32, first, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD, next++);
    T(Iallreduce, 8, values, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, next++);
    T(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
    T(Ialltoall, 16 * size, values, 2, MPI_DOUBLE, others, 2, MPI_DOUBLE, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Ialltoallv, 16 * size, values, counts, places, MPI_DOUBLE, others, counts, places, MPI_DOUBLE, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Iallgather, 16, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, others, 2, MPI_DOUBLE, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Iallgatherv, 16, values, 2, MPI_DOUBLE, others, counts, places, MPI_DOUBLE, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Ireduce, 16, values, others, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Igather, 16, values, 2, MPI_DOUBLE, others, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Iscatter, rank ? 0 : 16 * size, values, 2, MPI_DOUBLE, others, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
    T(Iscan, 16, values, others, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    int flag = 0;
    while (!flag) T(Test, 0, &requests[0], &flag, MPI_STATUS_IGNORE);
    T(Ireduce_scatter_block, 16 * size, values, others, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    T(Wait, 0, &requests[0], MPI_STATUS_IGNORE);
}

static void neighbours(void) {
    int const dimension[1] = {size}, periodic[1] = {0};
    double values[8] = {0}, others[8];
    MPI_Comm line;
    MPI_Request request;
    T(Cart_create, 0, MPI_COMM_WORLD, 1, dimension, periodic, 0, &line);
    // Two neighbours, of which one does not exist at the ends of the line.
    int const first = rank == 0, last = rank == size - 1, existing = 2 - first - last;
    T(Neighbor_allgather, 16 * existing, values, 2, MPI_DOUBLE, others, 2, MPI_DOUBLE, line);
    T(Neighbor_alltoall, 16 * existing, values, 2, MPI_DOUBLE, others, 2, MPI_DOUBLE, line);
    T(Ineighbor_alltoall, 16 * existing, values, 2, MPI_DOUBLE, others, 2, MPI_DOUBLE, line, &request);
    T(Wait, 0, &request, MPI_STATUS_IGNORE);
    T(Comm_free, 0, &line);
    int const other[1] = {partner}, count[1] = {3}, zero[1] = {0};
    MPI_Aint const at[1] = {0};
    MPI_Datatype const kind[1] = {MPI_DOUBLE};
    MPI_Comm graph;
    T(Dist_graph_create_adjacent, 0, MPI_COMM_WORLD, 1, other, MPI_UNWEIGHTED, 1, other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    T(Neighbor_alltoallv, 24, values, count, zero, MPI_DOUBLE, others, count, zero, MPI_DOUBLE, graph);
    T(Neighbor_alltoallw, 24, values, count, at, kind, others, count, at, kind, graph);
    T(Neighbor_allgatherv, 24, values, 3, MPI_DOUBLE, others, count, zero, MPI_DOUBLE, graph);
    T(Comm_free, 0, &graph);
}

// Two groups, of even and of odd ranks. Peers are ranks of MPI_COMM_WORLD.
static void between_groups(void) {
    MPI_Comm half, both;
    double values[most] = {0}, others[most];
    int const remote = rank % 2 ? (size + 1) / 2 : size / 2;
    T(Comm_split, 0, MPI_COMM_WORLD, rank % 2, rank, &half);
    T(Intercomm_create, 0, half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &both);
    if (rank % 2 == 0)
        T_SENT(Send, 8, partner, values, 1, MPI_DOUBLE, rank / 2, tag, both);
    else
        T_RECEIVED(Recv, 8, partner, others, 1, MPI_DOUBLE, rank / 2, tag, both, MPI_STATUS_IGNORE);
    int const root = rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL;
    T(Bcast, rank ? 0 : 16, values, 2, MPI_DOUBLE, root, both);
    T(Reduce, rank % 2 ? 24 : 0, values, others, 3, MPI_DOUBLE, MPI_SUM, root, both);
    T(Gather, rank % 2 ? 8 : 0, values, 1, MPI_DOUBLE, others, 1, MPI_DOUBLE, root, both);
    T(Scatter, rank ? 0 : 8 * remote, values, 1, MPI_DOUBLE, others, 1, MPI_DOUBLE, root, both);
    T(Allgather, 8, values, 1, MPI_DOUBLE, others, 1, MPI_DOUBLE, both);
    T(Alltoall, 8 * remote, values, 1, MPI_DOUBLE, others, 1, MPI_DOUBLE, both);
    T(Allreduce, 8, values, others, 1, MPI_DOUBLE, MPI_SUM, both);
    MPI_Comm merged;
    T(Intercomm_merge, 0, both, rank % 2, &merged);
    T(Barrier, 0, merged);
    T(Comm_free, 0, &merged);
    T(Comm_free, 0, &both);
    T(Comm_free, 0, &half);
}

static void named(MPI_Comm communicator, char const* name) {
    T(Comm_set_name, 0, communicator, name);
}

// Communicators have the same identity in all of their ranks, also if their handles were used before.
static void communicators(void) {
    MPI_Comm copy, part, again;
    int value = 0, sum;
    T(Comm_dup, 0, MPI_COMM_WORLD, &copy);
    named(copy, "copy");
    truth_communicator = "copy";
    T(Allreduce, 4, &value, &sum, 1, MPI_INT, MPI_SUM, copy);
    truth_communicator = "";
    T(Comm_split, 0, copy, rank % 2, -rank, &part);
    named(part, rank % 2 ? "odd" : "even");
    if (size > 3) truth_communicator = rank % 2 ? "odd" : "even";  // communicators of one rank are not separated
    T(Allreduce, 4, &value, &sum, 1, MPI_INT, MPI_SUM, part);
    truth_communicator = "";
    T(Comm_free, 0, &copy);
    T(Comm_free, 0, &part);
    for (int i = 0; i < 20; ++i) {
        T(Comm_dup, 0, MPI_COMM_WORLD, &again);
        if (i == 19) {
            named(again, "again");
            truth_communicator = "again";
        }
        T(Barrier, 0, again);
        truth_communicator = "";
        T(Comm_free, 0, &again);
    }
    truth_communicator = "MPI_COMM_WORLD";
    T(Barrier, 0, MPI_COMM_WORLD);
    truth_communicator = "MPI_COMM_SELF";
    T(Barrier, 0, MPI_COMM_SELF);
    truth_communicator = "";
    MPI_Comm reversed;  // rank 0 of it is the last of MPI_COMM_WORLD
    T(Comm_split, 0, MPI_COMM_WORLD, 0, -rank, &reversed);
    if (rank % 2 == 0)
        T_SENT(Send, 4, partner, &value, 1, MPI_INT, size - 1 - partner, tag, reversed);
    else
        T_RECEIVED(Recv, 4, partner, &value, 1, MPI_INT, size - 1 - partner, tag, reversed, MPI_STATUS_IGNORE);
    T(Comm_free, 0, &reversed);
    MPI_Comm nothing;
    T(Comm_split, 0, MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 0, 0, &nothing);
    if (!rank) T(Comm_free, 0, &nothing);
    MPI_Request request;
    T(Comm_idup, 0, MPI_COMM_WORLD, &again, &request);
    T(Wait, 0, &request, MPI_STATUS_IGNORE);
    named(again, "delayed");
    truth_communicator = "delayed";
    T(Barrier, 0, again);
    truth_communicator = "";
    T(Comm_free, 0, &again);
}
