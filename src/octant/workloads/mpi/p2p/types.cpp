// Rows in which a message lies in blocks with gaps between them: as a derived datatype, and packed.
#include "p2p.hpp"

#include <algorithm>
#include <cstring>

namespace p2p {
namespace {

// Blocks two of their length apart, as many as fill the message; the message is rounded to whole blocks.
Shape blocks(octant::Context& context) {
    std::int64_t const asked = context.knobs.integer("bytes"), block = std::min(context.knobs.integer("block"), asked);
    std::int64_t const used = block == 0 ? 0 : asked / block * block;
    if (used > std::int64_t{1} << 30U)
        throw octant::Refusal("cannot lay out " + std::to_string(used) + " B in blocks (at most 1 GiB); try bytes=1GiB",
                              octant::Exit::not_supported);
    context.note_rounded(asked, used);
    return {static_cast<std::size_t>(used), static_cast<std::size_t>(block), 2 * static_cast<std::size_t>(block)};
}

// A vector of blocks, described to MPI once.
class Derived {
  public:
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

// As a ping-pong: the first rank sends to the last and receives in the same layout.
template <class Way>
class PingPong {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.roles = Pair::roles();
        return info;
    }

    explicit PingPong(octant::Context& context)
        : group_(context.group),
          pair_(group_),
          shape_(blocks(context)),
          way_(context, shape_),
          messages_(context, {pair_.plays ? 1U : 0U, pair_.plays ? 1U : 0U}, shape_) {}

    void step() {
        if (pair_.plays) transfer(nullptr);
    }
    [[nodiscard]] std::size_t role(int) const { return pair_.role(); }
    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role == 2) return {};
        return counts(group_, 1, messages_.bytes(), 2, 2 * messages_.bytes());
    }
    octant::Results verify() {
        std::vector<Piece> const one(pair_.plays ? 1 : 0, Piece{pair_.peer, 0});
        return messages_.verify(one, one, [&](MPI_Status* statuses) {
            if (pair_.plays) transfer(statuses);
        });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    void transfer(MPI_Status* statuses) {
        std::uint8_t const* const out = messages_.next_out();
        std::uint8_t* const in = messages_.next_in();
        int const from = messages_.from(pair_.peer);
        if (pair_.calls) way_.send(out, messages_, pair_.peer, group_.get());
        way_.receive(in, messages_, from, group_.get(), status_of(statuses, 0));
        if (!pair_.calls) way_.send(out, messages_, pair_.peer, group_.get());
    }

    octant::Comm const& group_;
    Pair pair_;
    Shape shape_;
    Way way_;
    Messages messages_;
};

}  // namespace

std::vector<octant::Row> type_rows() {
    return {octant::row<PingPong<Derived>>("derived"), octant::row<PingPong<Packed>>("packed")};
}

}  // namespace p2p
