// Rows whose requests are made once and started in each step. A request is bound to its place in memory.
#include "octant/groups.hpp"
#include "octant/mpi_features.hpp"
#include "p2p.hpp"

#include <array>

namespace p2p {
namespace {

constexpr std::size_t most_sets = 4096;  // of requests, for rotating buffers

void check_sets(octant::Context const& context, std::size_t sets) {
    if (sets <= most_sets) return;
    throw octant::Refusal(
        "cannot rotate persistent requests over " + std::to_string(sets) +
            " buffers (too many requests); try buffers=hot, longer messages, or rotation=" +
            std::to_string(static_cast<std::size_t>(context.knobs.integer("rotation")) * most_sets / sets),
        octant::Exit::not_supported);
}

// Persistent requests of each place, freed with their owner.
template <std::size_t size>
class Sets {
  public:
    using Set = std::array<MPI_Request, size>;
    Sets() = default;
    Sets(Sets const&) = delete;
    Sets& operator=(Sets const&) = delete;
    ~Sets() {
        for (Set& set : sets_)
            for (MPI_Request& request : set) MPI_Request_free(&request);
    }
    Set& add() { return sets_.emplace_back(); }
    [[nodiscard]] Set& operator[](std::size_t number) noexcept { return sets_[number]; }

  private:
    std::vector<Set> sets_;
};

// A send of the places of a verification that is one byte short, for want of a request of that length.
void send_short(std::uint8_t const* place, Messages const& messages, int to, int tag, MPI_Comm comm) {
    MPI_Request request;
    octant::check(MPI_Isend(place, messages.sent(), MPI_BYTE, to, tag, comm, &request));
    octant::check(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

class PingPong {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.roles = Pair::roles();
        return info;
    }

    explicit PingPong(octant::Context& context)
        : group_(context.group), pair_(group_), messages_(context, {pair_.plays ? 1U : 0U, pair_.plays ? 1U : 0U}) {
        std::size_t const places = messages_.out().count();
        check_sets(context, places);
        for (std::size_t place = 0; place < places && pair_.plays; ++place) {
            auto& [send, receive] = sets_.add();
            octant::check(
                MPI_Send_init(messages_.out()[place], messages_.count(), MPI_BYTE, pair_.peer, 0, group_.get(), &send));
            octant::check(MPI_Recv_init(messages_.in()[place], messages_.count(), MPI_BYTE, messages_.from(pair_.peer),
                                        0, group_.get(), &receive));
        }
    }

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
        std::size_t const place = messages_.out().next();
        static_cast<void>(messages_.in().next());
        auto& [send, receive] = sets_[place];
        octant::check(MPI_Start(&receive));
        if (!pair_.calls) octant::check(MPI_Wait(&receive, status_of(statuses, 0)));
        if (messages_.sent() == messages_.count()) {
            octant::check(MPI_Start(&send));
            octant::check(MPI_Wait(&send, MPI_STATUS_IGNORE));
        } else {
            send_short(messages_.out()[place], messages_, pair_.peer, 0, group_.get());
        }
        if (pair_.calls) octant::check(MPI_Wait(&receive, status_of(statuses, 0)));
    }

    octant::Comm const& group_;
    Pair pair_;
    Messages messages_;
    Sets<2> sets_;
};

constexpr int rightward = 0, leftward = 1;  // tags, and numbers of a rank's two messages

// To both neighbours in a ring, and from both, started together.
class Exchange {
  public:
    static octant::KernelInfo info() { return shared_info(); }

    explicit Exchange(octant::Context& context)
        : group_(context.group), ring_(group_), messages_(context, {.out = 2, .in = 2, .hot_out = 2, .hot_in = 2}) {
        std::size_t const pairs = messages_.out().count() / 2;
        check_sets(context, pairs);
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            auto& set = sets_.add();  // the receives first: their statuses are looked at
            receive(ring_.left, rightward, 2 * pair, set[0]);
            receive(ring_.right, leftward, 2 * pair + 1, set[1]);
            send(ring_.right, rightward, 2 * pair, set[2]);
            send(ring_.left, leftward, 2 * pair + 1, set[3]);
        }
    }

    void step() { transfer(nullptr); }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return counts(group_, 2, 2 * messages_.bytes(), 1, 4 * messages_.bytes());
    }
    octant::Results verify() {
        return messages_.verify({{ring_.right, rightward}, {ring_.left, leftward}},
                                {{ring_.left, rightward}, {ring_.right, leftward}},
                                [&](MPI_Status* statuses) { transfer(statuses); });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    void send(int to, int tag, std::size_t place, MPI_Request& request) {
        octant::check(
            MPI_Send_init(messages_.out()[place], messages_.count(), MPI_BYTE, to, tag, group_.get(), &request));
    }
    void receive(int from, int tag, std::size_t place, MPI_Request& request) {
        octant::check(MPI_Recv_init(messages_.in()[place], messages_.count(), MPI_BYTE, messages_.from(from), tag,
                                    group_.get(), &request));
    }
    void transfer(MPI_Status* statuses) {
        std::size_t const first = messages_.out().next(), second = messages_.out().next();
        for (int i = 0; i < 2; ++i) static_cast<void>(messages_.in().next());
        auto& set = sets_[first / 2];
        bool const whole = messages_.sent() == messages_.count();
        octant::check(MPI_Startall(whole ? 4 : 2, set.data()));
        if (!whole) {
            send_short(messages_.out()[first], messages_, ring_.right, rightward, group_.get());
            send_short(messages_.out()[second], messages_, ring_.left, leftward, group_.get());
        }
        octant::check(MPI_Waitall(whole ? 4 : 2, set.data(), statuses_of(statuses)));
    }

    octant::Comm const& group_;
    Ring ring_;
    Messages messages_;
    Sets<4> sets_;
};

constexpr std::size_t early = 0, late = 1;  // phases

// To the right neighbour in a ring and from the left one, in parts that are declared ready one by one, the last first.
class Partitioned {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.phases = {"early", "late"};
        return info;
    }

    explicit Partitioned(octant::Context& context)
        : context_(context),
          ring_(context.group),
          parts_(static_cast<int>(context.knobs.integer("parts"))),
          messages_(context, {}) {
        if (OCTANT_HAS_PARTITIONED == 0) throw octant::not_in_library("MPI_Psend_init");
        if (messages_.count() % parts_ != 0)
            throw octant::Refusal("cannot send " + std::to_string(messages_.count()) + " B in parts=" +
                                      std::to_string(parts_) + " (the size is not a multiple of parts); try parts=1",
                                  octant::Exit::not_supported);
        check_members(context);
        check_sets(context, messages_.out().count());
    }

    // The requests are made in the first step: Open MPI 5 may crash where anything else is sent before they are
    // started.
    void step() {
        for (; made_ < messages_.out().count(); ++made_) make(made_);
        transfer(nullptr);
    }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return counts(context_.group, 1, messages_.bytes(), 1, messages_.bytes());
    }
    octant::Results verify() {
        return messages_.verify({{ring_.right, 0}}, {{ring_.left, 0}},
                                [&](MPI_Status* statuses) { transfer(statuses); });
    }
    void corrupt(std::size_t fault) { messages_.corrupt(fault); }

  private:
    // Open MPI 5 waits indefinitely in a partitioned transfer unless every rank of the world has made one.
    static void check_members([[maybe_unused]] octant::Context const& context) {
#ifdef OPEN_MPI
        auto const groups = octant::Groups::parse(context.knobs.word("groups"), context.world.size(), 2);
        if (!groups.idle(context.world.size()).empty())
            throw octant::Refusal(
                "cannot use groups=" + context.knobs.word("groups") +
                    " with pattern=partitioned (Open MPI deadlocks unless all ranks take part); try groups=all",
                octant::Exit::not_supported);
#endif
    }

    void make([[maybe_unused]] std::size_t place) {
#if OCTANT_HAS_PARTITIONED
        auto& [receive, send] = sets_.add();
        int const length = messages_.count() / parts_;
        octant::check(MPI_Precv_init(messages_.in()[place], parts_, length, MPI_BYTE, ring_.left, 0,
                                     context_.group.get(), MPI_INFO_NULL, &receive));
        octant::check(MPI_Psend_init(messages_.out()[place], parts_, length, MPI_BYTE, ring_.right, 0,
                                     context_.group.get(), MPI_INFO_NULL, &send));
#endif
    }

    void transfer([[maybe_unused]] MPI_Status* statuses) {
#if OCTANT_HAS_PARTITIONED
        std::size_t const place = messages_.out().next();
        static_cast<void>(messages_.in().next());
        auto& set = sets_[place];
        {
            auto const mark = context_.phase(early);
            octant::check(MPI_Startall(2, set.data()));
            for (int part = parts_ - 1; part > 0; --part) octant::check(MPI_Pready(part, set[1]));
        }
        auto const mark = context_.phase(late);
        octant::check(MPI_Pready(0, set[1]));
        octant::check(MPI_Waitall(2, set.data(), MPI_STATUSES_IGNORE));
        // The standard does not say what the status of a partitioned receive counts.
        if (statuses != nullptr) octant::check(MPI_Status_set_elements(statuses, MPI_BYTE, messages_.count()));
#endif
    }

    octant::Context& context_;
    Ring ring_;
    int parts_;
    Messages messages_;
    std::size_t made_ = 0;  // requests of so many places
    Sets<2> sets_;
};

}  // namespace

std::vector<octant::Row> persistent_rows() {
    return {octant::row<PingPong>("persistent-pingpong"), octant::row<Exchange>("persistent"),
            octant::row<Partitioned>("partitioned")};
}

}  // namespace p2p
