// Every rank exchanges with both neighbours in a ring: in rank order, or in random orders, one after the other.
#include "octant/kernel.hpp"
#include "kernels/pattern.hpp"
#include "kernels/random.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace {

using octant::KnobKind;

constexpr int to_right = 1, to_left = 2;             // tags
constexpr std::size_t line = 64;                     // bytes between places, so that none shares a cache line
constexpr std::size_t max_recorded_places = 10'000;  // of the random orders, in the notes

struct Neighbours {
    int left, right;
};

class Ring {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"bytes", KnobKind::bytes, "8", "message size", {}, 0, std::numeric_limits<int>::max()},
                          {"order",
                           KnobKind::word,
                           "random",
                           "order of ranks in the ring: by number, or random",
                           {"ordered", "random"}},
                          {"rings", KnobKind::integer, "30", "number of random orders", {}, 1, 10'000},
                          {"loops", KnobKind::integer, "5", "exchanges per timed step", {}, 1, 1'000'000},
                          {"seed", KnobKind::integer, "1", "seed of the random orders"},
                          {"method",
                           KnobKind::word,
                           "sendrecv",
                           "sendrecv: right, then left; nonblocking: both directions simultaneously",
                           {"sendrecv", "nonblocking"}},
                          {"buffers",
                           KnobKind::word,
                           "hot",
                           "hot: the same buffer in each exchange; rotating: a buffer that is not in the caches; zero: "
                           "never written",
                           {"hot", "rotating", "zero"}},
                          {"rotation", KnobKind::bytes, "64MiB", "memory size of rotating buffers", {}, 4096}},
                .pace = octant::Pace::steps,
                .sync = octant::Sync::dissemination,
                .readings = {{"ring", "1"}}};
    }

    explicit Ring(octant::Context& context)
        : context_(context),
          bytes_(static_cast<std::size_t>(context.knobs.integer("bytes"))),
          loops_(context.knobs.integer("loops")),
          nonblocking_(context.knobs.word("method") == "nonblocking"),
          stride_((2 * bytes_ + line - 1) / line * line + line),
          places_(places_of(context, stride_)),
          out_(context.buffer<std::uint8_t>(places_ * stride_)),
          in_(context.buffer<std::uint8_t>(places_ * stride_)) {
        draw_orders();
        // Memory that was never written maps to the zero page of the operating system, which stays in the cache.
        if (context.knobs.word("buffers") != "zero") std::ranges::fill(out_.span(), std::uint8_t{1});
        std::ranges::fill(in_.span(), std::uint8_t{2});
        context.watched = {out_.mapping().bytes(), in_.mapping().bytes()};
    }

    void prepare() { ring_ = (ring_ + 1) % orders_.size(); }

    void step() {
        Neighbours const next = neighbours(orders_[ring_]);
        for (std::int64_t i = 0; i < loops_; ++i) exchange(next, nullptr);
        context_.record(0, static_cast<double>(ring_));
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"bytes_sent", 2 * loops_ * static_cast<std::int64_t>(bytes_)}, {"messages", 2 * loops_}};
    }

    // Compares the received bytes and lengths of each ring and side, and checks that all ranks have the same order.
    octant::Results verify() {
        octant::Mismatch bytes, places;
        int const me = context_.group.rank();
        for (std::size_t ring = 0; ring < orders_.size(); ++ring) {
            Neighbours const next = neighbours(orders_[ring]);
            int const pass = static_cast<int>(ring);
            at_ = ring % 2 == 0 ? places_ - 1 : 0;
            auto const out = out_.span().subspan(at_ * stride_, 2 * bytes_);
            auto const in = in_.span().subspan(at_ * stride_, 2 * bytes_);
            octant::fill_pattern(out.first(bytes_), me, pass);
            octant::fill_pattern(out.last(bytes_), me, pass + 1);
            octant::poison(in.first(bytes_), next.left, pass);
            octant::poison(in.last(bytes_), next.right, pass + 1);
            MPI_Status status[2];
            exchange(next, status);
            if (spoilt_ == 0 && ring == 0 && bytes_ > 0)
                in[0] = static_cast<std::uint8_t>(~octant::pattern_byte(next.left, 0, pass));
            bytes.compare(in.first(bytes_), me, next.left, pass);
            bytes.compare(in.last(bytes_), me, next.right, pass + 1);
            for (MPI_Status const& one : status) compare_length(one, bytes);
            compare_order(ring, next, places);
        }
        if (spoilt_ == 0 && bytes_ == 0) bytes.add("rank " + std::to_string(me) + ", an empty message");
        return {{"wrong bytes received", bytes.count(), "1", 0, bytes.where()},
                {"neighbours that differ from those of rank 0", places.count(), "1", 0, places.where()}};
    }

    void corrupt(std::size_t check) { spoilt_ = static_cast<int>(check); }

  private:
    // Fisher and Yates's shuffle (Knuth, vol. 2, algorithm P) with SplitMix64: the same on all ranks.
    void draw_orders() {
        std::vector<int> order(static_cast<std::size_t>(context_.group.size()));
        std::iota(order.begin(), order.end(), 0);
        orders_ = {order};
        if (context_.knobs.word("order") == "ordered") return;
        orders_.clear();
        octant::Random random(static_cast<std::uint64_t>(context_.knobs.integer("seed")));
        std::string text;
        for (std::int64_t ring = 0; ring < context_.knobs.integer("rings"); ++ring) {
            for (std::size_t left = order.size(); left > 1; --left)
                std::swap(order[left - 1], order[random.below(left)]);
            orders_.push_back(order);
            if (orders_.size() * order.size() > max_recorded_places) continue;
            text += text.empty() ? "" : " / ";
            for (std::size_t i = 0; i < order.size(); ++i) text += (i == 0 ? "" : " ") + std::to_string(order[i]);
        }
        context_.notes.emplace_back("orders", text);
    }

    [[nodiscard]] Neighbours neighbours(std::vector<int> const& order) const {
        auto const place = static_cast<std::size_t>(std::ranges::find(order, context_.group.rank()) - order.begin());
        return {order[(place + order.size() - 1) % order.size()], order[(place + 1) % order.size()]};
    }

    // The first half of a buffer goes to the right and comes from the left, the second half the other way.
    void exchange(Neighbours next, MPI_Status* status) {
        int const count = static_cast<int>(bytes_);
        MPI_Comm const group = context_.group.get();
        std::uint8_t *const out = out_.data() + at_ * stride_, *const in = in_.data() + at_ * stride_;
        at_ = at_ + 1 == places_ ? 0 : at_ + 1;
        if (nonblocking_) {
            MPI_Request requests[4];
            octant::check(MPI_Irecv(in, count, MPI_BYTE, next.left, to_right, group, &requests[0]));
            octant::check(MPI_Irecv(in + bytes_, count, MPI_BYTE, next.right, to_left, group, &requests[1]));
            octant::check(MPI_Isend(out, count, MPI_BYTE, next.right, to_right, group, &requests[2]));
            octant::check(MPI_Isend(out + bytes_, count, MPI_BYTE, next.left, to_left, group, &requests[3]));
            MPI_Status all[4];
            octant::check(MPI_Waitall(4, requests, status == nullptr ? MPI_STATUSES_IGNORE : all));
            if (status != nullptr) status[0] = all[0], status[1] = all[1];
            return;
        }
        octant::check(MPI_Sendrecv(out, count, MPI_BYTE, next.right, to_right, in, count, MPI_BYTE, next.left, to_right,
                                   group, status == nullptr ? MPI_STATUS_IGNORE : &status[0]));
        octant::check(MPI_Sendrecv(out + bytes_, count, MPI_BYTE, next.left, to_left, in + bytes_, count, MPI_BYTE,
                                   next.right, to_left, group, status == nullptr ? MPI_STATUS_IGNORE : &status[1]));
    }

    // Number of message pairs that the exchanges use.
    static std::size_t places_of(octant::Context const& context, std::size_t stride) {
        if (context.knobs.word("buffers") != "rotating") return 1;
        return std::max<std::size_t>(2, static_cast<std::size_t>(context.knobs.integer("rotation")) / stride);
    }

    void compare_length(MPI_Status const& status, octant::Mismatch& bytes) const {
        int count = -1;
        octant::check(MPI_Get_count(&status, MPI_BYTE, &count));
        if (count != static_cast<int>(bytes_))
            bytes.add("rank " + std::to_string(context_.group.rank()) + ", " + std::to_string(count) + " bytes of " +
                      std::to_string(bytes_) + " from rank " + std::to_string(status.MPI_SOURCE));
    }

    void compare_order(std::size_t ring, Neighbours next, octant::Mismatch& places) {
        std::vector<int> first = orders_[ring];
        if (spoilt_ == 1 && context_.group.rank() == 0) std::ranges::fill(first, -1);
        octant::check(MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_INT, 0, context_.group.get()));
        auto const [left, right] = neighbours_in(first);
        if (left != next.left || right != next.right)
            places.add("rank " + std::to_string(context_.group.rank()) + ", ring " + std::to_string(ring));
    }

    [[nodiscard]] Neighbours neighbours_in(std::vector<int> const& order) const {
        if (std::ranges::find(order, context_.group.rank()) == order.end()) return {-1, -1};
        return neighbours(order);
    }

    octant::Context& context_;
    std::size_t bytes_;
    std::int64_t loops_;
    bool nonblocking_;
    std::vector<std::vector<int>> orders_;
    std::size_t stride_, places_;  // bytes from one place to the next, and how many there are
    octant::Buffer<std::uint8_t> out_, in_;
    std::size_t ring_ = 0, at_ = 0;  // which place is next
    int spoilt_ = -1;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Ring>(argc, argv); }
