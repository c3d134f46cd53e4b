#include "clocks.hpp"

#include "octant/info.hpp"

#include <array>
#include <limits>

namespace clocks {

void exchange_readings(octant::Comm const& group, int other, std::int64_t exchanges, Read read, OffsetBounds* found) {
    constexpr int tag = 0;
    double reading_s = 0;
    for (std::int64_t i = 0; i < exchanges; ++i) {
        if (group.rank() == 0) {
            double const sent_s = read();
            octant::check(MPI_Send(nullptr, 0, MPI_BYTE, other, tag, group.get()));
            octant::check(MPI_Recv(&reading_s, 1, MPI_DOUBLE, other, tag, group.get(), MPI_STATUS_IGNORE));
            found->add(sent_s, reading_s, read());
        } else {
            octant::check(MPI_Recv(nullptr, 0, MPI_BYTE, 0, tag, group.get(), MPI_STATUS_IGNORE));
            reading_s = read();
            octant::check(MPI_Send(&reading_s, 1, MPI_DOUBLE, 0, tag, group.get()));
        }
    }
}

Range ahead_of_monotonic(Read read) {
    constexpr int trials = 200;
    // A double that counts seconds since the start of a machine has some digits only.
    double const digits = 2 * std::numeric_limits<double>::epsilon() * std::fmax(read(), Monotonic::read_s());
    Range least{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (int i = 0; i < trials; ++i) {
        double const before_s = Monotonic::read_s(), here_s = read(), after_s = Monotonic::read_s();
        Range const one{here_s - after_s - digits, here_s - before_s + digits};
        if (one.half_width() < least.half_width()) least = one;
    }
    return least;
}

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {{"clock",
             KnobKind::word,
             "wtime",
             "wtime: MPI_Wtime; monotonic: CLOCK_MONOTONIC (common to all processes of a node)",
             {"wtime", "monotonic"}},
            {"exchanges", KnobKind::integer, "100", "round trips per offset; the fastest counts", {}, 1, 1'000'000},
            {"duration", KnobKind::seconds, "10", "pattern=drift: time from the first to the last offset"},
            {"moments", KnobKind::integer, "21", "pattern=drift: number of offsets in this time", {}, 2, 100'000},
            {"method",
             KnobKind::word,
             "barrier",
             "pattern=skew: synchronisation method that is tested",
             {"none", "barrier", "dissemination", "clock"}}};
}

}  // namespace clocks
