// A file of each rank: written, read, collected in memory first, and moved while the rank computes or exchanges
// messages.
#include "blocks.hpp"
#include "kernels/busy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

namespace local {
namespace {

octant::KernelInfo info_with(std::vector<std::string> phases) {
    return {.knobs = knobs(),
            .pace = octant::Pace::steps,
            .sync = octant::Sync::dissemination,
            .phases = std::move(phases),
            .blocks = true,
            .defaults = {{"seconds", "1"}, {"least", "5"}, {"samples", "1000"}}};
}

template <bool writes>
class Plain {
  public:
    enum Phases : std::size_t { transfer, sync };
    static octant::KernelInfo info() { return info_with({"transfer", "sync"}); }
    explicit Plain(octant::Context& context) : context_(context), blocks_(context, writes, false) {
        if (!blocks_.syncs()) context.without_phases();
    }
    void set_up() { blocks_.set_up(); }
    void prepare() { blocks_.prepare(); }
    void step() {
        {
            auto const mark = context_.phase(transfer);
            blocks_.move_all();
        }
        if (!blocks_.syncs()) return;
        auto const mark = context_.phase(sync);
        blocks_.sync();
    }
    [[nodiscard]] octant::Counts work(std::size_t) const { return blocks_.work(); }
    [[nodiscard]] octant::Results results() { return blocks_.results(); }
    octant::Results verify() {
        return blocks_.verify([this] { step(); });
    }
    void corrupt(std::size_t fault) { blocks_.corrupt(fault); }

  private:
    octant::Context& context_;
    Blocks blocks_;
};

// Blocks are made one after the other and collected; large transfers empty the memory.
class StagedWrite {
  public:
    enum Phases : std::size_t { fill, flush, sync };
    static octant::KernelInfo info() { return info_with({"fill", "flush", "sync"}); }
    explicit StagedWrite(octant::Context& context)
        : context_(context),
          blocks_(context, true, false, "flush_block"),
          flush_block_(context.knobs.integer("flush_block")),
          collected_(context.buffer<std::byte>(static_cast<std::size_t>(blocks_.bytes()))) {
        std::memset(collected_.data(), 0, collected_.size());
    }
    void set_up() { blocks_.set_up(); }
    void prepare() { blocks_.prepare(); }
    void step() {
        {
            auto const mark = context_.phase(fill);
            for (std::int64_t at = 0; at < blocks_.bytes(); at += blocks_.block())
                std::memcpy(collected_.data() + at, blocks_.memory() + at,
                            static_cast<std::size_t>(std::min(blocks_.block(), blocks_.bytes() - at)));
        }
        {
            auto const mark = context_.phase(flush);
            blocks_.move_all(collected_.data(), flush_block_);
        }
        auto const mark = context_.phase(sync);
        blocks_.sync();
    }
    [[nodiscard]] octant::Counts work(std::size_t) const { return blocks_.work(); }
    [[nodiscard]] octant::Results results() { return blocks_.results(); }
    octant::Results verify() {
        return blocks_.verify([this] { step(); });
    }
    void corrupt(std::size_t fault) { blocks_.corrupt(fault); }

  private:
    octant::Context& context_;
    Blocks blocks_;
    std::int64_t flush_block_;
    octant::Buffer<std::byte> collected_;
};

// Work of a rank between the beginnings of two transfers: a number of units, the same on all ranks.
class OtherWork {
  public:
    explicit OtherWork(octant::Context& context)
        : group_(context.group), messages_(context.knobs.word("overlap") == "messages"), out_(words), in_(words) {}

    static std::optional<octant::Refusal> takes(int ranks, int, octant::Knobs const& knobs) {
        if (knobs.word("overlap") != "messages" || ranks % 2 == 0) return {};
        return octant::Refusal("cannot exchange messages (odd number of ranks); try --ranks 2, or overlap=computing",
                               octant::Exit::not_supported);
    }
    // Calibrates the work per block to `block_s`. Collective.
    void fit(octant::Context const& context, double block_s) {
        auto const seconds_of = [&](std::function<void()> const& body) { return context.seconds_of(body); };
        double const unit_s = messages_ ? octant::median_seconds(seconds_of, [this] { exchange(); })
                                        : octant::unit_seconds(seconds_of, value_);
        double const slowest_s = group_.max(unit_s);
        units_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(group_.max(block_s) / slowest_s));
    }
    void operator()() {
        if (!messages_) value_ = octant::busy(value_, units_);
        for (std::int64_t i = 0; messages_ && i < units_; ++i) exchange();
    }
    [[nodiscard]] double wrong() const noexcept { return wrong_; }  // messages

  private:
    static constexpr std::size_t words = 8192;  // 64 KiB
    static std::uint64_t token(int rank, std::uint64_t number) noexcept {
        return octant::file_word(number, static_cast<std::uint64_t>(rank));
    }
    void exchange() {
        int const mine = group_.rank(), other = mine ^ 1;
        out_.front() = out_.back() = token(mine, ++number_);
        octant::check(MPI_Sendrecv(out_.data(), static_cast<int>(words), MPI_UINT64_T, other, 0, in_.data(),
                                   static_cast<int>(words), MPI_UINT64_T, other, 0, group_.get(), MPI_STATUS_IGNORE));
        if (in_.front() != token(other, number_) || in_.back() != in_.front()) wrong_ += 1;
    }

    octant::Comm const& group_;
    bool messages_;
    std::int64_t units_ = 1;
    double value_ = 1, wrong_ = 0;
    std::uint64_t number_ = 0;
    std::vector<std::uint64_t> out_, in_;
};

// The transfers alone, computation alone for the same time, both overlapped, and both alternating. Writes include the
// sync.
template <bool writes>
class Overlapped {
  public:
    enum Phases : std::size_t { pure, compute, overlapped, sequential };
    static octant::KernelInfo info() {
        octant::KernelInfo found = info_with({"pure", "compute", "overlapped", "sequential"});
        found.takes = OtherWork::takes;
        return found;
    }
    explicit Overlapped(octant::Context& context)
        : context_(context), blocks_(context, writes, true), other_(context) {}

    void set_up() {
        blocks_.set_up();
        auto const begun = [&](std::function<void()> const& body) {
            blocks_.prepare();
            return context_.seconds_of(body);
        };
        std::array<double, 3> alone_s{};
        for (double& one : alone_s) one = begun([this] { transfers(); });
        std::ranges::sort(alone_s);
        other_.fit(context_, alone_s[1] / static_cast<double>(blocks_.count()));
    }
    void prepare() { blocks_.prepare(); }
    void step() {
        {
            auto const mark = context_.phase(pure);
            transfers();
        }
        context_.synchronise();
        {
            auto const mark = context_.phase(compute);
            for (std::int64_t k = 0; k < blocks_.count(); ++k) other_();
        }
        blocks_.prepare();
        context_.synchronise();
        {
            auto const mark = context_.phase(overlapped);
            run_overlapped();
        }
        blocks_.prepare();
        context_.synchronise();
        auto const mark = context_.phase(sequential);
        run_sequential();
    }
    [[nodiscard]] octant::Counts work(std::size_t) const { return blocks_.work(); }
    [[nodiscard]] octant::Results results() { return blocks_.results(); }
    octant::Results verify() {
        bool first = true;
        auto checks = blocks_.verify([&] {
            if (first)
                run_overlapped();
            else
                run_sequential();
            first = false;
        });
        checks.push_back({"messages that differ from the sent data", other_.wrong(), "1", 0});
        return checks;
    }
    void corrupt(std::size_t fault) { blocks_.corrupt(fault); }

  private:
    void transfers() {
        blocks_.move_all();
        blocks_.sync();
    }
    void run_overlapped() {
        blocks_.move_all_overlapped([this] { other_(); });
        blocks_.sync();
    }
    void run_sequential() {
        blocks_.move_all_sequential([this] { other_(); });
        blocks_.sync();
    }

    octant::Context& context_;
    Blocks blocks_;
    OtherWork other_;
};

}  // namespace
}  // namespace local

int main(int argc, char** argv) {
    using namespace local;
    return octant::run_rows(
        argc, argv, "pattern",
        {octant::row<Plain<true>>("write"), octant::row<Plain<false>>("read"), octant::row<StagedWrite>("staged-write"),
         octant::row<Overlapped<true>>("overlapped-write"), octant::row<Overlapped<false>>("overlapped-read")});
}
