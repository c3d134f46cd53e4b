// Collective operations of MPI, one at a time.
#include "collective.hpp"

namespace {

using namespace collective;

template <Pattern const& pattern>
class Row : public Collective {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo found = Collective::info();
        found.takes = [](int ranks, int, octant::Knobs const& knobs) {
            return Collective::refusal(pattern, ranks, knobs);
        };
        return found;
    }
    explicit Row(octant::Context& context) : Collective(context, pattern) {}
};

template <Pattern const&... patterns>
std::vector<octant::Row> rows() {
    return {octant::row<Row<patterns>>(patterns.name)...};
}

}  // namespace

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern",
                            rows<allreduce, barrier, bcast, reduce, reduce_scatter, reduce_scatter_block, gather,
                                 gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw,
                                 scan, exscan, reduce_local, neighbour_allgather, neighbour_allgatherv,
                                 neighbour_alltoall, neighbour_alltoallv, neighbour_alltoallw, bcast_c, allreduce_c>());
}
