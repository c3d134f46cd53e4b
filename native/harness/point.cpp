#include "octant/point.hpp"

#include "octant/available_memory.hpp"
#include "octant/clock.hpp"
#include "octant/crc.hpp"
#include "octant/pinning.hpp"
#include "octant/prefetchers.hpp"
#include "point_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace octant {
namespace {

// Runs `body` on every rank. If it fails on one rank (a page size or a library is missing there), all ranks fail, so
// that no rank waits for the others.
void run_on_all_ranks(Comm const& world, std::function<void()> const& body) {
    std::string reason;
    try {
        body();
    } catch (Refusal const& refusal) {
        if (refusal.code() != Exit::not_supported) throw;
        reason = refusal.what();
    }
    if (world.max(std::int64_t{reason.empty() ? 0 : 1}) == 0) return;
    for (auto const& text : world.gather(reason))
        if (reason.empty()) reason = text;
    throw Refusal(reason, Exit::not_supported);
}

// Runs `body`. If it fails on this rank alone, the kernel is not destroyed: to free windows and files, its destructor
// would wait for the other ranks. `on_all_ranks`: a refusal occurs on all ranks, and the next point can begin.
// Otherwise other ranks may be inside a collective call.
void run_or_abandon(std::unique_ptr<Runnable>& kernel, bool on_all_ranks, std::function<void()> const& body) {
    try {
        body();
    } catch (Refusal const& refusal) {
        if (on_all_ranks && refusal.code() == Exit::not_supported) throw;
        static_cast<void>(kernel.release());
        throw Refusal(refusal.what(), refusal.code() == Exit::not_supported ? Exit::cannot_run : refusal.code());
    } catch (...) {
        static_cast<void>(kernel.release());
        throw;
    }
}

// Constructs the kernel on all ranks or on none. Constructors do not communicate, since one of them may refuse.
std::unique_ptr<Runnable> build_kernel(Build build, Context& context, bool works) {
    std::unique_ptr<Runnable> kernel;
    run_on_all_ranks(context.world, [&] {
        if (works) kernel = build(context);
    });
    run_or_abandon(kernel, true, [&] {
        run_on_all_ranks(context.world, [&] {
            if (works) kernel->set_up();
            inject_faults(During::set_up, context.world.rank());
        });
    });
    return kernel;
}

// The knob `hwprefetch`: the first rank of a node that works switches for the threads of all of them, where they are
// now. It tests the effect on its own hardware thread, which is one of them.
std::unique_ptr<PrefetcherSwitch> switch_prefetchers(Context const& context, Comm const& node, bool works) {
    std::string const& word = context.knobs.word("hwprefetch");
    std::set<int> all;
    if (word != "keep") {
        std::vector<std::int64_t> mine;
        if (works)
            for (auto const& mask : masks_of_threads(context.threads))
                mine.insert(mine.end(), mask.begin(), mask.end());
        for (auto const& list : node.split(works ? 0 : 1, node.rank()).gather(mine))
            all.insert(list.begin(), list.end());
    }
    std::unique_ptr<PrefetcherSwitch> found;
    run_on_all_ranks(context.world, [&] {
        found = std::make_unique<PrefetcherSwitch>(word, std::vector<int>(all.begin(), all.end()), context.threads);
    });
    return found;
}

// The ranks of one operating system, and so of one memory. MPI's shared-memory communicator may contain only some of
// them: on emulated hosts, and if a library is configured to use the network between all ranks.
Comm ranks_of_kernel(Comm const& world) {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    if (id.empty()) id = processor_name();
    return world.split(static_cast<int>(crc32(id) >> 1U), world.rank());
}

// What this rank may claim: its share of what the ranks of this kernel may take. All of them have given back what they
// had before, since the communicators of a point are made by all.
void set_memory_left(Context& context, bool works) {
    using Bounds = std::vector<MemoryBound>;
    Comm const sharing = ranks_of_kernel(context.world);
    auto const claimable = [&](Bounds const& bounds) {
        std::int64_t const share = share_of(sharing, works ? bounds : Bounds{});
        return share == INT64_MAX ? share : share - share / Context::unclaimed_part;
    };
    context.memory_left_bytes = claimable(memory_bounds(context.nodes.bound_to()));
    std::int64_t const page = context.pages.pool_page_bytes;
    if (page > 0) context.pool_left_bytes = claimable(pool_bounds(page));
}

Settings settings_of(Knobs const& knobs, KernelInfo const& info, bool shared_clock, bool share_cores, double mark_ns) {
    Sync sync = sync_of(knobs.word("sync"));
    if (sync == Sync::clock && (!shared_clock || share_cores)) sync = Sync::dissemination;
    return {.seconds = knobs.real("seconds"),
            .samples = knobs.integer("samples"),
            .least = knobs.integer("least"),
            .precision = knobs.real("precision"),
            .sync = sync,
            .shared_clock = shared_clock,
            .share_cores = share_cores,
            .warmup = info.pace == Pace::whole ? knobs.integer("warmup") : 0,
            .mark_ns = mark_ns,
            .settles = info.pace != Pace::whole};
}

// Collects counts, page residency, results and checks of a rank that takes part, after the timing.
void collect_outcome(Runnable& kernel, KernelInfo const& info, Context const& context, Outcome& outcome) {
    outcome.work.resize(info.roles.size());
    for (auto const& lane : outcome.measured.lanes)
        if (outcome.work[lane.role].empty()) outcome.work[lane.role] = kernel.work(lane.role);
    for (auto const memory : context.watched)
        outcome.pages.push_back(read_page_residency(memory, context.pages.transparent_page_bytes));
    if (fault("pages", context.world.rank()))
        for (auto& pages : outcome.pages) pages.huge_bytes = 0, pages.page_bytes = 1;
    outcome.results = kernel.results();
    outcome.checks = info.pace == Pace::whole ? outcome.measured.checks : verified(kernel, context.world.rank());
}

}  // namespace

Exit measure_point(Session const& session, Row const& row, Knobs const& knobs, Recorder& recorder, Progress& progress,
                   std::uint64_t seed) {
    KernelInfo const& info = row.info;
    Comm const& world = session.world();
    Comm const node = world.node();
    Groups const groups = Groups::parse(knobs.word("groups"), world.size(), info.min_ranks);
    if (auto const refusal = shape_refusal(info, knobs, world.size())) throw *refusal;
    int const mine = groups.of(world.rank());
    bool const works = mine >= 0;
    Comm const group =
        world.split(works ? mine : static_cast<int>(groups.members.size()), groups.place_of(world.rank()));
    std::int64_t const process = world.broadcast(getpid());
    Scratch const scratch((recorder.path() == "-" ? "octant" : recorder.path()) + ".scratch-" + std::to_string(process),
                          node.rank() == 0);
    int const threads = static_cast<int>(knobs.integer("threads"));
    PagePolicy const pages = PagePolicy::parse(knobs.word("pages"));
    Context context{.world = world,
                    .group = group,
                    .knobs = knobs,
                    .threads = threads,
                    .pages = pages,
                    .nodes = NodePolicy::parse(knobs.word("memory")),
                    .layout = layout_of(knobs.word("layout"), pages)};
    set_memory_left(context, works);
    ScopedMasks const before(masks_of_threads(threads));
    auto const [share_cores, unpinned] =
        pin_threads(node, before.masks(), knobs.word("pin") == "each", info.library_threads, works, seed);
    context.share_cores = share_cores;
    auto const prefetchers = switch_prefetchers(context, node, works);
    context.after_init = session.measured();
    bool const shared_clock = node.size() == world.size() || std::getenv("OCTANT_LINK") != nullptr;  // emulated hosts
    Outcome outcome{settings_of(knobs, info, shared_clock, share_cores, recorder.mark_ns()), {}};
    context.sync = outcome.settings.sync;
    context.marks = Marks(info.phases, outcome.settings.samples + outcome.settings.warmup);
    context.readings.values.resize(info.readings.size());
    context.progress_file = &progress;
    context.scratch_folder = &scratch;
    std::int64_t const begun_ns = now_ns();
    auto kernel = build_kernel(row.build, context, works);
    if (unpinned) context.notes.emplace_back("binding", "refused by the system");
    if (!prefetchers->text().empty()) context.notes.emplace_back("hwprefetch", prefetchers->text());
    if (context.drawn) context.notes.emplace_back("layout", "random");
    std::int64_t const built_ns = now_ns();
    std::int64_t measured_ns = built_ns;
    run_or_abandon(kernel, world.size() == 1, [&] {
        inject_faults(During::between, world.rank());
        outcome.measured = measure(kernel.get(), info, context, outcome.settings, groups);
        measured_ns = now_ns();
        if (works) collect_outcome(*kernel, info, context, outcome);
        world.sleeping_barrier();  // idle ranks sleep until the others have verified
    });
    auto const seconds = [](std::int64_t from, std::int64_t to) { return static_cast<double>(to - from) * 1e-9; };
    outcome.spent_s = {{"build_s", seconds(begun_ns, built_ns)},
                       {"measure_s", seconds(built_ns, measured_ns)},
                       {"check_s", seconds(measured_ns, now_ns())}};
    return recorder.write(info, context, groups, outcome) ? Exit::ok : Exit::wrong_answer;
}

}  // namespace octant
