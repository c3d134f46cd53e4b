// Rows in which every rank of a group has its neighbours in a ring.
#include "octant/mpi_features.hpp"
#include "p2p.hpp"

#include <array>
#include <cstring>

namespace p2p {
namespace {

// Sends to the right and receives from the left in one call.
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

// The same, and what arrives takes the place of what was sent.
class Replace {
  public:
    static octant::KernelInfo info() { return shared_info(); }

    explicit Replace(octant::Context& context) : group_(context.group), ring_(group_), messages_(context, {}) {}

    void step() { transfer(messages_.next_in(), MPI_STATUS_IGNORE); }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return counts(group_, 1, messages_.bytes(), 1, 2 * messages_.bytes());
    }
    octant::Results verify() {
        return messages_.verify({{ring_.right, 0}}, {{ring_.left, 0}}, [&](MPI_Status* all) {
            std::uint8_t* const place = messages_.next_in();
            std::memcpy(place, messages_.next_out(), static_cast<std::size_t>(messages_.count()));
            transfer(place, all);
        });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    void transfer(std::uint8_t* place, MPI_Status* status) {
        octant::check(MPI_Sendrecv_replace(place, messages_.sent(), MPI_BYTE, ring_.right, 0,
                                           messages_.from(ring_.left), 0, group_.get(), status));
    }

    octant::Comm const& group_;
    Ring ring_;
    Messages messages_;
};

// Non-blocking variant of Sendrecv.
class Isendrecv {
  public:
    static octant::KernelInfo info() { return shared_info(); }

    explicit Isendrecv(octant::Context& context) : group_(context.group), ring_(group_), messages_(context, {}) {
        if (OCTANT_HAS_ISENDRECV == 0) throw octant::not_in_library("MPI_Isendrecv");
    }

    void step() { transfer(nullptr); }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return counts(group_, 1, messages_.bytes(), 1, 2 * messages_.bytes());
    }
    octant::Results verify() {
        return messages_.verify({{ring_.right, 0}}, {{ring_.left, 0}}, [&](MPI_Status* all) { transfer(all); });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    void transfer([[maybe_unused]] MPI_Status* statuses) {
#if OCTANT_HAS_ISENDRECV
        MPI_Request request;
        octant::check(MPI_Isendrecv(messages_.next_out(), messages_.sent(), MPI_BYTE, ring_.right, 0,
                                    messages_.next_in(), messages_.count(), MPI_BYTE, messages_.from(ring_.left), 0,
                                    group_.get(), &request));
        octant::check(MPI_Wait(&request, MPI_STATUS_IGNORE));
        // MPICH 5 leaves the status undefined; a message that is too short leaves poison in the buffer.
        if (statuses != nullptr) octant::check(MPI_Status_set_elements(statuses, MPI_BYTE, messages_.count()));
#endif
    }

    octant::Comm const& group_;
    Ring ring_;
    Messages messages_;
};

constexpr int rightward = 0, leftward = 1;  // tags, and numbers of a rank's two messages

// Exchange with both neighbours.
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

std::vector<octant::Row> ring_rows() {
    return {octant::row<Sendrecv>("sendrecv"), octant::row<Exchange>("exchange"),
            octant::row<Replace>("sendrecv-replace"), octant::row<Isendrecv>("isendrecv")};
}

}  // namespace p2p
