// Rows in which every rank of a group has its neighbours in a ring.
#include "p2p.hpp"

#include <array>

namespace p2p {
namespace {

struct Ring {
    explicit Ring(octant::Comm const& group)
        : right((group.rank() + 1) % group.size()), left((group.rank() + group.size() - 1) % group.size()) {}
    int right, left;
};

// To the right, and from the left, in one call.
class Sendrecv {
  public:
    static octant::KernelInfo info() { return shared_info(); }

    explicit Sendrecv(octant::Context& context) : group_(context.group), ring_(group_), messages_(context, {}) {}

    void step() { transfer(nullptr); }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return counts(group_, 1, messages_.bytes(), 1, 2 * messages_.bytes());
    }
    octant::Results verify() {
        return messages_.verify({{ring_.right, 0}}, {{ring_.left, 0}}, [&](MPI_Status* all) { transfer(all); });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    void transfer(MPI_Status* statuses) {
        octant::check(MPI_Sendrecv(messages_.next_out(), messages_.sent(), MPI_BYTE, ring_.right, 0,
                                   messages_.next_in(), messages_.count(), MPI_BYTE, messages_.from(ring_.left), 0,
                                   group_.get(), status_of(statuses, 0)));
    }

    octant::Comm const& group_;
    Ring ring_;
    Messages messages_;
};

constexpr int rightward = 0, leftward = 1;  // tags, and numbers of a rank's two messages

// To both neighbours, and from both.
class Exchange {
  public:
    static octant::KernelInfo info() { return shared_info(); }

    explicit Exchange(octant::Context& context)
        : group_(context.group), ring_(group_), messages_(context, {.out = 2, .in = 2}) {}

    void step() { transfer(nullptr); }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return counts(group_, 2, 2 * messages_.bytes(), 1, 4 * messages_.bytes());
    }
    octant::Results verify() {
        return messages_.verify({{ring_.right, rightward}, {ring_.left, leftward}},
                                {{ring_.left, rightward}, {ring_.right, leftward}},
                                [&](MPI_Status* all) { transfer(all); });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    void transfer(MPI_Status* statuses) {
        std::array<MPI_Request, 2> requests;
        send(ring_.right, rightward, requests[0]);
        send(ring_.left, leftward, requests[1]);
        receive(ring_.left, rightward, status_of(statuses, 0));
        receive(ring_.right, leftward, status_of(statuses, 1));
        octant::check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    }
    void send(int to, int tag, MPI_Request& request) {
        octant::check(MPI_Isend(messages_.next_out(), messages_.sent(), MPI_BYTE, to, tag, group_.get(), &request));
    }
    void receive(int from, int tag, MPI_Status* status) {
        octant::check(MPI_Recv(messages_.next_in(), messages_.count(), MPI_BYTE, messages_.from(from), tag,
                               group_.get(), status));
    }

    octant::Comm const& group_;
    Ring ring_;
    Messages messages_;
};

}  // namespace

std::vector<octant::Row> ring_rows() { return {octant::row<Sendrecv>("sendrecv"), octant::row<Exchange>("exchange")}; }

}  // namespace p2p
