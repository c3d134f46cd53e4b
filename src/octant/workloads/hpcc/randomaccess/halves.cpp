// Two half-batches are under way: while the messages of one travel, the next is generated and sent, and what is mine of
// it is asked for from memory. One message for each other team and half-batch, to that rank of it which has my number.
#include "octant/failure.hpp"
#include "stretch.hpp"

#include <array>
#include <cstring>

namespace hpcc {
namespace {

constexpr int tag = 1;

struct Half {
    std::vector<Word> numbers;  // as generated
    std::vector<Word> out;      // `batch` for each team, contiguous: those of this team are applied here
    std::vector<Word> in;       // `batch` for each source
    std::vector<std::size_t> counts;
    std::vector<MPI_Request> receives, sends;
    std::vector<MPI_Status> statuses;
};

template <class Sequence>
class Halves final : public Updates {
  public:
    explicit Halves(Setting const& setting) : setting_(setting), teams_(setting.teams.count()) {
        find_partners();
        for (std::size_t owner = 0; owner < static_cast<std::size_t>(setting.division.places()); ++owner)
            team_of_.push_back(static_cast<std::uint32_t>(setting.teams.of(static_cast<int>(owner))));
        auto const teams = static_cast<std::size_t>(teams_);
        for (Half& half : halves_) {
            half.numbers.resize(setting.batch);
            half.out.resize(setting.batch * teams);
            half.in.resize(setting.batch * sources_.size());
            half.counts.resize(teams);
            half.receives.assign(sources_.size(), MPI_REQUEST_NULL);
            half.statuses.resize(sources_.size());
            half.sends.assign(teams, MPI_REQUEST_NULL);
        }
    }

    Done run() override {
        Applier<Sequence> applier(setting_);
        auto stretch = stretch_of<Sequence>(setting_);
        Done done;
        Word const rounds = rounds_of(setting_);
        for (Word round = 0; round <= rounds; ++round) {
            Half& now = halves_[round % 2];
            Half& before = halves_[(round + 1) % 2];
            if (round < rounds) begin(now, stretch, applier, done);
            if (round > 0) finish(before, applier);
            if (round < rounds) applier.apply(mine(now), now.counts[static_cast<std::size_t>(setting_.teams.mine)]);
        }
        done.applied = applier.applied();
        done.at_end = ended(setting_, stretch);
        return done;
    }

  private:
    // The rank of each other team to which I send, and all that send to me.
    void find_partners() {
        Teams const& teams = setting_.teams;
        int const number = setting_.me() - teams.first[static_cast<std::size_t>(teams.mine)];
        for (int team = 0; team < teams_; ++team) {
            int const first = teams.first[static_cast<std::size_t>(team)];
            partners_.push_back(first + number % teams.size(team));
            for (int theirs = 0; team != teams.mine && theirs < teams.size(team); ++theirs)
                if (theirs % teams.size(teams.mine) == number) sources_.push_back(first + theirs);
        }
    }

    [[nodiscard]] Word* mine(Half& half) const {
        return half.out.data() + static_cast<std::size_t>(setting_.teams.mine) * setting_.batch;
    }

    void split(Half& half, std::size_t count, Applier<Sequence> const& applier) const {
        std::ranges::fill(half.counts, 0);
        Word* const out = half.out.data();
        std::size_t* const counts = half.counts.data();
        std::size_t const batch = setting_.batch;
        Division const division = setting_.division;
        for (std::size_t i = 0; i < count; ++i) {
            Word const number = half.numbers[i];
            auto const team = team_of_[static_cast<std::size_t>(division.owner(applier.word(number)))];
            out[team * batch + counts[team]++] = number;
        }
    }

    void begin(Half& half, sequences::LengthSegment<Sequence>& stretch, Applier<Sequence>& applier, Done& done) {
        MPI_Comm const comm = setting_.places->get();
        int const batch = static_cast<int>(setting_.batch);
        for (std::size_t i = 0; i < sources_.size(); ++i)
            octant::check(MPI_Irecv(half.in.data() + i * setting_.batch, batch, MPI_UINT64_T, sources_[i], tag, comm,
                                    &half.receives[i]));
        split(half, stretch.fill(half.numbers.data(), setting_.batch), applier);
        for (std::size_t team = 0; team < half.counts.size(); ++team) {
            if (static_cast<int>(team) == setting_.teams.mine) continue;
            octant::check(MPI_Isend(half.out.data() + team * setting_.batch, static_cast<int>(half.counts[team]),
                                    MPI_UINT64_T, partners_[team], tag, comm, &half.sends[team]));
            ++done.messages;
            done.words_sent += static_cast<std::int64_t>(half.counts[team]);
        }
        applier.prefetch(mine(half), half.counts[static_cast<std::size_t>(setting_.teams.mine)]);
    }

    void finish(Half& half, Applier<Sequence>& applier) {
        octant::check(MPI_Waitall(static_cast<int>(sources_.size()), half.receives.data(), half.statuses.data()));
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            int count = 0;
            octant::check(MPI_Get_count(&half.statuses[i], MPI_UINT64_T, &count));
            applier.apply_all(half.in.data() + i * setting_.batch, static_cast<std::size_t>(count));
        }
        octant::check(MPI_Waitall(static_cast<int>(half.sends.size()), half.sends.data(), MPI_STATUSES_IGNORE));
    }

    Setting setting_;
    int teams_;
    std::vector<int> partners_, sources_;
    std::vector<std::uint32_t> team_of_;  // by place
    std::array<Half, 2> halves_;
};

}  // namespace

std::unique_ptr<Updates> by_halves(Setting const& setting) {
    if (setting.congruential) return std::make_unique<Halves<sequences::Congruential>>(setting);
    return std::make_unique<Halves<sequences::Polynomial>>(setting);
}

}  // namespace hpcc
