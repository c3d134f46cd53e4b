#include "octant/kept_files.hpp"

#include "octant/crc.hpp"
#include "octant/failure.hpp"
#include "octant/json_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

namespace octant {
namespace {

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_plain(char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }

bool is_plain(std::string_view name, std::size_t most) {
    auto const allowed = [](char c) { return is_plain(c); };
    return !name.empty() && name.size() <= most && is_letter_or_digit(name[0]) && std::ranges::all_of(name, allowed);
}

std::string mebibytes(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string quoted(std::string const& name) {  // a name that may hold anything
    JsonText text;
    text.word(name);
    return text.take();
}

std::string system_reason() { return std::strerror(errno); }

// A folder in an open one, made where it is not there; negative: it cannot be, or is a link.
int enter(int parent, std::string const& name, bool exclusively) {
    constexpr mode_t mine = 0700;
    if (mkdirat(parent, name.c_str(), mine) != 0 && (exclusively || errno != EEXIST)) return -1;
    return openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool write_all(int file, std::span<std::byte const> bytes) {
    while (!bytes.empty()) {
        ssize_t const wrote = ::write(file, bytes.data(), bytes.size());
        if (wrote < 0 && errno != EINTR) return false;
        if (wrote > 0) bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    return true;
}

}  // namespace

void KeptFiles::keep(std::string const& name, std::string const& kind, std::span<std::byte const> bytes,
                     std::int64_t& memory_left) {
    if (!is_plain(name, FileLimits::name_bytes) || !is_plain(kind, FileLimits::kind_bytes))
        throw Refusal("cannot keep the file " + quoted(name) + " of kind " + quoted(kind) +
                      " (invalid name); use a letter or digit followed by letters, digits, '.', '_' and '-': at most " +
                      std::to_string(FileLimits::name_bytes) + " characters of a name and " +
                      std::to_string(FileLimits::kind_bytes) + " of a kind");
    auto const same = std::ranges::find(files_, name, &KeptFile::name);
    if (same != files_.end()) {
        memory_left += static_cast<std::int64_t>(same->bytes.size());
        files_.erase(same);
    }
    if (files_.size() == FileLimits::rank_files)
        throw Refusal("cannot keep the file " + quoted(name) + " (a rank keeps at most " +
                      std::to_string(FileLimits::rank_files) + " files in a point); try fewer, larger files");
    auto const size = static_cast<std::int64_t>(bytes.size());
    KeptFile file{.name = name, .kind = kind, .size = size};
    if (size > limits_.file_bytes)
        file.left_out = "larger than " + mebibytes(limits_.file_bytes);
    else if (size > memory_left)
        file.left_out = "out of memory";
    else
        file.bytes.assign(bytes.begin(), bytes.end());
    memory_left -= static_cast<std::int64_t>(file.bytes.size());
    files_.push_back(std::move(file));
}

FileWriter::FileWriter(std::string_view records, std::string_view launch, FileLimits const& limits) : limits_(limits) {
    if (records != "-") {
        auto const slash = records.rfind('/');
        run_folder_ = slash == std::string_view::npos ? "." : slash == 0 ? "/" : std::string(records.substr(0, slash));
    }
    constexpr std::size_t max_launch = 80;
    attempt_ = launch.empty() ? "launch" : launch.substr(0, max_launch);
    for (char& c : attempt_)
        if (!is_plain(c)) c = '_';
    if (!is_letter_or_digit(attempt_[0])) attempt_[0] = 'L';
    std::random_device random;
    ((attempt_ += '.') += hex8(random())) += hex8(random());
}

FileWriter::~FileWriter() {
    if (folder_ >= 0) close(folder_);
}

std::string FileWriter::admit(std::int64_t bytes) {
    if (run_folder_.empty()) return "the records go to standard output";
    if (files_ == limits_.launch_files)
        return "more than " + std::to_string(limits_.launch_files) + " files of a launch";
    if (bytes > limits_.launch_bytes - bytes_)
        return "more than " + mebibytes(limits_.launch_bytes) + " of all files of a launch";
    ++files_;
    bytes_ += bytes;
    return "";
}

int FileWriter::open_folder() {
    if (folder_ >= 0) return folder_;
    int const run = open(run_folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run < 0) return -1;
    int const all = enter(run, "files", false);
    folder_ = all < 0 ? -1 : enter(all, attempt_, true);
    int const reason = errno;
    if (folder_ >= 0) {  // the record must not survive a power cut that the folders do not survive
        static_cast<void>(fsync(all));
        static_cast<void>(fsync(run));
    }
    if (all >= 0) close(all);
    close(run);
    errno = reason;
    return folder_;
}

std::string FileWriter::write(int place, int rank, KeptFile const& file, std::span<std::byte const> bytes,
                              std::string& stored) {
    int const folder = open_folder();
    if (folder < 0) return system_reason();
    constexpr mode_t mine = 0600;
    std::string const name = std::to_string(place) + "." + std::to_string(rank) + "." + file.name;
    int const opened = openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mine);
    if (opened < 0) return system_reason();
    std::string reason;
    if (!write_all(opened, bytes) || fsync(opened) != 0 || fsync(folder) != 0) reason = system_reason();
    if (close(opened) != 0 && reason.empty()) reason = system_reason();
    if (reason.empty())
        stored = attempt_ + "/" + name;
    else
        unlinkat(folder, name.c_str(), 0);
    return reason;
}

namespace {

constexpr int tag = 1;

// The files of all ranks, at rank 0.
struct Offered {
    std::vector<std::vector<std::int64_t>> sizes;  // by rank
    std::vector<std::string> texts;                // by rank: name, kind and reason of each file, each ended by a zero
};

// At rank 0: requests the files in `offered` that are admitted from their ranks, and writes them.
class Collector {
  public:
    Collector(Comm const& world, FileWriter& writer, int place) : world_(world), writer_(writer), place_(place) {}

    std::string collect(std::vector<KeptFile> const& mine, Offered const& offered) {
        for (std::size_t rank = 0; rank < offered.sizes.size(); ++rank)
            if (!offered.sizes[rank].empty())
                collect_of(static_cast<int>(rank), described(offered, rank), rank == 0 ? &mine : nullptr);
        return text_.text();
    }

  private:
    static std::vector<KeptFile> described(Offered const& offered, std::size_t rank) {
        std::vector<KeptFile> files;
        char const* at = offered.texts[rank].c_str();
        auto const next = [&] {
            std::string word = at;
            at += word.size() + 1;
            return word;
        };
        for (std::int64_t const size : offered.sizes[rank]) {
            KeptFile file{.name = next(), .kind = next(), .size = size};
            file.left_out = next();
            files.push_back(std::move(file));
        }
        return files;
    }

    void collect_of(int rank, std::vector<KeptFile> files, std::vector<KeptFile> const* mine) {
        std::int64_t wanted = 0;
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (files[i].left_out.empty()) files[i].left_out = writer_.admit(files[i].size);
            if (files[i].left_out.empty()) wanted |= std::int64_t{1} << i;
        }
        if (rank > 0) check(MPI_Send(&wanted, 1, MPI_INT64_T, rank, tag, world_.get()));
        std::vector<std::byte> received;
        for (std::size_t i = 0; i < files.size(); ++i) {
            if ((wanted >> i & 1) == 0) {
                write_entry(rank, files[i], "", 0);
                continue;
            }
            if (rank > 0) {
                received.resize(static_cast<std::size_t>(files[i].size));
                check(MPI_Recv(received.data(), static_cast<int>(received.size()), MPI_BYTE, rank, tag, world_.get(),
                               MPI_STATUS_IGNORE));
            }
            std::span<std::byte const> const bytes = rank > 0 ? received : (*mine)[i].bytes;
            std::string stored;
            files[i].left_out = writer_.write(place_, rank, files[i], bytes, stored);
            write_entry(rank, files[i], stored, crc32({reinterpret_cast<char const*>(bytes.data()), bytes.size()}));
        }
    }

    void write_entry(int rank, KeptFile const& file, std::string const& stored, std::uint32_t sum) {
        text_.open('{');
        text_.key("name").word(file.name);
        text_.key("kind").word(file.kind);
        text_.key("rank").number(rank);
        text_.key("bytes").number(file.size);
        if (file.left_out.empty()) {
            text_.key("crc").word(hex8(sum));
            text_.key("stored").word(stored);
        } else {
            text_.key("left_out").word(file.left_out);
        }
        text_.close('}');
    }

    Comm const& world_;
    FileWriter& writer_;
    int place_;
    JsonText text_;
};

// On other ranks: sends the requested files to rank 0.
void send_requested(Comm const& world, std::vector<KeptFile> const& mine) {
    std::int64_t wanted = 0;
    check(MPI_Recv(&wanted, 1, MPI_INT64_T, 0, tag, world.get(), MPI_STATUS_IGNORE));
    for (std::size_t i = 0; i < mine.size(); ++i)
        if ((wanted >> i & 1) != 0)
            check(
                MPI_Send(mine[i].bytes.data(), static_cast<int>(mine[i].bytes.size()), MPI_BYTE, 0, tag, world.get()));
}

}  // namespace

std::string write_files(Comm const& world, std::vector<KeptFile> const& mine, FileWriter& writer, int place) {
    if (world.max(static_cast<std::int64_t>(mine.size())) == 0) return "";
    std::vector<std::int64_t> sizes;
    std::string texts;
    for (auto const& file : mine) {
        sizes.push_back(file.size);
        ((((texts += file.name) += '\0') += file.kind) += '\0') += file.left_out + '\0';
    }
    Offered const offered{world.gather(sizes), world.gather(texts)};
    if (world.rank() == 0) return Collector(world, writer, place).collect(mine, offered);
    if (!mine.empty()) send_requested(world, mine);
    return "";
}

}  // namespace octant
