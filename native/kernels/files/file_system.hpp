// Which file system a folder is on, where what is written to it goes first, and whether it has room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octant {

struct FileSystem {
    std::string name;     // "ext4"; a number where it is not known
    std::string caching;  // in words: where written data are before and after a sync
    bool in_memory;       // it has no disk
};

// The file system of an existing folder; its name is "" if not known.
[[nodiscard]] FileSystem file_system_of(std::string const& folder);

// Bytes that are free for users; 0 if not known.
[[nodiscard]] std::int64_t free_bytes(std::string const& folder);

// Why `bytes` more are not written to `folder`, and what to try: "(PATH is no folder); try …". Empty where they may be.
// Of what is free at most a tenth is used; `smaller`: what to try where they are more.
[[nodiscard]] std::string why_not_written(std::string const& folder, std::int64_t bytes, std::string const& smaller);

struct Mount {
    std::string point, type, source, options;
};

// The mounts in /proc/self/mountinfo, in its order; invalid lines are ignored.
[[nodiscard]] std::vector<Mount> mounts_in(std::string const& mountinfo);
// Whether it holds files of a device, of a server or in memory, and is no view of the kernel (proc, cgroup).
[[nodiscard]] bool holds_files(Mount const& mount);
// The mount that an absolute path without links is on: the last of the longest ones; nullptr: none.
[[nodiscard]] Mount const* mount_of(std::vector<Mount> const& mounts, std::string const& path);
// "ext4 of /dev/vda at /"; of an overlay with what lies beneath, where that can be seen. Empty: not known.
[[nodiscard]] std::string mount_text(std::string const& folder);

// Whether it is the name of a file system that is known, "local": any of a disk of this host, or "parallel": any that
// hosts share under locks of its own.
[[nodiscard]] bool is_file_system(std::string const& kind);
// A folder that this user may write to on a file system of that kind. Looks at SCRATCH, WORK, TMPDIR, HOME,
// /tmp, /var/tmp and the points of mounts. `found`: the file systems that are mounted. Empty: there is none.
[[nodiscard]] std::string folder_on(std::string const& kind, std::string& found);

}  // namespace octant
