// octant-mpi-probe: what the MPI library that Octant is linked with is, and what it does under the settings that it
// finds in its environment. `describe` starts no MPI; `measure FILE [edge=BYTES] [copies=BYTES] [wait] [check]` is for
// two ranks, which measure each other (one rank alone is only started and read back). JSON, one object.
#include "calls.hpp"
#include "octant/failure.hpp"
#include "octant/json_text.hpp"
#include "octant/mpi.hpp"
#include "octant/mpi_variables.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octant {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double patience_s = 0.25;  // with 20 ms a busy machine gives false edges
constexpr double through_memory_s = 2e-6;
constexpr std::int64_t max_bytes = std::int64_t{64} << 20;
constexpr int command_tag = 1, data_tag = 2, go_tag = 3;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void sleep_uncounted(double seconds) {
    timespec const options{0, static_cast<long>(seconds * 1e9)};
    syscall(SYS_nanosleep, &options, nullptr);
}

class ScopedBinding {  // keeps a rank to one of its hardware threads, as long as it lives
  public:
    explicit ScopedBinding(int rank) {
        if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        int left = rank % std::max(1, CPU_COUNT(&before_));
        for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &before_) && left-- == 0) {
                cpu_set_t one;
                CPU_ZERO(&one);
                CPU_SET(cpu, &one);
                moved_ = sched_setaffinity(0, sizeof one, &one) == 0;
            }
    }
    ScopedBinding(ScopedBinding const&) = delete;
    ScopedBinding& operator=(ScopedBinding const&) = delete;
    ~ScopedBinding() {
        if (moved_) sched_setaffinity(0, sizeof before_, &before_);
    }

  private:
    cpu_set_t before_{};
    bool moved_ = false;
};

class Pair {  // ranks 0 and 1; rank 0 decides what is tried, rank 1 follows
  public:
    explicit Pair(int rank) : rank_(rank), buffer_(static_cast<std::size_t>(max_bytes) + 1) {}

    // Whether a send of this size ends although the receiver waits for another message. At rank 0.
    bool sent_at_once(std::int64_t bytes) {
        check(MPI_Send(&bytes, 1, MPI_INT64_T, 1, command_tag, MPI_COMM_WORLD));
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &request));
        int done = 0;
        for (auto const begin = Clock::now(); done == 0 && seconds_since(begin) < patience_s;)
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        check(MPI_Send(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD));
        check(MPI_Wait(&request, MPI_STATUS_IGNORE));
        return done != 0;
    }

    // The largest size that is sent at once; -1: none was too large; -2: not even an empty message. At both ranks.
    std::int64_t largest_sent_at_once(std::int64_t expected) {
        std::int64_t found = rank_ == 0 ? search_edge(expected) : -1;
        std::int64_t const stop = -1;
        if (rank_ == 0) check(MPI_Send(&stop, 1, MPI_INT64_T, 1, command_tag, MPI_COMM_WORLD));
        if (rank_ == 1) follow();
        return found;
    }

    // Calls that copy out of or into the other process, while four messages of this size pass. At both ranks.
    long copies(std::int64_t bytes) {
        exchange(8);  // both are here
        long mine = calls().copies;
        for (int turn = 0; turn < 4; ++turn) exchange(bytes);
        mine = calls().copies - mine;
        long both = 0;
        check(MPI_Reduce(&mine, &both, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
        return both;
    }

    // Half of the shortest of many round trips of 8 bytes. Each rank keeps to a hardware thread of its own, and a time
    // that no shared memory would need is tried again for longer: on a busy machine the two seldom run together.
    double latency_s() {
        ScopedBinding const alone(rank_);
        double least = std::numeric_limits<double>::infinity();
        int go_on = 1;
        for (auto const begin = Clock::now(); go_on != 0;) {
            for (int turn = 0; turn < 400; ++turn) {
                auto const sent = Clock::now();
                round_trip();
                least = std::min(least, seconds_since(sent) / 2);
            }
            go_on = seconds_since(begin) < (least < through_memory_s ? 0.05 : 1.5) ? 1 : 0;
            check(MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD));
        }
        return least;
    }

    struct Waited {  // of rank 1 during the wait, at rank 0
        double seconds = 0, cpu_s = 0, yields = 0, sleeps = 0, voluntary = 0, involuntary = 0;
    };

    Waited wait() {
        exchange(8);
        std::array<double, 6> seen{};
        if (rank_ == 0) {
            sleep_uncounted(0.2);
            check(MPI_Send(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD));
            check(MPI_Recv(seen.data(), 6, MPI_DOUBLE, 1, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            auto const before = now();
            check(MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            auto const after = now();
            for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = after[i] - before[i];
            check(MPI_Send(seen.data(), 6, MPI_DOUBLE, 0, data_tag, MPI_COMM_WORLD));
        }
        return {seen[0], seen[1], seen[2], seen[3], seen[4], seen[5]};
    }

  private:
    static std::array<double, 6> now() {
        rusage used{};
        getrusage(RUSAGE_THREAD, &used);
        auto const cpu = [](timeval const& time) {
            return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
        };
        return {seconds_since({}),
                cpu(used.ru_utime) + cpu(used.ru_stime),
                static_cast<double>(calls().yields),
                static_cast<double>(calls().sleeps),
                static_cast<double>(used.ru_nvcsw),
                static_cast<double>(used.ru_nivcsw)};
    }

    std::int64_t search_edge(std::int64_t expected) {
        if (expected >= 0 && expected < max_bytes && sent_at_once(expected) && !sent_at_once(expected + 1))
            return expected;
        if (sent_at_once(max_bytes)) return -1;
        if (!sent_at_once(0)) return -2;
        std::int64_t low = 0, high = max_bytes;  // sent at once, and not
        while (high - low > 1) {
            std::int64_t const middle = low + (high - low) / 2;
            (sent_at_once(middle) ? low : high) = middle;
        }
        return low;
    }

    void follow() {
        for (std::int64_t bytes = 0;;) {
            check(MPI_Recv(&bytes, 1, MPI_INT64_T, 0, command_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (bytes < 0) return;
            check(MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(MPI_Recv(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, 0, data_tag, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
        }
    }

    void exchange(std::int64_t bytes) {
        int const count = static_cast<int>(bytes);
        if (rank_ == 0) {
            check(MPI_Send(buffer_.data(), count, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD));
            check(MPI_Recv(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            check(MPI_Recv(buffer_.data(), count, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(MPI_Send(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD));
        }
    }

    void round_trip() {
        char* const data = buffer_.data();
        if (rank_ == 0) {
            check(MPI_Send(data, 8, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD));
            check(MPI_Recv(data, 8, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            check(MPI_Recv(data, 8, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(MPI_Send(data, 8, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD));
        }
    }

    int rank_;
    std::vector<char> buffer_;
};

struct Options {
    std::string output;
    std::optional<std::int64_t> edge, copies;  // the size at which each is expected
    bool wait = false, check = false;
};

std::optional<std::int64_t> bytes_of(std::string_view word, std::string_view name) {
    if (!word.starts_with(name)) return {};
    return std::clamp<std::int64_t>(std::strtoll(word.data() + name.size(), nullptr, 10), 0, max_bytes);
}

Options read_words(int argc, char** argv) {
    Options options{argv[2], {}, {}};
    for (int i = 3; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (auto const bytes = bytes_of(word, "edge=")) options.edge = bytes;
        if (auto const bytes = bytes_of(word, "copies=")) options.copies = bytes;
        options.wait = options.wait || word == "wait";
        options.check = options.check || word == "check";
    }
    return options;
}

// Threads of this process.
int thread_count() {
    using std::filesystem::directory_iterator;
    return static_cast<int>(std::distance(directory_iterator("/proc/self/task"), directory_iterator()));
}

// A library that checks its arguments refuses a negative count. Without the check, nothing is sent, to MPI_PROC_NULL.
bool refuses_negative_count() {
    char data = 0;
    return MPI_Send(&data, -1, MPI_BYTE, MPI_PROC_NULL, data_tag, MPI_COMM_WORLD) != MPI_SUCCESS;
}

void write_read_back(JsonText& text) {
    text.key("read_back").open('{');
    for (auto const& [name, spellings] : settings_in_force()) {
        text.key(name).open('[');
        for (auto const& spelling : spellings) text.word(spelling);
        text.close(']');
    }
    text.close('}');
}

void measure_pair(JsonText& text, Options const& options, int rank) {
    Pair pair(rank);
    text.key("latency_s").number(pair.latency_s());
    if (options.edge) text.key("edge").number(pair.largest_sent_at_once(*options.edge));
    if (options.copies) {
        text.key("copies_below").number(pair.copies(std::max<std::int64_t>(0, *options.copies - 1)));
        text.key("copies_at").number(pair.copies(*options.copies));
    }
    if (options.wait) {
        auto const waited = pair.wait();
        text.key("wait").open('{');
        text.key("seconds").number(waited.seconds);
        text.key("cpu_s").number(waited.cpu_s);
        text.key("yields").number(waited.yields);
        text.key("sleeps").number(waited.sleeps);
        text.key("voluntary").number(waited.voluntary);
        text.key("involuntary").number(waited.involuntary);
        text.close('}');
    }
}

int measure(int argc, char** argv) {
    Options const options = read_words(argc, argv);
    check(MPI_Init(&argc, &argv));  // what a program gets that does not ask for a level of threads
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    Comm const world(MPI_COMM_WORLD);
    JsonText text;
    text.open('{');
    text.key("ranks").number(world.size());
    text.key("node_ranks").number(world.node().size());
    int level = MPI_THREAD_SINGLE;
    check(MPI_Query_thread(&level));
    static constexpr std::pair<int, char const*> levels[] = {{MPI_THREAD_SINGLE, "single"},
                                                             {MPI_THREAD_FUNNELED, "funneled"},
                                                             {MPI_THREAD_SERIALIZED, "serialized"},
                                                             {MPI_THREAD_MULTIPLE, "multiple"}};
    text.key("thread_level").word(std::ranges::find(levels, level, &std::pair<int, char const*>::first)->second);
    text.key("threads").number(thread_count());
    if (world.rank() == 0) write_read_back(text);
    if (world.size() == 2) measure_pair(text, options, world.rank());
    if (options.check) text.key("refuses_negative_count").boolean(refuses_negative_count());
    text.close('}');
    bool written = true;
    if (world.rank() == 0) written = static_cast<bool>(std::ofstream(options.output) << text.text() << '\n');
    MPI_Finalize();
    return written ? 0 : 1;
}

int describe() {
    MpiVariables const variables;
    JsonText text;
    text.open('{');
    text.key("library").word(Session::library());
    text.key("variables").open('[');
    for (auto const& variable : variables.all()) {
        text.open('{');
        text.key("name").word(variable.name);
        text.key("type").word(variable.type);
        text.key("value").word(variable.value);
        if (!variable.words.empty()) {
            text.key("words").open('[');
            for (auto const& word : variable.words) text.word(word);
            text.close(']');
        }
        text.close('}');
    }
    text.close(']');
    text.close('}');
    std::cout << text.text() << '\n';
    return 0;
}

}  // namespace
}  // namespace octant

int main(int argc, char** argv) {
    std::string_view const what = argc > 1 ? argv[1] : "";
    try {
        if (what == "describe") return octant::describe();
        if (what == "measure" && argc > 2) return octant::measure(argc, argv);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "octant-mpi-probe: %s\n", octant::reason_of(error).c_str());
        return 1;
    }
    std::fputs("octant-mpi-probe: try describe, or measure FILE [edge=BYTES] [copies=BYTES] [wait] [check]\n", stderr);
    return 2;
}
