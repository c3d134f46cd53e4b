// Two processes exchange messages in every way that MPI has.
#include "octant/kernel.hpp"

#include "kernels/pattern.hpp"
#include "octant/groups.hpp"
#include "protocol.hpp"
#include "unordered.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace exchange {

using octant::check;

Partners::Partners(octant::Context const& context)
    : group_(context.group), world_(context.world.rank()), peer_(context.world.rank()) {
    MPI_Group world = MPI_GROUP_NULL, mine = MPI_GROUP_NULL;
    check(MPI_Comm_group(context.world.get(), &world));
    check(MPI_Comm_group(group_.get(), &mine));
    int const peer = first() ? group_.size() - 1 : 0;
    check(MPI_Group_translate_ranks(mine, 1, &peer, world, &peer_));
    check(MPI_Group_free(&mine));
    check(MPI_Group_free(&world));
}

octant::Comm Partners::communicator() const {
    MPI_Group all = MPI_GROUP_NULL, both = MPI_GROUP_NULL;
    check(MPI_Comm_group(group_.get(), &all));
    std::array<int, 2> const ranks{0, group_.size() - 1};
    check(MPI_Group_incl(all, 2, ranks.data(), &both));
    MPI_Comm found = MPI_COMM_NULL;
    check(MPI_Comm_create_group(group_.get(), both, 0, &found));
    check(MPI_Group_free(&both));
    check(MPI_Group_free(&all));
    return octant::Comm(found);
}

octant::KernelInfo common_info() {
    using octant::KnobKind;
    return {.knobs = {{"bytes", KnobKind::bytes, "8", "message size", {}, 0, std::int64_t{1} << 28},
                      {"mode",
                       KnobKind::word,
                       "single",
                       "single: one exchange after a synchronisation; cold: single with cold caches; ten: ten "
                       "consecutive exchanges",
                       {"single", "cold", "ten"}},
                      {"walk", KnobKind::bytes, "0",
                       "mode=cold: memory that is read to evict the caches; 0: twice the cache size, at most 64 MiB"}},
            .pace = octant::Pace::steps,
            .roles = {{.name = "partner"}, {.name = "idle", .timed = false}},
            .min_ranks = 2};
}

namespace {

constexpr std::int64_t max_walked = std::int64_t{64} << 20;
constexpr std::size_t line = 64;

std::vector<Way> const& ways() {
    static std::vector<Way> const all = [] {
        std::vector<Way> found = two_sided();
        for (auto const& family : {with_requests(), one_sided()})
            found.insert(found.end(), family.begin(), family.end());
        return found;
    }();
    return all;
}

// Open MPI 5 waits for all ranks of the world inside the first partitioned calls; idle ranks make none.
void refuse_idle_ranks([[maybe_unused]] octant::Context const& context) {
#ifdef OPEN_MPI
    int const ranks = context.world.size();
    auto const pairs = octant::Groups::parse(context.knobs.word("groups"), ranks, 2).members.size();
    if (2 * pairs != static_cast<std::size_t>(ranks))
        throw octant::Refusal(
            "cannot use protocol=partitioned with idle ranks (Open MPI would deadlock); try groups=shift:P/2 with an "
            "even number of ranks",
            octant::Exit::not_supported);
#endif
}

class Exchange {
  public:
    static octant::KernelInfo info() { return common_info(); }

    explicit Exchange(octant::Context& context)
        : partners_(context),
          way_(*std::ranges::find(ways(), context.knobs.word("protocol"), &Way::name)),
          bytes_(static_cast<std::size_t>(context.knobs.integer("bytes"))),
          repeats_(context.knobs.word("mode") == "ten" ? 10 : 1),
          out_(context.buffer<std::uint8_t>(partners_.play() ? bytes_ + 1 : 1)),
          in_(context.buffer<std::uint8_t>(out_.size())),
          other_(context.buffer<std::uint8_t>(out_.size())),
          walked_(context.buffer<std::uint8_t>(partners_.play() ? walked_bytes(context) : 1)) {
        constexpr double max_copies = 5;  // of a message, in windows and attached buffers
        context.claim_outside(max_copies * static_cast<double>(out_.size()));
        if (*way_.missing_call != 0) throw octant::not_in_library(way_.missing_call);
        if (way_.name == "partitioned") refuse_idle_ranks(context);
        if (way_.name == "alltoallv" && bytes_ == 0)
            throw octant::Refusal("cannot use protocol=alltoallv with empty messages (none are sent); try bytes=1",
                                  octant::Exit::not_supported);
        for (auto const* buffer : {&out_, &in_, &other_, &walked_}) std::ranges::fill(buffer->span(), std::uint8_t{1});
        context.watched = {out_.mapping().bytes(), in_.mapping().bytes()};
    }

    void set_up() {
        if (!partners_.play()) return;
        comm_.emplace(partners_.communicator());
        open();
    }

    void prepare() {
        for (std::size_t i = 0; i < walked_.size(); i += line) sum_ = static_cast<std::uint8_t>(sum_ + walked_[i]);
    }

    void step() {
        for (int i = 0; i < repeats_ && protocol_; ++i) protocol_->exchange();
    }

    [[nodiscard]] std::size_t role(int) const { return partners_.play() ? 0 : 1; }

    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role == 1) return {};
        return {{"bytes_sent", static_cast<std::int64_t>(bytes_) * repeats_},
                {"messages", repeats_},
                {"exchanges", partners_.first() ? repeats_ : 0}};
    }

    // Each of three exchanges has other bytes. One side is late in the second, the other in the third: a rank that does
    // not wait for it receives the bytes of the previous exchange.
    octant::Results verify() {
        octant::Mismatch wrong;
        if (partners_.play()) {
            protocol_.reset();
            octant::poison(in_.span(), partners_.world_peer(), 0);
            octant::poison(other_.span(), partners_.world_peer(), 1);
            open();
            for (int pass = 0; pass < 3; ++pass) exchange_checked(pass, wrong);
        }
        if (corrupted_ && (bytes_ == 0 || !partners_.play())) wrong.add("an empty message");
        return {{"wrong bytes received", wrong.count(), "1", 0, wrong.where()}};
    }

    void corrupt(std::size_t) { corrupted_ = true; }

  private:
    static std::size_t walked_bytes(octant::Context const& context) {
        if (context.knobs.word("mode") != "cold") return 1;
        std::int64_t const asked = context.knobs.integer("walk");
        std::int64_t const caches = 2 * (octant::cache_bytes(2) + octant::cache_bytes(3));
        return static_cast<std::size_t>(asked > 0 ? asked : std::clamp<std::int64_t>(caches, 1, max_walked));
    }

    void open() {
        int const bytes = static_cast<int>(bytes_);
        int const shorter = octant::fault("short", partners_.world()) && bytes > 0 ? 1 : 0;
        protocol_ = way_.open({.comm = comm_->get(),
                               .me = comm_->rank(),
                               .peer = 1 - comm_->rank(),
                               .bytes = bytes,
                               .sent = bytes - shorter,
                               .out = out_.data(),
                               .in = in_.data(),
                               .other = other_.data(),
                               .silent = octant::fault("silent", partners_.world())});
    }

    void exchange_checked(int pass, octant::Mismatch& wrong) {
        comm_->barrier();  // the other side has read what arrived in the last one
        if (pass == 1 + comm_->rank()) usleep(2000);
        octant::fill_pattern({protocol_->outgoing(), bytes_}, partners_.world(), pass);
        protocol_->settle();
        protocol_->exchange();
        protocol_->settle();
        std::uint8_t* const arrived = protocol_->arrived();
        if (corrupted_ && bytes_ > 0) arrived[bytes_ / 2] = static_cast<std::uint8_t>(~arrived[bytes_ / 2]);
        wrong.compare({arrived, bytes_}, partners_.world(), partners_.world_peer(), pass);
    }

    Partners partners_;
    Way const& way_;
    std::size_t bytes_;
    int repeats_;
    octant::Buffer<std::uint8_t> out_, in_, other_, walked_;
    std::optional<octant::Comm> comm_;
    std::unique_ptr<Protocol> protocol_;  // closed before its communicator
    std::uint8_t volatile sum_ = 0;
    bool corrupted_ = false;
};

}  // namespace
}  // namespace exchange

int main(int argc, char** argv) {
    std::vector<octant::Row> rows;
    for (auto const& way : exchange::ways()) rows.push_back(octant::row<exchange::Exchange>(way.name));
    rows.push_back(octant::row<exchange::Unordered>("unordered"));
    return octant::run_rows(argc, argv, "protocol", std::move(rows));
}
