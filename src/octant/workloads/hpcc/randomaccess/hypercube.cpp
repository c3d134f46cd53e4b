// Plimpton's algorithm: every round each rank generates a batch, and halves of the ranks exchange what belongs to the
// other half, again and again until each number is where its word is. With the receives of later rounds posted ahead it
// is that of HPCC's option RA_SANDIA_OPT2.
#include "octant/failure.hpp"
#include "stretch.hpp"

#include <array>

namespace hpcc {
namespace {

constexpr int first_tag = 10, rest_tag = 100;  // and the stage
constexpr std::size_t rounds_ahead = 8;

struct Stage {
    int middle = 0;         // places from here on are of the upper half
    bool upper = false;     // I am
    int to = 0;             // to whom what belongs to the other half goes
    std::vector<int> from;  // one, none, or two: halves differ by a rank where their number is odd
};

// Halves of the places first to last - 1, then of the half in which `me` is, until it is alone.
std::vector<Stage> stages_of(int me, int places) {
    std::vector<Stage> stages;
    for (int first = 0, last = places; last - first > 1;) {
        int const above = (last - first) / 2, below = last - first - above, middle = last - above;
        Stage stage{middle, me >= middle, 0, {}};
        if (stage.upper) {
            int const number = me - middle;
            stage.to = first + number;
            stage.from = {first + number};
            if (below > above && number == above - 1) stage.from.push_back(middle - 1);
            first = middle;
        } else {
            int const number = me - first;
            stage.to = middle + std::min(number, above - 1);
            if (number < above) stage.from = {middle + number};
            last = middle;
        }
        stages.push_back(std::move(stage));
    }
    return stages;
}

// Receives of one stage from one rank. A message begins with the number of words; what exceeds the buffer follows.
class Source {
  public:
    Source(octant::Comm const& places, int rank, int stage, std::size_t capacity, std::size_t ahead)
        : comm_(places.get()), rank_(rank), stage_(stage), capacity_(capacity), slots_(ahead + 1) {
        for (auto& slot : slots_) slot.words.resize(capacity + 1);
    }
    void post() {
        Slot& slot = slots_[posted_++ % slots_.size()];
        octant::check(MPI_Irecv(slot.words.data(), static_cast<int>(capacity_) + 1, MPI_UINT64_T, rank_,
                                first_tag + stage_, comm_, &slot.request));
    }
    // Behind what is in `numbers`.
    void take(std::vector<Word>& numbers) {
        Slot& slot = slots_[taken_++ % slots_.size()];
        octant::check(MPI_Wait(&slot.request, MPI_STATUS_IGNORE));
        std::size_t const total = slot.words[0], here = std::min(total, capacity_), before = numbers.size();
        numbers.resize(before + total);
        std::copy_n(slot.words.begin() + 1, here, numbers.begin() + static_cast<std::ptrdiff_t>(before));
        if (total > here)
            octant::check(MPI_Recv(numbers.data() + before + here, static_cast<int>(total - here), MPI_UINT64_T, rank_,
                                   rest_tag + stage_, comm_, MPI_STATUS_IGNORE));
    }

  private:
    struct Slot {
        std::vector<Word> words;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    MPI_Comm comm_;
    int rank_, stage_;
    std::size_t capacity_;
    std::vector<Slot> slots_;
    std::size_t posted_ = 0, taken_ = 0;
};

template <class Sequence>
class Hypercube final : public Updates {
  public:
    Hypercube(Setting const& setting, bool ahead)
        : setting_(setting),
          ahead_(ahead ? rounds_ahead : 0),
          capacity_(2 * setting.batch),
          stages_(stages_of(setting.me(), setting.division.places())),
          sources_(stages_.size()) {
        for (std::size_t stage = 0; stage < stages_.size(); ++stage)
            for (int const rank : stages_[stage].from)
                sources_[stage].emplace_back(*setting.places, rank, static_cast<int>(stage), capacity_, ahead_);
    }

    Done run() override {
        Applier<Sequence> applier(setting_);
        auto stretch = stretch_of<Sequence>(setting_);
        Done done;
        Word const rounds = rounds_of(setting_);
        for (Word round = 0; round < std::min<Word>(ahead_, rounds); ++round)
            for (auto& sources : sources_)
                for (Source& source : sources) source.post();
        for (Word round = 0; round < rounds; ++round) {
            numbers_.resize(setting_.batch);
            numbers_.resize(stretch.fill(numbers_.data(), setting_.batch));
            for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
                if (round + ahead_ < rounds)
                    for (Source& source : sources_[stage]) source.post();
                exchange(stage, applier, done);
            }
            applier.apply_all(numbers_.data(), numbers_.size());
        }
        done.applied = applier.applied();
        done.at_end = ended(setting_, stretch);
        return done;
    }

  private:
    // Keeps in numbers_ what belongs to my half, and sends the rest.
    void divide(Stage const& stage, Applier<Sequence> const& applier) {
        Word const middle = setting_.division.first(stage.middle);
        out_.resize(numbers_.size() + 1);
        Word *kept = numbers_.data(), *sent = out_.data() + 1;
        for (Word const number : numbers_) {
            bool const stays = (applier.word(number) >= middle) == stage.upper;
            *kept = number;
            *sent = number;
            kept += stays ? 1 : 0;
            sent += stays ? 0 : 1;
        }
        numbers_.resize(static_cast<std::size_t>(kept - numbers_.data()));
        out_.resize(static_cast<std::size_t>(sent - out_.data()));
        out_[0] = out_.size() - 1;
    }

    void exchange(std::size_t at, Applier<Sequence> const& applier, Done& done) {
        Stage const& stage = stages_[at];
        divide(stage, applier);
        MPI_Comm const comm = setting_.places->get();
        std::size_t const first = std::min(out_.size(), capacity_ + 1), rest = out_.size() - first;
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int const tag = static_cast<int>(at);
        octant::check(MPI_Isend(out_.data(), static_cast<int>(first), MPI_UINT64_T, stage.to, first_tag + tag, comm,
                                &requests[0]));
        if (rest > 0)
            octant::check(MPI_Isend(out_.data() + first, static_cast<int>(rest), MPI_UINT64_T, stage.to, rest_tag + tag,
                                    comm, &requests[1]));
        done.messages += rest > 0 ? 2 : 1;
        done.words_sent += static_cast<std::int64_t>(out_.size());
        for (Source& source : sources_[at]) source.take(numbers_);
        octant::check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    }

    Setting setting_;
    std::size_t ahead_, capacity_;
    std::vector<Stage> stages_;
    std::vector<std::vector<Source>> sources_;  // by stage
    std::vector<Word> numbers_, out_;
};

}  // namespace

std::unique_ptr<Updates> by_hypercube(Setting const& setting, bool ahead) {
    if (setting.congruential) return std::make_unique<Hypercube<sequences::Congruential>>(setting, ahead);
    return std::make_unique<Hypercube<sequences::Polynomial>>(setting, ahead);
}

}  // namespace hpcc
