#include "blocks.hpp"

#include "kernels/files/page_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace local {
namespace {

constexpr int passes = 2;
constexpr std::int64_t piece = std::int64_t{1} << 20;  // of a file that is compared
enum Faults { exchanged, lost, unsynced };             // two blocks; the last of them; the sync

std::size_t rounded(std::int64_t bytes) {
    return static_cast<std::size_t>((bytes + direct_bytes - 1) / direct_bytes * direct_bytes);
}

}  // namespace

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    constexpr std::int64_t most = std::int64_t{1} << 40;
    return {
        {"bytes", KnobKind::bytes, "64MiB", "file size per rank", {}, 1, most},
        {"block", KnobKind::bytes, "1MiB", "transfer size", {}, 512, std::int64_t{1} << 30},
        {"mode",
         KnobKind::word,
         "buffered",
         "buffered: through the page cache; direct: O_DIRECT; mmap: memory-mapped",
         {"buffered", "direct", "mmap"}},
        {"engine",
         KnobKind::word,
         "auto",
         "calls: blocking calls; uring: io_uring; threads: blocking calls in helper threads; auto: calls, or for "
         "overlapped patterns io_uring (threads if unavailable)",
         {"auto", "calls", "uring", "threads"}},
        {"depth", KnobKind::integer, "4", "queue depth of io_uring and threads", {}, 1, 1024},
        {"fsync", KnobKind::word, "yes", "writes: call fdatasync (msync) at the end", {"yes", "no"}},
        {"file", KnobKind::word, "new", "writes: into a new (empty) file or over existing data", {"new", "existing"}},
        {"cache",
         KnobKind::word,
         "cold",
         "reads: cold: drop the file from the page cache before each step; warm: do not drop it",
         {"cold", "warm"}},
        {"flush_block",
         KnobKind::bytes,
         "1MiB",
         "pattern=staged-write: size of transfers from memory to the file",
         {},
         1,
         most},
        {"overlap",
         KnobKind::word,
         "computing",
         "work of a rank during overlapped transfers: computing, or messages with a neighbour rank",
         {"computing", "messages"}},
        {"folder", KnobKind::word, "scratch",
         "scratch: next to the records; an absolute path; or a type of file system (nfs, lustre, …, local, parallel), "
         "in which a writable folder is selected"}};
}

Blocks::Blocks(octant::Context& context, bool writes, bool background, std::string const& length)
    : context_(context),
      writes_(writes),
      fsync_(context.knobs.word("fsync") == "yes"),
      fresh_(context.knobs.word("file") == "new"),
      cold_(context.knobs.word("cache") == "cold"),
      block_(context.knobs.integer("block")),
      file_(context, context.knobs.integer("bytes")),
      memory_(context.buffer<std::byte>(rounded(file_.bytes()))) {
    std::string engine = context.knobs.word("engine"), used;
    if (file_.mode() == Mode::mapped && engine != "auto" && engine != "calls")
        throw cannot("use another engine", "mode=mmap makes no transfers", "engine=calls");
    std::int64_t const each = context.knobs.integer(length);
    if (file_.mode() == Mode::direct && each % direct_bytes != 0)
        throw cannot("use O_DIRECT with transfers of " + std::to_string(each) + " bytes",
                     "the size is not a multiple of " + std::to_string(direct_bytes), length + "=1MiB");
    if (engine == "auto") engine = background && file_.mode() != Mode::mapped ? "background" : "calls";
    engine_ = engine_of(engine, static_cast<unsigned>(context.knobs.integer("depth")), used);
    context.notes.emplace_back("engine", used);
    calls_ = engine_of("calls", 1, used);
    octant::fill_contents(whole(), 0, stream(0));
    context.watched = {memory_.mapping().bytes()};
}

std::uint64_t Blocks::stream(int pass) const noexcept {
    return static_cast<std::uint64_t>(context_.world.rank()) * 16 + static_cast<std::uint64_t>(pass);
}

void Blocks::set_up() {
    if (!writes_ || !fresh_) fill_file(0);
}

void Blocks::prepare() {
    if (writes_ && fresh_) file_.empty();
    if (!writes_ && cold_) cached_ = std::max(cached_, file_.drop());
}

octant::Counts Blocks::work() const {
    return {{"blocks", count()}, {writes_ ? "bytes_written" : "bytes_read", file_.bytes()}};
}

// Bytes beyond the last whole sector, at the end of the file, are moved without O_DIRECT after all other transfers.
void Blocks::move(std::byte* memory, std::int64_t block, std::int64_t number, std::int64_t place, Engine& engine) {
    auto const at = [&](std::int64_t n) { return n * block; };
    auto const length = static_cast<std::size_t>(std::min(block, file_.bytes() - at(std::max(number, place))));
    std::byte* const mine = memory + at(number);
    if (file_.mode() == Mode::mapped) {
        std::byte* const there = file_.mapped() + at(place);
        std::memcpy(writes_ ? there : mine, writes_ ? mine : there, length);
        return;
    }
    bool const direct = file_.mode() == Mode::direct;
    std::size_t const past = direct ? length / direct_bytes * direct_bytes : length;
    Transfer one{direct ? file_.direct() : file_.plain(), writes_, mine, past, at(place)};
    if (past > 0) engine.post(one);
    if (past == length) return;
    engine.finish();
    one.advance(past);
    one.file = file_.plain();
    one.bytes = length - past;
    move_whole(one);
}

void Blocks::move_all(std::byte* memory, std::int64_t block, Engine& engine, std::function<void()> const& meanwhile) {
    std::int64_t const blocks = (file_.bytes() + block - 1) / block, whole_blocks = file_.bytes() / block;
    exchanges_ = whole_blocks > 1;
    for (std::int64_t k = 0; k < blocks; ++k) {
        std::int64_t const place = fault_ == exchanged && exchanges_ && k < 2 ? 1 - k : k;
        if (fault_ != lost || k + 1 < blocks) move(memory, block, k, place, engine);
        if (meanwhile) meanwhile();
    }
    engine.finish();
}

void Blocks::sync() {
    if (syncs() && fault_ != unsynced) file_.sync();
}

void Blocks::fill_file(int pass) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(piece, file_.bytes())));
    for (std::int64_t at = 0; at < file_.bytes(); at += piece) {
        std::span const part(bytes.data(), static_cast<std::size_t>(std::min(piece, file_.bytes() - at)));
        octant::fill_contents(part, static_cast<std::uint64_t>(at), stream(pass));
        move_whole({file_.plain(), true, part.data(), part.size(), at});
    }
    file_.sync();
}

void Blocks::compare_file(int pass) {
    static_cast<void>(file_.drop());
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(piece, file_.bytes())));
    std::int64_t const there = std::min(file_.size(), file_.bytes());
    for (std::int64_t at = 0; at < there; at += piece) {
        std::span const part(bytes.data(), static_cast<std::size_t>(std::min(piece, there - at)));
        move_whole({file_.plain(), false, part.data(), part.size(), at});
        if (fault_ == exchanged && !exchanges_ && at == 0) part[0] ^= std::byte{1};
        wrong_.compare(part, static_cast<std::uint64_t>(at), stream(pass));
    }
}

octant::Results Blocks::verify(std::function<void()> const& step) {
    wrong_ = {};
    double size_off = 0, unsynced_things = 0;
    for (int pass = 1; pass <= passes; ++pass) {
        if (writes_) {
            octant::fill_contents(whole(), 0, stream(pass));
            file_.empty();
            std::int64_t const before = file_.syncs();
            step();
            if (syncs() && file_.syncs() == before) unsynced_things += 1;
            if (syncs())
                unsynced_things += static_cast<double>(std::max<std::int64_t>(0, octant::dirty_pages(file_.plain())));
            size_off += std::fabs(static_cast<double>(file_.size() - file_.bytes()));
            compare_file(pass);
        } else {
            fill_file(pass);
            octant::fill_contents(whole(), 0, stream(passes + pass));  // none of it is what it should become
            prepare();
            step();
            if (fault_ == exchanged && !exchanges_) whole()[0] ^= std::byte{1};
            wrong_.compare(whole(), 0, stream(pass));
        }
    }
    octant::Results checks = {{"bytes that differ from the written data", static_cast<double>(wrong_.count()), "1", 0,
                               "rank " + std::to_string(context_.world.rank()) + ", byte " +
                                   std::to_string(wrong_.first()) + " of " + std::to_string(file_.bytes())}};
    if (!writes_) return checks;
    checks.push_back({"difference from the expected file size", size_off, "B", 0});
    checks.push_back({"missing syncs, and pages not yet written to disk", unsynced_things, "1", 0});
    return checks;
}

octant::Results Blocks::results() {
    bool const past = file_.mode() == Mode::direct && (writes_ || cold_);
    if (writes_ && !past) return {};
    double const share = past    ? octant::cached_share(file_.plain(), file_.bytes() / direct_bytes * direct_bytes)
                         : cold_ ? cached_
                                 : 1;
    bool const copied = past || file_.mode() != Mode::direct;  // a direct read leaves pages of others where they are
    if (share > 0.01 && copied && !file_.in_memory())
        context_.notes.emplace_back("memory_copy", past ? "mode=direct went through the page cache of this host"
                                                        : "read from the page cache of this host: a copy of memory");
    return {{"in the page cache", share, "1"}};
}

}  // namespace local
