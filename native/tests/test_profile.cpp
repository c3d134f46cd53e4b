// Profiles of the processes of a node: their packed form, and their way from the node-local folder to the launch's one.
#include "../bind/guard.hpp"
#include "../bind/packed_profile.hpp"
#include "../bind/profile.hpp"
#include "../profiler/packed_format.h"
#include "check.hpp"
#include "tree.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace octant::bind;
using octant::Checks;
namespace fs = std::filesystem;

constexpr std::size_t tables_end = sizeof(octant_header) + octant_max_calls * sizeof(octant_total) +
                                   octant_max_communicators * sizeof(octant_communicator) +
                                   octant_max_regions * sizeof(octant_region) +
                                   octant_max_modules * sizeof(octant_module);

octant_header header_of(std::uint32_t slabs) {
    octant_header header{};
    std::memcpy(header.magic, OCTANT_PROFILE_MAGIC, sizeof header.magic);
    header.version = OCTANT_PROFILE_VERSION;
    header.header_bytes = sizeof header;
    header.entry_bytes = sizeof(octant_entry);
    header.peer_bytes = sizeof(octant_peer);
    header.slab_bytes = sizeof(octant_slab);
    header.slabs = slabs;
    header.slabs_at = (tables_end + 4095) / 4096 * 4096;
    header.communicators = 2;
    header.regions = 1;
    header.modules = 3;
    return header;
}

// The file of a process: a call in the totals, and a slab with 2 entries, a peer and a region; further slabs are empty.
void write_process(std::string const& path, octant_header const& header) {
    std::ofstream file(path, std::ios::binary);
    auto const put = [&](std::size_t at, auto const& one) {
        file.seekp(static_cast<std::streamoff>(at));
        file.write(reinterpret_cast<char const*>(&one), sizeof one);
    };
    put(0, header);
    put(sizeof header + 7 * sizeof(octant_total), octant_total{5, 50});
    std::vector<octant_slab> slabs(1);
    octant_slab& slab = slabs.front();
    slab.used = 1;
    slab.tid = 42;
    slab.mpi_calls = 5;
    slab.table[17] = octant_entry{1000, 7, 4, 400, 40, 0, 0, 1, 2};
    slab.table[octant_entries - 1] = octant_entry{1001, 7, 1, 100, 10, 0, 0, 1, 2};
    slab.peer_table[3] = octant_peer{256, 5, 500, 0};
    slab.region_times[0].visits = 1;
    put(header.slabs_at, slab);
}

std::vector<char> packed(std::string const& path, std::string& why) {
    std::vector<char> bytes;
    int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    why = pack_profile(file, bytes);
    close(file);
    return bytes;
}

template <typename T>
T at(std::vector<char> const& bytes, std::size_t offset) {
    T found{};
    std::memcpy(&found, bytes.data() + offset, sizeof found);
    return found;
}

void packed_form(Checks& checks) {
    octant::Tree const tree;
    std::string const path = tree.root() + "/process";
    std::string why;
    write_process(path, header_of(3));
    auto const bytes = packed(path, why);
    auto const head = at<octant_packed>(bytes, 0);
    checks.that(why.empty() && head.bytes == bytes.size(), "its length");
    checks.that(head.totals == 1 && head.communicators == 2 && head.regions == 1 && head.modules == 3, "its tables");
    checks.that(head.slabs == 1, "its slabs in use");
    std::size_t offset = sizeof head + sizeof(octant_header);
    auto const total = at<octant_packed_total>(bytes, offset);
    checks.that(total.call == 7 && total.total.calls == 5 && total.total.ticks == 50, "a call");
    offset += sizeof total + 2 * sizeof(octant_communicator) + sizeof(octant_region) + 3 * sizeof(octant_module);
    auto const slab = at<octant_packed_slab>(bytes, offset);
    checks.that(slab.tid == 42 && slab.region_times == 1 && slab.entries == 2 && slab.peers == 1, "a slab");
    offset += sizeof slab + sizeof(octant_packed_region_time);
    checks.that(at<octant_entry>(bytes, offset).site == 1000, "the first entry");
    checks.that(at<octant_entry>(bytes, offset + sizeof(octant_entry)).bytes == 100, "the last entry");
    checks.that(at<octant_peer>(bytes, offset + 2 * sizeof(octant_entry)).messages == 5, "a peer");
    checks.that(bytes.size() < 8192, "only what is in use: " + std::to_string(bytes.size()) + " bytes");
    truncate(path.c_str(), static_cast<off_t>(sizeof(octant_header) + 100));
    auto const cut = packed(path, why);
    checks.that(why.empty() && at<octant_packed>(cut, 0).slabs == 0, "a file that ends early");
    truncate(path.c_str(), 20);
    checks.that(packed(path, why).empty() && !why.empty(), "no header");
    auto other = header_of(1);
    ++other.version;
    write_process(path, other);
    checks.that(packed(path, why).empty() && !why.empty(), "another version");
}

std::vector<char> content_of(fs::path const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The number of profiles in the files of a launch's folder; `files`: the number of files.
std::size_t profiles_in(std::string const& folder, std::size_t& files) {
    std::size_t found = files = 0;
    for (auto const& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".packed") continue;
        ++files;
        auto const bytes = content_of(entry.path());
        for (std::size_t offset = 0; offset < bytes.size(); offset += at<octant_packed>(bytes, offset).bytes) ++found;
    }
    return found;
}

class Node {  // a node-local file system and a launch's folder
  public:
    Node() {
        fs::create_directory(local());
        fs::create_directory(to());
        write_process(process(), header_of(1));
        setenv("OCTANT_PROFILE_LOCAL", local().c_str(), 1);
    }
    [[nodiscard]] std::string local() const { return tree_.root() + "/local"; }
    [[nodiscard]] std::string to() const { return tree_.root() + "/launch"; }
    // A library that every program has loaded already takes the place of the profiler.
    [[nodiscard]] static std::string library() {
        Dl_info found{};
        dladdr(reinterpret_cast<void*>(&std::printf), &found);
        return fs::canonical(found.dli_fname).string();
    }
    [[nodiscard]] std::string process() const { return tree_.root() + "/process"; }
    [[nodiscard]] std::size_t left() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(local()), {}));
    }
    // A guard of a script; $PROFILE is the file of a process.
    pid_t start(std::string const& script) const {
        std::vector<std::string> words{"--report",   tree_.root() + "/report",
                                       "--profile",  "a1",
                                       "--profiler", library(),
                                       "--to",       to(),
                                       "--",         "/bin/sh",
                                       "-c",         script};
        std::vector<char*> pointers;
        for (auto& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        Plan const plan = parse(std::span(pointers.data(), words.size()));
        pid_t const child = fork();
        if (child == 0) {
            setenv("PROFILE", process().c_str(), 1);
            guard(plan);
        }
        return child;
    }
    [[nodiscard]] int collect_left() const {
        Plan plan;
        plan.collect = "a1";
        plan.to = to();
        return collect(plan);
    }

  private:
    octant::Tree tree_;
};

int status_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

std::string const copy = "cp $PROFILE $OCTANT_PROFILE/host.$$.0; ";

void collected_by_guards(Checks& checks) {
    Node const node;
    std::vector<pid_t> guards;
    for (int i = 0; i < 4; ++i) guards.push_back(node.start(copy + "sleep 0.2; exit 3"));
    for (pid_t const one : guards) checks.that(status_of(one) == 3 << 8, "the program's status");
    std::size_t files = 0;
    checks.that(profiles_in(node.to(), files) == 4, "every process");
    checks.that(files >= 1 && files <= 4, "one file of guards that ran at the same time");
    checks.that(node.left() == 0, "nothing is left on the node");
}

void one_file_of_a_node(Checks& checks) {
    Node const node;
    pid_t const last = node.start(copy + "sleep 1");
    usleep(200'000);
    for (int i = 0; i < 3; ++i) checks.that(status_of(node.start(copy)) == 0, "earlier guards");
    std::size_t files = 0;
    checks.that(profiles_in(node.to(), files) == 0, "the last guard writes");
    checks.that(status_of(last) == 0 && profiles_in(node.to(), files) == 4 && files == 1, "one file for the node");
    checks.that(node.left() == 0, "nothing is left on the node");
}

void killed_guards(Checks& checks) {
    Node const node;
    pid_t const first = node.start(copy + "exec sleep 30"), second = node.start(copy + "exec sleep 30");
    usleep(300'000);
    kill(first, SIGKILL);
    kill(second, SIGKILL);
    status_of(first);
    status_of(second);
    std::size_t files = 0;
    checks.that(profiles_in(node.to(), files) == 0 && node.left() == 1, "files of killed guards are left");
    checks.that(node.collect_left() == 0 && profiles_in(node.to(), files) == 2, "they are collected");
    checks.that(node.left() == 0 && node.collect_left() == 0, "nothing is left, and nothing is to be done");
}

void leftovers(Checks& checks) {
    Node const node;
    std::string const prefix = node.local() + "/octant-profile-" + std::to_string(geteuid()) + "-";
    for (auto const& name : {"b2", "c3"}) fs::create_directory(prefix + name);
    fs::permissions(prefix + "b2", fs::perms::owner_all);
    fs::permissions(prefix + "c3", fs::perms::owner_all);
    std::ofstream(prefix + "b2/host.1.0") << "x";
    int const used = open((prefix + "c3/guards").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    flock(used, LOCK_SH);
    checks.that(status_of(node.start("true")) == 0 && node.left() == 1, "the folder of killed guards is removed");
    checks.that(fs::exists(prefix + "c3/guards"), "the folder of others is in use");
    close(used);
}

void impossible(Checks& checks) {
    Node const node;
    pid_t const guarded = node.start(copy + "rm -r " + node.to());
    checks.that(status_of(guarded) == 0 && node.left() == 1, "without the launch's folder, the files stay");
    checks.that(node.collect_left() != 0 && node.left() == 0, "and are removed by the collection");
    fs::create_directory(node.to());
    fs::create_directory_symlink(node.to(), node.local() + "/octant-profile-" + std::to_string(geteuid()) + "-a1");
    checks.that(status_of(node.start("case $OCTANT_PROFILE in " + node.local() + "/*) exit 1;; esac")) == 0,
                "a link is no folder for profiles");
}

}  // namespace

int main() {
    Checks checks;
    packed_form(checks);
    collected_by_guards(checks);
    one_file_of_a_node(checks);
    killed_guards(checks);
    leftovers(checks);
    impossible(checks);
    return checks.result();
}
