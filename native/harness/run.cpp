// The main program of every kernel: words in, records out, and an exit code that tells the truth.
#include "octant/kernel.hpp"
#include "octant/measure.hpp"
#include "octant/noise.hpp"
#include "octant/record.hpp"

#include <omp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <thread>

namespace octant {
namespace {

struct Arguments {
    bool describe = false;
    std::string output = "-";
    std::string run_key;
    std::vector<std::string> words;
};

Arguments parse(int argc, char** argv) {
    Arguments found;
    for (int i = 1; i < argc; ++i) {
        std::string const word = argv[i];
        auto const following = [&] {
            if (i + 1 >= argc) throw Refusal("cannot read " + word + " (its value is missing); try " + word + " VALUE");
            return std::string(argv[++i]);
        };
        if (word == "--describe")
            found.describe = true;
        else if (word == "--output")
            found.output = following();
        else if (word == "--run")
            found.run_key = following();
        else
            found.words.push_back(word);
    }
    return found;
}

Sync sync_of(std::string const& word) {
    if (word == "none") return Sync::none;
    if (word == "barrier") return Sync::barrier;
    if (word == "dissemination") return Sync::dissemination;
    return Sync::clock;
}

using Masks = std::vector<std::vector<int>>;  // hardware threads that each of our threads may use

// Throws Refusal: OpenMP gives fewer threads than asked. Each would be missing from the figure without a word.
Masks masks_of_threads(int threads) {
    Masks masks(static_cast<std::size_t>(threads));
    int given = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : given)
    {
        masks[static_cast<std::size_t>(omp_get_thread_num())] = allowed_cpus();
        given += 1;
    }
    if (given != threads)
        throw Refusal("cannot start threads=" + std::to_string(threads) + " (OpenMP gives " + std::to_string(given) +
                      "); try a larger OMP_THREAD_LIMIT");
    return masks;
}

// True where the system let every thread have its mask.
bool apply(Masks const& masks) {
    auto const threads = static_cast<int>(masks.size());
    int refused = 0;
#pragma omp parallel num_threads(threads) reduction(+ : refused)
    { refused += allow_cpus(masks[static_cast<std::size_t>(omp_get_thread_num())]) ? 0 : 1; }
    return refused == 0;
}

std::vector<std::int64_t> together(Masks const& masks) {
    std::set<std::int64_t> all;
    for (auto const& mask : masks) all.insert(mask.begin(), mask.end());
    return {all.begin(), all.end()};
}

// Gives every thread of every rank a hardware thread of its own, from its rank's mask: ranks in order take the first
// free ones, and those before give way where they can (Kuhn's matching).
class Seats {
  public:
    Seats(std::vector<std::vector<std::int64_t>> masks, int threads)
        : masks_(std::move(masks)), threads_(static_cast<std::size_t>(threads)) {
        std::set<std::int64_t> all;
        for (auto const& mask : masks_) all.insert(mask.begin(), mask.end());
        enough_ = masks_.size() * threads_ <= all.size();
        for (std::size_t i = 0; enough_ && i < masks_.size() * threads_; ++i) {
            std::set<std::int64_t> tried;
            enough_ = seat(i, tried);
        }
    }
    [[nodiscard]] bool enough() const noexcept { return enough_; }
    [[nodiscard]] std::vector<std::int64_t> in_order() const {  // rank by rank, thread by thread
        std::vector<std::int64_t> seats(sitting_.size());
        for (auto const& [cpu, thread] : sitting_) seats[thread] = cpu;
        return seats;
    }

  private:
    bool seat(std::size_t thread, std::set<std::int64_t>& tried) {
        auto const& mask = masks_[thread / threads_];
        auto const free = std::ranges::find_if(mask, [&](auto cpu) { return !sitting_.contains(cpu); });
        if (free != mask.end()) {
            sitting_[*free] = thread;
            return true;
        }
        for (auto cpu : mask)
            if (tried.insert(cpu).second && seat(sitting_.at(cpu), tried)) {
                sitting_[cpu] = thread;
                return true;
            }
        return false;
    }

    std::vector<std::vector<std::int64_t>> masks_;
    std::size_t threads_;
    std::map<std::int64_t, std::size_t> sitting_;  // hardware thread to thread
    bool enough_ = false;
};

class Restored {  // gives the threads their masks back, however a point ends
  public:
    explicit Restored(Masks masks) : masks_(std::move(masks)) {}
    Restored(Restored const&) = delete;
    Restored& operator=(Restored const&) = delete;
    ~Restored() { apply(masks_); }
    [[nodiscard]] Masks const& masks() const noexcept { return masks_; }

  private:
    Masks masks_;
};

struct Pinned {
    bool shared;   // more threads than hardware threads: nobody is pinned
    bool refused;  // the system did not let us: measured all the same, and flagged
};

// Pins the node's threads to seats of their own, if there are enough. A library's threads inherit their mask from the
// one that starts them, so for these each thread gets all of its rank's seats.
Pinned pin_threads(Comm const& node, Masks const& before, bool pin, bool library_threads) {
    Seats const seats(node.gather(together(before)), static_cast<int>(before.size()));  // of use on the first rank
    bool const shared = node.broadcast(std::int64_t{seats.enough() ? 0 : 1}) != 0;
    if (!pin || shared) return {shared, false};
    auto all = seats.in_order();
    auto const threads = before.size();
    all.resize(static_cast<std::size_t>(node.size()) * threads);
    for (auto& cpu : all) cpu = node.broadcast(cpu);
    Masks own(threads);
    for (std::size_t t = 0; t < threads; ++t)
        for (std::size_t u = 0; u < threads; ++u)
            if (library_threads || t == u)
                own[t].push_back(static_cast<int>(all[static_cast<std::size_t>(node.rank()) * threads + u]));
    return {shared, !apply(own)};
}

// The kernel, on every rank or on none: what one rank's system does not have (a page size, a library) is refused by
// all, so that nobody waits for the others. Constructors therefore do not communicate.
std::unique_ptr<Runnable> build_together(Comm const& world, Build build, Context& context) {
    std::unique_ptr<Runnable> kernel;
    std::string reason;
    try {
        kernel = build(context);
    } catch (Refusal const& refusal) {
        if (refusal.code() != Exit::not_supported) throw;
        reason = refusal.what();
    }
    if (world.max(std::int64_t{reason.empty() ? 0 : 1}) == 0) return kernel;
    for (auto const& text : world.gather(reason))
        if (reason.empty()) reason = text;
    throw Refusal(reason, Exit::not_supported);
}

Exit measure_point(Session const& session, KernelInfo const& info, Build build, Knobs const& knobs,
                   Recorder& recorder) {
    Comm const& world = session.world();
    Comm const node = world.node();
    int const threads = static_cast<int>(knobs.integer("threads"));
    Context context{world,
                    knobs,
                    threads,
                    PagePolicy::parse(knobs.word("pages")),
                    NodePolicy::parse(knobs.word("memory")),
                    node.broadcast(available_memory_bytes()) / node.size()};
    Restored const before(masks_of_threads(threads));
    auto const [share_cores, unpinned] =
        pin_threads(node, before.masks(), knobs.word("pin") == "each", info.library_threads);
    bool const shared_clock = node.size() == world.size();
    Sync sync = sync_of(knobs.word("sync"));
    if (sync == Sync::clock && (!shared_clock || share_cores)) sync = Sync::dissemination;
    Settings const settings{knobs.real("seconds"),
                            knobs.integer("samples"),
                            knobs.integer("least"),
                            knobs.real("precision"),
                            sync,
                            shared_clock,
                            share_cores};
    auto const kernel = build_together(world, build, context);
    if (unpinned) context.notes.emplace_back("binding", "refused by the system");
    if (fault("throw", world.rank())) throw Refusal("cannot go on (fault 'throw' was injected); unset OCTANT_FAULT");
    if (fault("hang", world.rank()))
        while (true) pause();
    if (fault("kill", world.rank())) std::raise(SIGKILL);
    PointOutcome outcome{};
    outcome.measured = measure(*kernel, info, context, settings);
    outcome.work = kernel->work();
    outcome.step_kernel = !kernel->has_lanes();
    for (Mapping const* mapping : context.watched) outcome.pages.push_back(mapping->given());
    if (fault("pages", world.rank()))
        for (auto& pages : outcome.pages) pages.huge_bytes = 0, pages.page_bytes = 1;
    if (fault("wrong", world.rank())) kernel->corrupt();
    Verdict const mine = kernel->verify();
    bool const finite =
        mine.error <= std::numeric_limits<double>::max();  // false for NaN too: such a check never passes
    outcome.verdict = {mine.check, world.max(finite ? mine.error : std::numeric_limits<double>::max()), mine.tolerance};
    recorder.write(info, context, settings, outcome);
    return outcome.verdict.passed() ? Exit::ok : Exit::wrong_answer;
}

// A launcher may end a job before it has passed on what the failing rank said; what is in the records stays.
void leave_reason(Recorder& recorder, KernelInfo const& info, Knobs const& knobs, int rank, char const* reason,
                  Exit code) {
    try {
        recorder.write_failure(info, knobs, "rank " + std::to_string(rank) + ": " + reason, code);
    } catch (Refusal const&) {  // the records may be what failed, or lie on another host: standard error remains
    }
}

int measure_all(Session const& session, KernelInfo const& info, Build build, std::vector<Knobs> const& all,
                Arguments const& arguments) {
    Comm const& world = session.world();
    if (world.size() < info.least_ranks)
        throw Refusal("cannot run " + info.name + " on " + std::to_string(world.size()) + " rank (it needs " +
                      std::to_string(info.least_ranks) + "); try mpiexec -n " + std::to_string(info.least_ranks));
    Recorder recorder(world, arguments.output, arguments.run_key);
    int worst = 0;
    for (Knobs const& knobs : all) {
        try {
            worst = std::max(worst, static_cast<int>(measure_point(session, info, build, knobs, recorder)));
        } catch (Refusal const& refusal) {
            // What this system does not have is recorded and the sweep goes on; all ranks are here together.
            if (refusal.code() != Exit::not_supported) {
                leave_reason(recorder, info, knobs, world.rank(), refusal.what(), refusal.code());
                throw;
            }
            if (world.rank() == 0) {
                recorder.write_failure(info, knobs, refusal.what(), refusal.code());
                std::fprintf(stderr, "octant-%s: %s\n", info.name.c_str(), refusal.what());
            }
            worst = std::max(worst, static_cast<int>(refusal.code()));
        } catch (std::exception const& error) {
            leave_reason(recorder, info, knobs, world.rank(), error.what(), Exit::cannot_run);
            throw;
        }
    }
    return worst;
}

// A rank whose launcher was killed would wait for the others for ever. Only for launches of Octant's: who starts a
// kernel by hand may well leave it running.
void die_with_parent() {
    pid_t const parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::raise(SIGKILL);  // it ended in between
}

// A launcher that learns of the abort first ends the job without passing on what still lies in the pipe.
void wait_until_read(int pipe) {
    int unread = 0;
    for (int tries = 0; tries < 200 && ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void Context::claim(double bytes) {
    if (pages.pool_page_bytes > 0) return;  // pools are not part of what is available, and refuse by themselves
    if (bytes > static_cast<double>(memory_left_bytes))
        throw Refusal("cannot use " + std::to_string(static_cast<std::int64_t>(bytes / (1 << 20))) +
                          " MiB more memory (" + std::to_string(memory_left_bytes >> 20) +
                          " MiB are left of this rank's share of what is available); try a smaller size",
                      Exit::not_supported);
    memory_left_bytes -= static_cast<std::int64_t>(bytes);
}

void Context::on_each_thread(std::function<void(int)> const& body) const {
    std::string failure;
#pragma omp parallel num_threads(threads)
    {
        try {
            body(omp_get_thread_num());
        } catch (std::exception const& error) {
#pragma omp critical
            failure = error.what();
        }
    }
    if (!failure.empty()) throw Refusal(failure);
}

int run_program(int argc, char** argv, KernelInfo const& info, Build build) {
    std::vector<Knob> declared = info.knobs;
    for (auto const& knob : harness_knobs(info)) declared.push_back(knob);
    Arguments arguments;
    std::vector<Knobs> all;
    try {  // before MPI starts: a typo costs nothing
        arguments = parse(argc, argv);
        if (arguments.describe) {
            std::cout << describe(info) << '\n';
            return 0;
        }
        all = points(declared, arguments.words);
    } catch (Refusal const& refusal) {
        std::fprintf(stderr, "octant-%s: %s\n", info.name.c_str(), refusal.what());
        return static_cast<int>(refusal.code());
    }
    if (!arguments.run_key.empty()) die_with_parent();
    Session const session(&argc, &argv);
    try {
        return measure_all(session, info, build, all, arguments);
    } catch (std::exception const& error) {
        // The other ranks may be inside a collective: only ending the whole job ends them.
        std::fprintf(stderr, "octant-%s: rank %d: %s\n", info.name.c_str(), session.world().rank(), error.what());
        wait_until_read(STDERR_FILENO);
        auto const* refusal = dynamic_cast<Refusal const*>(&error);
        int const code = static_cast<int>(refusal != nullptr ? refusal->code() : Exit::cannot_run);
        if (session.world().size() > 1) MPI_Abort(MPI_COMM_WORLD, code);
        return code;
    }
}

}  // namespace octant
