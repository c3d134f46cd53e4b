// Both sides call MPI_Send and then MPI_Recv: correct only as far as the library buffers messages.
#pragma once

#include "kernels/pattern.hpp"
#include "octant/kernel.hpp"
#include "protocol.hpp"

#include <cstdint>
#include <optional>

namespace exchange {

// Finds the longest message, up to `bytes`, that both sides can send before either receives. MPI_Send is MPI_Isend and
// MPI_Wait, so a send whose completion does not come within a limit would never return: it is seen without hanging.
class Unordered {
  public:
    static octant::KernelInfo info();
    explicit Unordered(octant::Context& context);
    void set_up();
    void step();
    [[nodiscard]] std::size_t role(int) const { return partners_.play() ? 0 : 1; }
    [[nodiscard]] octant::Counts work(std::size_t) const { return {}; }
    octant::Results results();
    octant::Results verify();
    void corrupt(std::size_t) { corrupted_ = true; }

  private:
    [[nodiscard]] bool passes(std::int64_t bytes);

    Partners partners_;
    std::int64_t most_;
    std::int64_t longest_ = 0;
    octant::Buffer<std::uint8_t> out_, in_;
    std::optional<octant::Comm> comm_;
    octant::Mismatch wrong_;
    int tries_ = 0;
    std::int64_t late_ = -1;  // the length whose first send was made out to be late, where that fault is injected
    bool corrupted_ = false;
};

}  // namespace exchange
