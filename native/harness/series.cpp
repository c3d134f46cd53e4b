#include "series.hpp"

#include <algorithm>

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

struct Times {
    std::vector<std::int64_t> gap_ns, ns, preempted;
};

// From the end of the sample before (first: from `origin_ns`) to the begin of each. Of `k` samples that become one the
// times are added up, and their gaps: so begins and ends can still be told.
Times times_of(Lane const& lane, std::int64_t origin_ns, std::int64_t k) {
    std::size_t const count = lane.begin_ns.size() / static_cast<std::size_t>(k);
    Times times{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count), {}};
    std::int64_t end = origin_ns;
    for (std::size_t i = 0; i < count * static_cast<std::size_t>(k); ++i) {
        std::size_t const to = k == 1 ? i : i / static_cast<std::size_t>(k);
        times.gap_ns[to] += lane.begin_ns[i] - end;
        times.ns[to] += lane.duration_ns[i];
        end = lane.begin_ns[i] + lane.duration_ns[i];
    }
    for (std::int64_t const sample : lane.preempted)
        if (auto const to = sample / k; to < static_cast<std::int64_t>(count))
            if (times.preempted.empty() || times.preempted.back() != to) times.preempted.push_back(to);
    return times;
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
        auto const times = times_of(lane, part.measured.origin_ns, coalesced);
        open_series(text, part, "step", lane);
        text.key("gap_ns").list_or_one(times.gap_ns);
        text.key("ns").list(times.ns);
        text.key("preempted").list(times.preempted);
        text.key("clock_hz").list(lane.clock_hz);
        text.close('}');
        for (std::size_t i = 0; i < part.marks.paths().size(); ++i) {
            PhaseSeries const& phase = part.marks.series()[i];
            open_series(text, part, "phase/" + part.marks.paths()[i], lane);
            text.key("ns").list(phase.ns);
            text.key("entries").list_or_one(phase.entries);
            text.close('}');
        }
        for (std::size_t i = 0; i < part.readings.values.size(); ++i) add_reading(text, part, i, 0);
    }
    return text.text();
}

std::string readings_text(RankPart const& part, std::size_t most) {
    JsonText text;
    for (std::size_t i = 0; i < part.readings.values.size(); ++i) add_reading(text, part, i, most);
    return text.text();
}

}  // namespace octant
