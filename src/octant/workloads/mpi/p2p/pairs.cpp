// Rows in which the first rank of a group exchanges messages with the last.
#include "pingpong.hpp"

namespace p2p {
namespace {

// Both send at once; each receives while its own message is on the way.
class PingPing {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.roles = {{.name = "player"}, {.name = "idle", .timed = false}};
        return info;
    }

    explicit PingPing(octant::Context& context)
        : group_(context.group), pair_(group_), messages_(context, {pair_.plays ? 1U : 0U, pair_.plays ? 1U : 0U}) {}

    void step() {
        if (pair_.plays) transfer(nullptr);
    }
    [[nodiscard]] std::size_t role(int) const { return pair_.plays ? 0 : 1; }
    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role == 1) return {};
        return counts(group_, 1, messages_.bytes(), 1, messages_.bytes());
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
        MPI_Request request;
        octant::check(
            MPI_Isend(messages_.next_out(), messages_.sent(), MPI_BYTE, pair_.peer, 0, group_.get(), &request));
        octant::check(MPI_Recv(messages_.next_in(), messages_.count(), MPI_BYTE, messages_.from(pair_.peer), 0,
                               group_.get(), status_of(statuses, 0)));
        octant::check(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }

    octant::Comm const& group_;
    Pair pair_;
    Messages messages_;
};

}  // namespace

std::vector<octant::Row> pair_rows() {
    return {octant::row<PingPong<InOnePiece>>("pingpong"), octant::row<PingPing>("pingping")};
}

}  // namespace p2p
