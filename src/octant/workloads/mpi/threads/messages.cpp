// Messages between pairs of ranks and round a ring, by every thread at once.
#include "lanes.hpp"

namespace lanes {
namespace {

struct Partners {
    bool calls, plays;
    int to, from;  // the same rank in a pair
};

// Rank i of the first half with rank i of the second; of an odd number the last is idle.
Partners pair_in(octant::Comm const& group) {
    int const half = group.size() / 2, rank = group.rank();
    int const peer = rank < half ? rank + half : rank - half;
    return {rank < half, rank < 2 * half, peer, peer};
}

Partners ring_in(octant::Comm const& group) {
    int const size = group.size();
    return {true, true, (group.rank() + 1) % size, (group.rank() + size - 1) % size};
}

std::vector<octant::Role> both() { return {{.name = ""}, {.name = "idle", .timed = false}}; }
std::vector<octant::Role> caller_and_answerer() {
    return {{.name = "caller"}, {.name = "answerer", .timed = false}, {.name = "idle", .timed = false}};
}

struct Call {  // the arguments of an operation in addition to its lane
    Partners const& partners;
    int bytes, window;
};

// What all patterns send alike unless they say otherwise: `messages` of a rank in an operation, IMB's `turns` by which
// its time is divided, and IMB's factor of the bandwidth.
struct One {
    static constexpr bool answers = false;
    static std::size_t places(int) { return 1; }
    static std::vector<Source> sources(Partners const& partners, int) { return {{partners.from, 0}}; }
    static std::int64_t messages(int, bool) { return 1; }
    static std::int64_t turns(int) { return 1; }
    static std::int64_t factor(int) { return 1; }
};

void send(Lane& lane, Call const& call) {
    octant::check(MPI_Send(lane.out[0], call.bytes, MPI_BYTE, call.partners.to, lane.tag, lane.comm));
}
void receive(Lane& lane, Call const& call) {
    octant::check(
        MPI_Recv(lane.in[0], call.bytes, MPI_BYTE, call.partners.from, lane.tag, lane.comm, MPI_STATUS_IGNORE));
}

struct PingPong : One {
    static constexpr bool answers = true;
    static Partners partners(octant::Comm const& group) { return pair_in(group); }
    static std::int64_t turns(int) { return 2; }
    static std::int64_t factor(int) { return 2; }
    static void run(Lane& lane, Call const& call) {
        if (call.partners.calls) send(lane, call);
        receive(lane, call);
        if (!call.partners.calls) send(lane, call);
    }
};

struct PingPing : One {
    static Partners partners(octant::Comm const& group) { return pair_in(group); }
    static void run(Lane& lane, Call const& call) {
        octant::check(
            MPI_Isend(lane.out[0], call.bytes, MPI_BYTE, call.partners.to, lane.tag, lane.comm, lane.requests.data()));
        receive(lane, call);
        octant::check(MPI_Wait(lane.requests.data(), MPI_STATUS_IGNORE));
    }
};

struct Sendrecv : One {
    static Partners partners(octant::Comm const& group) { return ring_in(group); }
    static std::int64_t factor(int) { return 2; }
    static void run(Lane& lane, Call const& call) {
        octant::check(MPI_Sendrecv(lane.out[0], call.bytes, MPI_BYTE, call.partners.to, lane.tag, lane.in[0],
                                   call.bytes, MPI_BYTE, call.partners.from, lane.tag, lane.comm, MPI_STATUS_IGNORE));
    }
};

// With both neighbours: place 0 goes to the one before, place 1 to the one behind. Two tags tell them apart where both
// neighbours are one rank.
struct Exchange : One {
    static Partners partners(octant::Comm const& group) { return ring_in(group); }
    static std::size_t places(int) { return 2; }
    static std::vector<Source> sources(Partners const& partners, int) { return {{partners.from, 1}, {partners.to, 0}}; }
    static std::int64_t messages(int, bool) { return 2; }
    static std::int64_t factor(int) { return 4; }
    static void run(Lane& lane, Call const& call) {
        int const up = 2 * lane.tag, down = up + 1;
        auto* const requests = lane.requests.data();
        octant::check(MPI_Irecv(lane.in[0], call.bytes, MPI_BYTE, call.partners.from, up, lane.comm, requests));
        octant::check(MPI_Irecv(lane.in[1], call.bytes, MPI_BYTE, call.partners.to, down, lane.comm, requests + 1));
        octant::check(MPI_Isend(lane.out[0], call.bytes, MPI_BYTE, call.partners.from, down, lane.comm, requests + 2));
        octant::check(MPI_Isend(lane.out[1], call.bytes, MPI_BYTE, call.partners.to, up, lane.comm, requests + 3));
        octant::check(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    }
};

// `window` messages in flight; the receiver says when it has them all, or the sender would stop its time too early.
struct Uniband : One {
    static constexpr bool answers = true;
    static Partners partners(octant::Comm const& group) { return pair_in(group); }
    static std::size_t places(int window) { return static_cast<std::size_t>(window); }
    static std::vector<Source> sources(Partners const& partners, int window) {
        std::vector<Source> all;
        for (int k = 0; k < window && !partners.calls; ++k) all.push_back({partners.from, k});
        return all;
    }
    static std::int64_t messages(int window, bool calls) { return calls ? window : 0; }
    static std::int64_t turns(int window) { return window; }
    static std::int64_t factor(int window) { return window; }
    static void post_sends(Lane& lane, Call const& call, int first) {
        for (int k = 0; k < call.window; ++k)
            octant::check(MPI_Isend(lane.out[static_cast<std::size_t>(k)], call.bytes, MPI_BYTE, call.partners.to,
                                    lane.tag, lane.comm, lane.requests.data() + first + k));
    }
    static void post_receives(Lane& lane, Call const& call) {
        for (int k = 0; k < call.window; ++k)
            octant::check(MPI_Irecv(lane.in[static_cast<std::size_t>(k)], call.bytes, MPI_BYTE, call.partners.from,
                                    lane.tag, lane.comm, lane.requests.data() + k));
    }
    static void run(Lane& lane, Call const& call) {
        if (call.partners.calls)
            post_sends(lane, call, 0);
        else
            post_receives(lane, call);
        octant::check(MPI_Waitall(call.window, lane.requests.data(), MPI_STATUSES_IGNORE));
        int const peer = call.partners.to;
        if (call.partners.calls)
            octant::check(MPI_Recv(nullptr, 0, MPI_BYTE, peer, lane.tag, lane.comm, MPI_STATUS_IGNORE));
        else
            octant::check(MPI_Send(nullptr, 0, MPI_BYTE, peer, lane.tag, lane.comm));
    }
};

struct Biband : Uniband {
    static constexpr bool answers = false;
    static std::vector<Source> sources(Partners const& partners, int window) {
        std::vector<Source> all;
        for (int k = 0; k < window; ++k) all.push_back({partners.from, k});
        return all;
    }
    static std::int64_t messages(int window, bool) { return window; }
    static std::int64_t factor(int window) { return 2 * std::int64_t{window}; }
    static void run(Lane& lane, Call const& call) {
        post_receives(lane, call);
        post_sends(lane, call, call.window);
        octant::check(MPI_Waitall(2 * call.window, lane.requests.data(), MPI_STATUSES_IGNORE));
        octant::check(MPI_Sendrecv(nullptr, 0, MPI_BYTE, call.partners.to, lane.tag, nullptr, 0, MPI_BYTE,
                                   call.partners.from, lane.tag, lane.comm, MPI_STATUS_IGNORE));
    }
};

template <class Pattern>
class Kernel {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.roles = Pattern::answers ? caller_and_answerer() : both();
        info.min_ranks = 2;
        return info;
    }
    explicit Kernel(octant::Context& context)
        : partners_(Pattern::partners(context.group)),
          lanes_(context, Pattern::places(static_cast<int>(context.knobs.integer("window")))),
          call_{partners_, lanes_.bytes(), lanes_.window()} {}
    void set_up() { lanes_.set_up(); }
    void step() {
        if (partners_.plays) lanes_.step([this](Lane& lane) { Pattern::run(lane, call_); });
    }
    [[nodiscard]] std::size_t role(int) const {
        if (!partners_.plays) return Pattern::answers ? 2 : 1;
        return Pattern::answers && !partners_.calls ? 1 : 0;
    }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        if (!partners_.plays) return {};
        int const window = lanes_.window();
        return lanes_.counts(Pattern::messages(window, partners_.calls), Pattern::turns(window),
                             Pattern::factor(window));
    }
    [[nodiscard]] octant::Results results() const { return lanes_.results(); }
    octant::Results verify() {
        auto const sources = Pattern::sources(partners_, lanes_.window());
        if (partners_.plays) lanes_.check([this](Lane& lane) { Pattern::run(lane, call_); }, sources);
        return {lanes_.found("wrong bytes received")};
    }
    void corrupt(std::size_t) { lanes_.corrupt(); }

  private:
    Partners partners_;
    Lanes lanes_;
    Call call_;
};

}  // namespace

std::vector<octant::Row> message_rows() {
    return {octant::row<Kernel<PingPong>>("pingpong"), octant::row<Kernel<PingPing>>("pingping"),
            octant::row<Kernel<Sendrecv>>("sendrecv"), octant::row<Kernel<Exchange>>("exchange"),
            octant::row<Kernel<Uniband>>("uniband"),   octant::row<Kernel<Biband>>("biband")};
}

}  // namespace lanes
