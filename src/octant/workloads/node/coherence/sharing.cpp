// Threads that add to words of their own, which lie in one line or apart.
#include "crew.hpp"
#include "octant/failure.hpp"
#include "octant/noise.hpp"
#include "octant/seats.hpp"
#include "rows.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace coherence {
namespace {

constexpr std::size_t page = 4096, line = 64;
constexpr std::int64_t additions = 5000;  // of each thread, in each phase of a step

void add(std::atomic<std::uint64_t>& word) {
    for (std::int64_t i = 0; i < additions; ++i) word.fetch_add(1, std::memory_order_relaxed);
}

class Sharing {
  public:
    enum Phases : std::size_t { near, apart };
    static octant::KernelInfo info() { return info_with({"near", "apart"}); }

    explicit Sharing(octant::Context& context)
        : context_(context),
          cpus_(chosen(context)),
          distance_(static_cast<std::size_t>(context.knobs.integer("distance"))) {
        if (distance_ % sizeof(Word) != 0)
            throw octant::Refusal(
                "cannot place words " + std::to_string(distance_) + " B apart (not a multiple of 8 B); try distance=8",
                octant::Exit::wrong_word);
        context.notes.emplace_back("own threads", std::to_string(cpus_.size()));
        near_.emplace(std::max(page, cpus_.size() * distance_));
        apart_.emplace(cpus_.size() * (page + line));
        for (std::size_t i = 1; i < cpus_.size(); ++i) helpers_.push_back(std::make_unique<Helper>());
    }

    void step() {
        expect_two(cpus_);
        step_from(cpus_[0]);
    }
    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"additions", additions}}; }

    octant::Results verify() {
        double wrong = 0;
        for (std::size_t i = 0; i < cpus_.size(); ++i)
            for (auto const* one : {&word(near_->data(), distance_, i), &word(apart_->data(), page + line, i)}) {
                wrong += one->load() == steps_ * static_cast<std::uint64_t>(additions) ? 0 : 1;
            }
        return {{"words whose sum is wrong", wrong, "1", 0},
                {"threads on a wrong hardware thread", static_cast<double>(misplaced_), "1", 0}};
    }
    void corrupt(std::size_t check) {
        if (check == 0) word(near_->data(), distance_, cpus_.size() - 1) -= 1;
        if (check == 1) step_from(cpus_.back());
    }

  private:
    using Word = std::atomic<std::uint64_t>;

    // One of each core before the second of any, neighbours first, as the harness seats threads.
    static std::vector<int> chosen(octant::Context const& context) {
        auto const all = hardware_threads_of(context, context.knobs.word("among"));
        std::vector<int> found;
        for (auto cpu :
             octant::seat_order(octant::hardware_threads(std::vector<std::int64_t>(all.begin(), all.end())), 1))
            found.push_back(static_cast<int>(cpu));
        auto const asked = static_cast<std::size_t>(context.knobs.integer("sharers"));
        if (asked > found.size() && found.size() > 1)
            throw octant::Refusal("cannot run " + std::to_string(asked) + " threads on a common line (this rank has " +
                                      std::to_string(found.size()) + " hardware threads); try sharers=0",
                                  octant::Exit::not_supported);
        if (asked > 0) found.resize(std::min(asked, found.size()));
        return found;
    }

    static Word& word(std::byte* base, std::size_t distance, std::size_t number) {
        return *reinterpret_cast<Word*>(base + number * distance);
    }

    void step_from(int cpu) {
        Seat const seat(cpu);
        together(near, near_->data(), distance_);
        together(apart, apart_->data(), page + line);
        ++steps_;
    }

    void together(std::size_t phase, std::byte* base, std::size_t distance) {
        go_ = false;
        left_ = static_cast<int>(helpers_.size());
        std::size_t there = 0;
        try {
            for (; there < helpers_.size(); ++there)
                helpers_[there]->send(cpus_[there + 1], [this, &mine = word(base, distance, there + 1)] {
                    while (!go_.load(std::memory_order_acquire)) {
                    }
                    add(mine);
                    --left_;
                });
        } catch (...) {  // release the helpers that wait for the start
            go_.store(true, std::memory_order_release);
            for (std::size_t i = 0; i < there; ++i) static_cast<void>(helpers_[i]->finished());
            throw;
        }
        {
            auto const mark = context_.phase(phase);
            go_.store(true, std::memory_order_release);
            add(word(base, distance, 0));
            while (left_ > 0) {
            }
        }
        for (std::size_t i = 0; i < helpers_.size(); ++i) misplaced_ += helpers_[i]->finished() == cpus_[i + 1] ? 0 : 1;
        misplaced_ += octant::current_cpu() == cpus_[0] ? 0 : 1;
    }

    octant::Context& context_;
    std::vector<int> cpus_;
    std::size_t distance_;
    std::optional<Pages> near_, apart_;
    alignas(128) std::atomic<bool> go_ = false;
    alignas(128) std::atomic<int> left_ = 0;
    alignas(128) std::uint64_t steps_ = 0;
    std::int64_t misplaced_ = 0;
    std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace

octant::Row sharing_row() { return octant::row<Sharing>("sharing"); }

}  // namespace coherence
