#include "series.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace octant {
namespace {

void open_series(JsonText& text, RankPart const& part, std::string const& name, Lane const& lane) {
    text.open('{');
    text.key("name").word(name);
    text.key("rank").number(part.rank);
    text.key("thread").number(lane.thread);
    text.key("group").number(part.group);
    text.key("role").word(part.info.roles[lane.role].name);
}

// From the end of the previous sample (first: from `origin_ns`) to the begin of each sample. If `k` samples are
// combined, their gaps are added, like their times, so that begins and ends can still be computed.
std::vector<std::int64_t> gaps_of(Lane const& lane, std::int64_t origin_ns, std::size_t k) {
    std::vector<std::int64_t> gap_ns;
    gap_ns.reserve(lane.begin_ns.size() / k);
    std::int64_t end = origin_ns;
    for (std::size_t first = 0; first + k <= lane.begin_ns.size(); first += k) {
        std::int64_t gap = 0;
        for (std::size_t i = first; i < first + k; ++i) {
            gap += lane.begin_ns[i] - end;
            end = lane.begin_ns[i] + lane.duration_ns[i];
        }
        gap_ns.push_back(gap);
    }
    return gap_ns;
}

std::vector<std::int64_t> sums_of(std::vector<std::int64_t> const& values, std::size_t k) {
    std::vector<std::int64_t> sums;
    for (std::size_t i = 0; i + k <= values.size(); i += k)
        sums.push_back(std::accumulate(&values[i], &values[i] + k, std::int64_t{0}));
    return sums;
}

std::vector<std::int64_t> places_of(std::vector<std::int64_t> const& preempted, std::size_t count, std::size_t k) {
    std::vector<std::int64_t> places;
    for (std::int64_t const sample : preempted)
        if (std::size_t const to = static_cast<std::size_t>(sample) / k; to < count)
            if (places.empty() || places.back() != static_cast<std::int64_t>(to))
                places.push_back(static_cast<std::int64_t>(to));
    return places;
}

// The first sample of each burst, as numbered in the record, and the length of the burst.
void add_bursts(JsonText& text, Lane const& lane, std::size_t k) {
    text.key("bursts").open('[');
    for (auto const& [first, wall_ns] : lane.bursts)
        if (static_cast<std::size_t>(first) / k < lane.begin_ns.size() / k)
            text.list(std::array{first / static_cast<std::int64_t>(k), wall_ns});
    text.close(']');
}

void add_times(JsonText& text, RankPart const& part, Lane const& lane, std::size_t k) {
    open_series(text, part, "step", lane);
    text.key("gap_ns").list_or_one(gaps_of(lane, part.measured.origin_ns, k));
    if (k == 1)
        text.key("ns").list(lane.duration_ns);
    else
        text.key("ns").list(sums_of(lane.duration_ns, k));
    text.key("preempted").list(places_of(lane.preempted, lane.begin_ns.size() / k, k));
    if (!lane.bursts.empty()) add_bursts(text, lane, k);
    text.key("clock_hz").list(lane.clock_hz);
    text.close('}');
}

void add_reading(JsonText& text, RankPart const& part, std::size_t reading, std::size_t most) {
    auto const& all = part.readings.values[reading];
    std::size_t const every = most == 0 ? 1 : std::max<std::size_t>(1, (all.size() + most - 1) / most);
    open_series(text, part, "reading/" + part.info.readings[reading].name, part.measured.lanes[0]);
    text.key("unit").word(part.info.readings[reading].unit);
    std::vector<double> values;
    for (std::size_t i = 0; i < all.size(); i += every) values.push_back(all[i]);
    if (every > 1) text.key("every").number(every);
    text.key("values").list(values);
    text.close('}');
}

}  // namespace

std::string series_text(RankPart const& part, std::int64_t coalesced) {
    JsonText text;
    for (auto const& lane : part.measured.lanes) {
        if (!part.info.roles[lane.role].timed) continue;
        add_times(text, part, lane, static_cast<std::size_t>(coalesced));
        for (std::size_t i = 0; i < part.marks.paths().size(); ++i) {
            PhaseSeries const& phase = part.marks.series()[i];
            open_series(text, part, "phase/" + part.marks.paths()[i], lane);
            text.key("ns").list(phase.ns);
            text.key("entries").list_or_one(phase.entries);
            text.close('}');
        }
        for (std::size_t i = 0; i < part.readings.values.size(); ++i) add_reading(text, part, i, 0);
    }
    return text.take();
}

std::string readings_text(RankPart const& part, std::size_t most) {
    JsonText text;
    for (std::size_t i = 0; i < part.readings.values.size(); ++i) add_reading(text, part, i, most);
    return text.text();
}

}  // namespace octant
