#include "octant/beside.hpp"

#include "octant/clock.hpp"
#include "octant/failure.hpp"
#include "octant/json_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

namespace octant {

Progress::Progress(std::string path, std::string launch) : path_(std::move(path)), launch_(std::move(launch)) {}

Progress::~Progress() {
    if (share_ >= 0 && !path_.empty()) unlink(path_.c_str());
}

void Progress::write(double share, std::string const& phase) {
    constexpr std::int64_t least_ns = 100'000'000;
    share_ = share >= 0 ? std::min(share, 1.0) : 0;  // readers refuse other values, and a NaN
    phase_ = phase;
    std::int64_t const now = now_ns();
    if (path_.empty() || (written_ns_ > 0 && now - written_ns_ < least_ns)) return;
    written_ns_ = now;
    JsonText text;
    text.open('{');
    text.key("launch").word(launch_);
    text.key("share").number(share_);
    text.key("phase").word(phase);
    text.close('}');
    std::string const fresh = path_ + ".new";
    if (std::ofstream(fresh) << text.text() << '\n') std::rename(fresh.c_str(), path_.c_str());
}

std::string Progress::last() const {
    if (share_ < 0) return "";
    JsonText text;
    text.open('{');
    text.key("share").number(share_);
    text.key("phase").word(phase_);
    text.close('}');
    return text.text();
}

Scratch::Scratch(std::string path, bool removes) : path_(std::move(path)), removes_(removes) {}

Scratch::~Scratch() {
    std::error_code ignored;
    if (removes_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string const& Scratch::folder() const {
    std::error_code failed;
    std::filesystem::create_directories(path_, failed);
    if (failed)
        throw Refusal("cannot make the folder " + path_ + " (" + failed.message() +
                      "); try --output with a path in a writable folder");
    return path_;
}

}  // namespace octant
