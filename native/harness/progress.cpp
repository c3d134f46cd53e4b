#include "octant/progress.hpp"

#include "octant/clock.hpp"
#include "octant/json_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

namespace octant {

Progress::Progress(std::string path, std::string launch) : path_(std::move(path)), launch_(std::move(launch)) {}

Progress::~Progress() {
    if (share_ >= 0 && !path_.empty()) unlink(path_.c_str());
}

void Progress::write(double share, std::string const& phase) {
    constexpr std::int64_t min_ns = 100'000'000;
    share_ = share >= 0 ? std::min(share, 1.0) : 0;  // readers refuse other values, and a NaN
    phase_ = phase;
    std::int64_t const now = now_ns();
    if (path_.empty() || (written_ns_ > 0 && now - written_ns_ < min_ns)) return;
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

}  // namespace octant
