// Cost of cache coherence: transfer of a line between hardware threads, false sharing, flushing.
#include "rows.hpp"

#include "octant/failure.hpp"

namespace coherence {

void expect_two(std::vector<int> const& cpus) {
    if (cpus.size() < 2)
        throw octant::Refusal("cannot transfer lines (this rank has one hardware thread); use a placement with several",
                              octant::Exit::not_supported);
}

}  // namespace coherence

int main(int argc, char** argv) {
    using namespace coherence;
    return octant::run_rows(argc, argv, "pattern", {pairs_row(), sharing_row(), flush_row()});
}
