#include "unordered.hpp"

#include "octant/clock.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace exchange {

using octant::check;

constexpr std::int64_t limit_ns = 50'000'000;  // a send into a buffer takes microseconds

octant::KernelInfo Unordered::info() {
    octant::KernelInfo info = common_info();
    info.pace = octant::Pace::whole;
    return info;
}

Unordered::Unordered(octant::Context& context)
    : partners_(context),
      most_(context.knobs.integer("bytes")),
      out_(context.buffer<std::uint8_t>(partners_.play() ? static_cast<std::size_t>(most_) + 1 : 1)),
      in_(context.buffer<std::uint8_t>(out_.size())) {}

void Unordered::set_up() {
    if (partners_.play()) comm_.emplace(partners_.communicator());
}

void Unordered::step() {
    if (!partners_.play()) return;
    longest_ = 0;
    std::int64_t first = most_ + 1;  // that does not pass
    for (std::int64_t bytes = std::min<std::int64_t>(64, most_); bytes < first;) {
        // A rank that was switched out for longer than the limit looks as if it hung: rarely three times.
        if (passes(bytes) || passes(bytes) || passes(bytes))
            longest_ = bytes;
        else
            first = bytes;
        std::int64_t const twice = longest_ * 2;
        bytes = first <= most_ ? (longest_ + first) / 2 : std::max(longest_ + 1, std::min(twice, most_));
        if (bytes == longest_) break;
    }
}

bool Unordered::passes(std::int64_t bytes) {
    auto const count = static_cast<int>(bytes);
    int const peer = 1 - comm_->rank();
    auto const size = static_cast<std::size_t>(bytes);
    int const pass = tries_++;
    octant::fill_pattern({out_.data(), size}, partners_.world(), pass);
    octant::poison({in_.data(), size}, partners_.world_peer(), pass);
    comm_->barrier();
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Isend(out_.data(), count, MPI_BYTE, peer, 0, comm_->get(), &requests[0]));
    int sent = 0;
    for (std::int64_t const until = octant::now_ns() + limit_ns; sent == 0 && octant::now_ns() < until;)
        check(MPI_Test(&requests[0], &sent, MPI_STATUS_IGNORE));
    if (octant::fault("late", partners_.world()) && std::exchange(late_, bytes) != bytes) sent = 0;
    bool const both = comm_->max(std::int64_t{sent == 0 ? 1 : 0}) == 0;  // before any rank receives
    check(MPI_Irecv(in_.data(), count, MPI_BYTE, peer, 0, comm_->get(), &requests[1]));
    check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    wrong_.compare({in_.data(), size}, partners_.world(), partners_.world_peer(), pass);
    return both;
}

octant::Results Unordered::results() {
    return {{"longest message of unordered sends", static_cast<double>(longest_), "B"}};
}

octant::Results Unordered::verify() {
    if (corrupted_) wrong_.add("rank " + std::to_string(partners_.world()) + ", spoilt");
    return {{"wrong bytes received", wrong_.count(), "1", 0, wrong_.where()}};
}

}  // namespace exchange
