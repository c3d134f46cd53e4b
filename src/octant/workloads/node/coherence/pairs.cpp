// Every pair of hardware threads, one after the other in random order, again and again.
#include "crew.hpp"
#include "kernels/random.hpp"
#include "octant/noise.hpp"
#include "protocols.hpp"
#include "rows.hpp"

#include <new>
#include <random>
#include <utility>

namespace coherence {
namespace {

constexpr std::int64_t warm_part = 4;  // of the trips in a sample, before it

class Pairs {
  public:
    enum Phases : std::size_t { passing };
    enum Readings : std::size_t { first, second };
    static octant::KernelInfo info() { return info_with({"passing"}, {{"first", "1"}, {"second", "1"}}); }

    explicit Pairs(octant::Context& context)
        : context_(context),
          protocol_(protocol_of(context.knobs.word("protocol"))),
          trips_(context.knobs.integer("trips")),
          turns_((2 * trips_ + chain - 1) / chain),
          cpus_(hardware_threads_of(context, context.knobs.word("among"))),
          random_(std::random_device{}()) {
        for (std::size_t b = 1; b < cpus_.size(); ++b)
            for (std::size_t a = 0; a < b; ++a) order_.emplace_back(cpus_[a], cpus_[b]);
        next_ = order_.size();
        context.notes.emplace_back("pairs", std::to_string(order_.size()));
    }

    void step() {
        expect_two(cpus_);
        if (next_ >= order_.size()) draw();
        auto [a, b] = order_[next_++];
        if (random_.below(2) == 1) std::swap(a, b);
        visit(a, b, trips_, turns_);
        context_.record(first, a);
        context_.record(second, b);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"passes", protocol_ == Protocol::read ? turns_ * chain : 2 * trips_}};
    }

    // All visits so far, and one more.
    octant::Results verify() {
        expect_two(cpus_);
        visit(cpus_[0], fault_ == 1 ? cpus_[0] : cpus_[1], fault_ == 1 ? 1 : 100, fault_ == 1 ? 1 : 10);
        return {{"lost transfers", static_cast<double>(lost_), "1", 0},
                {"pairs on a wrong hardware thread", static_cast<double>(misplaced_), "1", 0}};
    }
    void corrupt(std::size_t fault) { fault_ = static_cast<int>(fault); }

  private:
    static constexpr auto chain = static_cast<std::int64_t>(chain_lines);

    void draw() {
        for (std::size_t i = order_.size() - 1; i > 0; --i) std::swap(order_[i], order_[random_.below(i + 1)]);
        next_ = 0;
    }

    void visit(int a, int b, std::int64_t trips, std::int64_t turns) {
        Seat const seat(a);
        Pages const pages(sizeof(Lines));
        auto& lines = *new (pages.data()) Lines;
        Line const* const start = link(lines);
        int const there = protocol_ == Protocol::read ? read(lines, start, b, static_cast<std::uint64_t>(turns))
                                                      : pass(lines, b, trips);
        int const here = octant::current_cpu();
        misplaced_ += here == a && there == b && here != there ? 0 : 1;
    }

    int pass(Lines& lines, int b, std::int64_t trips) {
        std::int64_t const warm = trips / warm_part + 1;
        std::int64_t const made = trips - (fault_ == 0 ? 1 : 0);
        std::uint64_t const from = 2 * static_cast<std::uint64_t>(warm);
        std::uint64_t answered = 0;
        helper_.send(b, [&, this] {
            answer(protocol_, lines, 0, warm);
            answered = answer(protocol_, lines, from, made);
        });
        call(protocol_, lines, 0, warm);
        std::uint64_t called = 0;
        {
            auto const mark = context_.phase(passing);
            called = call(protocol_, lines, from, made);
        }
        int const there = helper_.finished();
        std::uint64_t const expected = from + 2 * static_cast<std::uint64_t>(trips);
        std::uint64_t const count = lines.handed[protocol_ == Protocol::exchange ? 0 : 1].value;
        lost_ += count == expected && called == expected && answered == expected ? 0 : 1;
        return there;
    }

    int read(Lines& lines, Line const* start, int b, std::uint64_t turns) {
        helper_.send(b, [&] { change(lines, turns + 1); });
        for (std::uint64_t turn = 1; turn <= turns + 1; ++turn) {
            wait_for(lines, turn);
            if (fault_ == 0) lines.chain[0].value = turn - 1;
            std::uint64_t sum = 0;
            if (turn == 1) {  // cold: its pages are new to the other side
                sum = read_chain(start);
            } else {
                auto const mark = context_.phase(passing);
                sum = read_chain(start);
            }
            lost_ += sum == turn * chain_lines ? 0 : 1;
            allow(lines, turn);
        }
        return helper_.finished();
    }

    octant::Context& context_;
    Protocol protocol_;
    std::int64_t trips_, turns_;
    std::vector<int> cpus_;
    octant::Random random_;
    std::vector<std::pair<int, int>> order_;
    std::size_t next_ = 0;
    std::int64_t lost_ = 0, misplaced_ = 0;
    int fault_ = -1;
    Helper helper_;
};

}  // namespace

octant::Row pairs_row() { return octant::row<Pairs>("pairs"); }

}  // namespace coherence
