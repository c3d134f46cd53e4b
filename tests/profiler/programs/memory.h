// Cases of one-sided communication and of files.
#pragma once

#include "collectives.h"

static void put_and_get(int* local, MPI_Win window) {
    long const large[4] = {0};
    int result[8];
    (void)large;
    T(Win_fence, 0, 0, window);
    truth_message("put", partner, 12);
    T(Put, 12, local, 3, MPI_INT, partner, 0, 3, MPI_INT, window);
    T(Win_fence, 0, 0, window);
    truth_message("got", partner, 8);
    T(Get, 8, result, 2, MPI_INT, partner, 0, 2, MPI_INT, window);
    T(Win_fence, 0, 0, window);
    truth_message("put", partner, 16);
    T(Accumulate, 16, local, 4, MPI_INT, partner, 0, 4, MPI_INT, MPI_SUM, window);
    T(Win_fence, 0, 0, window);
    T(Put, 0, local, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, window);
    T(Win_fence, 0, 0, window);
}

// Calls that read and change memory are two messages; their bytes are those of one.
static void locked(int* local, MPI_Win window) {
    int result[8], expected = -1;
    MPI_Request requests[2];
    T(Win_lock, 0, MPI_LOCK_SHARED, partner, 0, window);
    truth_message("put", partner, 8);
    truth_message("got", partner, 8);
    T(Get_accumulate, 8, local, 2, MPI_INT, result, 2, MPI_INT, partner, 0, 2, MPI_INT, MPI_SUM, window);
    T(Win_flush, 0, partner, window);
    truth_message("put", partner, 4);
    truth_message("got", partner, 4);
    T(Fetch_and_op, 4, local, result, MPI_INT, partner, 0, MPI_SUM, window);
    T(Win_flush_local, 0, partner, window);
    truth_message("put", partner, 4);
    truth_message("got", partner, 4);
    T(Compare_and_swap, 4, local, &expected, result, MPI_INT, partner, 0, window);
    T(Win_unlock, 0, partner, window);
    T(Win_lock_all, 0, 0, window);
    truth_message("put", partner, 4);
    T(Rput, 4, local, 1, MPI_INT, partner, 4, 1, MPI_INT, window, &requests[0]);
    truth_message("got", partner, 20);
    T(Rget, 20, result, 5, MPI_INT, partner, 8, 5, MPI_INT, window, &requests[1]);
    T(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
    T(Win_flush_all, 0, window);
    T(Win_unlock_all, 0, window);
}

static void one_sided(void) {
    int local[8] = {0}, *memory;
    MPI_Win window;
    T(Win_allocate, 0, 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, 64);
    put_and_get(local, window);
    locked(local, window);
    MPI_Group all, other;
    T(Win_get_group, 0, window, &all);
    T(Group_incl, 0, all, 1, &partner, &other);
    T(Win_post, 0, other, 0, window);
    T(Win_start, 0, other, 0, window);
    truth_message("put", partner, 4);
    T(Put, 4, local, 1, MPI_INT, partner, 15, 1, MPI_INT, window);
    T(Win_complete, 0, window);
    T(Win_wait, 0, window);
    T(Group_free, 0, &all);
    T(Group_free, 0, &other);
    T(Win_free, 0, &window);
}

// Bytes of files are those that were transferred, which at the end of a file are fewer than asked for.
static void files(void) {
    char path[4200];
    snprintf(path, sizeof path, "%s/data", getenv("PLACE") ? getenv("PLACE") : "/tmp");
    int values[32] = {0};
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    T(File_open, 0, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    T(File_write_at, 40, file, 40 * rank, values, 10, MPI_INT, &status);
    T(File_write_at_all, 40, file, 40 * rank, values, 10, MPI_INT, MPI_STATUS_IGNORE);
    T(File_sync, 0, file);
    T(Barrier, 0, MPI_COMM_WORLD);
    T(File_read_at, 40, file, 40 * rank, values, 10, MPI_INT, &status);
    T(File_read_at_all, 40, file, 40 * rank, values, 10, MPI_INT, &status);
    T(File_read_at, 12, file, 40 * size - 12, values, 10, MPI_INT, &status);
    T(File_write, 8, file, values, 2, MPI_INT, &status);
    T(File_read, 4, file, values, 1, MPI_INT, &status);
    T(File_iwrite_at, 16, file, 40 * rank, values, 4, MPI_INT, &request);
    T(Wait, 0, &request, &status);
    T(File_iread_at, 16, file, 40 * rank, values, 4, MPI_INT, &request);
    T(Wait, 0, &request, MPI_STATUS_IGNORE);
    T(File_set_view, 0, file, 40 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    T(File_write_all, 24, file, values, 6, MPI_INT, &status);
    T(File_close, 0, &file);
}
