// There and back between the first rank of a group and the last, whatever a message looks like.
#pragma once

#include "p2p.hpp"

#include <vector>

namespace p2p {

// A message without gaps.
struct InOnePiece {
    InOnePiece(octant::Context&, Shape) {}
    [[nodiscard]] static Shape shape(octant::Context const& context) { return Messages::one_piece(context); }
    void send(std::uint8_t const* place, Messages const& messages, int to, MPI_Comm comm) const {
        octant::check(MPI_Send(place, messages.sent(), MPI_BYTE, to, 0, comm));
    }
    void receive(std::uint8_t* place, Messages const& messages, int from, MPI_Comm comm, MPI_Status* status) const {
        octant::check(MPI_Recv(place, messages.count(), MPI_BYTE, from, 0, comm, status));
    }
};

// The first rank of a group sends to the last and receives from it. `Way::shape` is how a message lies in memory, and a
// Way sends and receives one.
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
          shape_(Way::shape(context)),
          way_(context, shape_),
          messages_(context, {pair_.plays ? 1U : 0U, pair_.plays ? 1U : 0U}, shape_) {}

    [[nodiscard]] Pair const& pair() const noexcept { return pair_; }

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

}  // namespace p2p
