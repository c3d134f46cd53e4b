// Persistent collective operations, whatever the library calls them: MPI-4's, Open MPI 4's MPIX_ forms, or none.
#pragma once

#include "octant/failure.hpp"
#include "octant/mpi_features.hpp"

#include <mpi.h>
#if !OCTANT_HAS_PERSISTENT_COLLECTIVES && OCTANT_HAS_MPIX_PERSISTENT_COLLECTIVES
#include <mpi-ext.h>
#endif

namespace collective::persistent {

#if OCTANT_HAS_PERSISTENT_COLLECTIVES
inline constexpr auto barrier_init = MPI_Barrier_init;
inline constexpr auto bcast_init = MPI_Bcast_init;
inline constexpr auto gather_init = MPI_Gather_init;
inline constexpr auto gatherv_init = MPI_Gatherv_init;
inline constexpr auto scatter_init = MPI_Scatter_init;
inline constexpr auto scatterv_init = MPI_Scatterv_init;
inline constexpr auto allgather_init = MPI_Allgather_init;
inline constexpr auto allgatherv_init = MPI_Allgatherv_init;
inline constexpr auto alltoall_init = MPI_Alltoall_init;
inline constexpr auto alltoallv_init = MPI_Alltoallv_init;
inline constexpr auto alltoallw_init = MPI_Alltoallw_init;
inline constexpr auto reduce_init = MPI_Reduce_init;
inline constexpr auto allreduce_init = MPI_Allreduce_init;
inline constexpr auto reduce_scatter_init = MPI_Reduce_scatter_init;
inline constexpr auto reduce_scatter_block_init = MPI_Reduce_scatter_block_init;
inline constexpr auto scan_init = MPI_Scan_init;
inline constexpr auto exscan_init = MPI_Exscan_init;
inline constexpr auto neighbor_allgather_init = MPI_Neighbor_allgather_init;
inline constexpr auto neighbor_allgatherv_init = MPI_Neighbor_allgatherv_init;
inline constexpr auto neighbor_alltoall_init = MPI_Neighbor_alltoall_init;
inline constexpr auto neighbor_alltoallv_init = MPI_Neighbor_alltoallv_init;
inline constexpr auto neighbor_alltoallw_init = MPI_Neighbor_alltoallw_init;
#elif OCTANT_HAS_MPIX_PERSISTENT_COLLECTIVES
inline constexpr auto barrier_init = MPIX_Barrier_init;
inline constexpr auto bcast_init = MPIX_Bcast_init;
inline constexpr auto gather_init = MPIX_Gather_init;
inline constexpr auto gatherv_init = MPIX_Gatherv_init;
inline constexpr auto scatter_init = MPIX_Scatter_init;
inline constexpr auto scatterv_init = MPIX_Scatterv_init;
inline constexpr auto allgather_init = MPIX_Allgather_init;
inline constexpr auto allgatherv_init = MPIX_Allgatherv_init;
inline constexpr auto alltoall_init = MPIX_Alltoall_init;
inline constexpr auto alltoallv_init = MPIX_Alltoallv_init;
inline constexpr auto alltoallw_init = MPIX_Alltoallw_init;
inline constexpr auto reduce_init = MPIX_Reduce_init;
inline constexpr auto allreduce_init = MPIX_Allreduce_init;
inline constexpr auto reduce_scatter_init = MPIX_Reduce_scatter_init;
inline constexpr auto reduce_scatter_block_init = MPIX_Reduce_scatter_block_init;
inline constexpr auto scan_init = MPIX_Scan_init;
inline constexpr auto exscan_init = MPIX_Exscan_init;
inline constexpr auto neighbor_allgather_init = MPIX_Neighbor_allgather_init;
inline constexpr auto neighbor_allgatherv_init = MPIX_Neighbor_allgatherv_init;
inline constexpr auto neighbor_alltoall_init = MPIX_Neighbor_alltoall_init;
inline constexpr auto neighbor_alltoallv_init = MPIX_Neighbor_alltoallv_init;
inline constexpr auto neighbor_alltoallw_init = MPIX_Neighbor_alltoallw_init;
#else
struct Absent {
    char const* call;
    template <class... Arguments>
    int operator()(Arguments const&...) const {
        throw octant::not_in_library(call);
    }
};
inline constexpr Absent barrier_init{"MPI_Barrier_init"};
inline constexpr Absent bcast_init{"MPI_Bcast_init"};
inline constexpr Absent gather_init{"MPI_Gather_init"};
inline constexpr Absent gatherv_init{"MPI_Gatherv_init"};
inline constexpr Absent scatter_init{"MPI_Scatter_init"};
inline constexpr Absent scatterv_init{"MPI_Scatterv_init"};
inline constexpr Absent allgather_init{"MPI_Allgather_init"};
inline constexpr Absent allgatherv_init{"MPI_Allgatherv_init"};
inline constexpr Absent alltoall_init{"MPI_Alltoall_init"};
inline constexpr Absent alltoallv_init{"MPI_Alltoallv_init"};
inline constexpr Absent alltoallw_init{"MPI_Alltoallw_init"};
inline constexpr Absent reduce_init{"MPI_Reduce_init"};
inline constexpr Absent allreduce_init{"MPI_Allreduce_init"};
inline constexpr Absent reduce_scatter_init{"MPI_Reduce_scatter_init"};
inline constexpr Absent reduce_scatter_block_init{"MPI_Reduce_scatter_block_init"};
inline constexpr Absent scan_init{"MPI_Scan_init"};
inline constexpr Absent exscan_init{"MPI_Exscan_init"};
inline constexpr Absent neighbor_allgather_init{"MPI_Neighbor_allgather_init"};
inline constexpr Absent neighbor_allgatherv_init{"MPI_Neighbor_allgatherv_init"};
inline constexpr Absent neighbor_alltoall_init{"MPI_Neighbor_alltoall_init"};
inline constexpr Absent neighbor_alltoallv_init{"MPI_Neighbor_alltoallv_init"};
inline constexpr Absent neighbor_alltoallw_init{"MPI_Neighbor_alltoallw_init"};
#endif

}  // namespace collective::persistent
