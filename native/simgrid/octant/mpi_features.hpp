// What SimGrid's MPI has beyond MPI 3.1: nothing. In place of the header that cmake/mpi_features.cmake writes.
#pragma once
#define OCTANT_HAS_PARTITIONED 0
#define OCTANT_HAS_LARGE_COUNTS 0
#define OCTANT_HAS_SESSIONS 0
#define OCTANT_HAS_ISENDRECV 0
#define OCTANT_HAS_PERSISTENT_COLLECTIVES 0
#define OCTANT_HAS_MPIX_PERSISTENT_COLLECTIVES 0
