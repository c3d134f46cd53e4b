// Messages of a rank with all others, in an order of its own.
#pragma once

#include "kernels/fft/reference.hpp"
#include "octant/mpi.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gfft {

using octant::fft::Number;

// Throws octant::Refusal: xor, but no power of two.
void check_schedule(std::string const& schedule, int ranks);

// The other ranks in the order in which `rank` of `ranks` sends to them. `schedule`: prime, ring, xor.
[[nodiscard]] std::vector<int> partners(std::string const& schedule, int rank, int ranks);

// Data to, or from, each rank: count[rank] numbers at begin + at[rank].
struct Parcels {
    Number* begin = nullptr;
    std::vector<int> at, count;

    [[nodiscard]] Number* of(int rank) const { return begin + at[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] int numbers(int rank) const { return count[static_cast<std::size_t>(rank)]; }
};

class Exchange {  // under way, until wait() comes back
  public:
    Parcels out, in;

    // `order`: the other ranks, in which messages are sent; empty: the library's own exchange.
    void expect(octant::Comm const& group, std::vector<int> const& order, int tag);
    void send(octant::Comm const& group, std::vector<int> const& order, int tag);
    void test();  // lets the library go on
    void wait();

  private:
    std::vector<MPI_Request> requests_;
};

}  // namespace gfft
