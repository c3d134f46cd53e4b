#include "profile.hpp"

#include "octant/clock.hpp"
#include "octant/exit.hpp"
#include "packed_profile.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace octant::bind {
namespace {

constexpr std::string_view prefix = "octant-profile-";  // src/octant/launch/profiles.py removes folders of this name
constexpr char const* lock_name = "guards";
constexpr std::uint64_t bytes_per_cpu = std::uint64_t{4} << 20;  // a rank may have a table for each of its threads
constexpr std::uint64_t least_bytes = std::uint64_t{8} << 20;
constexpr int max_tries = 100;                       // to join a folder that another guard removes at the same time
constexpr std::int64_t patience_ns = 5'000'000'000;  // for guards that are being killed
constexpr std::int64_t pause_us = 20'000;
constexpr std::size_t flush_bytes = std::size_t{4} << 20;

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] bool valid() const { return number_ >= 0; }
    int release() { return std::exchange(number_, -1); }

  private:
    int number_;
};

std::string host() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    std::string text = name.data();
    std::ranges::replace(text, '/', '_');
    return text;
}

// A name in the launch's folder that no other process uses.
std::string own_name(std::string const& ending) {
    return host() + "." + std::to_string(getpid()) + "." + std::to_string(now_ns()) + ending;
}

// File systems for the files of running processes, the preferred one first.
std::vector<std::string> local_roots() {
    std::vector<std::string> found;
    auto const add = [&](char const* path) {
        if (path != nullptr && path[0] == '/' && std::ranges::find(found, path) == found.end())
            found.emplace_back(path);
    };
    add(std::getenv("OCTANT_PROFILE_LOCAL"));
    add("/dev/shm");
    add(std::getenv("TMPDIR"));
    add("/tmp");
    return found;
}

std::string folder_in(std::string const& root, std::string const& name) {
    return root + "/" + std::string(prefix) + std::to_string(geteuid()) + "-" + name;
}

// A folder of this user that others cannot enter; -1: it is not one, or does not exist.
int open_folder(std::string const& path) {
    Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found {};
    if (!folder.valid() || fstat(folder.get(), &found) != 0) return -1;
    if (found.st_uid != geteuid() || (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) return -1;
    return folder.release();
}

bool lock_file(int file, int operation) {
    int result = 0;
    do result = flock(file, operation);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

bool has_room(std::string const& root) {
    struct statvfs room {};
    if (statvfs(root.c_str(), &room) != 0) return false;
    if (room.f_blocks == 0) return true;  // mounted without a limit
    auto const cpus = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return std::uint64_t{room.f_bavail} * room.f_frsize >= std::max(least_bytes, cpus * bytes_per_cpu);
}

// Takes the shared lock of a folder; -1: the folder is not usable or was removed in the meantime.
int join(std::string const& path) {
    Descriptor const folder(open_folder(path));
    if (!folder.valid()) return -1;
    Descriptor lock(openat(folder.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    struct stat found {};
    if (!lock.valid() || !lock_file(lock.get(), LOCK_SH)) return -1;
    if (fstat(lock.get(), &found) != 0 || found.st_nlink == 0) return -1;  // the last guard has removed it
    return lock.release();
}

std::vector<std::string> entries_of(int folder) {
    std::vector<std::string> names;
    int const copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const entries = copy < 0 ? nullptr : fdopendir(copy);
    if (entries == nullptr) return names;
    while (dirent const* const entry = readdir(entries))
        if (std::string_view const name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
    closedir(entries);
    std::ranges::sort(names);
    return names;
}

// The files of processes in a node-local folder.
std::vector<std::string> files_in(int folder) {
    auto names = entries_of(folder);
    std::erase(names, lock_name);
    return names;
}

// The caller holds the exclusive lock.
void remove_local(int folder, std::string const& path) {
    for (auto const& name : files_in(folder)) unlinkat(folder, name.c_str(), 0);
    unlinkat(folder, lock_name, 0);
    rmdir(path.c_str());
}

// Removes the folders of this user's other launches whose guards were killed: on this node, nothing else may do it.
void remove_leftovers(std::string const& root, std::string const& own) {
    Descriptor const parent(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent.valid()) return;
    for (auto const& name : entries_of(parent.get())) {
        std::string const path = root + "/" + name;
        if (path == own || !path.starts_with(folder_in(root, ""))) continue;
        Descriptor const folder(open_folder(path));
        if (!folder.valid()) continue;
        Descriptor const lock(openat(folder.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (lock.valid() && lock_file(lock.get(), LOCK_EX | LOCK_NB)) remove_local(folder.get(), path);
    }
}

// Creates the folder of a launch or joins it: where it exists, else where there is room. "": nowhere.
std::string join_anywhere(std::string const& name, int& lock) {
    auto const roots = local_roots();
    for (int i = 0; i < max_tries; ++i) {
        for (auto const& root : roots)
            if ((lock = join(folder_in(root, name))) >= 0) return folder_in(root, name);
        for (auto const& root : roots) {
            if (!has_room(root)) continue;
            std::string const path = folder_in(root, name);
            bool const is_new = mkdir(path.c_str(), S_IRWXU) == 0;
            if (!is_new && errno != EEXIST) continue;
            if ((lock = join(path)) < 0) continue;
            if (is_new) remove_leftovers(root, path);
            return path;
        }
    }
    return "";
}

bool write_all(int file, std::span<char const> bytes) {
    while (!bytes.empty()) {
        ssize_t const count = write(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

// A new file of the launch's folder; it has its name when it is complete.
class NewFile {
  public:
    NewFile(std::string const& folder, std::string const& ending)
        : path_(folder + "/" + own_name(ending)),
          file_(open((path_ + ".part").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) {}
    bool add(std::span<char const> bytes) {
        good_ = file_.valid() && good_ && write_all(file_.get(), bytes);
        return good_;
    }
    bool finish() {
        std::string const part = path_ + ".part";
        if (file_.valid() && good_ && rename(part.c_str(), path_.c_str()) == 0) return true;
        if (file_.valid()) unlink(part.c_str());
        return false;
    }

  private:
    std::string path_;
    Descriptor file_;
    bool good_ = true;
};

// States in the launch's folder why a profile is missing or not complete, one sentence.
void record_problem(std::string const& to, std::string const& text) {
    NewFile file(to, ".problem");
    file.add(host() + ": " + text + "\n");
    static_cast<void>(file.finish());
}

// Writes the profiles in an open folder to a file of the launch's folder; returns whether they are there.
bool write_profiles(int folder, std::string const& to) {
    auto const names = files_in(folder);
    if (names.empty()) return true;
    NewFile packed(to, ".packed");
    std::vector<char> bytes;
    std::string problems;
    for (auto const& name : names) {
        Descriptor const file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        struct stat found {};
        if (!file.valid() || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
        if (auto const why = pack_profile(file.get(), bytes); !why.empty())
            problems += (problems.empty() ? "" : "; ") + ("the profile " + name + " cannot be read: " + why);
        if (bytes.size() >= flush_bytes) {
            if (!packed.add(bytes)) break;
            bytes.clear();
        }
    }
    packed.add(bytes);
    if (!problems.empty()) record_problem(to, problems);
    return packed.finish();
}

void set(char const* name, std::string const& value) { setenv(name, value.c_str(), 1); }

}  // namespace

ProfileFolder::ProfileFolder(Plan const& plan) : plan_(plan) {
    if (plan.profile.empty()) return;
    // The dynamic linker would report a library that it cannot read in the program's standard error.
    if (access(plan.profiler.c_str(), R_OK) != 0) {
        record_problem(plan.to, "the profiler " + plan.profiler + " cannot be read (" + std::strerror(errno) + ")");
        return;
    }
    folder_ = join_anywhere(plan.profile, lock_);
    if (folder_.empty()) {
        std::string roots;
        for (auto const& root : local_roots()) roots += (roots.empty() ? "" : ", ") + root;
        record_problem(plan.to, "no room for the tables of the profiler in " + roots);
        return;
    }
    set("OCTANT_PROFILE", folder_);
    set("OCTANT_PROFILE_MODE", plan.profile_mode);
    if (!plan.profile_sites) set("OCTANT_PROFILE_SITES", "0");
    char const* const before = getenv("LD_PRELOAD");
    set("LD_PRELOAD", plan.profiler + (before == nullptr || *before == '\0' ? "" : ":" + std::string(before)));
}

void ProfileFolder::leave() {
    if (lock_ < 0) return;
    Descriptor const lock(std::exchange(lock_, -1));
    // flock(2) drops the shared lock before it takes the other one: of guards that end at the same time, the last one
    // that tries succeeds.
    if (!lock_file(lock.get(), LOCK_EX | LOCK_NB)) return;
    Descriptor const folder(open_folder(folder_));
    struct stat found {};
    if (!folder.valid() || fstat(lock.get(), &found) != 0 || found.st_nlink == 0) return;
    if (write_profiles(folder.get(), plan_.to)) remove_local(folder.get(), folder_);
}

int collect(Plan const& plan) {
    bool all = true;
    for (auto const& root : local_roots()) {
        std::string const path = folder_in(root, plan.collect);
        Descriptor const folder(open_folder(path));
        if (!folder.valid()) continue;
        Descriptor const lock(openat(folder.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!lock.valid()) continue;
        bool locked = false;
        for (std::int64_t const deadline = now_ns() + patience_ns;
             !(locked = lock_file(lock.get(), LOCK_EX | LOCK_NB)) && now_ns() < deadline;)
            usleep(pause_us);
        struct stat found {};
        if (locked && fstat(lock.get(), &found) == 0 && found.st_nlink == 0) continue;  // another one has collected it
        if (!locked) {
            all = false;
            continue;
        }
        if (!write_profiles(folder.get(), plan.to)) all = false;
        remove_local(folder.get(), path);
    }
    return all ? 0 : static_cast<int>(Exit::cannot_run);
}

}  // namespace octant::bind
