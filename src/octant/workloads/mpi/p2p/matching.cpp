// Ping-pong with a queue of other messages: the cost of message matching.
#include "pingpong.hpp"

namespace p2p {
namespace {

enum class Queue { posted, unexpected };
constexpr int first_tag = 100;  // of the queue: receives that wait for lower ones would take the harness's messages
constexpr std::size_t entry_bytes = 8;

// Both ranks have `depth` posted receives without a matching message, or `depth` unexpected messages. The queue is
// filled before the first step and emptied after the last one.
template <Queue queue>
class Matching {
  public:
    static octant::KernelInfo info() { return PingPong<InOnePiece>::info(); }

    explicit Matching(octant::Context& context)
        : group_(context.group),
          ping_pong_(context),
          pair_(ping_pong_.pair()),
          depth_(pair_.plays ? static_cast<std::size_t>(context.knobs.integer("depth")) : 0),
          out_(context.buffer<std::uint8_t>((depth_ + 1) * entry_bytes)),
          in_(context.buffer<std::uint8_t>((depth_ + 1) * entry_bytes)),
          requests_(depth_, MPI_REQUEST_NULL) {
        check_tags();
        for (std::size_t i = 0; i < depth_; ++i) {
            octant::fill_pattern({out_.data() + i * entry_bytes, entry_bytes}, group_.rank(), static_cast<int>(i));
            octant::poison({in_.data() + i * entry_bytes, entry_bytes}, pair_.peer, static_cast<int>(i));
        }
    }

    void step() {
        if (pair_.plays && !filled_) fill();
        ping_pong_.step();
    }
    [[nodiscard]] std::size_t role(int) const { return pair_.role(); }
    [[nodiscard]] octant::Counts work(std::size_t role) const { return ping_pong_.work(role); }
    octant::Results verify() {
        auto checks = ping_pong_.verify();
        if (filled_) drain();
        octant::Mismatch wrong;
        if (spoils_queue_ && depth_ == 1) in_[0] ^= 1U;
        for (std::size_t i = 0; i < depth_; ++i)
            wrong.compare({in_.data() + i * entry_bytes, entry_bytes}, group_.rank(), pair_.peer, static_cast<int>(i));
        checks.push_back({"wrong bytes in queued messages", wrong.count(), "1", 0, wrong.where()});
        return checks;
    }
    // The check of the queue is the fourth here, so what is stale for other rows has the number behind it.
    void corrupt(std::size_t fault) {
        spoils_queue_ = fault == queue_check;
        if (!spoils_queue_) ping_pong_.corrupt(fault == queue_check + 1 ? std::size_t{Messages::stale} : fault);
    }

  private:
    void check_tags() const {
        int* most = nullptr;
        int found = 0;
        octant::check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found));
        if (found == 0 || depth_ == 0 || tag(depth_ - 1) <= *most) return;
        throw octant::Refusal("cannot create a queue of depth=" + std::to_string(depth_) +
                                  " (the largest tag of the MPI library is " + std::to_string(*most) +
                                  "); try depth=" + std::to_string(*most - first_tag),
                              octant::Exit::not_supported);
    }
    void fill() {
        filled_ = true;
        if (queue == Queue::posted)
            post();
        else
            send();
    }
    void drain() {
        if (queue == Queue::posted)
            send();
        else
            post();
        octant::check(MPI_Waitall(static_cast<int>(depth_), requests_.data(), MPI_STATUSES_IGNORE));
        filled_ = false;
    }
    void post() {
        for (std::size_t i = 0; i < depth_; ++i)
            octant::check(MPI_Irecv(in_.data() + i * entry_bytes, entry_bytes, MPI_BYTE, pair_.peer, tag(i),
                                    group_.get(), &requests_[i]));
    }
    void send() {
        for (std::size_t i = 0; i < depth_; ++i)
            octant::check(
                MPI_Send(out_.data() + i * entry_bytes, entry_bytes, MPI_BYTE, pair_.peer, tag(i), group_.get()));
    }
    // Injected fault: neighbours are exchanged.
    [[nodiscard]] int tag(std::size_t entry) const {
        bool const swaps = spoils_queue_ && (entry ^ 1U) < depth_;
        return first_tag + static_cast<int>(swaps ? entry ^ 1U : entry);
    }

    static constexpr std::size_t queue_check = 3;

    octant::Comm const& group_;
    PingPong<InOnePiece> ping_pong_;
    Pair pair_;
    std::size_t depth_;
    octant::Buffer<std::uint8_t> out_, in_;
    std::vector<MPI_Request> requests_;
    bool filled_ = false, spoils_queue_ = false;
};

}  // namespace

std::vector<octant::Row> matching_rows() {
    return {octant::row<Matching<Queue::posted>>("posted"), octant::row<Matching<Queue::unexpected>>("unexpected")};
}

}  // namespace p2p
