#include "engine/work.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace octant::network {

namespace {

constexpr double first_check_s = 0.5;  // before that, an estimate would rest on too little
constexpr double check_interval_s = 0.05;

std::atomic<Work*> outermost = nullptr;
std::atomic<bool> stopping = false;
std::atomic<double> share = 1, expected = 0;

std::string words(double seconds) {
    if (seconds < 7200) return std::to_string(std::lround(seconds / 60)) + " min";
    return std::to_string(std::lround(seconds / 3600)) + " h";
}

}  // namespace

bool stop_work() noexcept {
    if (outermost.load() == nullptr) return false;
    stopping = true;
    return true;
}

bool consume_stop_request() noexcept { return stopping.exchange(false); }

Progress progress_of_work() noexcept { return {share.load(), expected.load()}; }

Work::Work(double steps, std::string alternative)
    : alternative_(std::move(alternative)),
      steps_(steps),
      cpu_(std::clock()),
      begun_(std::chrono::steady_clock::now()) {
    Work* none = nullptr;
    outermost_ = outermost.compare_exchange_strong(none, this);
    if (!outermost_) return;
    stopping = false;
    share = 0;
    expected = 0;
}

Work::~Work() {
    if (!outermost_) return;
    share = 1;
    expected = 0;
    outermost = nullptr;
}

bool Work::try_advance(double steps) noexcept {
    if (stopping) return false;
    if (!outermost_) return true;
    if (refused_) return false;
    double const done = done_.fetch_add(steps) + steps;
    share = std::min(1.0, done / steps_);
    double const now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    if (done <= 0 || now_s < first_check_s || now_s - last_check_s_ < check_interval_s) return true;
    last_check_s_ = now_s;
    expected = now_s * steps_ / done;
    if (too_long(done)) refused_ = true;
    return !refused_;
}

// Judged early, and where an early estimate was wrong by a factor.
bool Work::too_long(double done) noexcept {
    double const cpu_s = static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC;
    expected_cpu_s_ = cpu_s * std::max(1.0, steps_ / done);
    return expected_cpu_s_ > (cpu_s < max_cpu_s / 4 ? max_cpu_s : 2 * max_cpu_s);
}

void Work::check() {
    if (outermost_ ? consume_stop_request() : stopping.load()) throw Stopped();
    if (!refused_) return;
    throw std::invalid_argument("cannot compute this (it would take about " + words(expected_cpu_s_) +
                                " of processor time, and the limit is " + words(max_cpu_s) + "); try " + alternative_);
}

}  // namespace octant::network
