// RAII wrappers of MPI: session, communicators, error codes as exceptions.
#pragma once

#include <mpi.h>

#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octant {

[[noreturn]] void fail(int code, std::source_location at);
inline void check(int code, std::source_location at = std::source_location::current()) {
    if (code != MPI_SUCCESS) fail(code, at);
}

class Comm {  // owns an MPI_Comm unless it is a predefined one
  public:
    explicit Comm(MPI_Comm handle);
    Comm(Comm&& other) noexcept
        : handle_(std::exchange(other.handle_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}
    Comm(Comm const&) = delete;
    Comm& operator=(Comm const&) = delete;
    Comm& operator=(Comm&&) = delete;
    ~Comm();

    [[nodiscard]] MPI_Comm get() const noexcept { return handle_; }
    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] Comm node() const;  // the ranks that share memory with this one
    // Ranks with the same number, in the order of `place`.
    [[nodiscard]] Comm split(int number, int place) const;

    void barrier() const;
    // Waits for rank 0, or for all ranks; sleeps between tests unless it `polls`.
    void wait_for_root(bool polls = false) const;
    void sleeping_barrier(bool polls = false) const;
    void dissemination_barrier() const;  // log2(size) rounds of MPI_Sendrecv: small exit skew under every library
    [[nodiscard]] double max(double value) const;
    [[nodiscard]] std::int64_t max(std::int64_t value) const;
    [[nodiscard]] std::int64_t sum(std::int64_t value) const;
    [[nodiscard]] std::int64_t broadcast(std::int64_t value) const;                    // rank 0's
    [[nodiscard]] std::int64_t scatter(std::vector<std::int64_t> const& items) const;  // of rank 0's
    // To rank 0: every rank's items, in rank order; empty elsewhere.
    [[nodiscard]] std::vector<std::vector<std::int64_t>> gather(std::vector<std::int64_t> const& items) const;
    [[nodiscard]] std::vector<std::string> gather(std::string const& text) const;
    [[nodiscard]] std::string gather_joined(std::string const& text) const;  // concatenated in rank order
    // Reductions to rank 0, element by element: the largest value and the `label` of its rank; the largest value; the
    // sum. The last two are in place; items of other ranks are undefined afterwards. All ranks pass the same length.
    [[nodiscard]] std::vector<std::pair<double, int>> slowest(std::span<double const> values, int label) const;
    void reduce_max_to_root(std::span<std::int64_t> values) const;
    void reduce_sum_to_root(std::span<std::int64_t> values) const;

  private:
    MPI_Comm handle_;
    int rank_ = 0;
    int size_ = 1;
};

class Session {  // MPI_Init_thread … MPI_Finalize
  public:
    // `thread_multiple`: threads call MPI concurrently; throws Refusal if the library does not support it.
    Session(int* argc, char*** argv, bool thread_multiple = false);
    Session(Session const&) = delete;
    Session& operator=(Session const&) = delete;
    ~Session();
    [[nodiscard]] Comm const& world() const noexcept { return world_; }
    [[nodiscard]] double init_s() const noexcept { return init_s_; }  // that MPI_Init_thread took on this rank
    [[nodiscard]] static std::string library();
    // Values that the program measured before any other communication (`Program::after_init`).
    void keep(std::vector<double> measured) { measured_ = std::move(measured); }
    [[nodiscard]] std::span<double const> measured() const noexcept { return measured_; }

  private:
    double init_s_ = 0;
    std::vector<double> measured_;
    Comm world_;
};

}  // namespace octant
