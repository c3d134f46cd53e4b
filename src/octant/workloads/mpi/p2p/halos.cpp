// Rows in which the ranks of a group are a periodic grid and exchange faces with their neighbours.
#include "p2p.hpp"

#include <array>

namespace p2p {
namespace {

// A neighbour, and what travels: this rank's message `number`, and the one of the neighbour that comes in return.
struct Face {
    int rank, number, answer;
};

template <int dimensions>
class Halo {
  public:
    static octant::KernelInfo info() { return shared_info(); }

    explicit Halo(octant::Context& context)
        : group_(context.group),
          faces_(faces(context)),
          messages_(context,
                    {.out = faces_.size(), .in = faces_.size(), .hot_out = faces_.size(), .hot_in = faces_.size()}) {}

    void step() { transfer(nullptr); }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        auto const count = static_cast<std::int64_t>(faces_.size());
        return counts(group_, count, count * messages_.bytes(), 1, 2 * count * messages_.bytes());
    }
    octant::Results verify() {
        std::vector<Piece> out, in;
        for (Face const& face : faces_) {
            out.push_back({face.rank, face.number});
            in.push_back({face.rank, face.answer});
        }
        return messages_.verify(out, in, [&](MPI_Status* statuses) { transfer(statuses); });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    // Grids are as near to a cube as the number of ranks allows; in a dimension of one rank there is no neighbour.
    static std::vector<Face> faces(octant::Context& context) {
        std::array<int, dimensions> sizes{};
        octant::check(MPI_Dims_create(context.group.size(), dimensions, sizes.data()));
        std::vector<Face> found;
        std::string grid;
        for (int d = 0, below = 1; d < dimensions; below *= sizes[static_cast<std::size_t>(d++)]) {
            int const size = sizes[static_cast<std::size_t>(d)], mine = context.group.rank() / below % size;
            grid += (d == 0 ? "" : " x ") + std::to_string(size);
            if (size == 1) continue;
            int const number = static_cast<int>(found.size()), base = context.group.rank() - mine * below;
            found.push_back({base + (mine + size - 1) % size * below, number, number + 1});
            found.push_back({base + (mine + 1) % size * below, number + 1, number});
        }
        context.notes.emplace_back("grid", grid);
        return found;
    }

    void transfer(MPI_Status* statuses) {
        std::size_t under_way = 0;
        for (Face const& face : faces_)
            octant::check(MPI_Irecv(messages_.next_in(), messages_.count(), MPI_BYTE, messages_.from(face.rank),
                                    face.answer, group_.get(), &requests_[under_way++]));
        for (Face const& face : faces_)
            octant::check(MPI_Isend(messages_.next_out(), messages_.sent(), MPI_BYTE, face.rank, face.number,
                                    group_.get(), &requests_[under_way++]));
        octant::check(MPI_Waitall(static_cast<int>(under_way), requests_.data(), statuses_of(statuses)));
    }

    octant::Comm const& group_;
    std::vector<Face> faces_;
    Messages messages_;
    std::array<MPI_Request, std::size_t{4} * dimensions> requests_{};
};

}  // namespace

std::vector<octant::Row> halo_rows() { return {octant::row<Halo<2>>("halo-2d"), octant::row<Halo<3>>("halo-3d")}; }

}  // namespace p2p
