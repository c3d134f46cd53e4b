// One message that an int cannot count, from the first rank to the last, closed by an acknowledgement.
#include "octant/mpi_features.hpp"
#include "p2p.hpp"

#include <algorithm>
#include <array>

namespace p2p {
namespace {

constexpr std::size_t part = std::size_t{1} << 20U;             // of the datatype, where counts are ints
constexpr std::size_t compared_bytes = std::size_t{64} << 10U;  // bytes at each place that is compared
constexpr std::size_t beyond_int = std::size_t{1} << 31U;

// Datatype of `bytes` bytes: parts and a remainder, or MPI_BYTE if the library supports large counts.
class Item {
  public:
    explicit Item(std::size_t bytes) {
        MPI_Datatype whole = MPI_DATATYPE_NULL;
        octant::check(MPI_Type_contiguous(static_cast<int>(part), MPI_BYTE, &whole));
        std::array<int, 2> const lengths = {static_cast<int>(bytes / part), static_cast<int>(bytes % part)};
        std::array<MPI_Aint, 2> const places = {0, static_cast<MPI_Aint>(bytes / part * part)};
        std::array<MPI_Datatype, 2> const types = {whole, MPI_BYTE};
        octant::check(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type_));
        octant::check(MPI_Type_commit(&type_));
        octant::check(MPI_Type_free(&whole));
    }
    Item(Item const&) = delete;
    Item& operator=(Item const&) = delete;
    ~Item() { MPI_Type_free(&type_); }
    [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class Large {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = shared_info();
        info.pace = octant::Pace::whole;
        info.roles = Pair::roles();
        return info;
    }

    explicit Large(octant::Context& context)
        : group_(context.group),
          pair_(group_),
          bytes_(static_cast<std::size_t>(context.knobs.integer("bytes"))),
          place_(context.buffer<std::uint8_t>(pair_.plays ? std::max<std::size_t>(1, bytes_) : 1)),
          first_(places(bytes_)) {
        std::ranges::fill(place_.span(), std::uint8_t{1});
        context.watched = {place_.mapping().bytes()};
        context.notes.emplace_back("counted", OCTANT_HAS_LARGE_COUNTS != 0 ? "MPI_Send_c" : "parts of 1 MiB");
    }

    // The first time also a first message, which sets up the connection.
    void prepare() {
        if (pair_.plays) {
            ++iteration_;
            write();
            if (iteration_ == 1) transfer(0);
        }
        group_.barrier();
    }
    void step() {
        if (pair_.plays) transfer(bytes_);
    }
    [[nodiscard]] std::size_t role(int) const { return pair_.role(); }
    [[nodiscard]] octant::Counts work(std::size_t role) const {
        auto const bytes = static_cast<std::int64_t>(bytes_);
        if (role != 0) return {};
        return counts(group_, 1, bytes, 1, bytes);
    }

    // Compares the data of the last step at both ends, in the middle, and where an int overflows.
    octant::Results verify() {
        if (pair_.plays && fault_ >= 0) repeat_with_fault();
        octant::Mismatch contents, lengths;
        if (pair_.plays && !pair_.calls) {
            for (std::size_t const first : first_)
                contents.compare({place_.data() + first, std::min(compared_bytes, bytes_ - first)}, group_.rank(), 0,
                                 iteration_, first, bytes_);
            if (arrived_ != static_cast<MPI_Count>(bytes_))
                lengths.add("rank " + std::to_string(group_.rank()) + ", " + std::to_string(arrived_) + " of " +
                            std::to_string(bytes_) + " B from rank 0");
        }
        return {{"wrong bytes received", contents.count(), "1", 0, contents.where()},
                {"messages of wrong length", lengths.count(), "1", 0, lengths.where()}};
    }
    void corrupt(std::size_t fault) { fault_ = static_cast<int>(fault); }

  private:
    static std::vector<std::size_t> places(std::size_t bytes) {
        if (bytes <= compared_bytes) return {0};
        std::vector<std::size_t> found = {0, bytes / 2, bytes - compared_bytes};
        if (bytes > beyond_int) found.push_back(beyond_int - 1);
        return found;
    }

    // Contents to send, or what must be gone when they have arrived.
    void write() {
        for (std::size_t const first : first_) {
            std::span<std::uint8_t> const bytes{place_.data() + first, std::min(compared_bytes, bytes_ - first)};
            if (pair_.calls)
                octant::fill_pattern(bytes, 0, iteration_, first);
            else
                octant::poison(bytes, 0, iteration_, first);
        }
    }
    void repeat_with_fault() {
        iteration_ += 1;
        if (fault_ != Messages::stale || !pair_.calls) write();
        transfer(fault_ == Messages::shorter && pair_.calls && bytes_ > 0 ? bytes_ - 1 : bytes_);
        if (fault_ == Messages::flipped) place_[0] ^= 1U;
    }

    void transfer(std::size_t bytes) {
        if (pair_.calls) {
            send(bytes);
            octant::check(MPI_Recv(nullptr, 0, MPI_BYTE, pair_.peer, 1, group_.get(), MPI_STATUS_IGNORE));
        } else {
            MPI_Status status;
            receive(status);
            octant::check(MPI_Get_elements_x(&status, MPI_BYTE, &arrived_));
            octant::check(MPI_Send(nullptr, 0, MPI_BYTE, pair_.peer, 1, group_.get()));
        }
    }
#if OCTANT_HAS_LARGE_COUNTS
    void send(std::size_t bytes) const {
        octant::check(MPI_Send_c(place_.data(), static_cast<MPI_Count>(bytes), MPI_BYTE, pair_.peer, 0, group_.get()));
    }
    void receive(MPI_Status& status) const {
        octant::check(
            MPI_Recv_c(place_.data(), static_cast<MPI_Count>(bytes_), MPI_BYTE, pair_.peer, 0, group_.get(), &status));
    }
#else
    void send(std::size_t bytes) const {
        Item const other(bytes == bytes_ ? 1 : bytes);
        octant::check(
            MPI_Send(place_.data(), 1, bytes == bytes_ ? item_.get() : other.get(), pair_.peer, 0, group_.get()));
    }
    void receive(MPI_Status& status) const {
        octant::check(MPI_Recv(place_.data(), 1, item_.get(), pair_.peer, 0, group_.get(), &status));
    }
#endif

    octant::Comm const& group_;
    Pair pair_;
    std::size_t bytes_;
    octant::Buffer<std::uint8_t> place_;
    std::vector<std::size_t> first_;
    int iteration_ = 0;
    MPI_Count arrived_ = -1;
    int fault_ = -1;
#if !OCTANT_HAS_LARGE_COUNTS
    Item item_{bytes_};
#endif
};

}  // namespace

std::vector<octant::Row> large_rows() { return {octant::row<Large>("large-count")}; }

}  // namespace p2p
