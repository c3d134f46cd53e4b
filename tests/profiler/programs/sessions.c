// A program of two sessions, without MPI_COMM_WORLD.
#include "truth.h"

#if MPI_VERSION >= 4
static void exchange(MPI_Session session) {
    MPI_Group group;
    MPI_Comm all;
    int rank, value = 1, other;
    T(Group_from_session_pset, 0, session, "mpi://WORLD", &group);
    T(Comm_create_from_group, 0, group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
    T(Group_free, 0, &group);
    T(Comm_rank, 0, all, &rank);
    truth_message("sent", rank ^ 1, 4);
    T_RECEIVED(Sendrecv, 4, rank ^ 1, &value, 1, MPI_INT, rank ^ 1, 0, &other, 1, MPI_INT, rank ^ 1, 0, all, MPI_STATUS_IGNORE);
    T(Allreduce, 4, &value, &other, 1, MPI_INT, MPI_SUM, all);
    T(Comm_free, 0, &all);
}
#endif

int main(void) {
#if MPI_VERSION >= 4
    MPI_Session sessions[2];
    for (int i = 0; i < 2; ++i) T(Session_init, 0, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sessions[i]);
    exchange(sessions[0]);
    T(Session_finalize, 0, &sessions[0]);
    exchange(sessions[1]);
    T(Session_finalize, 0, &sessions[1]);
#endif
    return 0;
}
