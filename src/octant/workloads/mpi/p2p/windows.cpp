// Patterns with many messages in flight. An acknowledgement of the receiver ends a sample: without it, the time of the
// sender ends before its messages have arrived.
#include "p2p.hpp"

namespace p2p {
namespace {

constexpr int data = 0, acknowledgement = 1;  // tags

std::vector<Piece> pieces(int rank, int first, int count) {
    std::vector<Piece> found;
    for (int i = first; i < first + count; ++i) found.push_back({rank, i});
    return found;
}

// Calls that rows with windows make, on the requests of one step.
class Flight {
  public:
    Flight(octant::Context& context, Messages::Room room, int most)
        : group_(context.group), messages_(context, room), requests_(static_cast<std::size_t>(most)) {}

    void receive(int from) {
        octant::check(MPI_Irecv(messages_.next_in(), messages_.count(), MPI_BYTE, from, data, group_.get(),
                                &requests_[under_way_++]));
    }
    void send(int to) {
        octant::check(MPI_Isend(messages_.next_out(), messages_.sent(), MPI_BYTE, to, data, group_.get(),
                                &requests_[under_way_++]));
    }
    void wait(MPI_Status* statuses) {
        octant::check(MPI_Waitall(static_cast<int>(under_way_), requests_.data(), statuses_of(statuses)));
        under_way_ = 0;
    }
    void acknowledge(int to) const { octant::check(MPI_Send(nullptr, 0, MPI_BYTE, to, acknowledgement, group_.get())); }
    void wait_for_acknowledgement(int from) const {
        octant::check(MPI_Recv(nullptr, 0, MPI_BYTE, from, acknowledgement, group_.get(), MPI_STATUS_IGNORE));
    }
    [[nodiscard]] Messages& messages() noexcept { return messages_; }
    [[nodiscard]] std::int64_t bytes() const noexcept { return messages_.bytes(); }

  private:
    octant::Comm const& group_;
    Messages messages_;
    std::vector<MPI_Request> requests_;
    std::size_t under_way_ = 0;
};

// Pairs of a group's ranks: the first half with the second. With an odd number the last has no partner.
struct Halves {
    explicit Halves(octant::Context& context) {
        int const size = context.group.size(), rank = context.group.rank(), half = size / 2;
        calls = rank < half;
        plays = rank < 2 * half;
        peer = calls ? rank + half : rank - half;
        if (size % 2 != 0)
            context.notes.emplace_back(
                "idle", "rank " + std::to_string(size - 1) + " of " + std::to_string(size) + " has no partner");
    }
    [[nodiscard]] std::size_t role() const noexcept { return calls ? 0 : plays ? 1 : 2; }
    bool calls, plays;
    int peer;
};

// A window of messages from each rank of the first half to its partner; `both`: from the partner too.
template <bool both>
class Band {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.roles = Pair::roles();
        return info;
    }

    explicit Band(octant::Context& context)
        : group_(context.group),
          halves_(context),
          window_(static_cast<int>(context.knobs.integer("window"))),
          checked_(Messages::checked(context)),
          flight_(context, {.out = room(sends()), .in = room(receives())}, 2 * window_) {}

    void step() {
        if (halves_.plays) transfer(window_, nullptr);
    }
    [[nodiscard]] std::size_t role(int) const { return halves_.role(); }
    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role == 2) return {};
        std::int64_t const moved = window_ * flight_.bytes();
        octant::Counts found = {{"bytes_sent", sends() ? moved : 0}, {"messages", sends() ? window_ : 0}};
        if (group_.rank() == 0) found.push_back({"turns", window_});
        if (role == 0) found.push_back({"bytes_passed", both ? 2 * moved : moved});
        return found;
    }
    octant::Results verify() {
        return flight_.messages().verify(pieces(halves_.peer, 0, sends() ? checked_ : 0),
                                         pieces(halves_.peer, 0, receives() ? checked_ : 0), [&](MPI_Status* statuses) {
                                             if (halves_.plays) transfer(checked_, statuses);
                                         });
    }
    void corrupt(std::size_t fault) { flight_.messages().corrupt(fault); }

  private:
    [[nodiscard]] bool sends() const noexcept { return halves_.plays && (both || halves_.calls); }
    [[nodiscard]] bool receives() const noexcept { return halves_.plays && (both || !halves_.calls); }
    [[nodiscard]] std::size_t room(bool used) const { return used ? static_cast<std::size_t>(checked_) : 0; }

    void transfer(int window, MPI_Status* statuses) {
        int const from = flight_.messages().from(halves_.peer);
        for (int i = 0; i < window && receives(); ++i) flight_.receive(from);
        for (int i = 0; i < window && sends(); ++i) flight_.send(halves_.peer);
        flight_.wait(statuses);
        if (halves_.calls)
            flight_.wait_for_acknowledgement(halves_.peer);
        else
            flight_.acknowledge(halves_.peer);
    }

    octant::Comm const& group_;
    Halves halves_;
    int window_, checked_;
    Flight flight_;
};

constexpr std::size_t one_way = 0, both_ways = 1;  // phases

// A window from the first rank to the last, and then one each way at once: what is left of a direction when the other
// is at work.
class Duplex {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.roles = Pair::roles();
        info.phases = {"one_way", "both_ways"};
        return info;
    }

    explicit Duplex(octant::Context& context)
        : context_(context),
          pair_(context.group),
          window_(static_cast<int>(context.knobs.integer("window"))),
          checked_(Messages::checked(context)),
          flight_(context, {.out = room(pair_.calls), .in = room(!pair_.calls)}, 2 * window_) {}

    void step() {
        if (pair_.plays) transfer(window_, nullptr);
    }
    [[nodiscard]] std::size_t role(int) const { return pair_.role(); }
    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role == 2) return {};
        std::int64_t const windows = pair_.calls ? 2 : 1, messages = windows * window_;
        return counts(context_.group, messages, messages * flight_.bytes(), 2 * window_, 3 * window_ * flight_.bytes());
    }
    octant::Results verify() {
        int const out = pair_.plays ? checked_ * (pair_.calls ? 2 : 1) : 0;
        int const in = pair_.plays ? checked_ * (pair_.calls ? 1 : 2) : 0;
        return flight_.messages().verify(pieces(pair_.peer, 0, out), pieces(pair_.peer, 0, in),
                                         [&](MPI_Status* statuses) {
                                             if (pair_.plays) transfer(checked_, statuses);
                                         });
    }
    void corrupt(std::size_t fault) { flight_.messages().corrupt(fault); }

  private:
    // Messages of a direction that a rank uses in both phases, or in one.
    [[nodiscard]] std::size_t room(bool twice) const {
        return pair_.plays ? static_cast<std::size_t>(checked_) * (twice ? 2 : 1) : 0;
    }

    void transfer(int window, MPI_Status* statuses) {
        {
            auto const mark = context_.phase(one_way);
            move(window, pair_.calls, !pair_.calls, statuses);
        }
        auto const mark = context_.phase(both_ways);
        bool const behind = statuses != nullptr && !pair_.calls;
        move(window, true, true, behind ? statuses + window : statuses);
    }
    void move(int window, bool sends, bool receives, MPI_Status* statuses) {
        int const from = flight_.messages().from(pair_.peer);
        for (int i = 0; i < window && receives; ++i) flight_.receive(from);
        for (int i = 0; i < window && sends; ++i) flight_.send(pair_.peer);
        flight_.wait(statuses);
        if (pair_.calls)
            flight_.wait_for_acknowledgement(pair_.peer);
        else
            flight_.acknowledge(pair_.peer);
    }

    octant::Context& context_;
    Pair pair_;
    int window_, checked_;
    Flight flight_;
};

// A window from every other rank of a group to its first (`in`), or from the first to every other. A source starts
// its next window when the first rank has the last one: what has not been received is one window of each.
template <bool in>
class Fan {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.roles = {{.name = "hub"}, {.name = in ? "source" : "sink", .timed = false}};
        return info;
    }

    explicit Fan(octant::Context& context)
        : group_(context.group),
          others_(group_.rank() == 0 ? group_.size() - 1 : 1),
          window_(static_cast<int>(context.knobs.integer("window"))),
          checked_(Messages::checked(context)),
          flight_(context, {.out = sends() ? room() : 0, .in = sends() ? 0 : room()}, window_ * others_) {}

    void step() { transfer(window_, nullptr); }
    [[nodiscard]] std::size_t role(int) const { return hub() ? 0 : 1; }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::int64_t const sent = sends() ? window_ * others_ : 0, passed = window_ * others_;
        return counts(group_, sent, sent * flight_.bytes(), passed, passed * flight_.bytes());
    }
    octant::Results verify() {
        auto const moved = checked_messages();
        auto const none = std::vector<Piece>();
        return flight_.messages().verify(sends() ? moved : none, sends() ? none : moved,
                                         [&](MPI_Status* statuses) { transfer(checked_, statuses); });
    }
    void corrupt(std::size_t fault) { flight_.messages().corrupt(fault); }

  private:
    [[nodiscard]] bool hub() const noexcept { return group_.rank() == 0; }
    [[nodiscard]] bool sends() const noexcept { return in != hub(); }
    [[nodiscard]] std::size_t room() const { return static_cast<std::size_t>(checked_ * others_); }

    // The messages of a checked step. The hub takes one message of each other rank, round-robin.
    [[nodiscard]] std::vector<Piece> checked_messages() const {
        std::vector<Piece> found;
        for (int i = 0; i < checked_; ++i) {
            if (!hub()) found.push_back({0, in ? i : i * (group_.size() - 1) + group_.rank() - 1});
            for (int rank = 1; hub() && rank <= others_; ++rank)
                found.push_back({rank, in ? i : i * others_ + rank - 1});
        }
        return found;
    }

    void transfer(int window, MPI_Status* statuses) {
        for (int i = 0; i < window; ++i)
            for (int other = 0; other < others_; ++other) {
                int const rank = hub() ? other + 1 : 0;
                if (sends())
                    flight_.send(rank);
                else
                    flight_.receive(rank);
            }
        flight_.wait(statuses);
        for (int other = 0; other < others_; ++other) {
            int const rank = hub() ? other + 1 : 0;
            if (sends())
                flight_.wait_for_acknowledgement(rank);
            else
                flight_.acknowledge(rank);
        }
    }

    octant::Comm const& group_;
    int others_, window_, checked_;
    Flight flight_;
};

}  // namespace

std::vector<octant::Row> window_rows() {
    return {octant::row<Band<false>>("uniband"), octant::row<Band<true>>("biband"), octant::row<Fan<true>>("fan-in"),
            octant::row<Fan<false>>("fan-out"), octant::row<Duplex>("duplex")};
}

}  // namespace p2p
