// HPC Challenge's PTRANS: C := A transposed + C, both block-cyclic over a grid of ranks.
#include "octant/kernel.hpp"

#include "kernels/random.hpp"
#include "layout.hpp"
#include "matrix.hpp"
#include "octant/amounts.hpp"
#include "octant/node_window.hpp"
#include "octant/width.hpp"
#include "parcels.hpp"
#include "tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace ptrans {
namespace {

using octant::Buffer;
using octant::Context;
using octant::KnobKind;
using octant::Refusal;

constexpr std::size_t pack = 0, exchange = 1, add = 2;  // phases
constexpr double residual_bound = 16;
constexpr std::int64_t max_n = std::int64_t{1} << 26;  // n times n counts entries, in 64 bits, and bytes of them

struct Width {
    std::string name;
    Loops loops;
};

// The vector widths of this processor, narrow to wide.
std::vector<Width> widths() {
    std::vector<Width> found{{"scalar", scalar_loops()}, {"128", loops_128()}};
    if constexpr (octant::x86) {
        if (octant::has_avx2()) found.push_back({"256", loops_256()});
        if (octant::has_avx512()) found.push_back({"512", loops_512()});
    }
    return found;
}

// "4096", or "hpl:8192": what HPC Challenge takes where HPL's matrix has that order.
std::int64_t order_of(std::string const& text) {
    constexpr std::string_view of_hpl = "hpl:";
    bool const derived = text.starts_with(of_hpl);
    std::int64_t const n = octant::parse_integer(derived ? text.substr(of_hpl.size()) : text) / (derived ? 2 : 1);
    if (n < 1 || n > max_n)
        throw Refusal("cannot use n=" + text + " (it is not from 1 to " + std::to_string(max_n) + "); try n=2048",
                      octant::Exit::wrong_word);
    return n;
}

struct Leg {  // what this rank has to do with one other, or with itself
    Share out, in;
    int to, from;         // ranks
    bool sends, expects;  // else both sides reach each other's A
    double const* a;      // of `from`, where it is within reach
    std::int64_t stride;  // of its columns
};

class Ptrans {
  public:
    static octant::KernelInfo info() {
        constexpr std::int64_t max_edge = 4096;
        return {
            .knobs =
                {{"n", KnobKind::word, "2048", "matrix order; hpl:N: N/2, as HPC Challenge for HPL's order N"},
                 {"block", KnobKind::integer, "192", "block size", {}, 1, max_n},
                 {"grid", KnobKind::word, "auto", "process grid PxQ; auto: closest to square"},
                 {"map",
                  KnobKind::word,
                  "random",
                  "mapping of ranks to the grid: random: a new one for each of `maps` repetitions; identity: row-major",
                  {"random", "identity"}},
                 {"maps", KnobKind::integer, "5", "number of random mappings", {}, 1, 1000},
                 {"seed", KnobKind::integer, "1", "seed of the mappings and of the data of the second check"},
                 {"transport",
                  KnobKind::word,
                  "hierarchical",
                  "shared: loads from the memory of other ranks; messages: MPI messages; hierarchical: loads within a "
                  "node, messages between nodes",
                  {"hierarchical", "shared", "messages"}},
                 {"message", KnobKind::bytes, "256KiB", "message size, rounded to whole tiles", {}, 8, 1 << 30},
                 {"tile", KnobKind::integer, "192", "maximum tile size, elements per side", {}, 1, max_edge},
                 {"width",
                  KnobKind::word,
                  "auto",
                  "vector width in bits; auto: the widest",
                  {"auto", "scalar", "128", "256", "512"}}},
            .pace = octant::Pace::whole,
            .sync = octant::Sync::dissemination,
            .phases = {"pack", "exchange", "add"},
            .readings = {{"map", "1"}},
            .takes = [](int ranks, int, octant::Knobs const& knobs) {
                return octant::refusal_of([&] {
                    static_cast<void>(order_of(knobs.word("n")));
                    static_cast<void>(Grid::parse(knobs.word("grid"), ranks));
                });
            }};
    }

    explicit Ptrans(Context& context)
        : context_(context),
          grid_(Grid::parse(context.knobs.word("grid"), context.group.size())),
          layout_(order_of(context.knobs.word("n")), context.knobs.integer("block"), grid_),
          edge_(context.knobs.integer("tile")),
          parcel_bytes_(context.knobs.integer("message")),
          transport_(context.knobs.word("transport")),
          width_(octant::chosen_width(widths(), context.knobs.word("width"))),
          capacity_(std::max<std::size_t>(1, static_cast<std::size_t>(layout_.elements({})))),
          c_(context.buffer<double>(capacity_)),
          tile_(context.buffer<double>(static_cast<std::size_t>(edge_ * edge_))),
          messages_(context.buffer<double>(room())) {
        draw_maps();
        if (transport_ == "messages")
            own_a_.emplace(context.buffer<double>(capacity_));
        else
            context.claim_outside(static_cast<double>(capacity_) * sizeof(double));
        std::ranges::fill(c_.span(), 0.0);
        std::ranges::fill(tile_.span(), 0.0);
        std::ranges::fill(messages_.span(), 0.0);
        context.watched = {c_.mapping().bytes()};
        context.notes.insert(context.notes.end(), {{"rule", "optimised"},
                                                   {"n", std::to_string(layout_.n())},
                                                   {"grid", grid_.text()},
                                                   {"width", width_.name}});
    }

    void set_up() {
        if (!own_a_) {
            node_.emplace(transport_ == "shared" ? context_.group.split(0, context_.group.rank())
                                                 : context_.group.node());
            window_.emplace(*node_, capacity_ * sizeof(double));
            window_->touch(*node_);
            if (context_.pages.transparent()) window_->request_huge_pages(*node_);
            context_.watched.emplace_back(window_->mine());
        } else
            context_.watched.emplace_back(own_a_->mapping().bytes());
        find_neighbours();
        settle(0);
        auto const near = std::ranges::count_if(legs_, [](Leg const& leg) { return !leg.expects; });
        context_.notes.emplace_back("ranks_read_from", std::to_string(near));
        context_.notes.emplace_back("ranks_received_from",
                                    std::to_string(legs_.size() - static_cast<std::size_t>(near)));
    }

    void prepare() {
        std::size_t const next = repetition_++ % maps_.size();
        if (maps_[next] != maps_[map_]) settle(next);
        map_ = next;
        if (!holds_a_) fill_a(hpcc_a);
        holds_a_ = true;
        fill(c_.data(), layout_, me_, hpcc_c);
    }

    // It ends when all have what they need: then A may change, and where ranks share cores, who ran first waits for
    // who ran last.
    void step() {
        if (std::ranges::any_of(legs_, [](Leg const& leg) { return leg.sends || leg.expects; }))
            exchange_parcels();
        else
            for (Leg const& leg : legs_)
                for (std::int64_t parcel = 0; parcel < leg.in.parcels(); ++parcel) read(leg, parcel);
        context_.record(0, static_cast<double>(map_));
        auto const mark = context_.phase(exchange);
        context_.group.barrier();
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::int64_t const elements = layout_.elements(me_);
        std::int64_t messages = 0, sent = 0;
        for (Leg const& leg : legs_) {
            if (!leg.sends) continue;
            messages += leg.out.parcels();
            for (std::int64_t parcel = 0; parcel < leg.out.parcels(); ++parcel) sent += leg.out.elements(parcel);
        }
        return {{"bytes_transposed", 8 * elements}, {"bytes_read", 16 * elements}, {"bytes_written", 8 * elements},
                {"bytes_sent", 8 * sent},           {"messages", messages},        {"flops", elements}};
    }

    octant::Results verify() {
        if (spoilt_ == 0) spoil([](double x) { return x + 1; });
        if (spoilt_ == 1) spoil([](double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); });
        Difference const timed = compare(c_.data(), layout_, me_, hpcc_a, hpcc_c);
        double const unit = std::numeric_limits<double>::epsilon() / 2 * static_cast<double>(layout_.n());
        if (!other_) other_ = with_other_contents();
        std::string const rank = "rank " + std::to_string(context_.group.rank()) + ", ";
        return {{"largest difference from A transposed + C, over eps n", timed.largest / unit, "1", residual_bound,
                 rank + timed.where},
                {"elements that differ from the rounded sum", timed.unequal, "1", 0, rank + timed.where},
                {"elements that differ from the rounded sum, second data set", other_->unequal, "1", 0,
                 rank + other_->where}};
    }

    void corrupt(std::size_t check) { spoilt_ = static_cast<int>(check); }

  private:
    // Fisher and Yates's shuffle (Knuth, vol. 2, algorithm P) with SplitMix64: the same on all ranks.
    void draw_maps() {
        std::vector<int> map(static_cast<std::size_t>(grid_.ranks()));
        std::iota(map.begin(), map.end(), 0);
        maps_ = {map};
        if (context_.knobs.word("map") == "identity") return;
        maps_.clear();
        octant::Random random(static_cast<std::uint64_t>(context_.knobs.integer("seed")));
        for (std::int64_t i = 0; i < context_.knobs.integer("maps"); ++i) {
            for (std::size_t left = map.size(); left > 1; --left) std::swap(map[left - 1], map[random.below(left)]);
            maps_.push_back(map);
        }
    }

    // For the parcels on the way, which no map makes larger: tiles are at most as long as a block, or as `edge`.
    [[nodiscard]] std::size_t room() const {
        if (transport_ == "shared" || grid_.ranks() == 1) return 0;
        std::int64_t const most = std::max<std::int64_t>(1, max_in_a_parcel(layout_, edge_, parcel_bytes_));
        return 2 * Parcels::at_once * static_cast<std::size_t>(most);
    }

    void find_neighbours() {
        neighbour_.assign(static_cast<std::size_t>(grid_.ranks()), MPI_UNDEFINED);
        if (!node_) return;
        MPI_Group group = MPI_GROUP_NULL, node = MPI_GROUP_NULL;
        octant::check(MPI_Comm_group(context_.group.get(), &group));
        octant::check(MPI_Comm_group(node_->get(), &node));
        std::vector<int> ranks(neighbour_.size());
        std::iota(ranks.begin(), ranks.end(), 0);
        octant::check(MPI_Group_translate_ranks(group, grid_.ranks(), ranks.data(), node, neighbour_.data()));
        octant::check(MPI_Group_free(&node));
        octant::check(MPI_Group_free(&group));
    }

    // This rank's place in a map, what it has to do with which rank, and A as it belongs there.
    void settle(std::size_t map) {
        std::vector<int> const& places = maps_[map];
        map_ = map;
        me_ = grid_.place(places[static_cast<std::size_t>(context_.group.rank())]);
        std::vector<int> rank_at(places.size());
        for (std::size_t rank = 0; rank < places.size(); ++rank)
            rank_at[static_cast<std::size_t>(places[rank])] = static_cast<int>(rank);
        legs_.clear();
        for (Partners const& partners : schedule(grid_, me_)) {
            Place const to = grid_.place(partners.to), from = grid_.place(partners.from);
            int const target = rank_at[static_cast<std::size_t>(partners.to)];
            int const source = rank_at[static_cast<std::size_t>(partners.from)];
            legs_.push_back({Share(layout_, me_, to, edge_, parcel_bytes_),
                             Share(layout_, from, me_, edge_, parcel_bytes_), target, source, !reaches(target),
                             !reaches(source), a_of(source), layout_.height(from)});
        }
        holds_a_ = false;
    }

    [[nodiscard]] bool reaches(int rank) const {
        return rank == context_.group.rank() || neighbour_[static_cast<std::size_t>(rank)] != MPI_UNDEFINED;
    }
    [[nodiscard]] double* a_of(int rank) const {
        if (!reaches(rank)) return nullptr;
        if (own_a_) return own_a_->data();
        return reinterpret_cast<double*>(window_->of(neighbour_[static_cast<std::size_t>(rank)]).data());
    }

    // Collective: afterwards no rank reads the old A, and the new A is visible to all ranks.
    void fill_a(Numbers const& numbers) {
        synchronise();
        fill(a_of(context_.group.rank()), layout_, me_, numbers);
        synchronise();
    }
    void synchronise() const {
        if (window_) window_->publish(*node_);
    }

    void transpose(double* to, double const* a, std::int64_t stride, Tile const& tile) const {
        width_.loops.transpose(to, tile.rows_of_c.length, a + tile.columns_of_c.in_a + tile.rows_of_c.in_a * stride,
                               stride, tile.columns_of_c.length, tile.rows_of_c.length);
    }
    void add_to_c(double const* from, Tile const& tile) const {
        std::int64_t const height = layout_.height(me_);
        width_.loops.add(c_.data() + tile.rows_of_c.in_c + tile.columns_of_c.in_c * height, height, from,
                         tile.rows_of_c.length, tile.rows_of_c.length, tile.columns_of_c.length);
    }

    // From A where it lies.
    void read(Leg const& leg, std::int64_t parcel) {
        for (std::int64_t number = leg.in.first(parcel); number < leg.in.first(parcel + 1); ++number) {
            Tile const tile = leg.in.tile(number);
            {
                auto const mark = context_.phase(pack);
                transpose(tile_.data(), leg.a, leg.stride, tile);
            }
            auto const mark = context_.phase(add);
            add_to_c(tile_.data(), tile);
        }
    }

    void send(Parcels& parcels, Leg const& leg, std::int64_t parcel) {
        double* to = nullptr;
        {
            auto const mark = context_.phase(exchange);
            to = parcels.next_out();
        }
        {
            auto const mark = context_.phase(pack);
            for (std::int64_t number = leg.out.first(parcel); number < leg.out.first(parcel + 1); ++number) {
                Tile const tile = leg.out.tile(number);
                transpose(to, a_of(context_.group.rank()), layout_.height(me_), tile);
                to += tile.rows_of_c.length * tile.columns_of_c.length;
            }
        }
        auto const mark = context_.phase(exchange);
        parcels.send(leg.to, leg.out.elements(parcel));
    }

    void receive(Parcels& parcels, Leg const& leg, std::int64_t parcel) {
        double const* from = nullptr;
        {
            auto const mark = context_.phase(exchange);
            from = parcels.arrived();
        }
        auto const mark = context_.phase(add);
        for (std::int64_t number = leg.in.first(parcel); number < leg.in.first(parcel + 1); ++number) {
            Tile const tile = leg.in.tile(number);
            add_to_c(from, tile);
            from += tile.rows_of_c.length * tile.columns_of_c.length;
        }
    }

    // Exchanges one parcel after the other, round-robin over all partners. A parcel is added in the next round, so that
    // the transfer overlaps with packing. A receive is posted when the parcel before the last one has been added.
    void exchange_parcels() {
        Parcels parcels(context_.group, messages_.span());
        auto const incoming = expected();
        std::size_t posted = 0, added = 0, due = 0;
        auto const post = [&] {
            if (posted == incoming.size()) return;
            auto const& [leg, parcel] = incoming[posted++];
            parcels.expect(leg->from, leg->in.elements(parcel));
        };
        auto const take = [&] {
            receive(parcels, *incoming[added].first, incoming[added].second);
            ++added;
            post();
        };
        for (std::size_t i = 0; i < Parcels::at_once; ++i) post();
        for (std::int64_t parcel = 0; parcel < max_parcels(); ++parcel) {
            for (Leg const& leg : legs_) {
                if (leg.sends && parcel < leg.out.parcels()) send(parcels, leg, parcel);
                if (!leg.expects && parcel < leg.in.parcels()) read(leg, parcel);
                while (added < due) take();
                if (leg.expects && parcel < leg.in.parcels()) ++due;
            }
        }
        while (added < incoming.size()) take();
        auto const mark = context_.phase(exchange);
        parcels.finish();
    }

    [[nodiscard]] std::int64_t max_parcels() const {
        std::int64_t most = 0;
        for (Leg const& leg : legs_) most = std::max({most, leg.in.parcels(), leg.out.parcels()});
        return most;
    }
    [[nodiscard]] std::vector<std::pair<Leg const*, std::int64_t>> expected() const {
        std::vector<std::pair<Leg const*, std::int64_t>> found;
        for (std::int64_t parcel = 0; parcel < max_parcels(); ++parcel)
            for (Leg const& leg : legs_)
                if (leg.expects && parcel < leg.in.parcels()) found.emplace_back(&leg, parcel);
        return found;
    }

    // Once: HPC Challenge's two matrices are one sequence, begun at two places; these are not.
    [[nodiscard]] Difference with_other_contents() {
        auto const seed = static_cast<std::uint64_t>(context_.knobs.integer("seed"));
        Numbers const a{Numbers::Kind::independent, 2 * seed}, c{Numbers::Kind::independent, 2 * seed + 1};
        fill_a(a);
        holds_a_ = false;
        fill(c_.data(), layout_, me_, c);
        std::ranges::fill(tile_.span(), std::numeric_limits<double>::quiet_NaN());
        std::ranges::fill(messages_.span(), std::numeric_limits<double>::quiet_NaN());
        step();
        if (spoilt_ == 2) spoil([](double x) { return x + 1; });
        Difference const found = compare(c_.data(), layout_, me_, a, c);
        synchronise();
        return found;
    }
    template <class Change>
    void spoil(Change const& change) const {
        auto const elements = static_cast<std::size_t>(layout_.elements(me_));
        if (elements > 0) c_[elements / 2] = change(c_[elements / 2]);
    }

    Context& context_;
    Grid grid_;
    Layout layout_;
    std::int64_t edge_, parcel_bytes_;
    std::string transport_;
    Width width_;
    std::size_t capacity_;  // elements of the largest part
    Buffer<double> c_, tile_, messages_;
    std::optional<Buffer<double>> own_a_;
    std::optional<octant::Comm> node_;
    std::optional<octant::NodeWindow> window_;
    std::vector<int> neighbour_;          // by rank: its number in the node, or MPI_UNDEFINED
    std::vector<std::vector<int>> maps_;  // each: the place of every rank
    std::size_t map_ = 0, repetition_ = 0;
    Place me_;
    std::vector<Leg> legs_;
    bool holds_a_ = false;
    std::optional<Difference> other_;
    int spoilt_ = -1;
};

}  // namespace
}  // namespace ptrans

int main(int argc, char** argv) { return octant::run<ptrans::Ptrans>(argc, argv); }
