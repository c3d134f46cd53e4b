#include "parcels.hpp"

namespace ptrans {

using octant::check;

double* Parcels::next_out() {
    std::size_t const place = sent_ % at_once;
    check(MPI_Wait(&out_[place], MPI_STATUS_IGNORE));
    return slot(place);
}

void Parcels::send(int rank, std::int64_t elements) {
    std::size_t const place = sent_++ % at_once;
    check(MPI_Isend(slot(place), static_cast<int>(elements), MPI_DOUBLE, rank, 0, comm_.get(), &out_[place]));
}

void Parcels::expect(int rank, std::int64_t elements) {
    std::size_t const place = expected_++ % at_once;
    check(MPI_Irecv(slot(at_once + place), static_cast<int>(elements), MPI_DOUBLE, rank, 0, comm_.get(), &in_[place]));
}

double const* Parcels::arrived() {
    std::size_t const place = returned_++ % at_once;
    check(MPI_Wait(&in_[place], MPI_STATUS_IGNORE));
    return slot(at_once + place);
}

void Parcels::finish() { check(MPI_Waitall(static_cast<int>(at_once), out_.data(), MPI_STATUSES_IGNORE)); }

}  // namespace ptrans
