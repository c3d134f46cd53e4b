// Which file system a folder is on, and where what is written to it goes first.
#pragma once

#include <linux/magic.h>
#include <sys/statfs.h>

#include <array>
#include <cstdint>
#include <string>

namespace octant {

struct FileSystem {
    std::string name;     // "ext4"; a number where it is not known
    std::string caching;  // in words: where written data are before and after a sync
    bool in_memory;       // it has no disk
};

namespace file_systems {

inline constexpr char const* memory = "lies in memory: sync has nothing to do, and no disk is written";
inline constexpr char const* local = "page cache of this host: a write ends there, a sync waits for the disk";
inline constexpr char const* beneath =
    "page cache of this host: a write ends there, a sync waits for the file system beneath";
inline constexpr char const* clients = "cache of each client: others see what was written after a sync or close";
inline constexpr char const* locked = "cache of each client, under the file system's locks";
inline constexpr char const* server = "cached as its server decides";

struct Known {
    std::uint32_t magic;  // of statfs(2)
    char const* name;
    char const* caching;
};
// Numbers that linux/magic.h lacks are those that the file systems' own sources have.
inline constexpr std::array known{
    Known{TMPFS_MAGIC, "tmpfs", memory},      Known{RAMFS_MAGIC, "ramfs", memory},
    Known{EXT4_SUPER_MAGIC, "ext4", local},   Known{XFS_SUPER_MAGIC, "xfs", local},
    Known{BTRFS_SUPER_MAGIC, "btrfs", local}, Known{F2FS_SUPER_MAGIC, "f2fs", local},
    Known{0x2FC12FC1, "zfs", local},          Known{OVERLAYFS_SUPER_MAGIC, "overlay", beneath},
    Known{NFS_SUPER_MAGIC, "nfs", clients},   Known{0xFF534D42, "cifs", clients},
    Known{0x0BD00BD0, "lustre", locked},      Known{0x47504653, "gpfs", locked},
    Known{0x19830326, "beegfs", locked},      Known{0x00C36400, "ceph", locked},
    Known{FUSE_SUPER_MAGIC, "fuse", server},  Known{V9FS_MAGIC, "9p", server},
};

}  // namespace file_systems

// Of an existing folder; "" as its name where the system does not say.
[[nodiscard]] inline FileSystem file_system_of(std::string const& folder) {
    struct statfs found {};
    if (statfs(folder.c_str(), &found) != 0) return {"", "not known", false};
    auto const magic = static_cast<std::uint32_t>(found.f_type);
    for (auto const& one : file_systems::known)
        if (one.magic == magic) return {one.name, one.caching, one.caching == file_systems::memory};
    constexpr char const* digits = "0123456789abcdef";
    std::string number = "0x";
    for (int shift = 28; shift >= 0; shift -= 4) number += digits[magic >> shift & 15U];
    return {number, "not known", false};
}

// Bytes that a user may still write there; 0 where the system does not say.
[[nodiscard]] inline std::int64_t free_bytes(std::string const& folder) {
    struct statfs found {};
    if (statfs(folder.c_str(), &found) != 0) return 0;
    return static_cast<std::int64_t>(found.f_bavail) * static_cast<std::int64_t>(found.f_bsize);
}

}  // namespace octant
