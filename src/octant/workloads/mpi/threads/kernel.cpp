// Threads of a rank that call MPI at the same time: messages and collective calls, as in IMB-MT.
#include "lanes.hpp"

int main(int argc, char** argv) {
    std::vector<octant::Row> rows = lanes::message_rows();
    for (octant::Row& row : lanes::collective_rows()) rows.push_back(std::move(row));
    return octant::run_rows(argc, argv, "pattern", std::move(rows));
}
