#include "exchange.hpp"

#include "octant/failure.hpp"

#include <bit>
#include <numeric>
#include <ranges>

namespace gfft {
namespace {

using octant::check;

// Prime to the number of ranks, and as different from rank to rank as can be.
int stride_of(int rank, int ranks) {
    std::vector<int> strides;
    for (int candidate = 1; candidate <= ranks; ++candidate)
        if (std::gcd(candidate, ranks) == 1) strides.push_back(candidate);
    return strides[static_cast<std::size_t>(rank) % strides.size()];
}

}  // namespace

void check_schedule(std::string const& schedule, int ranks) {
    if (schedule == "xor" && !std::has_single_bit(static_cast<unsigned>(ranks)))
        throw octant::Refusal(
            "cannot use schedule=xor with " + std::to_string(ranks) + " ranks (not a power of two); try schedule=ring",
            octant::Exit::not_supported);
}

std::vector<int> partners(std::string const& schedule, int rank, int ranks) {
    std::vector<int> found;
    std::int64_t const stride = schedule == "prime" ? stride_of(rank, ranks) : 1;
    for (int step = 1; step < ranks; ++step)
        found.push_back(schedule == "xor" ? rank ^ step : static_cast<int>((rank + stride * step) % ranks));
    return found;
}

// The library's own exchange receives where it sends.
void Exchange::expect(octant::Comm const& group, std::vector<int> const& order, int tag) {
    for (int const rank : order | std::views::reverse)
        if (in.numbers(rank) > 0)
            check(MPI_Irecv(in.of(rank), in.numbers(rank), MPI_C_DOUBLE_COMPLEX, rank, tag, group.get(),
                            &requests_.emplace_back()));
}

void Exchange::send(octant::Comm const& group, std::vector<int> const& order, int tag) {
    for (int const rank : order)
        if (out.numbers(rank) > 0)
            check(MPI_Isend(out.of(rank), out.numbers(rank), MPI_C_DOUBLE_COMPLEX, rank, tag, group.get(),
                            &requests_.emplace_back()));
    if (order.empty() && group.size() > 1)
        check(MPI_Ialltoallv(out.begin, out.count.data(), out.at.data(), MPI_C_DOUBLE_COMPLEX, in.begin,
                             in.count.data(), in.at.data(), MPI_C_DOUBLE_COMPLEX, group.get(),
                             &requests_.emplace_back()));
}

void Exchange::test() {
    if (requests_.empty()) return;
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) requests_.clear();
}

void Exchange::wait() {
    if (requests_.empty()) return;
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
}

}  // namespace gfft
