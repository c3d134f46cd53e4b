#include "data_file.hpp"

#include "kernels/files/file_system.hpp"
#include "kernels/files/page_cache.hpp"
#include "octant/clock.hpp"
#include "transfer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

namespace local {
namespace {

Mode mode_of(std::string const& word) {
    return word == "direct" ? Mode::direct : word == "mmap" ? Mode::mapped : Mode::buffered;
}

// A path, "scratch", or a kind of file system that is looked for.
std::string folder_of(octant::Context& context, std::int64_t bytes) {
    std::string folder = context.knobs.word("folder");
    if (folder == "scratch") {
        folder = std::filesystem::absolute(context.scratch()).string();
    } else if (octant::is_file_system(folder)) {
        std::string const kind = folder;
        std::string found;
        folder = octant::folder_on(kind, found);
        if (folder.empty())
            throw cannot("write files on " + kind, "no writable folder on it; mounted file systems: " + found,
                         "folder=/path");
    }
    std::string const why = octant::why_not_written(folder, bytes, "a smaller bytes=");
    if (!why.empty()) throw octant::Refusal("cannot write files there " + why, octant::Exit::not_supported);
    return folder;
}

}  // namespace

octant::Refusal cannot(std::string const& what, std::string const& why, std::string const& hint) {
    return octant::Refusal("cannot " + what + " (" + why + "); try " + hint, octant::Exit::not_supported);
}

DataFile::DataFile(octant::Context& context, std::int64_t bytes)
    : folder_(folder_of(context, bytes * context.group.size())),
      bytes_(bytes),
      mode_(mode_of(context.knobs.word("mode"))) {
    auto const system = octant::file_system_of(folder_);
    in_memory_ = system.in_memory;
    if (in_memory_) context.claim_outside(static_cast<double>(bytes_));
    context.notes.emplace_back("file_system", system.name);
    context.notes.emplace_back("caching", system.caching);
    if (auto const mount = octant::mount_text(folder_); !mount.empty()) context.notes.emplace_back("mount", mount);
    std::string meaningless = in_memory_ ? system.name + " " + system.caching : "";
    if (in_memory_ && mode_ == Mode::direct) meaningless += "; mode=direct has no effect";
    if (!meaningless.empty()) context.notes.emplace_back("memory_copy", meaningless);
    open();
}

DataFile::~DataFile() {
    if (mapped_ != nullptr) munmap(mapped_, static_cast<std::size_t>(bytes_));
}

// If the file system has no unnamed files, a file is unlinked as soon as it is open.
int DataFile::unnamed() const {
    constexpr mode_t own = S_IRUSR | S_IWUSR;
    int const file = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, own);
    if (file >= 0) return file;
    std::string const path = folder_ + "/octant-" + std::to_string(getpid()) + "-" + std::to_string(octant::now_ns());
    int const named = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, own);
    if (named >= 0) unlink(path.c_str());
    return named;
}

void DataFile::open() {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the call
    plain_ = octant::Descriptor(unnamed());
    if (plain() < 0) throw cannot("create a file in " + folder_, std::strerror(errno), "another folder=PATH");
    std::string const again = "/proc/self/fd/" + std::to_string(plain());
    if (mode_ == Mode::direct) {
        direct_ = octant::Descriptor(::open(again.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
        if (direct() < 0) throw cannot("open the file with O_DIRECT", std::strerror(errno), "mode=buffered");
    }
    if (mode_ != Mode::mapped) return;
    empty();
    void* const address =
        mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, plain(), 0);
    if (address == MAP_FAILED) throw cannot("map a file", std::strerror(errno), "mode=buffered");
    mapped_ = static_cast<std::byte*>(address);
}

// A store to a mapped page for which there is no room would kill the process.
void DataFile::empty() {
    int failed = ftruncate(plain(), 0) == 0 ? 0 : errno;
    if (failed == 0 && mode_ == Mode::mapped) failed = posix_fallocate(plain(), 0, bytes_);
    if (failed != 0) throw refused({.file = plain(), .writes = true}, failed);
}

// The pages that a process has mapped stay where they are.
double DataFile::drop() {
    if (mapped_ != nullptr) madvise(mapped_, static_cast<std::size_t>(bytes_), MADV_DONTNEED);
    return octant::drop_from_cache(plain(), in_memory_);
}

void DataFile::sync() {
    bool const failed =
        mapped_ != nullptr ? msync(mapped_, static_cast<std::size_t>(bytes_), MS_SYNC) != 0 : fdatasync(plain()) != 0;
    if (failed) throw refused({.file = plain(), .writes = true}, errno);
    ++syncs_;
}

std::int64_t DataFile::size() const {
    struct stat found {};
    return fstat(plain(), &found) == 0 ? static_cast<std::int64_t>(found.st_size) : -1;
}

}  // namespace local
