// Whose memory a rank loads from and stores to: its own, or that of all ranks of its node.
#pragma once

#include "part.hpp"

#include <optional>
#include <vector>

namespace gfft {

// x, the transform and what lies between the passes, of all ranks within reach.
class Reach {
  public:
    Reach(Share const& share, bool of_node, std::int64_t team);  // `team`: ranks that share; 0: all of a node
    void set_up();                                               // collective; who is within reach is known then

    struct Vectors {  // of ranks out of reach none
        Number *x, *work, *y;
    };
    [[nodiscard]] Vectors const& of(int rank) const { return vectors_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool contains(int rank) const { return within_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] Vectors const& mine() const { return of(share_.rank); }
    void synchronise() const;  // what all within reach stored before is seen by all of them
    [[nodiscard]] std::size_t ranks() const { return mates_.size(); }

  private:
    [[nodiscard]] std::size_t numbers() const;  // of this rank's memory

    Share const& share_;
    bool of_node_;
    std::int64_t team_;
    std::optional<octant::Comm> node_;  // or the team of it
    std::vector<int> mates_;            // its ranks
    std::vector<bool> within_;          // by rank
    std::optional<octant::NodeWindow> window_;
    std::optional<octant::Buffer<Number>> own_;
    std::vector<Vectors> vectors_;
};

}  // namespace gfft
