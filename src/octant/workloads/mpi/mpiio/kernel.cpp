// Files that ranks share or have alone: blocking and non-blocking transfers, and opening and closing, as in IMB-IO.
#include "kernels/busy.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace mpiio {
namespace {

octant::KernelInfo info_with(std::vector<std::string> phases) {
    return {.knobs = knobs(),
            .pace = octant::Pace::steps,
            .sync = octant::Sync::dissemination,
            .phases = std::move(phases),
            .roles = {{.name = ""}, {.name = "idle", .timed = false}},
            .blocks = true};
}

class Blocking {
  public:
    enum Phases : std::size_t { transfer, sync };
    static octant::KernelInfo info() { return info_with({"transfer", "sync"}); }
    explicit Blocking(octant::Context& context) : context_(context), transfers_(context) {}
    void set_up() { transfers_.set_up(); }
    void prepare() { transfers_.prepare(); }
    void step() {
        if (!transfers_.plays()) return;
        {
            auto const mark = context_.phase(transfer);
            move_all();
        }
        if (!transfers_.spec().writes) return;
        auto const mark = context_.phase(sync);
        transfers_.sync();
    }
    [[nodiscard]] std::size_t role(int) const { return transfers_.plays() ? 0 : 1; }
    [[nodiscard]] octant::Counts work(std::size_t) const { return transfers_.work("transfers"); }
    [[nodiscard]] octant::Results results() { return transfers_.results(); }
    octant::Results verify() {
        return transfers_.verify([this] {
            if (transfers_.plays()) move_all();
        });
    }
    void corrupt(std::size_t fault) { transfers_.corrupt(fault); }

  private:
    void move_all() {
        for (int k = 0; k < transfers_.count(); ++k) transfers_.move(k);
    }
    octant::Context& context_;
    Transfers transfers_;
};

// The transfers alone, computing alone for as long, and both at once; of writes both with the sync.
class Nonblocking {
  public:
    enum Phases : std::size_t { pure, compute, whole };
    static octant::KernelInfo info() { return info_with({"pure", "compute", "overlapped"}); }
    explicit Nonblocking(octant::Context& context) : context_(context), transfers_(context) {}

    void set_up() {
        transfers_.set_up();
        auto const seconds_of = [this](std::function<void()> const& body) { return context_.seconds_of(body); };
        auto const begun = [&](std::function<void()> const& body) {  // from the beginning of the file
            prepare();
            context_.group.barrier();
            return context_.seconds_of(body);
        };
        double const unit_s = octant::unit_seconds(seconds_of, value_);
        double const alone_s = octant::median_seconds(begun, [this] { move_all(0); }) / transfers_.count();
        units_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(context_.group.max(alone_s) / unit_s));
    }

    void prepare() { transfers_.prepare(); }
    void step() {
        {
            auto const mark = context_.phase(pure);
            move_all(0);
            sync();
        }
        context_.synchronise();
        if (transfers_.plays()) {
            auto const mark = context_.phase(compute);
            for (int k = 0; k < transfers_.count(); ++k) value_ = octant::busy(value_, units_);
        }
        transfers_.prepare();
        context_.synchronise();
        auto const mark = context_.phase(whole);
        move_all(units_);
        sync();
    }
    [[nodiscard]] std::size_t role(int) const { return transfers_.plays() ? 0 : 1; }
    [[nodiscard]] octant::Counts work(std::size_t) const { return transfers_.work("transfers"); }
    [[nodiscard]] octant::Results results() { return transfers_.results(); }
    octant::Results verify() {
        return transfers_.verify([this] { move_all(units_); });
    }
    void corrupt(std::size_t fault) { transfers_.corrupt(fault); }

  private:
    void move_all(std::int64_t units) {
        for (int k = 0; k < transfers_.count() && transfers_.plays(); ++k) {
            transfers_.post(k);
            value_ = octant::busy(value_, units);
            transfers_.wait(k);
        }
    }
    void sync() {
        if (transfers_.plays() && transfers_.spec().writes) transfers_.sync();
    }
    octant::Context& context_;
    Transfers transfers_;
    std::int64_t units_ = 1;
    double value_ = 1;
};

class OpenClose {
  public:
    enum Phases : std::size_t { open, close };
    static octant::KernelInfo info() { return info_with({"open", "close"}); }
    explicit OpenClose(octant::Context& context) : context_(context), folder_(context, 1) {}

    void set_up() {
        folder_.set_up();
        if (context_.group.rank() == 0) File(MPI_COMM_SELF, path(), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
        context_.group.barrier();
    }
    void step() {
        auto opening = [this] {
            auto const mark = context_.phase(open);
            return File(context_.group.get(), path(), MPI_MODE_RDWR);
        };
        File file = opening();
        auto const mark = context_.phase(close);
        file.close();
    }
    [[nodiscard]] std::size_t role(int) const { return 0; }
    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"opens", context_.group.rank() == 0 ? 1 : 0}}; }

    // Through a file that all opened each rank leaves its byte; all open it again, and read the others'.
    octant::Results verify() {
        int const rank = context_.group.rank(), next = (rank + 1) % context_.group.size();
        std::uint8_t byte = octant::pattern_byte(rank, 0, 1);
        {
            File const file(context_.group.get(), path(), MPI_MODE_RDWR);
            octant::check(MPI_File_write_at_all(file.get(), rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        context_.group.barrier();
        byte = static_cast<std::uint8_t>(~octant::pattern_byte(next, 0, 1));
        File const file(context_.group.get(), path(), MPI_MODE_RDONLY);
        octant::check(MPI_File_read_at_all(file.get(), next, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        if (spoilt_) byte ^= 1U;
        octant::Mismatch wrong;
        wrong.compare({&byte, 1}, rank, next, 1);
        return {{"bytes that differ from the written data", wrong.count(), "1", 0, wrong.where()}};
    }
    void corrupt(std::size_t) { spoilt_ = true; }

  private:
    [[nodiscard]] std::string path() const { return folder_.path(0); }
    octant::Context& context_;
    Folder folder_;
    bool spoilt_ = false;
};

std::vector<octant::Row> rows() {
    std::vector<octant::Row> all;
    for (auto const& name : Spec::names(false)) all.push_back(octant::row<Blocking>(name));
    for (auto const& name : Spec::names(true)) all.push_back(octant::row<Nonblocking>(name));
    all.push_back(octant::row<OpenClose>("open-close"));
    return all;
}

}  // namespace
}  // namespace mpiio

int main(int argc, char** argv) { return octant::run_rows(argc, argv, "pattern", mpiio::rows()); }
