// What measuring costs: a mark, writing 10,000 steps of 8 ranks as a record, and its checksum. Run by hand:
// cmake --preset release -DOCTANT_TESTS=ON && cmake --build --preset release --target bench_records
#include "octant/crc.hpp"
#include "octant/phases.hpp"
#include "series.hpp"

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

// How often a pass goes over a text of this length: CPU time has no finer steps than microseconds.
std::size_t repeats_of(std::size_t bytes) { return std::max<std::size_t>(1, (std::size_t{1} << 23) / bytes); }

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

// Of one CRC-32 over a record of this many bytes, s.
double check_sum_s(std::size_t bytes) {
    std::string text(bytes, '7');
    std::uint32_t sum = 0;
    double const seconds = cpu_seconds_of([&] {
        for (std::size_t i = 0; i < repeats_of(bytes); ++i) {
            text[i % bytes] = static_cast<char>('0' + (sum & 7U));
            sum += octant::crc32(text);
        }
    });
    return seconds / static_cast<double>(repeats_of(bytes));
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
    for (std::vector<std::string> const& phases : {std::vector<std::string>{}, {"pack"}, {"pack", "unpack"}}) {
        Written const two = format_2(phases);
        std::printf("8 ranks, %zu phases             %6.2f ms %8zu bytes, %.0f records/s\n", phases.size(),
                    two.cpu_s * 1e3, two.bytes, 1 / two.cpu_s);
        double const sum_s = check_sum_s(two.bytes);
        std::printf("  its check sum               %8.4f ms, %.1f %% of it\n", sum_s * 1e3, 100 * sum_s / two.cpu_s);
    }
    for (std::size_t const bytes : {std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{1} << 20})
        std::printf("check sum of %7zu bytes    %8.1f us, %.2f GB/s\n", bytes, check_sum_s(bytes) * 1e6,
                    static_cast<double>(bytes) / check_sum_s(bytes) * 1e-9);
    return 0;
}
