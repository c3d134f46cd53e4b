#include "protocols.hpp"

#include "kernels/random.hpp"

#include <numeric>
#include <utility>

namespace coherence {
namespace {

// Waits for a larger value and returns it. There is no pause instruction: its duration would be part of the result.
std::uint64_t beyond(std::atomic<std::uint64_t> const& value, std::uint64_t before) {
    std::uint64_t found = before;
    while (found <= before) found = value.load(std::memory_order_acquire);
    return found;
}

// Replaces `seen` by the number after it, which takes the line whether it is there or not.
void replace(std::atomic<std::uint64_t>& value, std::uint64_t seen) {
    std::uint64_t found = seen;
    while (!value.compare_exchange_weak(found, seen + 1, std::memory_order_acq_rel, std::memory_order_relaxed))
        found = seen;
}

}  // namespace

Protocol protocol_of(std::string const& word) {
    return word == "exchange" ? Protocol::exchange : word == "handover" ? Protocol::handover : Protocol::read;
}

Line const* link(Lines& lines) {
    for (Line& line : lines.handed) line.value.store(0, std::memory_order_relaxed);
    std::array<std::size_t, chain_lines> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    octant::Random random(1);
    for (std::size_t i = chain_lines - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (std::size_t i = 0; i < chain_lines; ++i) {
        Line& line = lines.chain[order[i]];
        line.value.store(0, std::memory_order_relaxed);
        line.next = i + 1 < chain_lines ? &lines.chain[order[i + 1]] : nullptr;
    }
    return &lines.chain[order[0]];
}

std::uint64_t call(Protocol protocol, Lines& lines, std::uint64_t from, std::int64_t trips) {
    std::uint64_t count = from;
    auto& there = lines.handed[0].value;
    if (protocol == Protocol::exchange) {
        for (std::int64_t i = 0; i < trips; ++i, count += 2) replace(there, count);
        return beyond(there, count - 1);
    }
    auto const& back = lines.handed[1].value;
    for (std::int64_t i = 0; i < trips; ++i) {
        there.store(count + 1, std::memory_order_release);
        count = beyond(back, count);
    }
    return count;
}

std::uint64_t answer(Protocol protocol, Lines& lines, std::uint64_t from, std::int64_t trips) {
    std::uint64_t count = from;
    auto& there = lines.handed[0].value;
    if (protocol == Protocol::exchange) {
        for (std::int64_t i = 0; i < trips; ++i, count += 2) replace(there, count + 1);
        return count;
    }
    auto& back = lines.handed[1].value;
    for (std::int64_t i = 0; i < trips; ++i) {
        count = beyond(there, count) + 1;
        back.store(count, std::memory_order_release);
    }
    return count;
}

void wait_for(Lines const& lines, std::uint64_t turn) { beyond(lines.handed[0].value, turn - 1); }

std::uint64_t read_chain(Line const* first) {
    std::uint64_t sum = 0;
    for (Line const* line = first; line != nullptr; line = line->next)
        sum += line->value.load(std::memory_order_relaxed);
    return sum;
}

void allow(Lines& lines, std::uint64_t turn) { lines.handed[1].value.store(turn, std::memory_order_release); }

void change(Lines& lines, std::uint64_t turns) {
    for (std::uint64_t turn = 1; turn <= turns; ++turn) {
        for (Line& line : lines.chain) line.value.store(turn, std::memory_order_relaxed);
        lines.handed[0].value.store(turn, std::memory_order_release);
        beyond(lines.handed[1].value, turn - 1);
    }
}

}  // namespace coherence
