// Messages of doubles, two on the way out and two on the way in at a time.
#pragma once

#include "octant/memory.hpp"
#include "octant/mpi.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ptrans {

class Parcels {
  public:
    static constexpr std::size_t at_once = 2;

    // `memory`: room for 2 x at_once parcels. All ranks send to and expect from each other in one order.
    Parcels(octant::Comm const& comm, std::span<double> memory)
        : comm_(comm), memory_(memory), each_(memory.size() / (2 * at_once)) {
        out_.fill(MPI_REQUEST_NULL);
        in_.fill(MPI_REQUEST_NULL);
    }
    Parcels(Parcels const&) = delete;
    Parcels& operator=(Parcels const&) = delete;
    ~Parcels() = default;  // a failure before the end ends the job

    [[nodiscard]] double* next_out();  // waits until what was there has left
    void send(int rank, std::int64_t elements);
    void expect(int rank, std::int64_t elements);
    [[nodiscard]] double const* arrived();  // waits for the first that was expected and has not been returned
    void finish();                          // waits until everything has left

  private:
    [[nodiscard]] double* slot(std::size_t number) const { return memory_.data() + number * each_; }

    octant::Comm const& comm_;
    std::span<double> memory_;
    std::size_t each_;
    std::array<MPI_Request, at_once> out_{}, in_{};
    std::size_t sent_ = 0, expected_ = 0, returned_ = 0;
};

}  // namespace ptrans
