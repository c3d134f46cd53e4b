// The algorithm of HPCC's default build: numbers for others wait in a bucket for each rank; when so many wait as a
// process may store, the fullest bucket is sent. One send is under way at most, receives are looked after between any
// two updates, and nothing is asked for from memory in advance.
#include "octant/failure.hpp"
#include "stretch.hpp"

namespace hpcc {
namespace {

constexpr int updates_tag = 1, end_tag = 2;
constexpr int few_ranks = 4;  // that have one buffer for what comes
constexpr std::size_t buffers_of_many = 16;

struct Incoming {
    std::vector<Word> words;
    MPI_Request request = MPI_REQUEST_NULL;
};

template <class Sequence>
class Buckets final : public Updates {
  public:
    explicit Buckets(Setting const& setting)
        : setting_(setting),
          numbers_(setting.batch),
          buckets_(static_cast<std::size_t>(setting.division.places())),
          incoming_(setting.division.places() <= few_ranks ? 1 : buffers_of_many) {
        for (auto& bucket : buckets_) bucket.reserve(setting.batch);
        for (auto& one : incoming_) one.words.resize(setting.batch);
        out_.reserve(setting.batch);
    }

    Done run() override {
        Applier<Sequence> applier(setting_);
        auto stretch = stretch_of<Sequence>(setting_);
        done_ = {};
        waiting_ = 0;
        sending_ = setting_.division.places() - 1;
        for (auto& one : incoming_) post(one);
        std::size_t filled = 0, next = 0;
        // One number at a time, as HPCC makes them: those of a step of the 128 parts are not stored updates.
        while (true) {
            receive(applier);
            if (waiting_ == setting_.batch) {
                send();
                continue;
            }
            if (next == filled) {
                filled = stretch.fill(numbers_.data(), sequences::streams);
                next = 0;
                if (filled == 0) break;
            }
            add(numbers_[next++], applier);
        }
        while (waiting_ > 0) {
            receive(applier);
            send();
        }
        end(applier);
        done_.applied = applier.applied();
        done_.at_end = ended(setting_, stretch);
        return done_;
    }

  private:
    void post(Incoming& one) {
        octant::check(MPI_Irecv(one.words.data(), static_cast<int>(setting_.batch), MPI_UINT64_T, MPI_ANY_SOURCE,
                                MPI_ANY_TAG, setting_.places->get(), &one.request));
    }

    void add(Word number, Applier<Sequence>& applier) {
        int const owner = setting_.division.owner(applier.word(number));
        if (owner == setting_.me()) return applier.apply(&number, 1);
        buckets_[static_cast<std::size_t>(owner)].push_back(number);
        ++waiting_;
    }

    // Applies all messages that have arrived, in the order in which their receives were posted.
    void receive(Applier<Sequence>& applier) {
        while (sending_ > 0) {
            Incoming& one = incoming_[oldest_];
            int come = 0, count = 0;
            MPI_Status status;
            octant::check(MPI_Test(&one.request, &come, &status));
            if (come == 0) return;
            octant::check(MPI_Get_count(&status, MPI_UINT64_T, &count));
            applier.apply(one.words.data(), static_cast<std::size_t>(count));
            if (status.MPI_TAG == end_tag) --sending_;
            post(one);
            oldest_ = (oldest_ + 1) % incoming_.size();
        }
    }

    // The fullest bucket, if the send before is over.
    void send() {
        int over = 0;
        octant::check(MPI_Test(&request_, &over, MPI_STATUS_IGNORE));
        if (over == 0) return;
        auto const fullest = std::ranges::max_element(buckets_, {}, &std::vector<Word>::size);
        out_.swap(*fullest);
        fullest->clear();
        waiting_ -= out_.size();
        octant::check(MPI_Isend(out_.data(), static_cast<int>(out_.size()), MPI_UINT64_T,
                                static_cast<int>(fullest - buckets_.begin()), updates_tag, setting_.places->get(),
                                &request_));
        ++done_.messages;
        done_.words_sent += static_cast<std::int64_t>(out_.size());
    }

    // Notifies all ranks that this rank sends no more updates, and waits for the notification of all others.
    void end(Applier<Sequence>& applier) {
        int over = 0;
        while (over == 0) {
            receive(applier);
            octant::check(MPI_Test(&request_, &over, MPI_STATUS_IGNORE));
        }
        std::vector<MPI_Request> requests(buckets_.size(), MPI_REQUEST_NULL);
        for (std::size_t rank = 0; rank < buckets_.size(); ++rank) {
            if (static_cast<int>(rank) == setting_.me()) continue;
            octant::check(MPI_Isend(nullptr, 0, MPI_UINT64_T, static_cast<int>(rank), end_tag, setting_.places->get(),
                                    &requests[rank]));
            ++done_.messages;
        }
        for (over = 0; over == 0 || sending_ > 0;) {
            receive(applier);
            octant::check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &over, MPI_STATUSES_IGNORE));
        }
        for (auto& one : incoming_) {
            octant::check(MPI_Cancel(&one.request));
            octant::check(MPI_Wait(&one.request, MPI_STATUS_IGNORE));
        }
        oldest_ = 0;
    }

    Setting setting_;
    std::vector<Word> numbers_;
    std::vector<std::vector<Word>> buckets_;  // by place
    std::vector<Incoming> incoming_;
    std::vector<Word> out_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    std::size_t waiting_ = 0, oldest_ = 0;
    int sending_ = 0;  // ranks from which more may come
    Done done_;
};

}  // namespace

std::unique_ptr<Updates> by_buckets(Setting const& setting) {
    if (setting.congruential) return std::make_unique<Buckets<sequences::Congruential>>(setting);
    return std::make_unique<Buckets<sequences::Polynomial>>(setting);
}

}  // namespace hpcc
