// HPCC's RandomAccess of all ranks: each makes its part of the updates, whose words lie anywhere in one table.
#include "octant/kernel.hpp"
#include "octant/node_window.hpp"
#include "setting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace {

using hpcc::Division;
using hpcc::Setting;
using hpcc::Word;
using octant::Context;
using octant::KnobKind;
using octant::Refusal;

constexpr std::size_t sequence_parts = 128;  // a batch is a multiple of it
constexpr double lost_at_most = 0.01;        // of the words, by HPCC's rule: several may write a word at once
// Words of the table for each rank from which on plain updates lose far less than that (two ranks: 0.2 % at 1 MiB for
// each, up to 2.7 % at 256 KiB).
constexpr Word plain_from = Word{1} << 19U;
// At random it were exp(-updates for each word); the polynomial's first numbers are less even: with one update for each
// of 2^11 words it is 0.92, and less in all other tables. A repetition that was not made, nor undone, leaves all words.
constexpr double untouched_at_most = 0.95;

enum Spoilt : std::size_t { share, number, untouched, places, exact };

// Words of the table: the largest power of two within the requested bytes, or within an HPL matrix of this order.
unsigned bits_of(octant::Knobs const& knobs) {
    auto const order = knobs.integer("hpl");
    std::int64_t const words = order > 0 ? order * order : knobs.integer("bytes") / 8;
    return static_cast<unsigned>(std::bit_width(static_cast<Word>(std::max<std::int64_t>(words, 2))) - 1);
}

// Throws Refusal: updates that a rank makes ahead would be more than its part of the table.
Division divided(octant::Knobs const& knobs, int ranks) {
    Division const division(bits_of(knobs), ranks);
    if (division.words() < static_cast<Word>(ranks) * hpcc::max_ahead / 8)
        throw Refusal("cannot divide a table of " + std::to_string(division.words()) + " words between " +
                          std::to_string(ranks) + " ranks; try a larger table",
                      octant::Exit::not_supported);
    return division;
}

bool by_messages(Context const& context) {
    return context.group.size() == 1 || context.knobs.word("transport") == "messages";
}

class RandomAccess {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"bytes",
                           KnobKind::bytes,
                           "256MiB",
                           "table size over all ranks, rounded down to a power of two",
                           {},
                           4096},
                          {"hpl",
                           KnobKind::integer,
                           "0",
                           "if not 0: table size as in HPCC for HPL of this order",
                           {},
                           0,
                           100'000'000},
                          {"updates", KnobKind::integer, "4", "updates per word of the table (HPCC: 4)", {}, 1, 1024},
                          {"sequence",
                           KnobKind::word,
                           "polynomial",
                           "random sequence: polynomial: HPCC RandomAccess; lcg: HPCC RandomAccess_LCG",
                           {"polynomial", "lcg"}},
                          {"transport",
                           KnobKind::word,
                           "shared",
                           "shared: loads and stores in shared memory; messages: MPI messages; hierarchical: both",
                           {"shared", "messages", "hierarchical"}},
                          {"algorithm",
                           KnobKind::word,
                           "halves",
                           "algorithm of transport=messages (see the page of this workload)",
                           {"halves", "hypercube", "opt2", "routed", "buckets"}},
                          {"team",
                           KnobKind::integer,
                           "0",
                           "transport=hierarchical: ranks that share memory; 0: all ranks of a node",
                           {},
                           0,
                           1'000'000},
                          {"atomic",
                           KnobKind::word,
                           "auto",
                           "atomic updates of shared memory; auto: if ranks share memory and have less than 4 MiB each",
                           {"auto", "no", "yes"}},
                          {"batch",
                           KnobKind::integer,
                           "0",
                           "updates per round; 0: default of the algorithm",
                           {},
                           0,
                           static_cast<std::int64_t>(hpcc::max_ahead)}},
                .pace = octant::Pace::whole,
                .sync = octant::Sync::dissemination,
                .defaults = {{"pages", "try-thp"}},
                .takes = [](int ranks, int, octant::Knobs const& knobs) {
                    return octant::refusal_of([&] { return divided(knobs, ranks); });
                }};
    }

    explicit RandomAccess(Context& context)
        : context_(context), division_(divided(context.knobs, context.group.size())) {
        Word const mine = division_.size(context.group.rank());
        if (by_messages(context)) {
            table_.emplace(context.buffer<Word>(mine));
            context.watched = {table_->mapping().bytes()};
        } else {
            if (context.pages.pool_page_bytes > 0)
                throw Refusal(
                    "cannot take pages=" + context.pages.name + " (MPI allocates the table in a window); try pages=thp",
                    octant::Exit::not_supported);
            context.claim_outside(static_cast<double>(mine) * sizeof(Word));
        }
        note();
    }

    void set_up() {
        std::vector<std::int64_t> const order = order_of_teams();
        places_.emplace(context_.group.split(0, static_cast<int>(order[1])));
        setting_ = Setting{.places = &*places_,
                           .division = division_,
                           .teams = teams_,
                           .congruential = context_.knobs.word("sequence") == "lcg",
                           .atomic = atomic(),
                           .updates = static_cast<Word>(context_.knobs.integer("updates")),
                           .batch = batch()};
        if (table_) {
            setting_->memory = table_->span();
        } else {
            team_.emplace(places_->split(teams_.mine, places_->rank()));
            window_.emplace(*team_, division_.size(places_->rank()) * sizeof(Word), true);
            window_->touch(*team_);
            if (context_.pages.transparent()) window_->request_huge_pages(*team_);
            std::span<std::byte> const all = window_->all();
            context_.watched = {all};
            setting_->memory = {reinterpret_cast<Word*>(all.data()), all.size() / sizeof(Word)};
        }
        updates_ = way();
        if (!by_messages(context_)) context_.notes.emplace_back("atomic", setting_->atomic ? "yes" : "no");
        std::size_t const ahead = (two_batches() ? 2 : 1) * setting_->batch;
        context_.notes.emplace_back("look-ahead", std::to_string(ahead) + " updates");
        context_.notes.emplace_back("rule", !two_batches() && algorithm() == "buckets" ? "baseline" : "optimised");
        prepare();
    }

    void prepare() {
        std::span<Word> const own = setting_->own();
        std::iota(own.begin(), own.end(), division_.first(places_->rank()));
        publish();
    }

    void step() { done_ = updates_->run(); }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"updates", static_cast<std::int64_t>(setting_->my_updates())},
                {"messages", done_.messages},
                {"bytes_sent", 8 * done_.words_sent}};
    }

    // Each repetition: what HPCC verifies, by a loop that shares nothing with the timed ones, and what that cannot see.
    octant::Results verify() {
        publish();
        Word const words = division_.words();
        std::span<Word> const own = setting_->own();
        Word const first = division_.first(places_->rank());
        if (spoilt_ == untouched) std::iota(own.begin(), own.end(), first);
        double const same = total(differing(own, first, false));
        std::int64_t const expected = static_cast<std::int64_t>(setting_->updates * words);
        std::int64_t const applied = places_->sum(done_.applied), undone = places_->sum(hpcc::undo(*setting_));
        spoil(own);
        double const wrong = total(differing(own, first, true));
        octant::Results checks = {
            {"share of the words that differ after all updates were undone", wrong / static_cast<double>(words), "1",
             lost_at_most},
            {"difference from the expected number of updates",
             static_cast<double>(std::abs(applied - expected) + std::abs(undone - expected)), "1", 0},
            {"share of the words that no update reached", same / static_cast<double>(words), "1", untouched_at_most},
            {"ranks that ended at a wrong position of the sequence", total(done_.at_end ? 0 : 1), "1", 0}};
        if (no_update_lost()) checks.push_back({"wrong words in a mode without lost updates", wrong, "1", 0});
        return checks;
    }

    // Collective: the updates are wrong themselves where their number, or their places in the sequence, are to be.
    void corrupt(std::size_t check) {
        spoilt_ = check;
        if (check != number && check != places) return;
        (check == number ? setting_->left_out : setting_->late) = 1;
        updates_ = way();
        prepare();
        step();
    }

  private:
    static constexpr std::size_t nothing = SIZE_MAX;

    [[nodiscard]] bool no_update_lost() const { return setting_->atomic || !shared(); }
    // Whether several ranks write a part of the table.
    [[nodiscard]] bool shared() const {
        return std::ranges::any_of(sizes_of_teams(), [](int size) { return size > 1; });
    }
    [[nodiscard]] bool atomic() const {
        if (by_messages(context_)) return false;
        std::string const& word = context_.knobs.word("atomic");
        return word == "yes" || (word == "auto" && shared() && division_.size(0) < plain_from);
    }
    [[nodiscard]] std::vector<int> sizes_of_teams() const {
        std::vector<int> sizes;
        for (int team = 0; team < teams_.count(); ++team) sizes.push_back(teams_.size(team));
        return sizes;
    }
    [[nodiscard]] double total(std::int64_t mine) const { return static_cast<double>(places_->sum(mine)); }

    // Words of mine that are, or are not, as they were at the start.
    static std::int64_t differing(std::span<Word const> own, Word first, bool different) {
        std::int64_t count = 0;
        for (Word i = 0; i < own.size(); ++i) count += (own[i] != first + i) == different ? 1 : 0;
        return count;
    }
    // Two words of a hundred, on the first rank one at least.
    void spoil(std::span<Word> own) const {
        if (spoilt_ == share)
            for (std::size_t i = 0; i < own.size(); i += 50) own[i] ^= 1U;
        if (spoilt_ == exact) own[0] ^= 1U;
    }

    // Of this rank: its team's number, and its place, where those of a team follow each other.
    std::vector<std::int64_t> order_of_teams() {
        octant::Comm const& group = context_.group;
        std::int64_t leader = group.rank();
        if (!table_ && context_.knobs.word("transport") == "hierarchical") {
            octant::Comm const node = group.node();
            auto const team = static_cast<int>(context_.knobs.integer("team"));
            octant::Comm const mates = node.split(team > 0 ? node.rank() / team : 0, node.rank());
            leader = mates.broadcast(std::int64_t{group.rank()});
        } else if (!table_) {
            leader = 0;
        }
        auto const ranks = static_cast<std::size_t>(group.size());
        std::vector<std::int64_t> leaders(ranks);
        octant::check(MPI_Allgather(&leader, 1, MPI_INT64_T, leaders.data(), 1, MPI_INT64_T, group.get()));
        std::vector<std::size_t> by_place(ranks);
        std::iota(by_place.begin(), by_place.end(), std::size_t{0});
        std::ranges::stable_sort(by_place, {}, [&](std::size_t rank) { return leaders[rank]; });
        std::int64_t place = 0;
        for (std::size_t at = 0; at < ranks; ++at) {
            if (at == 0 || leaders[by_place[at]] != leaders[by_place[at - 1]])
                teams_.first.push_back(static_cast<int>(at));
            if (by_place[at] == static_cast<std::size_t>(group.rank())) place = static_cast<std::int64_t>(at);
        }
        teams_.first.push_back(group.size());
        teams_.mine = teams_.of(static_cast<int>(place));
        return {teams_.mine, place};
    }

    [[nodiscard]] bool two_batches() const { return teams_.count() == 1 || algorithm() == "halves"; }
    [[nodiscard]] std::string const& algorithm() const { return context_.knobs.word("algorithm"); }

    [[nodiscard]] std::size_t batch() const {
        auto const asked = static_cast<std::size_t>(context_.knobs.integer("batch"));
        std::size_t const most = hpcc::max_ahead / (two_batches() ? 2 : 1);
        if (asked > most)
            throw Refusal("cannot use two batches of " + std::to_string(asked) +
                              " updates (HPCC allows 1024 stored updates); try batch=512",
                          octant::Exit::not_supported);
        std::size_t const rounded = (asked + sequence_parts - 1) / sequence_parts * sequence_parts;
        return asked > 0 ? rounded : teams_.count() == 1 ? sequence_parts : most;
    }

    [[nodiscard]] std::unique_ptr<hpcc::Updates> way() const {
        if (teams_.count() == 1) return hpcc::in_memory(*setting_);
        if (algorithm() == "halves") return hpcc::by_halves(*setting_);
        if (teams_.count() < places_->size())
            throw Refusal("cannot use algorithm=" + algorithm() +
                              " between teams that share memory; try algorithm=halves, or transport=messages",
                          octant::Exit::not_supported);
        if (algorithm() == "routed") return hpcc::routed(*setting_);
        if (algorithm() == "buckets") return hpcc::by_buckets(*setting_);
        return hpcc::by_hypercube(*setting_, algorithm() == "opt2");
    }

    void note() {
        context_.notes = {{"table_bytes", std::to_string(division_.words() * sizeof(Word))}};
        if (context_.knobs.integer("hpl") == 0)
            context_.note_rounded(context_.knobs.integer("bytes"),
                                  static_cast<std::int64_t>(division_.words() * sizeof(Word)));
    }

    void publish() const {
        if (window_) window_->publish(*team_);
        places_->barrier();
    }

    Context& context_;
    Division division_;
    std::optional<octant::Buffer<Word>> table_;
    hpcc::Teams teams_;
    std::optional<octant::Comm> places_, team_;
    std::optional<octant::NodeWindow> window_;
    std::optional<Setting> setting_;
    std::unique_ptr<hpcc::Updates> updates_;
    hpcc::Done done_;
    std::size_t spoilt_ = nothing;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<RandomAccess>(argc, argv); }
