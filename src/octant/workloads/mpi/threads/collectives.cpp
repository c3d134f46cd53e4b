// Collective calls by every thread at once, each on a communicator of its own.
#include "lanes.hpp"

#include <algorithm>

namespace lanes {
namespace {

constexpr int root = 0;

struct Call {
    octant::Comm const& group;
    int bytes;
    [[nodiscard]] int floats() const { return bytes / static_cast<int>(sizeof(float)); }
};

// Small whole numbers, so that sums are exact in any order.
float addend(int rank, int thread, std::size_t i) {
    return static_cast<float>(rank + 1) * static_cast<float>(thread + 1) + static_cast<float>(i % 8);
}
float sum_of(int ranks, int thread, std::size_t i) {
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += addend(rank, thread, i);
    return sum;
}
std::span<float> floats_in(std::uint8_t* place, Call const& call) {
    return {reinterpret_cast<float*>(place), static_cast<std::size_t>(call.floats())};
}

void check_sums(Lanes& lanes, Call const& call, bool receives, void (*run)(Lane&, Call const&)) {
    lanes.on_each([&](Lane& lane, int thread) {
        auto const out = floats_in(lane.out[0], call), in = floats_in(lane.in[0], call);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = addend(call.group.rank(), thread, i);
        std::ranges::fill(in, -1.0F);
        run(lane, call);
        if (lanes.spoilt() && !in.empty()) in[0] += 1;
        for (std::size_t i = 0; receives && i < in.size(); ++i)
            if (in[i] != sum_of(call.group.size(), thread, i))
                lanes.wrong(thread).add("rank " + std::to_string(call.group.rank()) + ", element " + std::to_string(i));
    });
}

struct Allreduce {
    static constexpr char const* check_name = "wrong sums";
    // Each rank has to send what it has and what it has the sums of: twice its part of the others'.
    static std::int64_t bytes_sent(Call const& call) {
        return std::int64_t{2} * call.bytes * (call.group.size() - 1) / call.group.size();
    }
    static void run(Lane& lane, Call const& call) {
        octant::check(MPI_Allreduce(lane.out[0], lane.in[0], call.floats(), MPI_FLOAT, MPI_SUM, lane.comm));
    }
    static void check(Lanes& lanes, Call const& call) { check_sums(lanes, call, true, run); }
};

struct Reduce {
    static constexpr char const* check_name = Allreduce::check_name;
    static std::int64_t bytes_sent(Call const& call) { return call.group.rank() == root ? 0 : call.bytes; }
    static void run(Lane& lane, Call const& call) {
        octant::check(MPI_Reduce(lane.out[0], lane.in[0], call.floats(), MPI_FLOAT, MPI_SUM, root, lane.comm));
    }
    static void check(Lanes& lanes, Call const& call) { check_sums(lanes, call, call.group.rank() == root, run); }
};

struct Bcast {
    static constexpr char const* check_name = "wrong bytes received";
    static std::int64_t bytes_sent(Call const& call) { return call.group.rank() == root ? call.bytes : 0; }
    static void run(Lane& lane, Call const& call) {
        octant::check(
            MPI_Bcast(call.group.rank() == root ? lane.out[0] : lane.in[0], call.bytes, MPI_BYTE, root, lane.comm));
    }
    static void check(Lanes& lanes, Call const& call) {
        std::vector<Source> const from_root(call.group.rank() == root ? 0 : 1, Source{root, 0});
        lanes.check([&](Lane& lane) { run(lane, call); }, from_root);
    }
};

struct Barrier {
    static constexpr char const* check_name = "ranks that left before the last had entered";
    static std::int64_t bytes_sent(Call const&) { return 0; }
    static void run(Lane& lane, Call const&) { octant::check(MPI_Barrier(lane.comm)); }
    // Delays one rank after the other. Ranks on different hosts have no common clock.
    static void check(Lanes& lanes, Call const& call) {
        bool const one_host = call.group.node().size() == call.group.size();
        constexpr std::int64_t late_ns = 200'000;
        for (int late = 0; late < call.group.size(); ++late)
            lanes.on_each([&](Lane& lane, int thread) {
                if (late == call.group.rank()) octant::spin_until(octant::now_ns() + late_ns);
                std::int64_t last_ns = octant::now_ns();
                run(lane, call);
                std::int64_t const left_ns = octant::now_ns() - (lanes.spoilt() ? 1'000'000'000 : 0);
                octant::check(MPI_Allreduce(MPI_IN_PLACE, &last_ns, 1, MPI_INT64_T, MPI_MAX, lane.comm));
                if (one_host && left_ns < last_ns)
                    lanes.wrong(thread).add("rank " + std::to_string(call.group.rank()) + " while rank " +
                                            std::to_string(late) + " was still outside");
            });
    }
};

template <class Operation>
class Kernel {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.takes = [](int, int threads, octant::Knobs const& knobs) -> std::optional<octant::Refusal> {
            if (threads == 1 || knobs.word("comms") == "each") return {};
            return octant::Refusal(
                "cannot share a communicator between threads in collective calls (MPI allows one at a time); try "
                "comms=each",
                octant::Exit::not_supported);
        };
        return info;
    }
    explicit Kernel(octant::Context& context) : lanes_(context, 1), call_{context.group, lanes_.bytes()} {
        int const whole = call_.floats() * static_cast<int>(sizeof(float));
        if (!std::is_same_v<Operation, Bcast>) call_.bytes = whole;
        context.note_rounded(lanes_.bytes(), call_.bytes);
    }
    void set_up() { lanes_.set_up(); }
    void step() {
        lanes_.step([this](Lane& lane) { Operation::run(lane, call_); });
    }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        bool const first = call_.group.rank() == 0;
        std::int64_t const all = lanes_.repeats() * lanes_.threads();
        return {{"calls", all},
                {"bytes_sent", all * Operation::bytes_sent(call_)},
                {"turns", first ? lanes_.repeats() : 0}};
    }
    [[nodiscard]] octant::Results results() const { return lanes_.results(); }
    octant::Results verify() {
        Operation::check(lanes_, call_);
        return {lanes_.found(Operation::check_name)};
    }
    void corrupt(std::size_t) { lanes_.corrupt(); }

  private:
    Lanes lanes_;
    Call call_;
};

}  // namespace

std::vector<octant::Row> collective_rows() {
    return {octant::row<Kernel<Allreduce>>("allreduce"), octant::row<Kernel<Bcast>>("bcast"),
            octant::row<Kernel<Barrier>>("barrier"), octant::row<Kernel<Reduce>>("reduce")};
}

}  // namespace lanes
