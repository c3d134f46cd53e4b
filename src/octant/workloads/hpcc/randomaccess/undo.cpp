// The repetition once more, in the order of the sequence and by collective exchange: nothing of this is in the timed
// loops.
#include "kernels/hpcc_random.hpp"
#include "setting.hpp"

#include <numeric>

namespace hpcc {
namespace {

constexpr Word at_once = Word{1} << 15U;  // numbers of a round; this is not timed, so no limit of HPCC's holds

using Counts = std::vector<int>;

Counts starts(Counts const& counts) {
    Counts at(counts.size(), 0);
    std::exclusive_scan(counts.begin(), counts.end(), at.begin(), 0);
    return at;
}

// To each rank the numbers whose words it has; returns what came here.
std::vector<Word> exchanged(octant::Comm const& places, std::vector<std::vector<Word>> const& out) {
    Counts to, from(out.size());
    std::vector<Word> all, in;
    for (auto const& one : out) {
        to.push_back(static_cast<int>(one.size()));
        all.insert(all.end(), one.begin(), one.end());
    }
    octant::check(MPI_Alltoall(to.data(), 1, MPI_INT, from.data(), 1, MPI_INT, places.get()));
    in.resize(static_cast<std::size_t>(std::accumulate(from.begin(), from.end(), 0)));
    octant::check(MPI_Alltoallv(all.data(), to.data(), starts(to).data(), MPI_UINT64_T, in.data(), from.data(),
                                starts(from).data(), MPI_UINT64_T, places.get()));
    return in;
}

template <class Sequence>
std::int64_t undo_all(Setting const& setting) {
    std::span<Word> const own = setting.own();
    Word const first = setting.division.first(setting.me());
    Word number = Sequence::jump(setting.first_update());
    std::int64_t applied = 0;
    Word const most = setting.updates * setting.division.greatest();
    for (Word made = 0; made < most; made += at_once) {
        std::vector<std::vector<Word>> out(static_cast<std::size_t>(setting.division.places()));
        for (Word n = made; n < std::min(made + at_once, setting.my_updates()); ++n) {
            number = Sequence::next(number);
            Word const word = Sequence::word(number, setting.division.bits());
            out[static_cast<std::size_t>(setting.division.owner(word))].push_back(number);
        }
        for (Word const one : exchanged(*setting.places, out)) {
            own[Sequence::word(one, setting.division.bits()) - first] ^= one;
            ++applied;
        }
    }
    return applied;
}

}  // namespace

std::int64_t undo(Setting const& setting) {
    using namespace octant::hpcc;
    return setting.congruential ? undo_all<Congruential>(setting) : undo_all<Polynomial>(setting);
}

}  // namespace hpcc
