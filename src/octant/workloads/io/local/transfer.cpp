#include "transfer.hpp"

#include "octant/thread.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace local {
namespace {

class Calls final : public Engine {
  public:
    void post(Transfer const& one) override { move_whole(one); }
    void finish() override {}
};

class Threads final : public Engine {  // each makes blocking calls
  public:
    explicit Threads(unsigned depth) : depth_(depth) {
        try {
            for (unsigned i = 0; i < depth; ++i)
                threads_.push_back(octant::start_thread([this] { work(); }, "a smaller depth="));
        } catch (...) {
            end();
            throw;
        }
    }
    ~Threads() override { end(); }

    void post(Transfer const& one) override {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return under_way_ < depth_ || failed_; });
        rethrow();
        waiting_.push_back(one);
        ++under_way_;
        lock.unlock();
        posted_.notify_one();
    }
    void finish() override {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return under_way_ == 0; });
        rethrow();
    }

  private:
    void end() {
        {
            std::lock_guard const lock(mutex_);
            waiting_.clear();
            ends_ = true;
        }
        posted_.notify_all();
        for (auto& thread : threads_) thread.join();
    }
    void rethrow() {
        if (failed_) std::rethrow_exception(failed_);
    }
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            posted_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
            if (ends_) return;
            Transfer const one = waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            std::exception_ptr failed;
            try {
                move_whole(one);
            } catch (...) {
                failed = std::current_exception();
            }
            lock.lock();
            if (failed && !failed_) failed_ = failed;
            --under_way_;
            done_.notify_all();
        }
    }

    unsigned depth_, under_way_ = 0;
    bool ends_ = false;
    std::exception_ptr failed_;
    std::deque<Transfer> waiting_;
    std::mutex mutex_;
    std::condition_variable posted_, done_;
    std::vector<std::thread> threads_;
};

}  // namespace

octant::Refusal refused(Transfer const& one, int error) {
    std::string const what = one.writes ? "cannot write to a file (" : "cannot read a file (";
    std::string const at = " at byte " + std::to_string(one.offset);
    if (error == 0)
        return octant::Refusal(what + "it ends" + at + "); the file was truncated during the measurement, try again");
    std::string hint = "check the disk";
    if (error == ENOSPC || error == EDQUOT) hint = "free some space, or try another folder";
    if (error == EFBIG) hint = "raise the file size limit (ulimit -f), or use a smaller bytes=";
    if (error == EINVAL) hint = "try mode=buffered, or a block= that is a multiple of the sector size";
    return octant::Refusal(what + std::strerror(error) + at + "); " + hint);
}

void move_whole(Transfer one) {
    while (one.bytes > 0) {
        ssize_t const done = one.writes ? pwrite(one.file, one.memory, one.bytes, one.offset)
                                        : pread(one.file, one.memory, one.bytes, one.offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) throw refused(one, done < 0 ? errno : 0);
        one.advance(static_cast<std::size_t>(done));
    }
}

std::unique_ptr<Engine> engine_of(std::string const& word, unsigned depth, std::string& used) {
    std::string why;
    if (word == "calls") {
        used = "calls";
        return std::make_unique<Calls>();
    }
    if (word != "threads") {
        if (auto uring = uring_of(depth, why)) {
            used = "io_uring";
            return uring;
        }
        if (word == "uring")
            throw octant::Refusal("cannot use io_uring (" + why + "); try engine=threads", octant::Exit::not_supported);
    }
    used = why.empty() ? "threads" : "threads; io_uring: " + why;
    return std::make_unique<Threads>(depth);
}

}  // namespace local
