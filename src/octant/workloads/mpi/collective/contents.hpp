// Elements of buffers: type, reduction operation, and expected values.
#pragma once

#include "octant/failure.hpp"
#include "octant/knobs.hpp"
#include "pattern.hpp"

#include <cstddef>
#include <optional>

namespace collective {

class Contents {  // owns the MPI type and operation
  public:
    // The knobs `type` and `op`; where nothing is `reduced`, `op` has no part in it.
    Contents(octant::Knobs const& knobs, bool reduced, int ranks);
    // Sums of bytes over so many ranks are not exact.
    static std::optional<octant::Refusal> refusal(octant::Knobs const& knobs, int ranks);
    Contents(Contents const&) = delete;
    Contents& operator=(Contents const&) = delete;
    ~Contents();

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  // of one element
    [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }
    [[nodiscard]] MPI_Op op() const noexcept { return op_; }

    // The elements of a block, the first of them at `to`. Values are small whole numbers, so that sums are exact in
    // every type, and differ by rank, place and pass. `reversed`: operands taken in the opposite order, which is wrong.
    void fill(std::byte* to, Block const& block, int pass, bool reversed = false) const {
        fill_(to, block, pass, reversed, values_);
    }

  private:
    using Fill = void (*)(std::byte* to, Block const& block, int pass, bool reversed, unsigned values);
    std::size_t bytes_ = 0;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
    unsigned values_ = 251;  // elements are 1 to this; a prime: blocks of powers of two never repeat
    Fill fill_ = nullptr;
    bool owns_ = false;
};

}  // namespace collective
