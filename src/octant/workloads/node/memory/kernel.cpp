// Memory of a process: what of it stays when it is released, and what of it is on large pages.
#include "octant/kernel.hpp"
#include "release.hpp"
#include "segments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace memory {
namespace {

constexpr std::int64_t page = 4096;

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    constexpr std::int64_t most = std::int64_t{1} << 40;
    return {{"bytes", KnobKind::bytes, "96MiB", "memory per rank", {}, std::int64_t{1} << 20, most},
            {"block", KnobKind::bytes, "1000", "size of one allocation", {}, 16, std::int64_t{1} << 16},
            {"thp",
             KnobKind::word,
             "none",
             "pattern=segments: request for huge pages: none, madvise before the first touch, or collapse after it",
             {"none", "madvise", "collapse"}}};
}

octant::KernelInfo info_with(std::vector<std::string> phases, std::vector<octant::Reading> readings) {
    return {.knobs = knobs(),
            .pace = octant::Pace::steps,
            .sync = octant::Sync::dissemination,
            .phases = std::move(phases),
            .readings = std::move(readings),
            .blocks = true,
            .defaults = {{"seconds", "1"}, {"least", "5"}, {"samples", "200"}}};
}

template <Way way>
class Release {
  public:
    enum Phases : std::size_t { touch, release, retouch };
    enum Readings : std::size_t { retained, counted };
    static octant::KernelInfo info() {
        return info_with({"touch", "release", "retouch"}, {{"retained", "1"}, {"resident", "1"}});
    }
    explicit Release(octant::Context& context)
        : context_(context), bytes_(claimed(context)), region_(way, bytes_, context.knobs.integer("block")) {
        static_cast<void>(resident());  // where it is not to be seen, nothing is begun
    }

    void step() {
        Resident const before = resident();
        {
            auto const mark = context_.phase(touch);
            region_.take();
            region_.write(1);
        }
        Resident const full = resident();
        {
            auto const mark = context_.phase(release);
            region_.release();
        }
        Resident const left = resident();
        {
            auto const mark = context_.phase(retouch);
            region_.take();
            region_.write(2);
        }
        region_.end();  // before anything else is allocated, which would hold what is below it
        auto const taken = static_cast<double>(std::max(full.bytes - before.bytes, page));
        auto const share = [&](std::int64_t bytes) { return static_cast<double>(std::max(bytes, page)) / taken; };
        context_.record(retained, share(left.bytes - left.lazy - (before.bytes - before.lazy)));
        context_.record(counted, share(left.bytes - before.bytes));
    }
    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"pages", bytes_ / page}}; }

    // Contents, before and after a release; and what the kernel counts, against the page table where the memory was.
    octant::Results verify() {
        region_.end();
        Resident const before = resident();
        region_.take();
        region_.write(3);
        if (fault_ == 0) region_.spoil();
        std::int64_t wrong = region_.wrong(3);
        region_.release();
        std::int64_t counted_bytes = resident().bytes - before.bytes;
        bool const is_released = way != Way::free_below_held && way != Way::lazy;
        if (fault_ == 1) counted_bytes = is_released ? bytes_ : 0;  // injected fault
        double const off = std::fabs(static_cast<double>(counted_bytes - region_.there()));
        region_.take();
        region_.write(4);
        wrong += region_.wrong(4);
        region_.end();
        double const slack = static_cast<double>(bytes_) / 16 + 0x1p20;  // what the process itself takes meanwhile
        return {{"words with wrong contents", static_cast<double>(wrong), "1", 0},
                {"difference between resident memory and page table", off, "B", slack}};
    }
    void corrupt(std::size_t fault) { fault_ = static_cast<int>(fault); }

  private:
    static std::int64_t claimed(octant::Context& context) {
        std::int64_t const bytes = context.knobs.integer("bytes");
        context.claim_outside(Region::bytes_for(way, bytes, context.knobs.integer("block")));
        return bytes;
    }

    octant::Context& context_;
    std::int64_t bytes_;
    Region region_;
    int fault_ = -1;
};

constexpr std::array names{"text", "data", "heap", "mapping", "stack", "thread stack"};

class SegmentPages {
  public:
    enum Phases : std::size_t { touch };
    static octant::KernelInfo info() {
        std::vector<octant::Reading> readings;
        for (char const* name : names) readings.push_back({name, "1"});
        return info_with({"touch"}, readings);
    }
    explicit SegmentPages(octant::Context& context)
        : context_(context), bytes_(static_cast<std::size_t>(context.knobs.integer("bytes"))) {
        context.claim_outside(static_cast<double>(bytes_) * 1.1 + static_cast<double>(data_bytes + stack_bytes));
        std::string const& word = context.knobs.word("thp");
        request_ = word == "madvise" ? Request::madvise : word == "collapse" ? Request::collapse : Request::nothing;
    }

    void step() {
        std::size_t number = 0;
        wrong_ += go(
            [this](std::function<void()> const& write) {
                auto const mark = context_.phase(touch);
                write();
            },
            [&](Segment const& segment) {
                octant::PageResidency const given = octant::read_page_residency(segment.bytes);
                context_.record(number++, share_of(given));
                if (!segment.refused.empty()) refused_[segment.name] = segment.refused;
            });
    }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::size_t const written = 2 * bytes_ + std::min(bytes_, data_bytes) + 2 * stack_bytes;
        return {{"pages", static_cast<std::int64_t>(written) / page}};
    }
    [[nodiscard]] octant::Results results() {
        for (auto const& [name, why] : refused_) context_.notes.emplace_back("refused, " + name, why);
        return {};
    }

    // Memory on large pages must be resident: smaps cannot count more large-page memory than resident memory.
    octant::Results verify() {
        double beyond = 0;
        std::int64_t const wrong = go([](std::function<void()> const& write) { write(); },
                                      [&](Segment const& segment) {
                                          octant::PageResidency given = octant::read_page_residency(segment.bytes);
                                          if (fault_ == 0 && segment.name == "heap") segment.bytes[0] ^= std::byte{1};
                                          if (fault_ == 1) given.huge_bytes = given.resident_bytes + page;
                                          beyond += share_of(given) > 1 ? 1 : 0;
                                      });
        return {{"pages with wrong contents", static_cast<double>(wrong + wrong_), "1", 0},
                {"segments with more huge pages than memory", beyond, "1", 0}};
    }
    void corrupt(std::size_t fault) { fault_ = static_cast<int>(fault); }

  private:
    std::int64_t go(std::function<void(std::function<void()> const&)> const& touched,
                    std::function<void(Segment const&)> const& look) {
        return test_segments(request_, bytes_, touched, look);
    }
    static double share_of(octant::PageResidency const& given) {
        return static_cast<double>(given.huge_bytes) /
               static_cast<double>(std::max<std::int64_t>(given.resident_bytes, 1));
    }
    octant::Context& context_;
    std::size_t bytes_;
    Request request_ = Request::nothing;
    std::map<std::string, std::string> refused_;  // in any step
    std::int64_t wrong_ = 0;
    int fault_ = -1;
};

}  // namespace
}  // namespace memory

int main(int argc, char** argv) {
    using namespace memory;
    return octant::run_rows(
        argc, argv, "pattern",
        {octant::row<Release<Way::free_below_held>>("free-below-held"), octant::row<Release<Way::free>>("free"),
         octant::row<Release<Way::trim>>("trim"), octant::row<Release<Way::unmap>>("unmap"),
         octant::row<Release<Way::lazy>>("madv-free"), octant::row<Release<Way::dontneed>>("madv-dontneed"),
         octant::row<SegmentPages>("segments")});
}
