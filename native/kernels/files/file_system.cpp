#include "kernels/files/file_system.hpp"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace octant {
namespace {

constexpr std::int64_t share_of_free = 10;

constexpr char const* memory = "is in memory: a sync has no effect, and no disk is written";
constexpr char const* local =
    "page cache of this host: a write returns after the copy to it, a sync waits for the disk";
constexpr char const* beneath =
    "page cache of this host: a write returns after the copy to it, a sync waits for the underlying file system";
constexpr char const* clients = "cache of each client: others see what was written after a sync or close";
constexpr char const* locked = "cache of each client, under the file system's locks";
constexpr char const* server = "caching is decided by the server";

struct Known {
    std::uint32_t magic;  // of statfs(2)
    char const* name;
    char const* caching;
};
// Numbers that are not in linux/magic.h come from the sources of the file systems.
constexpr std::array known{
    Known{TMPFS_MAGIC, "tmpfs", memory},      Known{RAMFS_MAGIC, "ramfs", memory},
    Known{EXT4_SUPER_MAGIC, "ext4", local},   Known{XFS_SUPER_MAGIC, "xfs", local},
    Known{BTRFS_SUPER_MAGIC, "btrfs", local}, Known{F2FS_SUPER_MAGIC, "f2fs", local},
    Known{0x2FC12FC1, "zfs", local},          Known{OVERLAYFS_SUPER_MAGIC, "overlay", beneath},
    Known{NFS_SUPER_MAGIC, "nfs", clients},   Known{0xFF534D42, "cifs", clients},
    Known{0x0BD00BD0, "lustre", locked},      Known{0x47504653, "gpfs", locked},
    Known{0x19830326, "beegfs", locked},      Known{0x00C36400, "ceph", locked},
    Known{FUSE_SUPER_MAGIC, "fuse", server},  Known{V9FS_MAGIC, "9p", server},
};

// \040 in mountinfo is a blank: three digits in base eight.
std::string unescaped(std::string const& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3') {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::string read_mountinfo() {
    std::ostringstream text;
    text << std::ifstream("/proc/self/mountinfo").rdbuf();
    return text.str();
}

bool is_of(std::string const& folder, std::string const& kind) {
    FileSystem const system = file_system_of(folder);
    if (kind == "local") return system.caching == local || system.caching == beneath;
    return kind == "parallel" ? system.caching == locked : system.name == kind;
}

}  // namespace

FileSystem file_system_of(std::string const& folder) {
    struct statfs found {};
    if (statfs(folder.c_str(), &found) != 0) return {"", "not known", false};
    auto const magic = static_cast<std::uint32_t>(found.f_type);
    for (auto const& one : known)
        if (one.magic == magic) return {one.name, one.caching, one.caching == memory};
    constexpr char const* digits = "0123456789abcdef";
    std::string number = "0x";
    for (int shift = 28; shift >= 0; shift -= 4) number += digits[magic >> shift & 15U];
    return {number, "not known", false};
}

std::int64_t free_bytes(std::string const& folder) {
    struct statfs found {};
    if (statfs(folder.c_str(), &found) != 0) return 0;
    return static_cast<std::int64_t>(found.f_bavail) * static_cast<std::int64_t>(found.f_bsize);
}

std::string why_not_written(std::string const& folder, std::int64_t bytes, std::string const& smaller) {
    std::error_code ignored;
    if (folder.empty() || folder[0] != '/' || !std::filesystem::is_directory(folder, ignored))
        return "(" + folder + " is not a folder); use the absolute path of an existing folder";
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        return "(no write permission for " + folder + "); use a folder that you may write to";
    std::int64_t const free = free_bytes(folder);
    if (bytes > free / share_of_free)
        return "(" + std::to_string(bytes >> 20) + " MiB are more than 10 % of the " + std::to_string(free >> 20) +
               " MiB that are free in " + folder + "); try " + smaller;
    return "";
}

std::vector<Mount> mounts_in(std::string const& mountinfo) {
    std::vector<Mount> mounts;
    std::istringstream lines(mountinfo);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        Mount one;
        for (int i = 0; i < 4; ++i) words >> word;
        words >> one.point;
        while (words >> word && word != "-") {
        }
        if (words >> one.type >> one.source >> one.options) {
            one.point = unescaped(one.point);
            mounts.push_back(one);
        }
    }
    return mounts;
}

Mount const* mount_of(std::vector<Mount> const& mounts, std::string const& path) {
    Mount const* found = nullptr;
    for (Mount const& one : mounts) {
        std::string const below = one.point == "/" ? "/" : one.point + "/";
        bool const on = path == one.point || path.starts_with(below);
        if (on && (found == nullptr || one.point.size() >= found->point.size())) found = &one;
    }
    return found;
}

std::string mount_text(std::string const& folder) {
    std::error_code failed;
    std::string const path = std::filesystem::canonical(folder, failed).string();
    auto const mounts = mounts_in(read_mountinfo());
    Mount const* const one = failed ? nullptr : mount_of(mounts, path);
    if (one == nullptr) return "";
    std::string text = one->type + " of " + one->source + " at " + one->point;
    constexpr char const* upper = "upperdir=";
    if (auto const begin = one->options.find(upper); one->type == "overlay" && begin != std::string::npos) {
        std::string const rest = one->options.substr(begin + std::char_traits<char>::length(upper));
        FileSystem const lower = file_system_of(unescaped(rest.substr(0, rest.find(','))));
        text += lower.name.empty() ? ", unknown file system" : ", on " + lower.name;
    }
    return text;
}

bool is_file_system(std::string const& kind) {
    return kind == "local" || kind == "parallel" ||
           std::ranges::any_of(known, [&](Known const& one) { return kind == one.name; });
}

// Decides by the type if it is known: the source of a pool or of a parallel file system can be any name.
bool holds_files(Mount const& mount) {
    return is_file_system(mount.type) || mount.source.starts_with('/') || mount.source.find(':') != std::string::npos;
}

std::string folder_on(std::string const& kind, std::string& found) {
    std::vector<std::string> folders;
    for (char const* name : {"SCRATCH", "WORK", "TMPDIR", "HOME"})
        if (char const* const value = std::getenv(name)) folders.emplace_back(value);
    folders.insert(folders.end(), {"/tmp", "/var/tmp"});
    std::set<std::string> types;
    for (Mount const& one : mounts_in(read_mountinfo())) {
        folders.push_back(one.point);
        if (holds_files(one)) types.insert(one.type);
    }
    for (auto const& type : types) found += (found.empty() ? "" : ", ") + type;
    for (auto const& folder : folders)
        if (is_of(folder, kind) && why_not_written(folder, 0, "").empty()) return folder;
    return "";
}

}  // namespace octant
