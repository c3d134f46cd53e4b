#include "octant/mpi.hpp"

#include "octant/clock.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

namespace octant {

namespace {

// Waits without polling continuously: a spinning rank takes power and cores from ranks that still work.
void wait_with_backoff(MPI_Request request, bool polls = false) {
    int done = 0;
    for (auto const begin = std::chrono::steady_clock::now(); done == 0;) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done == 0 && !polls && std::chrono::steady_clock::now() - begin > std::chrono::microseconds(200))
            std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
}

template <class T>
T reduced(T value, MPI_Datatype type, MPI_Op operation, MPI_Comm handle) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, type, operation, handle, &request));
    wait_with_backoff(request);
    return value;
}

}  // namespace

void fail(int code, std::source_location at) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw std::runtime_error(std::string(text.data()) + " at " + at.file_name() + ":" + std::to_string(at.line()));
}

Comm::Comm(MPI_Comm handle) : handle_(handle) {
    check(MPI_Comm_rank(handle_, &rank_));
    check(MPI_Comm_size(handle_, &size_));
}

Comm::~Comm() {
    if (handle_ != MPI_COMM_NULL && handle_ != MPI_COMM_WORLD && handle_ != MPI_COMM_SELF) MPI_Comm_free(&handle_);
}

Comm Comm::node() const {
    MPI_Comm shared = MPI_COMM_NULL;
    check(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &shared));
    return Comm(shared);
}

void Comm::barrier() const { check(MPI_Barrier(handle_)); }

Comm Comm::split(int number, int place) const {
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(handle_, number, place, &part));
    return Comm(part);
}

void Comm::wait_for_root(bool polls) const {
    constexpr int tag = 8;
    for (int rank = 1; rank_ == 0 && rank < size_; ++rank) check(MPI_Send(nullptr, 0, MPI_BYTE, rank, tag, handle_));
    if (rank_ == 0) return;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, handle_, &request));
    wait_with_backoff(request, polls);
}

void Comm::sleeping_barrier(bool polls) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(handle_, &request));
    wait_with_backoff(request, polls);
}

void Comm::dissemination_barrier() const {
    for (int distance = 1; distance < size_; distance *= 2) {
        int const to = (rank_ + distance) % size_;
        int const from = (rank_ - distance + size_) % size_;
        check(MPI_Sendrecv(nullptr, 0, MPI_BYTE, to, 7, nullptr, 0, MPI_BYTE, from, 7, handle_, MPI_STATUS_IGNORE));
    }
}

double Comm::max(double value) const { return reduced(value, MPI_DOUBLE, MPI_MAX, handle_); }

std::int64_t Comm::max(std::int64_t value) const { return reduced(value, MPI_INT64_T, MPI_MAX, handle_); }

std::int64_t Comm::sum(std::int64_t value) const { return reduced(value, MPI_INT64_T, MPI_SUM, handle_); }

std::int64_t Comm::broadcast(std::int64_t value) const {
    check(MPI_Bcast(&value, 1, MPI_INT64_T, 0, handle_));
    return value;
}

std::int64_t Comm::scatter(std::vector<std::int64_t> const& items) const {
    std::int64_t item = 0;
    check(MPI_Scatter(items.data(), 1, MPI_INT64_T, &item, 1, MPI_INT64_T, 0, handle_));
    return item;
}

namespace {

template <class List>
struct Gathered {  // at rank 0; empty elsewhere
    List all;      // every rank's items, in rank order
    std::vector<int> counts;
};

// To rank 0: every rank's items of one MPI type.
template <class List>
Gathered<List> gather_items(Comm const& comm, List const& items, MPI_Datatype type) {
    if (items.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw std::length_error("more samples than one message can carry");
    int const count = static_cast<int>(items.size());
    auto const ranks = static_cast<std::size_t>(comm.rank() == 0 ? comm.size() : 0);
    std::vector<int> counts(ranks), offsets(ranks);
    check(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm.get()));
    std::size_t total = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        offsets[r] = static_cast<int>(total);
        total += static_cast<std::size_t>(counts[r]);
        if (total > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw std::length_error("more samples than fit into one message; try samples=1000");
    }
    List all(total, {});
    check(MPI_Gatherv(items.data(), count, type, all.data(), counts.data(), offsets.data(), type, 0, comm.get()));
    return {std::move(all), std::move(counts)};
}

template <class List>
std::vector<List> parts_of(Gathered<List> const& gathered) {
    std::vector<List> parts;
    auto first = gathered.all.begin();
    for (int const count : gathered.counts) {
        parts.emplace_back(first, first + count);
        first += count;
    }
    return parts;
}

}  // namespace

std::vector<std::vector<std::int64_t>> Comm::gather(std::vector<std::int64_t> const& items) const {
    return parts_of(gather_items(*this, items, MPI_INT64_T));
}

std::vector<std::string> Comm::gather(std::string const& text) const {
    return parts_of(gather_items(*this, text, MPI_CHAR));
}

std::string Comm::gather_joined(std::string const& text) const { return gather_items(*this, text, MPI_CHAR).all; }

std::vector<std::pair<double, int>> Comm::slowest(std::span<double const> values, int label) const {
    struct Item {
        double value;
        int rank;
    };
    std::vector<Item> mine(values.size()), worst(rank_ == 0 ? values.size() : 0);
    std::ranges::transform(values, mine.begin(), [&](double value) { return Item{value, label}; });
    check(MPI_Reduce(mine.data(), worst.data(), static_cast<int>(mine.size()), MPI_DOUBLE_INT, MPI_MAXLOC, 0, handle_));
    std::vector<std::pair<double, int>> found;
    for (auto const& item : worst) found.emplace_back(item.value, item.rank);
    return found;
}

namespace {

void reduce_to_root(Comm const& comm, std::span<std::int64_t> values, MPI_Op operation) {
    int const count = static_cast<int>(values.size());
    if (comm.rank() == 0)
        check(MPI_Reduce(MPI_IN_PLACE, values.data(), count, MPI_INT64_T, operation, 0, comm.get()));
    else
        check(MPI_Reduce(values.data(), nullptr, count, MPI_INT64_T, operation, 0, comm.get()));
}

}  // namespace

void Comm::reduce_max_to_root(std::span<std::int64_t> values) const { reduce_to_root(*this, values, MPI_MAX); }

void Comm::reduce_sum_to_root(std::span<std::int64_t> values) const { reduce_to_root(*this, values, MPI_SUM); }

Session::Session(int* argc, char*** argv, bool thread_multiple)
    : world_([&] {
          int const level = thread_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
          int provided = 0;
          std::int64_t const begin = now_ns();
          check(MPI_Init_thread(argc, argv, level, &provided));
          // A simulated machine's clock starts anew in here.
          init_s_ = static_cast<double>(std::max<std::int64_t>(0, now_ns() - begin)) * 1e-9;
          if (thread_multiple && provided < level)
              throw Refusal(
                  "cannot call MPI from several threads (the library does not provide MPI_THREAD_MULTIPLE); try "
                  "another MPI library",
                  Exit::not_supported);
          return MPI_COMM_WORLD;
      }()) {
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

Session::~Session() { MPI_Finalize(); }

std::string Session::library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    check(MPI_Get_library_version(text.data(), &length));
    return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace octant
