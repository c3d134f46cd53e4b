#include "folder.hpp"

#include "kernels/files/file_system.hpp"
#include "octant/clock.hpp"
#include "octant/failure.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace mpiio {
namespace {

std::string checked(std::string const& folder, std::int64_t bytes) {
    std::string const why = octant::why_not_written(folder, bytes, "a smaller bytes= or aggregate=");
    if (!why.empty()) throw octant::Refusal("cannot write files there " + why, octant::Exit::not_supported);
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
    if (in_memory_) context.claim_outside(static_cast<double>(bytes) / context.group.size());
    if (in_memory_) context.notes.emplace_back("memory_copy", system.name + " " + system.caching);
}

// The name of the file is unique: it contains the process and the time, and an existing file is never used. If a launch
// is killed, the files of its marker are removed by the process that started it, or by the next run with the same
// store. The file keeps its name while it is open: libraries open a second file for the shared pointer, and checks
// reopen it.
void Folder::set_up() {
    auto const own = static_cast<std::int64_t>(getpid()) << 40 ^ octant::now_ns();
    std::array<char, 24> name{};
    std::snprintf(name.data(), name.size(), "octant-%016llx",
                  static_cast<unsigned long long>(context_.group.broadcast(own)));
    if (context_.group.rank() == 0) {
        marker_ = context_.scratch() + "/elsewhere-" + name.data();
        if (std::ofstream file(marker_); !(file << folder_ << '\n' << std::flush)) {
            int const reason = errno;
            throw octant::Refusal("cannot write " + marker_ + " (" + std::strerror(reason) + "); " +
                                  octant::remedy_for_writing(reason));
        }
    }
    context_.group.barrier();
    name_ = name.data();
}

// Removes the files that MPI did not close and remove, and the additional files of the library.
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
