// pattern=loaded: the first thread follows a chain while the others draw memory bandwidth, at a rate that pauses set.
#include "chain.hpp"
#include "rows.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace latency {
namespace {

constexpr std::int64_t lines_a_piece = 64;
constexpr std::size_t few = 4;  // threads, of which all but one draw: hardly enough for what a memory can give

struct alignas(line_bytes) Line {
    std::uint64_t value = 0, writes = 0;
};

// Reads lines, and writes every `apart`-th of them; 0: none. Returns the sum of what it read.
template <int apart>
std::uint64_t draw(Line* lines) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < lines_a_piece; ++i) {
        sum += lines[i].value;
        if constexpr (apart > 0)
            if (i % apart == 0) ++lines[i].writes;
    }
    return sum;
}

// Dependent additions, one a cycle: the line stays quiet for so long.
void pause(std::int64_t cycles) {
    std::int64_t x = 0;
    for (std::int64_t i = 0; i < cycles; ++i) {
        ++x;
        asm volatile("" : "+r"(x));
    }
}

struct Share {
    char const* name;  // of reads in the traffic, percent
    int apart;         // a written line is read, and written back
    std::uint64_t (*draw)(Line*);
};
constexpr std::array shares{Share{"100", 0, draw<0>}, Share{"67", 2, draw<2>}, Share{"50", 1, draw<1>}};

Share const& chosen(std::string const& name) {
    for (Share const& one : shares)
        if (name == one.name) return one;
    throw octant::Refusal("cannot use reads=" + name + " (not available); try 100, 67 or 50");
}

class Loaded {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs(), .roles = {{"chase"}, {"load"}}}; }

    explicit Loaded(octant::Context& context)
        : context_(context),
          share_(chosen(context.knobs.word("reads"))),
          pause_(context.knobs.integer("pause")),
          count_(static_cast<std::size_t>(context.knobs.integer("bytes") / line_bytes)),
          pieces_(context.knobs.integer("load") / (line_bytes * lines_a_piece)),
          nodes_(context.buffer<Node>(count_)),
          lines_(context.buffer<Line>(static_cast<std::size_t>(pieces_ * lines_a_piece * (context.threads - 1)))),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.claim_outside(Chain::bytes_for(count_));
        context.on_each_thread([&](int lane) {
            if (lane == 0) return chain_.link(nodes_.data(), count_, seed());
            for (std::int64_t i = 0; i < pieces_ * lines_a_piece; ++i) *line(lane, i) = {value_at(i), 0};
        });
        context.watched = {nodes_.mapping().bytes()};
        if (lines_.size() > 0) context.watched.push_back(lines_.mapping().bytes());
        if (lanes_.size() > 1 && lanes_.size() <= few)
            context.notes.emplace_back("others", std::to_string(lanes_.size() - 1));
        context.note_rounded(context.knobs.integer("bytes"), static_cast<std::int64_t>(count_) * line_bytes);
    }

    [[nodiscard]] std::size_t role(int lane) const { return lane == 0 ? 0 : 1; }

    void chunk(int lane, std::int64_t) {
        if (lane == 0) return chain_.chunk();
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.sum += share_.draw(line(lane, mine.drawn % pieces_ * lines_a_piece));
        ++mine.drawn;
        pause(pause_);
    }

    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role == 0) return {{"loads", loads_a_chunk}, {"bytes_read", loads_a_chunk * line_bytes}};
        std::int64_t const written = share_.apart == 0 ? 0 : lines_a_piece / share_.apart;
        return {{"bytes_read", lines_a_piece * line_bytes}, {"bytes_written", written * line_bytes}};
    }

    // The chain as in pattern=lines. Of the others: what they read adds up to what lies in the pieces that they count,
    // and each line was written as often as they count.
    octant::Results verify() {
        std::vector<double> wrong(lanes_.size(), 0.0);
        context_.on_each_thread(
            [&](int lane) { wrong[static_cast<std::size_t>(lane)] = lane == 0 ? chain_.wrong() : not_drawn(lane); });
        octant::Results found = {{"wrong links of the cycle, or loads at a wrong position", wrong[0], "1", 0}};
        if (lanes_.size() > 1)
            found.push_back({"counted lines that were not transferred",
                             std::accumulate(wrong.begin() + 1, wrong.end(), 0.0), "1", 0});
        return found;
    }

    void corrupt(std::size_t check) {
        if (check == 0)
            chain_.spoil();
        else
            ++lanes_[1].drawn;
    }

  private:
    struct alignas(64) Lane {
        std::int64_t drawn = 0;  // pieces
        std::uint64_t sum = 0;
    };

    [[nodiscard]] std::uint64_t seed() const { return static_cast<std::uint64_t>(context_.knobs.integer("seed")); }
    [[nodiscard]] Line* line(int lane, std::int64_t number) const {
        return lines_.data() + (lane - 1) * pieces_ * lines_a_piece + number;
    }
    static std::uint64_t value_at(std::int64_t i) { return (static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15) >> 40; }

    [[nodiscard]] double not_drawn(int lane) const {
        Lane const& mine = lanes_[static_cast<std::size_t>(lane)];
        std::uint64_t sum = 0;
        double wrong = 0;
        for (std::int64_t i = 0; i < pieces_ * lines_a_piece; ++i) {
            std::int64_t const piece = i / lines_a_piece;
            auto const times =
                static_cast<std::uint64_t>(mine.drawn / pieces_ + (piece < mine.drawn % pieces_ ? 1 : 0));
            sum += times * value_at(i);
            bool const written = share_.apart > 0 && i % share_.apart == 0;
            if (line(lane, i)->writes != (written ? times : 0)) ++wrong;
        }
        return sum == mine.sum ? wrong : wrong + 1;
    }

    octant::Context& context_;
    Share const& share_;
    std::int64_t pause_;
    std::size_t count_;
    std::int64_t pieces_;
    octant::Buffer<Node> nodes_;
    octant::Buffer<Line> lines_;
    Chain chain_;
    std::vector<Lane> lanes_;
};

}  // namespace

octant::Row loaded_row() { return octant::row<Loaded>("loaded"); }

}  // namespace latency
