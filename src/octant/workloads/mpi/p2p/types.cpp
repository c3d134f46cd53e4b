// Rows in which a message lies in blocks with gaps between them: as a derived datatype, and packed.
#include "pingpong.hpp"

#include <algorithm>
#include <cstring>

namespace p2p {
namespace {

// Blocks two of their length apart, as many as fill the message; the message is rounded to whole blocks.
Shape blocks(octant::Context& context) {
    std::int64_t const asked = context.knobs.integer("bytes"), block = std::min(context.knobs.integer("block"), asked);
    std::int64_t const used = block == 0 ? 0 : asked / block * block;
    if (used > std::int64_t{1} << 30U)
        throw octant::Refusal(
            "cannot create a strided layout of " + std::to_string(used) + " B (at most 1 GiB); try bytes=1GiB",
            octant::Exit::not_supported);
    context.note_rounded(asked, used);
    return {static_cast<std::size_t>(used), static_cast<std::size_t>(block), 2 * static_cast<std::size_t>(block)};
}

// A vector of blocks, described to MPI once.
class Derived {
  public:
    [[nodiscard]] static Shape shape(octant::Context& context) { return blocks(context); }
    Derived(octant::Context&, Shape shape) {
        int const block = static_cast<int>(shape.block);
        int const count = block == 0 ? 0 : static_cast<int>(shape.bytes / shape.block);
        octant::check(MPI_Type_vector(count, block, 2 * block, MPI_BYTE, &type_));
        octant::check(MPI_Type_commit(&type_));
    }
    Derived(Derived const&) = delete;
    Derived& operator=(Derived const&) = delete;
    ~Derived() { MPI_Type_free(&type_); }

    void send(std::uint8_t const* place, Messages const& messages, int to, MPI_Comm comm) {
        if (messages.sent() == messages.count())
            octant::check(MPI_Send(place, 1, type_, to, 0, comm));
        else  // a fault is injected
            octant::check(MPI_Send(place, messages.sent(), MPI_BYTE, to, 0, comm));
    }
    void receive(std::uint8_t* place, Messages const&, int from, MPI_Comm comm, MPI_Status* status) {
        octant::check(MPI_Recv(place, 1, type_, from, 0, comm, status));
    }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// The same blocks copied by a loop of ours into one piece.
class Packed {
  public:
    [[nodiscard]] static Shape shape(octant::Context& context) { return blocks(context); }
    Packed(octant::Context& context, Shape shape)
        : shape_(shape), piece_(context.buffer<std::uint8_t>(std::max<std::size_t>(1, shape.bytes))) {}

    void send(std::uint8_t const* place, Messages const& messages, int to, MPI_Comm comm) {
        for (std::size_t at = 0; at < shape_.bytes; at += shape_.block)
            std::memcpy(piece_.data() + at, place + 2 * at, shape_.block);
        octant::check(MPI_Send(piece_.data(), messages.sent(), MPI_BYTE, to, 0, comm));
    }
    void receive(std::uint8_t* place, Messages const& messages, int from, MPI_Comm comm, MPI_Status* status) {
        octant::check(MPI_Recv(piece_.data(), messages.count(), MPI_BYTE, from, 0, comm, status));
        for (std::size_t at = 0; at < shape_.bytes; at += shape_.block)
            std::memcpy(place + 2 * at, piece_.data() + at, shape_.block);
    }

  private:
    Shape shape_;
    octant::Buffer<std::uint8_t> piece_;
};

}  // namespace

std::vector<octant::Row> type_rows() {
    return {octant::row<PingPong<Derived>>("derived"), octant::row<PingPong<Packed>>("packed")};
}

}  // namespace p2p
