// Software routing in dimension order: ranks stand in a grid; a round's numbers go first along the row to the column of
// their word, together with all others for that column, and then along the column.
#include "octant/failure.hpp"
#include "stretch.hpp"

#include <array>

namespace hpcc {
namespace {

constexpr int row_tag = 1, column_tag = 2;

// All-to-all exchange of lists between the ranks of a line.
class Hop {
  public:
    Hop(octant::Comm const& places, std::vector<int> ranks, int mine, int tag, std::size_t most)
        : comm_(places.get()), ranks_(std::move(ranks)), mine_(static_cast<std::size_t>(mine)), tag_(tag), most_(most) {
        out_.resize(ranks_.size() * most);
        in_.resize(ranks_.size() * most);
        counts_.resize(ranks_.size());
        sends_.assign(ranks_.size(), MPI_REQUEST_NULL);
        receives_.assign(ranks_.size(), MPI_REQUEST_NULL);
        statuses_.resize(ranks_.size());
    }
    void begin() {
        std::ranges::fill(counts_, 0);
        for (std::size_t i = 0; i < ranks_.size(); ++i)
            if (i != mine_)
                octant::check(MPI_Irecv(in_.data() + i * most_, static_cast<int>(most_), MPI_UINT64_T, ranks_[i], tag_,
                                        comm_, &receives_[i]));
    }
    void add(std::size_t to, Word number) noexcept { out_[to * most_ + counts_[to]++] = number; }
    // Sends what was added; `use` is called with what stays here and, as all has come, with each of the others' lists.
    template <class Use>
    void finish(Done& done, Use const& use) {
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            if (i == mine_) continue;
            octant::check(MPI_Isend(out_.data() + i * most_, static_cast<int>(counts_[i]), MPI_UINT64_T, ranks_[i],
                                    tag_, comm_, &sends_[i]));
            ++done.messages;
            done.words_sent += static_cast<std::int64_t>(counts_[i]);
        }
        use(out_.data() + mine_ * most_, counts_[mine_]);
        octant::check(MPI_Waitall(static_cast<int>(ranks_.size()), receives_.data(), statuses_.data()));
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            if (i == mine_) continue;
            int count = 0;
            octant::check(MPI_Get_count(&statuses_[i], MPI_UINT64_T, &count));
            use(in_.data() + i * most_, static_cast<std::size_t>(count));
        }
        octant::check(MPI_Waitall(static_cast<int>(ranks_.size()), sends_.data(), MPI_STATUSES_IGNORE));
    }

  private:
    MPI_Comm comm_;
    std::vector<int> ranks_;
    std::size_t mine_;
    int tag_;
    std::size_t most_;  // words of a message
    std::vector<Word> out_, in_;
    std::vector<std::size_t> counts_;
    std::vector<MPI_Request> sends_, receives_;
    std::vector<MPI_Status> statuses_;
};

// The widest grid that is as near to a square as the number allows: one row if that is prime.
int columns_of(int places) {
    int rows = 1;
    for (int i = 1; i * i <= places; ++i)
        if (places % i == 0) rows = i;
    return places / rows;
}

std::vector<int> line(int first, int stride, int count) {
    std::vector<int> ranks;
    for (int i = 0; i < count; ++i) ranks.push_back(first + i * stride);
    return ranks;
}

template <class Sequence>
class Routed final : public Updates {
  public:
    explicit Routed(Setting const& setting)
        : setting_(setting),
          columns_(columns_of(setting.division.places())),
          row_(*setting.places, line(setting.me() / columns_ * columns_, 1, columns_), setting.me() % columns_, row_tag,
               setting.batch),
          column_(*setting.places, line(setting.me() % columns_, columns_, setting.division.places() / columns_),
                  setting.me() / columns_, column_tag, setting.batch * static_cast<std::size_t>(columns_)),
          numbers_(setting.batch) {}

    Done run() override {
        Applier<Sequence> applier(setting_);
        auto stretch = stretch_of<Sequence>(setting_);
        Done done;
        Division const division = setting_.division;
        auto const columns = static_cast<std::size_t>(columns_);
        auto const place = [&](Word number) { return static_cast<std::size_t>(division.owner(applier.word(number))); };
        Word const rounds = rounds_of(setting_);
        for (Word round = 0; round < rounds; ++round) {
            row_.begin();
            column_.begin();
            std::size_t const count = stretch.fill(numbers_.data(), setting_.batch);
            for (std::size_t i = 0; i < count; ++i) row_.add(place(numbers_[i]) % columns, numbers_[i]);
            row_.finish(done, [&](Word const* numbers, std::size_t of_row) {
                for (std::size_t i = 0; i < of_row; ++i) column_.add(place(numbers[i]) / columns, numbers[i]);
            });
            column_.finish(done,
                           [&](Word const* numbers, std::size_t of_column) { applier.apply_all(numbers, of_column); });
        }
        done.applied = applier.applied();
        done.at_end = ended(setting_, stretch);
        return done;
    }

  private:
    Setting setting_;
    int columns_;
    Hop row_, column_;
    std::vector<Word> numbers_;
};

}  // namespace

std::unique_ptr<Updates> routed(Setting const& setting) {
    if (setting.congruential) return std::make_unique<Routed<sequences::Congruential>>(setting);
    return std::make_unique<Routed<sequences::Polynomial>>(setting);
}

}  // namespace hpcc
