// Protocols whose calls are all made anew in each exchange.
#include "octant/mpi_features.hpp"
#include "protocol.hpp"

#include <array>

namespace exchange {
namespace {

using octant::check;

struct Calls {  // of one side, by name; `here` is its pair
    Pair const& here;

    void send() const { check(MPI_Send(here.out, here.sent, MPI_BYTE, here.peer, 0, here.comm)); }
    void ssend() const { check(MPI_Ssend(here.out, here.sent, MPI_BYTE, here.peer, 0, here.comm)); }
    void rsend() const { check(MPI_Rsend(here.out, here.sent, MPI_BYTE, here.peer, 0, here.comm)); }
    void recv() const { check(MPI_Recv(here.in, here.bytes, MPI_BYTE, here.peer, 0, here.comm, MPI_STATUS_IGNORE)); }
    [[nodiscard]] MPI_Request isend() const {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(here.out, here.sent, MPI_BYTE, here.peer, 0, here.comm, &request));
        return request;
    }
    [[nodiscard]] MPI_Request issend() const {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Issend(here.out, here.sent, MPI_BYTE, here.peer, 0, here.comm, &request));
        return request;
    }
    [[nodiscard]] MPI_Request irecv() const {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Irecv(here.in, here.bytes, MPI_BYTE, here.peer, 0, here.comm, &request));
        return request;
    }
    static void wait(MPI_Request request) { check(MPI_Wait(&request, MPI_STATUS_IGNORE)); }
    static void wait(MPI_Request one, MPI_Request other) {
        std::array requests{one, other};
        check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    }
};

template <auto calls>
class SingleCall final : public Protocol {
  public:
    using Protocol::Protocol;
    void exchange() override { calls(Calls{pair_}); }
};

class Replace final : public Protocol {
  public:
    using Protocol::Protocol;
    void exchange() override {
        check(MPI_Sendrecv_replace(pair_.out, pair_.sent, MPI_BYTE, pair_.peer, 0, pair_.peer, 0, pair_.comm,
                                   MPI_STATUS_IGNORE));
    }
    [[nodiscard]] std::uint8_t* arrived() const override { return pair_.out; }
};

void sendrecv(Calls c) {
    Pair const& here = c.here;
    check(MPI_Sendrecv(here.out, here.sent, MPI_BYTE, here.peer, 0, here.in, here.bytes, MPI_BYTE, here.peer, 0,
                       here.comm, MPI_STATUS_IGNORE));
}

#if OCTANT_HAS_ISENDRECV
constexpr char const* missing_isendrecv = "";
void isendrecv(Calls c) {
    Pair const& here = c.here;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isendrecv(here.out, here.sent, MPI_BYTE, here.peer, 0, here.in, here.bytes, MPI_BYTE, here.peer, 0,
                        here.comm, &request));
    Calls::wait(request);
}
#else
constexpr char const* missing_isendrecv = "MPI_Isendrecv";
void isendrecv(Calls) {}
#endif

void ordered(Calls c) {
    if (c.here.me == 0) c.send();
    c.recv();
    if (c.here.me != 0) c.send();
}

void ssend_ordered(Calls c) {
    if (c.here.me == 0) c.ssend();
    c.recv();
    if (c.here.me != 0) c.ssend();
}

void isend_recv(Calls c) {
    MPI_Request const sending = c.isend();
    c.recv();
    Calls::wait(sending);
}

void issend_recv(Calls c) {
    MPI_Request const sending = c.issend();
    c.recv();
    Calls::wait(sending);
}

void isend_irecv(Calls c) {
    MPI_Request const sending = c.isend();
    Calls::wait(sending, c.irecv());
}

void irecv_isend(Calls c) {
    MPI_Request const receiving = c.irecv();
    Calls::wait(receiving, c.isend());
}

void irecv_send(Calls c) {
    MPI_Request const receiving = c.irecv();
    c.send();
    Calls::wait(receiving);
}

void irecv_ssend(Calls c) {
    MPI_Request const receiving = c.irecv();
    c.ssend();
    Calls::wait(receiving);
}

void irecv_rsend(Calls c) {
    MPI_Request const receiving = c.irecv();
    notify(c.here);  // a ready send is wrong before its receive is posted
    c.rsend();
    Calls::wait(receiving);
}

void isend_mprobe(Calls c) {
    MPI_Request const sending = c.isend();
    MPI_Message message = MPI_MESSAGE_NULL;
    check(MPI_Mprobe(c.here.peer, 0, c.here.comm, &message, MPI_STATUS_IGNORE));
    check(MPI_Mrecv(c.here.in, c.here.bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    Calls::wait(sending);
}

// Nothing is sent to oneself: MPI_Alltoall would copy this side's own message too.
void alltoallv(Calls c) {
    Pair const& here = c.here;
    std::array<int, 2> sent{here.sent, here.sent}, received{here.bytes, here.bytes};
    std::array<int, 2> const places{0, 0};
    sent[static_cast<std::size_t>(here.me)] = received[static_cast<std::size_t>(here.me)] = 0;
    check(MPI_Alltoallv(here.out, sent.data(), places.data(), MPI_BYTE, here.in, received.data(), places.data(),
                        MPI_BYTE, here.comm));
}

}  // namespace

void notify(Pair const& pair) {
    if (pair.silent) return;
    check(MPI_Sendrecv(nullptr, 0, MPI_BYTE, pair.peer, 1, nullptr, 0, MPI_BYTE, pair.peer, 1, pair.comm,
                       MPI_STATUS_IGNORE));
}

std::vector<Way> two_sided() {
    return {{"sendrecv", open<SingleCall<sendrecv>>},
            {"isend-recv", open<SingleCall<isend_recv>>},
            {"irecv-send", open<SingleCall<irecv_send>>},
            {"irecv-rsend", open<SingleCall<irecv_rsend>>},
            {"irecv-isend", open<SingleCall<irecv_isend>>},
            {"isend-irecv", open<SingleCall<isend_irecv>>},
            {"isendrecv", open<SingleCall<isendrecv>>, missing_isendrecv},
            {"replace", open<Replace>},
            {"ordered", open<SingleCall<ordered>>},
            {"ssend-ordered", open<SingleCall<ssend_ordered>>},
            {"irecv-ssend", open<SingleCall<irecv_ssend>>},
            {"issend-recv", open<SingleCall<issend_recv>>},
            {"isend-mprobe", open<SingleCall<isend_mprobe>>},
            {"alltoallv", open<SingleCall<alltoallv>>}};
}

}  // namespace exchange
