// The clock of MPI: what reading it costs, how it differs between ranks, and how far apart ranks leave a
// synchronisation.
#include "rows.hpp"

namespace clocks {

void note_global(octant::Context& context) {
    int* global = nullptr;
    int known = 0;
    octant::check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, static_cast<void*>(&global), &known));
    context.notes.emplace_back("wtime_is_global", known == 0 ? "not stated" : *global != 0 ? "yes" : "no");
}

}  // namespace clocks

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern",
                            {clocks::offset_row(), clocks::drift_row(), clocks::skew_row(), clocks::cost_row()});
}
