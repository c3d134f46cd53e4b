// Files: where a path is mounted, what is in a file, and what of it is in memory or waits for the disk.
#include "kernels/files/contents.hpp"
#include "kernels/files/descriptor.hpp"
#include "kernels/files/file_system.hpp"
#include "kernels/files/page_cache.hpp"

#include "check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {

constexpr char const* mountinfo =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "30 22 0:21 / /dev/shm rw - tmpfs tmpfs rw\n"
    "31 22 0:40 / /data rw master:2 propagate_from:1 - nfs4 server:/export rw,vers=4.2\n"
    "this line says nothing\n"
    "32 22 0:41 / /data/my\\040files rw - lustre 10.0.0.1@o2ib:/work rw\n"
    "33 31 0:42 / /data rw - overlay overlay rw,lowerdir=/l,upperdir=/tmp,workdir=/w\n";

void mounts(octant::Checks& checks) {
    auto const found = octant::mounts_in(mountinfo);
    auto const type_at = [&](char const* path) {
        auto const* const one = octant::mount_of(found, path);
        return one == nullptr ? std::string() : one->type;
    };
    checks.that(found.size() == 5, "what says nothing is left out");
    checks.that(type_at("/") == "ext4" && type_at("/database") == "ext4", "a name that begins alike is another");
    checks.that(type_at("/dev/shm") == "tmpfs" && type_at("/dev/shm/a") == "tmpfs", "a mount and what is below it");
    checks.that(type_at("/data/a") == "overlay", "of two in one place the later one hides the other");
    checks.that(type_at("/data/my files/a") == "lustre", "blanks are escaped");
    auto const holds = [](char const* type, char const* source) {
        return octant::holds_files({"/", type, source, ""});
    };
    checks.that(holds("zfs", "tank") && holds("gpfs", "gpfs0"), "known kinds, whatever the source is called");
    checks.that(holds("odd", "/dev/vda") && !holds("proc", "proc"), "others by a device or a server");
    checks.that(octant::mount_of({}, "/") == nullptr, "nothing is mounted");
    checks.that(octant::is_file_system("lustre") && octant::is_file_system("parallel"), "kinds have names");
    checks.that(!octant::is_file_system("scratch") && !octant::is_file_system(""), "others have none");
    checks.that(octant::why_not_written("/nowhere/at/all", 1, "").find("is not a folder)") != std::string::npos,
                "no folder");
    std::string const no_room = octant::why_not_written("/tmp", INT64_MAX, "smaller bytes");
    checks.that(no_room.find("more than 10 %") != std::string::npos, "no room");
    checks.that(no_room.ends_with("); try smaller bytes"), "and what to try");
}

void contents(octant::Checks& checks) {
    constexpr std::size_t bytes = 4096 + 3, block = 1024;
    std::vector<std::byte> file(bytes);
    octant::fill_contents(file, 0, 5);
    auto const wrong = [&](std::uint64_t offset, std::uint64_t stream) {
        octant::WrongBytes found;
        found.compare(file, offset, stream);
        return found.count();
    };
    checks.that(wrong(0, 5) == 0, "as it was filled");
    checks.that(wrong(0, 6) > 4000 && wrong(8, 5) > 4000, "other passes and places differ nearly everywhere");
    std::vector<std::byte> part(block + 3);
    octant::fill_contents(part, bytes - part.size(), 5);
    checks.that(std::equal(part.begin(), part.end(), file.end() - static_cast<std::ptrdiff_t>(part.size())),
                "a part is as in the whole");
    file.back() ^= std::byte{1};
    octant::WrongBytes last;
    last.compare(file, 0, 5);
    checks.that(last.count() == 1 && last.first() == bytes - 1, "also a last byte alone");
    file.back() ^= std::byte{1};
    std::swap_ranges(file.begin(), file.begin() + block, file.begin() + block);
    checks.that(wrong(0, 5) > 2000, "exchanged blocks are found");
}

// Checks the bytes that wait for write-back, if the file system reports them; /dev/shm, in memory, has none.
void page_cache(octant::Checks& checks) {
    constexpr std::size_t bytes = std::size_t{1} << 16;
    octant::Descriptor const file(open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.get() < 0) return;
    std::vector<std::byte> const data(bytes, std::byte{1});
    checks.that(write(file.get(), data.data(), bytes) == static_cast<ssize_t>(bytes), "it can be written");
    checks.that(octant::cached_share(file.get()) > 0.99, "what was just written is in memory");
    checks.that(fdatasync(file.get()) == 0 && octant::dirty_pages(file.get()) <= 0, "after a sync nothing waits");
    std::string const system = octant::file_system_of(".").name;
    if (system != "ext4" && system != "xfs") return;
    checks.that(octant::drop_from_cache(file.get(), false) < 0.5, "it leaves the page cache");
    if (octant::dirty_pages(file.get()) < 0) return;
    std::int64_t waiting = 0;
    for (int i = 0; i < 10 && waiting == 0; ++i) {  // other processes may sync at any time
        checks.that(pwrite(file.get(), data.data(), bytes, 0) == static_cast<ssize_t>(bytes), "once more");
        waiting = octant::dirty_pages(file.get());
    }
    checks.that(waiting > 0 && waiting <= static_cast<std::int64_t>(bytes) / sysconf(_SC_PAGESIZE), "its pages wait");
}

}  // namespace

int main() {
    octant::Checks checks;
    mounts(checks);
    contents(checks);
    page_cache(checks);
    return checks.result();
}
