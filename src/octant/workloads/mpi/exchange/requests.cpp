// Protocols that keep something from one exchange to the next: requests, a posted receive, a buffer, a topology.
#include "octant/mpi_features.hpp"
#include "protocol.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace exchange {
namespace {

using octant::check;

constexpr int receiving = 0, sending = 1;

class Persistent : public Protocol {
  public:
    explicit Persistent(Pair const& pair) : Protocol(pair) {
        check(MPI_Recv_init(pair.in, pair.bytes, MPI_BYTE, pair.peer, 0, pair.comm, &requests_[receiving]));
    }
    ~Persistent() override {
        for (auto& request : requests_)
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }

  protected:
    std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    void start() { check(MPI_Startall(2, requests_.data())); }
    void wait() { check(MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE)); }
};

class Standard final : public Persistent {
  public:
    explicit Standard(Pair const& pair) : Persistent(pair) {
        check(MPI_Send_init(pair.out, pair.sent, MPI_BYTE, pair.peer, 0, pair.comm, &requests_[sending]));
    }
    void exchange() override {
        start();
        wait();
    }
};

class Ready final : public Persistent {
  public:
    explicit Ready(Pair const& pair) : Persistent(pair) {
        check(MPI_Rsend_init(pair.out, pair.sent, MPI_BYTE, pair.peer, 0, pair.comm, &requests_[sending]));
    }
    void exchange() override {
        check(MPI_Start(&requests_[receiving]));
        notify(pair_);
        check(MPI_Start(&requests_[sending]));
        wait();
    }
};

#if OCTANT_HAS_PARTITIONED
constexpr char const* missing_partitioned = "";
class Partitioned final : public Protocol {
  public:
    explicit Partitioned(Pair const& pair) : Protocol(pair) {
        check(MPI_Precv_init(pair.in, 1, pair.bytes, MPI_BYTE, pair.peer, 0, pair.comm, MPI_INFO_NULL,
                             &requests_[receiving]));
        check(MPI_Psend_init(pair.out, 1, pair.sent, MPI_BYTE, pair.peer, 0, pair.comm, MPI_INFO_NULL,
                             &requests_[sending]));
    }
    ~Partitioned() override {
        for (auto& request : requests_)
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
    void exchange() override {
        check(MPI_Startall(2, requests_.data()));
        check(MPI_Pready(0, requests_[sending]));
        check(MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE));
    }

  private:
    std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};
#else
constexpr char const* missing_partitioned = "MPI_Psend_init";
using Partitioned = Standard;
#endif

// The receive of the next exchange is posted before the message of this one leaves. The other side sends its next one
// only after it has this one, so its ready send always finds a posted receive, without a notification.
class OffsetBounds final : public Protocol {
  public:
    explicit OffsetBounds(Pair const& pair) : Protocol(pair), in_{pair.in, pair.other} {
        post();
        notify(pair);
    }
    ~OffsetBounds() override {
        MPI_Cancel(&posted_);
        MPI_Wait(&posted_, MPI_STATUS_IGNORE);
    }
    void exchange() override {
        MPI_Request mine = std::exchange(posted_, MPI_REQUEST_NULL);
        now_ = 1 - now_;
        post();
        check(MPI_Rsend(pair_.out, pair_.sent, MPI_BYTE, pair_.peer, 0, pair_.comm));
        check(MPI_Wait(&mine, MPI_STATUS_IGNORE));
    }
    [[nodiscard]] std::uint8_t* arrived() const override { return in_[1 - now_]; }

  private:
    void post() { check(MPI_Irecv(in_[now_], pair_.bytes, MPI_BYTE, pair_.peer, 0, pair_.comm, &posted_)); }
    std::array<std::uint8_t*, 2> in_;
    std::size_t now_ = 0;
    MPI_Request posted_ = MPI_REQUEST_NULL;
};

// Attaches a buffer for four messages: the next message may be copied into it before the last one has left.
class Buffered : public Protocol {
  public:
    explicit Buffered(Pair const& pair)
        : Protocol(pair), attached_(4 * (static_cast<std::size_t>(pair.bytes) + MPI_BSEND_OVERHEAD)) {
        check(MPI_Buffer_attach(attached_.data(), static_cast<int>(attached_.size())));
    }
    ~Buffered() override {
        void* buffer = nullptr;
        int size = 0;
        MPI_Buffer_detach(static_cast<void*>(&buffer), &size);  // returns when all messages have left
    }

  protected:
    void bsend() const { check(MPI_Bsend(pair_.out, pair_.sent, MPI_BYTE, pair_.peer, 0, pair_.comm)); }

  private:
    std::vector<std::byte> attached_;
};

class BsendRecv final : public Buffered {
  public:
    using Buffered::Buffered;
    void exchange() override {
        bsend();
        check(MPI_Recv(pair_.in, pair_.bytes, MPI_BYTE, pair_.peer, 0, pair_.comm, MPI_STATUS_IGNORE));
    }
};

class IrecvBsend final : public Buffered {
  public:
    using Buffered::Buffered;
    void exchange() override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Irecv(pair_.in, pair_.bytes, MPI_BYTE, pair_.peer, 0, pair_.comm, &request));
        bsend();
        check(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
};

class Neighbour final : public Protocol {  // in a graph where each side's only neighbour is the other
  public:
    explicit Neighbour(Pair const& pair) : Protocol(pair) {
        check(MPI_Dist_graph_create_adjacent(pair.comm, 1, &pair.peer, MPI_UNWEIGHTED, 1, &pair.peer, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &graph_));
    }
    ~Neighbour() override { MPI_Comm_free(&graph_); }
    void exchange() override {
        check(MPI_Neighbor_alltoall(pair_.out, pair_.sent, MPI_BYTE, pair_.in, pair_.bytes, MPI_BYTE, graph_));
    }

  private:
    MPI_Comm graph_ = MPI_COMM_NULL;
};

}  // namespace

std::vector<Way> with_requests() {
    return {{"irecv-rsend-ahead", open<OffsetBounds>}, {"bsend-recv", open<BsendRecv>},
            {"irecv-bsend", open<IrecvBsend>},         {"persistent", open<Standard>},
            {"persistent-ready", open<Ready>},         {"partitioned", open<Partitioned>, missing_partitioned},
            {"neighbour-alltoall", open<Neighbour>}};
}

}  // namespace exchange
