#include "contacts.hpp"

#include "bind/local_rank.hpp"
#include "octant/noise.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <thread>

namespace startup {
namespace {

using Clock = std::chrono::system_clock;  // the one that hosts have in common, as far as they have one

constexpr int tag = 0;

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

std::int64_t resident_bytes() {
    std::int64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

// Ranks leave MPI_Init one after the other; all come to the same tenth of a second unless one is very late.
void wait_for_common_start() {
    using std::chrono::milliseconds;
    auto const now = std::chrono::time_point_cast<milliseconds>(Clock::now()).time_since_epoch();
    std::this_thread::sleep_until(
        Clock::time_point((now + milliseconds(20)) / milliseconds(100) * milliseconds(100) + milliseconds(100)));
}

// Binds each rank of a node to another hardware thread, by the local rank that the launcher has set: MPI cannot be used
// yet to find out which ranks are on this node.
class OwnHardwareThread {
  public:
    OwnHardwareThread() : before_(octant::allowed_cpus()) {
        auto const* const variable = octant::bind::local_rank_variable();
        if (variable == nullptr || before_.size() < 2) return;
        std::size_t const number = *octant::bind::whole_number(std::getenv(variable->name));
        static_cast<void>(octant::allow_cpus({before_[number % before_.size()]}));
    }
    OwnHardwareThread(OwnHardwareThread const&) = delete;
    OwnHardwareThread& operator=(OwnHardwareThread const&) = delete;
    ~OwnHardwareThread() { static_cast<void>(octant::allow_cpus(before_)); }

  private:
    std::vector<int> before_;
};

class Pair {  // of this rank with another; the lower one calls
  public:
    Pair(octant::Comm const& comm, int other, std::size_t bytes)
        : comm_(comm), other_(other), calls_(comm.rank() < other), out_(bytes), in_(bytes) {
        fill(0);
    }
    [[nodiscard]] bool calls() const { return calls_; }
    void fill(int pass) {
        octant::fill_pattern(out_, comm_.rank(), pass);
        octant::poison(in_, other_, pass);
    }
    void round_trip() {
        if (calls_) send();
        octant::check(
            MPI_Recv(in_.data(), static_cast<int>(in_.size()), MPI_BYTE, other_, tag, comm_.get(), MPI_STATUS_IGNORE));
        if (!calls_) send();
    }
    [[nodiscard]] std::span<std::uint8_t> arrived() { return in_; }
    [[nodiscard]] double exchange_times(double mine_s) const {  // the other rank's time
        double other_s = 0;
        octant::check(MPI_Sendrecv(&mine_s, 1, MPI_DOUBLE, other_, tag, &other_s, 1, MPI_DOUBLE, other_, tag,
                                   comm_.get(), MPI_STATUS_IGNORE));
        return other_s;
    }

  private:
    void send() const {
        octant::check(MPI_Send(out_.data(), static_cast<int>(out_.size()), MPI_BYTE, other_, tag, comm_.get()));
    }
    octant::Comm const& comm_;
    int other_;
    bool calls_;
    std::vector<std::uint8_t> out_, in_;
};

Contact contact_of(Pair& pair, std::int64_t exchanges) {
    double const ready_s = now_s();
    pair.round_trip();
    double const back_s = now_s();
    std::vector<double> later_s;
    for (std::int64_t i = 0; i < exchanges; ++i) {
        double const begin_s = now_s();
        pair.round_trip();
        later_s.push_back(now_s() - begin_s);
    }
    double const other_s = pair.exchange_times(ready_s);
    auto const middle = later_s.begin() + static_cast<std::ptrdiff_t>(later_s.size() / 2);
    std::nth_element(later_s.begin(), middle, later_s.end());
    double const both_s = std::max(ready_s, other_s), first_s = std::max(0.0, back_s - both_s);
    // The one that is called has the answer's time missing: both keep what the caller found.
    double const theirs_s = pair.exchange_times(first_s), later = pair.exchange_times(*middle);
    return {pair.calls() ? first_s : theirs_s, pair.calls() ? *middle : later, both_s - std::min(ready_s, other_s)};
}

}  // namespace

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {{"bytes", KnobKind::bytes, "8", "message size", {}, 0, std::numeric_limits<int>::max()},
            {"exchanges", KnobKind::integer, "20", "round trips after the first one", {}, 1, 100'000}};
}

int rounds_of(int ranks) { return ranks + ranks % 2 - 1; }

int partner(int rank, int ranks, int round) {
    int const others = rounds_of(ranks), last = others;  // one sits still, the others move round a circle
    auto const found = [&] {
        if (rank == last) return static_cast<int>(static_cast<std::int64_t>(round) * (others + 1) / 2 % others);
        int const across = (round - rank % others + others) % others;
        return across == rank ? last : across;
    }();
    return found < ranks ? found : -1;
}

std::vector<double> Contacts::as_numbers() const {
    std::vector<double> numbers{static_cast<double>(bytes), static_cast<double>(resident_before),
                                static_cast<double>(resident_after), static_cast<double>(wrong)};
    for (Contact const& one : met) numbers.insert(numbers.end(), {one.first_s, one.steady_s, one.late_s});
    return numbers;
}

Contacts Contacts::of_numbers(std::span<double const> numbers) {
    Contacts found{static_cast<std::int64_t>(numbers[0]),
                   static_cast<std::int64_t>(numbers[1]),
                   static_cast<std::int64_t>(numbers[2]),
                   static_cast<std::int64_t>(numbers[3]),
                   {}};
    for (std::size_t i = 4; i + 2 < numbers.size(); i += 3)
        found.met.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    return found;
}

Contacts contacts_of(octant::Comm const& world, std::size_t bytes, std::int64_t exchanges) {
    OwnHardwareThread const pinned;
    Contacts found{static_cast<std::int64_t>(bytes), resident_bytes(), 0, 0, {}};
    octant::Mismatch wrong;
    wait_for_common_start();
    for (int round = 0; round < rounds_of(world.size()); ++round) {
        int const other = partner(world.rank(), world.size(), round);
        if (other < 0) continue;
        Pair pair(world, other, bytes);
        Contact const contact = contact_of(pair, exchanges);
        wrong.compare(pair.arrived(), world.rank(), other, 0);
        found.met.push_back(contact);
    }
    found.resident_after = resident_bytes();
    found.wrong = static_cast<std::int64_t>(wrong.count());
    return found;
}

void exchange_with_all(octant::Comm const& comm, std::size_t bytes, octant::Mismatch* wrong, bool spoils) {
    for (int round = 0; round < rounds_of(comm.size()); ++round) {
        int const other = partner(comm.rank(), comm.size(), round);
        if (other < 0) continue;
        Pair pair(comm, other, bytes);
        if (wrong != nullptr) pair.fill(round + 1);
        pair.round_trip();
        if (wrong == nullptr) continue;
        if (spoils && bytes > 0) pair.arrived()[0] ^= 1U;
        if (spoils && bytes == 0) wrong->add("rank " + std::to_string(comm.rank()));
        wrong->compare(pair.arrived(), comm.rank(), other, round + 1);
    }
}

}  // namespace startup
