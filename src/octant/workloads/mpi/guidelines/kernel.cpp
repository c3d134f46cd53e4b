// Guidelines: a call of the library against what a user could write instead, call by call in one launch.
#include "octant/kernel.hpp"
#include "sides.hpp"

#include <algorithm>
#include <limits>

namespace {

using octant::KnobKind;
using octant::guidelines::Data;
using octant::guidelines::Guideline;

enum Phase : std::size_t { call, instead };

std::vector<std::string> names() {
    std::vector<std::string> found;
    for (Guideline const& one : octant::guidelines::all()) found.emplace_back(one.name);
    return found;
}

// Every second element of twice as many.
MPI_Datatype strided(int elements) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    octant::check(MPI_Type_vector(elements, 1, 2, MPI_INT32_T, &type));
    octant::check(MPI_Type_commit(&type));
    return type;
}

class Guidelines {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"guideline", KnobKind::word, "bcast-scatter-allgather", "what is compared", names()},
                          {"bytes",
                           KnobKind::bytes,
                           "1KiB",
                           "the whole message; of alltoall and the gathers, all blocks of a rank",
                           {},
                           4,
                           std::numeric_limits<int>::max() / 4}},
                .pace = octant::Pace::steps,
                .sync = octant::Sync::dissemination,
                .phases = {"call", "instead"},
                .least_ranks = 2};
    }

    explicit Guidelines(octant::Context& context)
        : context_(context),
          guideline_(octant::guidelines::named(context.knobs.word("guideline"))),
          data_(made(context)) {
        for (int i = 0; i < static_cast<int>(data_.send.size()); ++i)
            data_.send[static_cast<std::size_t>(i)] = value(data_.rank, i);
        std::ranges::fill(data_.result.span(), 0);
        std::ranges::fill(data_.spare.span(), 0);
        context.watched = {data_.send.mapping().bytes(), data_.result.mapping().bytes()};
    }
    Guidelines(Guidelines const&) = delete;
    Guidelines& operator=(Guidelines const&) = delete;
    ~Guidelines() { MPI_Type_free(&data_.strided); }

    // The sides take turns in coming first, so that neither finds the caches always as the other left them.
    void step() {
        turn_ = !turn_;
        if (turn_) time<call>(guideline_.call);
        time<instead>(guideline_.instead);
        if (!turn_) time<call>(guideline_.call);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"calls", 2}}; }

    // Both sides into buffers that hold something else, compared element by element on every rank that has a result.
    octant::Results verify() {
        auto const length = static_cast<std::size_t>(guideline_.length(data_));
        auto const of_call = result_of(guideline_.call, -1), of_instead = result_of(guideline_.instead, -2);
        double wrong = spoilt_ && length == 0 ? 1 : 0;
        std::string where;
        for (std::size_t i = 0; i < length; ++i) {
            bool const differs = of_call[i] != of_instead[i] || (spoilt_ && i == 0);
            if (differs && wrong == 0)
                where = "rank " + std::to_string(data_.rank) + ", element " + std::to_string(i) + " of " +
                        std::to_string(length) + ": " + std::to_string(of_call[i]) + " and " +
                        std::to_string(of_instead[i]);
            wrong += differs ? 1 : 0;
        }
        return {{"elements in which both sides differ", wrong, "1", 0, where}};
    }

    void corrupt(std::size_t) { spoilt_ = true; }

  private:
    static Data made(octant::Context& context) {
        int const ranks = context.group.size();
        int const block = std::max(1, static_cast<int>(context.knobs.integer("bytes")) / 4 / ranks);
        auto const total = static_cast<std::size_t>(block) * static_cast<std::size_t>(ranks);
        context.note_rounded(context.knobs.integer("bytes"), static_cast<std::int64_t>(4 * total));
        std::vector<int> counts(static_cast<std::size_t>(ranks), block), places;
        for (int rank = 0; rank < ranks; ++rank) places.push_back(rank * block);
        return {context.group.get(),
                context.group.rank(),
                ranks,
                block,
                static_cast<int>(total),
                context.buffer<std::int32_t>(2 * total),
                context.buffer<std::int32_t>(total),
                context.buffer<std::int32_t>(total + 64),
                std::move(counts),
                std::move(places),
                strided(static_cast<int>(total))};
    }

    // Sums over ranks are exact and differ from any one rank's.
    static std::int32_t value(int rank, int index) { return (rank + 1) * 1000 + index % 997; }

    template <Phase phase>
    void time(octant::guidelines::Side side) {
        context_.synchronise();
        auto const mark = context_.phase(phase);
        side(data_);
    }

    std::vector<std::int32_t> result_of(octant::guidelines::Side side, std::int32_t poison) {
        std::ranges::fill(data_.result.span(), poison);
        std::ranges::fill(data_.spare.span(), poison);
        side(data_);
        return {data_.result.data(), data_.result.data() + data_.total};
    }

    octant::Context& context_;
    Guideline const& guideline_;
    Data data_;
    bool turn_ = false, spoilt_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Guidelines>(argc, argv); }
