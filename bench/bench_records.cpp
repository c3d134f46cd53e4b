// What measuring costs: a mark, and writing 10,000 steps of 8 ranks as records of format 2, against the series of the
// slowest rank alone through a JSON tree, which is what format 1 kept. Run by hand:
// cmake --preset release -DOCTANT_TESTS=ON && cmake --build --preset release --target bench_records
#include "octant/crc.hpp"
#include "octant/phases.hpp"
#include "series.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace {

constexpr int ranks = 8;
constexpr std::int64_t steps = 10'000;

double cpu_s() {
    std::timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The quickest of 21 passes: what other processes do can only slow one down.
template <class Body>
double cpu_seconds_of(Body const& body) {
    double least = 1e9;
    for (int i = 0; i < 21; ++i) {
        double const begin = cpu_s();
        body();
        least = std::min(least, cpu_s() - begin);
    }
    return least;
}

struct Rank {
    octant::KernelInfo info;
    octant::Measurement measured;
    octant::Marks marks;
    octant::Readings readings = {};
};

Rank rank_of(int number, std::vector<std::string> const& phases) {
    Rank rank{{.pace = octant::Pace::steps, .phases = phases}, {}, octant::Marks(phases, steps)};
    rank.measured.batch = {1};
    octant::Lane lane;
    std::int64_t at = 0;
    rank.marks.switch_on(true);
    for (std::int64_t i = 0; i < steps; ++i) {
        at += 100 + (i * 31 + number) % 50;
        lane.begin_ns.push_back(at);
        lane.duration_ns.push_back(5'000 + (i * 7919 + number * 13) % 700);
        at += lane.duration_ns.back();
        rank.marks.start();
        for (std::size_t phase = 0; phase < phases.size(); ++phase) {
            auto const mark = rank.marks.mark(phase);
            octant::spin_until(octant::now_ns() + 800);
        }
        rank.marks.keep(lane.duration_ns.back());
    }
    rank.measured.lanes = {lane};
    return rank;
}

struct Written {
    double cpu_s;
    std::size_t bytes;
};

Written format_2(std::vector<std::string> const& phases) {
    std::vector<Rank> all;
    for (int r = 0; r < ranks; ++r) all.push_back(rank_of(r, phases));
    std::size_t bytes = 0;
    double const seconds = cpu_seconds_of([&] {
        octant::JsonText text;
        text.open('[');
        for (int r = 0; r < ranks; ++r) {
            Rank const& rank = all[static_cast<std::size_t>(r)];
            text.raw(octant::series_text({rank.info, rank.measured, rank.marks, rank.readings, r, 0}));
        }
        text.close(']');
        bytes = text.text().size() + octant::hex8(octant::crc32(text.text())).size();
    });
    return {seconds, bytes};
}

// As format 1 was written: for each step the slowest rank's time and its number, as JSON values.
Written format_1() {
    using Json = nlohmann::ordered_json;
    std::vector<Rank> all;
    for (int r = 0; r < ranks; ++r) all.push_back(rank_of(r, {}));
    std::size_t bytes = 0;
    double const seconds = cpu_seconds_of([&] {
        std::vector<std::pair<double, int>> worst(steps);
        for (int r = 0; r < ranks; ++r) {
            auto const& ns = all[static_cast<std::size_t>(r)].measured.lanes[0].duration_ns;
            for (std::size_t i = 0; i < ns.size(); ++i)
                if (static_cast<double>(ns[i]) > worst[i].first) worst[i] = {static_cast<double>(ns[i]), r};
        }
        Json duration_ns = Json::array(), slowest = Json::array();
        for (auto const& [ns, rank] : worst) {
            duration_ns.push_back(static_cast<std::int64_t>(ns));
            slowest.push_back(rank);
        }
        Json record;
        record["samples"] = Json{{"duration_ns", duration_ns}, {"slowest_rank", slowest}};
        bytes = record.dump().size();
    });
    return {seconds, bytes};
}

// Time of a chain of dependent additions with or without a mark in each turn, ns a turn.
double turn_ns(octant::Marks* marks) {
    constexpr int turns = 2000;
    double least = 1e9;
    for (int trial = 0; trial < 101; ++trial) {
        std::uint64_t sum = 1;
        std::int64_t const begin = octant::now_ns();
        for (int i = 0; i < turns; ++i) {
            auto const work = [&] {
                for (int k = 0; k < 100; ++k) asm volatile("add $3, %0" : "+r"(sum));
            };
            if (marks != nullptr) {
                auto const mark = marks->mark(0);
                work();
            } else {
                work();
            }
        }
        least = std::min(least, static_cast<double>(octant::now_ns() - begin) / turns);
    }
    return least;
}

// Of both readings of one burst by one lane, ns: the median of many.
double watch_ns(bool alone) {
    octant::Watch watch(alone, alone);
    std::vector<std::int64_t> costs;
    for (int i = 0; i < 2000; ++i) {
        std::int64_t const begin = octant::now_ns();
        watch.begin();
        static_cast<void>(watch.end());
        costs.push_back(octant::now_ns() - begin);
    }
    std::ranges::nth_element(costs, costs.begin() + 1000);
    return static_cast<double>(costs[1000]);
}

}  // namespace

int main() {
    octant::Marks marks({"phase"}, 0);
    double const without = turn_ns(nullptr), off = turn_ns(&marks);
    marks.switch_on(true);
    double const on = turn_ns(&marks);
    auto const quality = octant::measure_marks();
    std::printf("clock            %6.1f ns a reading\n", octant::measure_clock().cost_ns);
    std::printf("mark, on         %6.1f ns (alone %.1f, an empty phase reads %.1f)\n", on - without, quality.mark_ns,
                quality.empty_ns);
    std::printf("mark, off        %6.1f ns\n", off - without);
    std::printf("lost time        %6.1f ns a burst of a lane alone, %.1f of a rank\n", watch_ns(true), watch_ns(false));
    Written const one = format_1();
    std::printf("format 1, slowest rank        %6.2f ms %8zu bytes\n", one.cpu_s * 1e3, one.bytes);
    for (std::vector<std::string> const& phases : {std::vector<std::string>{}, {"pack"}, {"pack", "unpack"}}) {
        Written const two = format_2(phases);
        std::printf("format 2, 8 ranks, %zu phases   %6.2f ms %8zu bytes, x %.2f\n", phases.size(), two.cpu_s * 1e3,
                    two.bytes, two.cpu_s / one.cpu_s);
    }
    return 0;
}
