#include "transfers.hpp"

#include "kernels/files/page_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace mpiio {
namespace {

constexpr int passes = 2;
constexpr std::size_t head_bytes = sizeof(std::uint64_t);  // of a block, where it is that long

std::int64_t bytes_of_all(octant::Context const& context) {
    return context.knobs.integer("bytes") * context.knobs.integer("aggregate") * context.group.size();
}

}  // namespace

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {{"bytes", KnobKind::bytes, "64KiB", "transfer size per rank", {}, 1, std::numeric_limits<int>::max()},
            {"aggregate", KnobKind::integer, "1", "transfers (to different offsets) per sync", {}, 1, 100'000},
            {"file",
             KnobKind::word,
             "existing",
             "writes: over existing data or into a new (empty) file",
             {"existing", "new"}},
            {"cache",
             KnobKind::word,
             "warm",
             "reads: warm: do not drop the file from the page cache; cold: drop it before each step",
             {"warm", "cold"}},
            {"folder", KnobKind::word, "scratch", "scratch: next to the records; or an absolute path"}};
}

Spec Spec::of(std::string const& pattern) {
    auto const has = [&](char const* word) { return pattern.find(word) != std::string::npos; };
    return {.alone = pattern[0] == 's',
            .collective = pattern[0] == 'c',
            .writes = has("write"),
            .access = has("-shared") ? Access::shared
                      : has("-expl") ? Access::explicit_offset
                      : has("-priv") ? Access::own_file
                                     : Access::individual};
}

std::vector<std::string> Spec::names(bool nonblocking) {
    std::vector<std::string> all;
    for (char const* operation : {"write-", "read-"})
        for (char const* form :
             {"s-indv", "s-expl", "p-indv", "p-shared", "p-expl", "p-priv", "c-indv", "c-shared", "c-expl"}) {
            std::string const text = form;
            all.push_back(text.substr(0, 2) + (nonblocking ? "i" : "") + operation + text.substr(2));
        }
    return all;
}

Transfers::Transfers(octant::Context& context)
    : context_(context),
      group_(context.group),
      spec_(Spec::of(context.knobs.word("pattern"))),
      bytes_(static_cast<int>(context.knobs.integer("bytes"))),
      count_(static_cast<int>(context.knobs.integer("aggregate"))),
      sharing_(spec_.alone || spec_.access == Access::own_file ? 1 : group_.size()),
      fresh_(context.knobs.word("file") == "new"),
      cold_(context.knobs.word("cache") == "cold"),
      stride_((static_cast<std::size_t>(bytes_) + 4095) / 4096 * 4096),
      memory_(context.buffer<std::uint8_t>(stride_ * static_cast<std::size_t>(count_))),
      folder_(context, bytes_of_all(context)) {
    context.claim_outside(2.0 * bytes_);  // blocks that are compared
    for (int k = 0; k < count_; ++k) fill(block(k), {group_.rank(), k}, 0);
    context.watched = {memory_.mapping().bytes()};
}

int Transfers::verified_rank() const {
    if (!spec_.alone) return (group_.rank() + 1) % group_.size();
    return group_.rank() == std::min(1, group_.size() - 1) ? 0 : -1;
}

void Transfers::set_up() {
    folder_.set_up();
    constexpr int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    if (plays()) {
        file_.emplace(sharing_ > 1 ? group_.get() : MPI_COMM_SELF, folder_.path(file_of(group_.rank())), mode);
        set_view();
    }
    group_.barrier();
    fill_file(0);
}

// The blocks of the ranks are interleaved in the file; each rank sees its own blocks as a contiguous file.
void Transfers::set_view() {
    if (spec_.access != Access::individual || sharing_ == 1) return;
    MPI_Datatype mine = MPI_DATATYPE_NULL, apart = MPI_DATATYPE_NULL;
    octant::check(MPI_Type_contiguous(bytes_, MPI_BYTE, &mine));
    octant::check(MPI_Type_create_resized(mine, 0, static_cast<MPI_Aint>(bytes_) * sharing_, &apart));
    octant::check(MPI_Type_commit(&apart));
    octant::check(MPI_File_set_view(file_->get(), offset_of_mine(0), MPI_BYTE, apart, "native", MPI_INFO_NULL));
    octant::check(MPI_Type_free(&apart));
    octant::check(MPI_Type_free(&mine));
}

// No rank may move the shared file pointer or the end of the file before all ranks have ended their last transfer.
void Transfers::prepare() {
    group_.barrier();
    if (!plays()) return;
    MPI_File const file = file_->get();
    if (fresh_ && spec_.writes) octant::check(MPI_File_set_size(file, 0));
    if (cold_ && !spec_.writes) drop_from_cache();
    if (spec_.access == Access::shared)
        octant::check(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    else
        octant::check(MPI_File_seek(file, 0, MPI_SEEK_SET));
}

octant::Counts Transfers::work(char const* what) const {
    if (!plays()) return {};
    std::int64_t const moved = std::int64_t{bytes_} * count_;
    return {{what, group_.rank() == 0 ? count_ : 0}, {spec_.writes ? "bytes_written" : "bytes_read", moved}};
}

void Transfers::move(int k) {
    if (spec_.writes)
        write(k);
    else
        read(k);
}

void Transfers::write(int k) {
    MPI_File const file = file_->get();
    void const* const from = memory(k);
    int code = MPI_SUCCESS;
    if (spec_.access == Access::explicit_offset)
        code = (spec_.collective ? MPI_File_write_at_all : MPI_File_write_at)(file, offset_of_mine(k), from, bytes_,
                                                                              MPI_BYTE, MPI_STATUS_IGNORE);
    else if (spec_.access == Access::shared)
        code = (spec_.collective ? MPI_File_write_ordered : MPI_File_write_shared)(file, from, bytes_, MPI_BYTE,
                                                                                   MPI_STATUS_IGNORE);
    else
        code =
            (spec_.collective ? MPI_File_write_all : MPI_File_write)(file, from, bytes_, MPI_BYTE, MPI_STATUS_IGNORE);
    octant::check(code);
}

void Transfers::read(int k) {
    MPI_File const file = file_->get();
    int code = MPI_SUCCESS;
    if (spec_.access == Access::explicit_offset)
        code = (spec_.collective ? MPI_File_read_at_all : MPI_File_read_at)(file, offset_of_mine(k), memory(k), bytes_,
                                                                            MPI_BYTE, MPI_STATUS_IGNORE);
    else if (spec_.access == Access::shared)
        code = (spec_.collective ? MPI_File_read_ordered : MPI_File_read_shared)(file, memory(k), bytes_, MPI_BYTE,
                                                                                 MPI_STATUS_IGNORE);
    else
        code = (spec_.collective ? MPI_File_read_all : MPI_File_read)(file, memory(k), bytes_, MPI_BYTE,
                                                                      MPI_STATUS_IGNORE);
    octant::check(code);
}

// Only split calls of the ordered variants may overlap.
void Transfers::post(int k) {
    MPI_File const file = file_->get();
    void* const at = memory(k);
    int code = MPI_SUCCESS;
    if (spec_.access == Access::explicit_offset && spec_.writes)
        code = (spec_.collective ? MPI_File_iwrite_at_all : MPI_File_iwrite_at)(file, offset_of_mine(k), at, bytes_,
                                                                                MPI_BYTE, &request_);
    else if (spec_.access == Access::explicit_offset)
        code = (spec_.collective ? MPI_File_iread_at_all : MPI_File_iread_at)(file, offset_of_mine(k), at, bytes_,
                                                                              MPI_BYTE, &request_);
    else if (spec_.access == Access::shared && spec_.collective)
        code = spec_.writes ? MPI_File_write_ordered_begin(file, at, bytes_, MPI_BYTE)
                            : MPI_File_read_ordered_begin(file, at, bytes_, MPI_BYTE);
    else if (spec_.access == Access::shared)
        code = spec_.writes ? MPI_File_iwrite_shared(file, at, bytes_, MPI_BYTE, &request_)
                            : MPI_File_iread_shared(file, at, bytes_, MPI_BYTE, &request_);
    else if (spec_.writes)
        code = (spec_.collective ? MPI_File_iwrite_all : MPI_File_iwrite)(file, at, bytes_, MPI_BYTE, &request_);
    else
        code = (spec_.collective ? MPI_File_iread_all : MPI_File_iread)(file, at, bytes_, MPI_BYTE, &request_);
    octant::check(code);
}

void Transfers::wait(int k) {
    if (spec_.access != Access::shared || !spec_.collective)
        octant::check(MPI_Wait(&request_, MPI_STATUS_IGNORE));
    else if (spec_.writes)
        octant::check(MPI_File_write_ordered_end(file_->get(), memory(k), MPI_STATUS_IGNORE));
    else
        octant::check(MPI_File_read_ordered_end(file_->get(), memory(k), MPI_STATUS_IGNORE));
}

// Written data are visible to other ranks after a sync of the writers, followed by a sync of the readers.
void Transfers::sync() {
    octant::check(MPI_File_sync(file_->get()));
    if (sharing_ == 1) return;
    group_.barrier();
    octant::check(MPI_File_sync(file_->get()));
}

// Writes the data to be read; the readers are other ranks.
void Transfers::fill_file(int pass) {
    int const other = verified_rank();
    if (other >= 0) {
        File const file(MPI_COMM_SELF, folder_.path(file_of(other)), MPI_MODE_RDWR);
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(bytes_));
        for (int k = 0; k < count_; ++k) {
            fill(bytes, {other, k}, pass);
            octant::check(MPI_File_write_at(file.get(), offset_of({other, k}), bytes.data(), bytes_, MPI_BYTE,
                                            MPI_STATUS_IGNORE));
        }
        octant::check(MPI_File_sync(file.get()));
    }
    group_.barrier();
    if (plays()) sync();
}

void Transfers::drop_from_cache() const {
    int const file = open(folder_.path(file_of(group_.rank())).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    octant::drop_from_cache(file, folder_.in_memory());
    close(file);
}

// Share of the pages of this rank's file in the page cache; 1 if not known.
double Transfers::cached_share() const {
    int const file = open(folder_.path(file_of(group_.rank())).c_str(), O_RDONLY | O_CLOEXEC);
    double const share = octant::cached_share(file);
    if (file >= 0) close(file);
    return share;
}

octant::Results Transfers::results() {
    if (!plays()) return {};
    if (spec_.writes) return {};
    if (cold_) drop_from_cache();
    double const share = cached_share();
    if (share > 0.01 && !folder_.in_memory())
        context_.notes.emplace_back("memory_copy", "read from the page cache of this host: a copy of memory");
    return {{"in the page cache", share, "1"}};
}

octant::Results Transfers::verify(std::function<void()> const& move_all) {
    wrong_ = {};
    size_off_ = 0;
    for (int pass = 1; pass <= passes; ++pass) {
        if (spec_.writes) {
            for (int k = 0; k < count_; ++k) fill(block(k), {group_.rank(), k}, pass);
            if (plays()) octant::check(MPI_File_set_size(file_->get(), 0));
            prepare();
            move_all();
            if (plays()) sync();
            group_.barrier();
            spoil();
            compare_written(pass);
        } else {
            fill_file(pass);
            spoil();
            for (int k = 0; k < count_; ++k) poison(block(k), {group_.rank(), k}, pass);
            prepare();
            move_all();
            compare_read(pass);
        }
        group_.barrier();
    }
    for (int k = 0; k < count_; ++k) fill(block(k), {group_.rank(), k}, 0);
    return {
        {"bytes that differ from the written data, or missing or repeated blocks", wrong_.count(), "1", 0,
         wrong_.where()},
        {"difference from the expected file size", size_off_, "B", 0, "seen by rank " + std::to_string(group_.rank())}};
}

// A byte changed, the file one byte short, or two blocks exchanged (without an order: one of them twice), as far apart
// as patterns of bytes are equal, where there are so many.
void Transfers::spoil() {
    if (fault_ >= 0 && group_.rank() == 0) {
        File const file(MPI_COMM_SELF, folder_.path(0), MPI_MODE_RDWR);
        std::vector<std::uint8_t> first(static_cast<std::size_t>(bytes_)), second(first.size());
        auto const at = [&](int number) { return static_cast<MPI_Offset>(number) * bytes_; };
        auto const get = [&](int number, std::vector<std::uint8_t>& bytes) {
            octant::check(MPI_File_read_at(file.get(), at(number), bytes.data(), bytes_, MPI_BYTE, MPI_STATUS_IGNORE));
        };
        auto const put = [&](int number, std::vector<std::uint8_t> const& bytes) {
            octant::check(MPI_File_write_at(file.get(), at(number), bytes.data(), bytes_, MPI_BYTE, MPI_STATUS_IGNORE));
        };
        get(0, first);
        if (fault_ == 0) {
            first[0] ^= 1U;
            put(0, first);
        } else if (fault_ == 1) {
            octant::check(MPI_File_set_size(file.get(), at(sharing_ * count_) - 1));
        } else if (sharing_ * count_ > 1) {
            int const other = std::min(256, sharing_ * count_ - 1);
            get(other, second);
            put(0, second);
            if (spec_.access != Access::shared || spec_.collective) put(other, first);
        }
        octant::check(MPI_File_sync(file.get()));
    }
    group_.barrier();
}

// Compares the written data, on another rank than the writer.
void Transfers::compare_written(int pass) {
    int const other = verified_rank();
    std::vector<std::int64_t> found;
    bool const any_order = spec_.access == Access::shared && !spec_.collective;
    if (other >= 0) {
        File const file(MPI_COMM_SELF, folder_.path(file_of(other)), MPI_MODE_RDONLY);
        MPI_Offset size = 0;
        octant::check(MPI_File_get_size(file.get(), &size));
        size_off_ += std::fabs(static_cast<double>(size) - static_cast<double>(bytes_) * sharing_ * count_);
        for (int k = 0; k < count_; ++k) {
            poison(block(0), {other, k}, pass);
            octant::check(
                MPI_File_read_at(file.get(), offset_of({other, k}), memory(0), bytes_, MPI_BYTE, MPI_STATUS_IGNORE));
            if (any_order)
                found.push_back(found_in(block(0), pass));
            else
                compare(block(0), {other, k}, pass);
        }
    }
    if (any_order) compare_any_order(found, pass);
}

void Transfers::compare_read(int pass) {
    bool const any_order = spec_.access == Access::shared && !spec_.collective;
    std::vector<std::int64_t> found;
    if (plays()) {
        MPI_Offset size = 0;
        octant::check(MPI_File_get_size(file_->get(), &size));
        size_off_ += std::fabs(static_cast<double>(size) - static_cast<double>(bytes_) * sharing_ * count_);
    }
    for (int k = 0; k < count_ && plays(); ++k) {
        if (any_order)
            found.push_back(found_in(block(k), pass));
        else
            compare(block(k), {group_.rank(), k}, pass);
    }
    if (any_order) compare_any_order(found, pass);
}

// Patterns of bytes repeat every 256 blocks: what is in the head does not.
void Transfers::fill(std::span<std::uint8_t> bytes, Block of, int pass) const {
    octant::fill_pattern(bytes, of.rank, pass * count_ + of.number);
    if (bytes.size() < head_bytes) return;
    std::int64_t const name = name_of(of, pass);
    std::memcpy(bytes.data(), &name, head_bytes);
}

void Transfers::poison(std::span<std::uint8_t> bytes, Block of, int pass) const {
    octant::poison(bytes, of.rank, pass * count_ + of.number);
    if (bytes.size() < head_bytes) return;
    std::int64_t const none = ~name_of(of, pass);
    std::memcpy(bytes.data(), &none, head_bytes);
}

void Transfers::compare(std::span<std::uint8_t const> bytes, Block with, int pass) {
    std::size_t const head = bytes.size() < head_bytes ? 0 : head_bytes;
    std::int64_t const name = name_of(with, pass);
    if (std::memcmp(bytes.data(), &name, head) != 0)
        wrong_.add("rank " + std::to_string(group_.rank()) + ", the head of block " + std::to_string(with.number) +
                   " from rank " + std::to_string(with.rank));
    wrong_.compare(bytes.subspan(head), group_.rank(), with.rank, pass * count_ + with.number, head, bytes.size());
}

bool Transfers::is(std::span<std::uint8_t const> bytes, Block block, int pass) const {
    std::size_t const head = bytes.size() < head_bytes ? 0 : head_bytes;
    octant::Mismatch differs;
    differs.compare(bytes.subspan(head), group_.rank(), block.rank, pass * count_ + block.number, head);
    return differs.count() == 0;
}

// A unique number of a block, over all passes. If a block is too short for it, the value of the first byte, which is
// common to several blocks.
std::int64_t Transfers::name_of(Block block, int pass) const {
    if (static_cast<std::size_t>(bytes_) < head_bytes)
        return octant::pattern_byte(block.rank, 0, pass * count_ + block.number);
    return (std::int64_t{pass} * group_.size() + block.rank) * count_ + block.number;
}

// The name of the block of this pass that this is, whole; -1: of none.
std::int64_t Transfers::found_in(std::span<std::uint8_t const> bytes, int pass) const {
    std::int64_t name = bytes[0];
    if (bytes.size() >= head_bytes) {
        std::memcpy(&name, bytes.data(), head_bytes);
        std::int64_t const place = name - name_of({0, 0}, pass);
        if (place < 0 || place >= std::int64_t{group_.size()} * count_) return -1;
        return is(bytes, {static_cast<int>(place / count_), static_cast<int>(place % count_)}, pass) ? name : -1;
    }
    for (int rank = 0; rank < group_.size(); ++rank)
        for (int k = 0; k < count_; ++k)  // equal first bytes have equal bytes behind them
            if (name_of({rank, k}, pass) == name) return is(bytes, {rank, k}, pass) ? name : -1;
    return -1;
}

// Checks that every block occurs exactly once over all ranks.
void Transfers::compare_any_order(std::vector<std::int64_t> const& found, int pass) {
    auto const all = group_.gather(found);
    if (group_.rank() != 0) return;
    std::map<std::int64_t, int> balance;
    for (auto const& ranks : all)
        for (auto const one : ranks) --balance[one];
    for (int rank = 0; rank < group_.size(); ++rank)
        for (int k = 0; k < count_; ++k)
            if (++balance[name_of({rank, k}, pass)] > 0)
                wrong_.add("block " + std::to_string(k) + " of rank " + std::to_string(rank));
}

}  // namespace mpiio
