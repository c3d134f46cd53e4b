// Performance guidelines: a call of the library and its alternative, measured alternately in one launch.
#include "octant/kernel.hpp"
#include "sides.hpp"

#include <algorithm>
#include <limits>

namespace {

using octant::KnobKind;
using octant::guidelines::Data;
using octant::guidelines::Guideline;

enum Phase : std::size_t { call, alternative };

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

struct Difference {  // of elements, and the first of them
    double count = 0;
    std::string where = {};
    void add(int rank, int index, int length, std::int32_t found, std::int32_t wanted) {
        if (count == 0)
            where = "rank " + std::to_string(rank) + ", element " + std::to_string(index) + " of " +
                    std::to_string(length) + ": " + std::to_string(found) + " and " + std::to_string(wanted);
        count += 1;
    }
};

class Guidelines {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"guideline", KnobKind::word, "bcast-scatter-allgather", "performance guideline to test",
                           names()},
                          {"bytes",
                           KnobKind::bytes,
                           "1KiB",
                           "message size; for alltoall and gather: all blocks of a rank",
                           {},
                           4,
                           std::numeric_limits<int>::max() / 4}},
                .pace = octant::Pace::steps,
                .sync = octant::Sync::dissemination,
                .phases = {"call", "alternative"},
                .min_ranks = 2};
    }

    explicit Guidelines(octant::Context& context)
        : context_(context),
          guideline_(octant::guidelines::named(context.knobs.word("guideline"))),
          data_(made(context)) {
        for (int i = 0; i < static_cast<int>(data_.send.size()); ++i)
            data_.send[static_cast<std::size_t>(i)] = octant::guidelines::value(data_.rank, i);
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
        time<alternative>(guideline_.alternative);
        if (!turn_) time<call>(guideline_.call);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"calls", 2}}; }

    // Both sides into buffers that hold something else, compared on every rank that has a result: with each other, and
    // with what must be there.
    octant::Results verify() {
        int const length = guideline_.length(data_);
        auto of_call = result_of(guideline_.call, -1), of_alternative = result_of(guideline_.alternative, -2);
        if (length > 0 && spoilt_ >= 0) of_call[0] += 1;
        if (length > 0 && spoilt_ == 1) of_alternative[0] += 1;
        Difference apart, wrong;
        for (int i = 0; i < length; ++i) {
            auto const at = static_cast<std::size_t>(i);
            std::int32_t const wanted = guideline_.wanted(data_, i);
            if (of_call[at] != of_alternative[at]) apart.add(data_.rank, i, length, of_call[at], of_alternative[at]);
            for (std::int32_t const found : {of_call[at], of_alternative[at]})
                if (found != wanted) wrong.add(data_.rank, i, length, found, wanted);
        }
        if (length == 0 && spoilt_ >= 0) (spoilt_ == 1 ? wrong : apart).count = 1;
        return {{"elements in which both sides differ", apart.count, "1", 0, apart.where},
                {"wrong elements of either side", wrong.count, "1", 0, wrong.where}};
    }

    // 0: one side is wrong; 1: both are, and agree.
    void corrupt(std::size_t check) { spoilt_ = static_cast<int>(check); }

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
    bool turn_ = false;
    int spoilt_ = -1;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Guidelines>(argc, argv); }
