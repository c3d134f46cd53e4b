#include "epochs.hpp"

#include "octant/failure.hpp"

#include <map>

namespace onesided {

using octant::check;

Completion completion_of(std::string const& word, bool local) {
    std::map<std::string, Completion> const all{{"flush", Completion::flush},
                                                {"fence", Completion::fence},
                                                {"pscw", Completion::pscw},
                                                {"lock", Completion::lock},
                                                {"lock-exclusive", Completion::lock_exclusive},
                                                {"lock-all", Completion::lock_all}};
    return local ? Completion::flush_local : all.at(word);
}

RankGroup::RankGroup(octant::Comm const& comm, std::vector<int> ranks) {
    if (ranks.empty()) return;
    MPI_Group whole = MPI_GROUP_NULL;
    check(MPI_Comm_group(comm.get(), &whole));
    check(MPI_Group_incl(whole, static_cast<int>(ranks.size()), ranks.data(), &handle_));
    check(MPI_Group_free(&whole));
}

RankGroup::~RankGroup() {
    if (!empty()) MPI_Group_free(&handle_);
}

Epochs::Epochs(Completion completion, Window const& window, octant::Comm const& comm, std::vector<int> const& targets,
               std::vector<int> const& sources)
    : completion_(completion),
      window_(window.get()),
      only_target_(targets.size() == 1 ? targets[0] : -1),
      acts_(!targets.empty()),
      targets_(comm, targets),
      sources_(comm, sources) {}

void Epochs::open() const {
    if (completion_ == Completion::flush || completion_ == Completion::flush_local)
        check(MPI_Win_lock_all(0, window_));
    else if (completion_ == Completion::fence)
        check(MPI_Win_fence(MPI_MODE_NOPRECEDE, window_));
}

int Epochs::closed() const noexcept {
    if (completion_ == Completion::flush || completion_ == Completion::flush_local) return MPI_Win_unlock_all(window_);
    if (completion_ == Completion::fence) return MPI_Win_fence(MPI_MODE_NOSUCCEED, window_);
    return MPI_SUCCESS;
}

void Epochs::close() const { check(closed()); }

void Epochs::abandon() const noexcept { static_cast<void>(closed()); }

void Epochs::begin_epoch_of_all() const {
    if (completion_ == Completion::pscw) {
        if (!sources_.empty()) check(MPI_Win_post(sources_.get(), 0, window_));
        if (acts_) check(MPI_Win_start(targets_.get(), 0, window_));
    } else if (completion_ == Completion::lock_all && acts_) {
        check(MPI_Win_lock_all(0, window_));
    }
}

void Epochs::end_epoch_of_all() const {
    switch (completion_) {
        case Completion::fence:
            check(MPI_Win_fence(0, window_));
            break;
        case Completion::pscw:
            if (acts_) check(MPI_Win_complete(window_));
            if (!sources_.empty()) check(MPI_Win_wait(window_));
            break;
        case Completion::lock_all:
            if (acts_) check(MPI_Win_unlock_all(window_));
            break;
        default:
            if (acts_) flush();
    }
}

void Epochs::flush() const {
    if (completion_ == Completion::flush_local)
        check(only_target_ >= 0 ? MPI_Win_flush_local(only_target_, window_) : MPI_Win_flush_local_all(window_));
    else
        check(only_target_ >= 0 ? MPI_Win_flush(only_target_, window_) : MPI_Win_flush_all(window_));
}

void Epochs::begin(int target) const {
    int const type = completion_ == Completion::lock ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    check(MPI_Win_lock(type, target, 0, window_));
}

void Epochs::end(int target) const { check(MPI_Win_unlock(target, window_)); }

}  // namespace onesided
