// A module that is linked to MPI and loaded at run time with local scope, as mpi4py is.
#include "truth.h"

int run(void) {
    T(Init, 0, NULL, NULL);
    for (int i = 0; i < 4; ++i) T(Barrier, 0, MPI_COMM_WORLD);
    T(Finalize, 0);
    return 8;
}
