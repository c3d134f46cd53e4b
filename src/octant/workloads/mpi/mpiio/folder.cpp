#include "folder.hpp"

#include "kernels/file_system.hpp"
#include "octant/clock.hpp"
#include "octant/failure.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace mpiio {
namespace {

constexpr std::int64_t share_of_free = 10;  // of what is free, at most a tenth is used

octant::Refusal refused(std::string const& why) {
    return octant::Refusal("cannot write files there (" + why + ")", octant::Exit::not_supported);
}

std::string checked(std::string const& folder, std::int64_t bytes) {
    std::error_code ignored;
    if (folder[0] != '/' || !std::filesystem::is_directory(folder, ignored))
        throw refused(folder + " is no folder; try an absolute path of one that exists");
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw refused("you may not write to " + folder + "; try a folder of yours");
    std::int64_t const free = octant::free_bytes(folder);
    if (bytes > free / share_of_free)
        throw refused(std::to_string(bytes >> 20) + " MiB are more than a tenth of the " + std::to_string(free >> 20) +
                      " MiB that are free in " + folder + "; try smaller bytes or aggregate");
    return folder;
}

}  // namespace

Folder::Folder(octant::Context& context, std::int64_t bytes)
    : context_(context),
      folder_(checked(context.knobs.word("folder") == "scratch" ? context.scratch() : context.knobs.word("folder"),
                      bytes)) {
    auto const system = octant::file_system_of(folder_);
    context.notes.emplace_back("file_system", system.name);
    context.notes.emplace_back("caching", system.caching);
    in_memory_ = system.in_memory;
    if (in_memory_) context.notes.emplace_back("memory_copy", system.name + " " + system.caching);
}

// Nobody has a file of this name: process and moment are in it, and it is made only if there is none. Where a launch is
// killed, who started it removes what the marker names, or whoever next measures into the same store. The file cannot
// lose its name once it is open: libraries open a second one beside it for the shared pointer, and checks open it anew.
void Folder::set_up() {
    auto const own = static_cast<std::int64_t>(getpid()) << 40 ^ octant::now_ns();
    std::array<char, 24> name{};
    std::snprintf(name.data(), name.size(), "octant-%016llx",
                  static_cast<unsigned long long>(context_.group.broadcast(own)));
    if (context_.group.rank() == 0) {
        marker_ = context_.scratch() + "/elsewhere-" + name.data();
        if (!(std::ofstream(marker_) << folder_ << '\n'))
            throw octant::Refusal("cannot write to " + context_.scratch() + "; free some space");
    }
    context_.group.barrier();
    name_ = name.data();
}

// MPI removes what it closes; this is for what it did not close, and for files of the library's own beside ours.
Folder::~Folder() {
    if (context_.group.rank() != 0 || name_.empty()) return;
    std::error_code ignored;
    for (auto entry = std::filesystem::directory_iterator(folder_, ignored);
         !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored))
        if (entry->path().filename().string().find(name_) != std::string::npos && !entry->is_directory())
            unlink(entry->path().c_str());
    unlink(marker_.c_str());
}

}  // namespace mpiio
