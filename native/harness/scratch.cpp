#include "octant/scratch.hpp"

#include "octant/failure.hpp"

#include <filesystem>
#include <utility>

namespace octant {

Scratch::Scratch(std::string path, bool removes) : path_(std::move(path)), removes_(removes) {}

Scratch::~Scratch() {
    std::error_code ignored;
    if (removes_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string const& Scratch::folder() const {
    std::error_code failed;
    std::filesystem::create_directories(path_, failed);
    if (failed)
        throw Refusal("cannot create the folder " + path_ + " (" + failed.message() +
                      "); try --output with a path in a writable folder");
    return path_;
}

}  // namespace octant
