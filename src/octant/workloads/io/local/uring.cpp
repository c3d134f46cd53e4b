// io_uring by its system calls: no library is needed to run, and none that is installed can be another version.
#include "transfer.hpp"

#if __has_include(<linux/io_uring.h>)

#include "kernels/files/descriptor.hpp"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace local {
namespace {

class Shared {  // owns a mapping of the ring
  public:
    Shared(int ring, std::size_t bytes, off_t what)
        : bytes_(bytes),
          address_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what)) {}
    Shared(Shared const&) = delete;
    Shared& operator=(Shared const&) = delete;
    ~Shared() {
        if (there()) munmap(address_, bytes_);
    }
    [[nodiscard]] bool there() const noexcept { return address_ != MAP_FAILED; }
    template <class T>
    [[nodiscard]] T* at(std::size_t offset) const noexcept {
        return reinterpret_cast<T*>(static_cast<std::byte*>(address_) + offset);
    }

  private:
    std::size_t bytes_;
    void* address_;
};

class Uring final : public Engine {
  public:
    Uring(octant::Descriptor ring, io_uring_params const& given, unsigned depth)
        : ring_(std::move(ring)),
          submissions_(ring_.get(), given.sq_off.array + given.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING),
          completions_(ring_.get(), given.cq_off.cqes + given.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING),
          entries_(ring_.get(), given.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES),
          under_way_(depth) {
        if (!there()) return;
        sq_tail_ = submissions_.at<unsigned>(given.sq_off.tail);
        sq_mask_ = *submissions_.at<unsigned>(given.sq_off.ring_mask);
        sq_array_ = submissions_.at<unsigned>(given.sq_off.array);
        cq_head_ = completions_.at<unsigned>(given.cq_off.head);
        cq_tail_ = completions_.at<unsigned>(given.cq_off.tail);
        cq_mask_ = *completions_.at<unsigned>(given.cq_off.ring_mask);
        cqes_ = completions_.at<io_uring_cqe>(given.cq_off.cqes);
        for (unsigned slot = 0; slot < depth; ++slot) free_.push_back(slot);
    }
    // Waits for pending operations, which use memory of the caller.
    ~Uring() override {
        io_uring_cqe ended{};
        while (busy_ > 0 && take(ended)) --busy_;
    }
    [[nodiscard]] bool there() const noexcept {
        return submissions_.there() && completions_.there() && entries_.there();
    }

    void post(Transfer const& one) override {
        while (free_.empty()) end_one();
        unsigned const slot = free_.back();
        under_way_[slot] = one;
        submit(slot);
        free_.pop_back();
        ++busy_;
    }
    void finish() override {
        while (busy_ > 0) end_one();
    }

  private:
    static constexpr std::size_t most = std::size_t{1} << 30;  // of one transfer, whose length has 32 bits

    void submit(unsigned slot) {
        Transfer const& one = under_way_[slot];
        unsigned const tail = *sq_tail_, index = tail & sq_mask_;  // only this thread moves it
        io_uring_sqe& entry = entries_.at<io_uring_sqe>(0)[index];
        entry = {};
        entry.opcode = one.writes ? IORING_OP_WRITE : IORING_OP_READ;
        entry.fd = one.file;
        entry.addr = reinterpret_cast<std::uintptr_t>(one.memory);
        entry.len = static_cast<std::uint32_t>(std::min(one.bytes, most));
        entry.off = static_cast<std::uint64_t>(one.offset);
        entry.user_data = slot;
        sq_array_[index] = index;
        std::atomic_ref(*sq_tail_).store(tail + 1, std::memory_order_release);
        while (enter(1, 0) < 0)
            if (errno != EINTR && errno != EAGAIN && errno != EBUSY) throw refused(one, errno);
    }

    // Waits until one has ended; false: the system refuses to wait.
    bool take(io_uring_cqe& ended) noexcept {
        unsigned const head = *cq_head_;  // only this thread moves it
        while (std::atomic_ref(*cq_tail_).load(std::memory_order_acquire) == head)
            if (enter(0, 1) < 0 && errno != EINTR) return false;
        ended = cqes_[head & cq_mask_];
        std::atomic_ref(*cq_head_).store(head + 1, std::memory_order_release);
        return true;
    }

    // A part is followed by the rest, as with a blocking call.
    void end_one() {
        io_uring_cqe ended{};
        if (!take(ended))
            throw octant::Refusal(std::string("cannot wait for io_uring (") + std::strerror(errno) +
                                  "); try engine=threads");
        auto const slot = static_cast<unsigned>(ended.user_data);
        Transfer& one = under_way_[slot];
        --busy_;
        if (ended.res > 0) one.advance(static_cast<std::size_t>(ended.res));
        if (ended.res == -EINTR || ended.res == -EAGAIN || (ended.res > 0 && one.bytes > 0)) {
            submit(slot);
            ++busy_;
            return;
        }
        free_.push_back(slot);
        if (ended.res <= 0) throw refused(one, -ended.res);
    }

    [[nodiscard]] int enter(unsigned submitted, unsigned ended) const noexcept {
        return static_cast<int>(syscall(SYS_io_uring_enter, ring_.get(), submitted, ended,
                                        ended > 0 ? IORING_ENTER_GETEVENTS : 0U, nullptr, 0));
    }

    octant::Descriptor ring_;
    Shared submissions_, completions_, entries_;
    unsigned *sq_tail_ = nullptr, *sq_array_ = nullptr, *cq_head_ = nullptr, *cq_tail_ = nullptr;
    unsigned sq_mask_ = 0, cq_mask_ = 0;
    io_uring_cqe* cqes_ = nullptr;
    std::vector<Transfer> under_way_;  // by slot
    std::vector<unsigned> free_;       // slots
    std::size_t busy_ = 0;             // of them, under way
};

// Both operations that are needed came with Linux 5.6, a year after io_uring itself.
bool has_operations(int ring) {
    constexpr unsigned most = 256;
    std::vector<std::uint64_t> room((sizeof(io_uring_probe) + most * sizeof(io_uring_probe_op)) / 8 + 1);
    auto* const probe = reinterpret_cast<io_uring_probe*>(room.data());
    if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, probe, most) != 0) return false;
    auto const has = [&](unsigned operation) {
        return operation <= probe->last_op && (probe->ops[operation].flags & IO_URING_OP_SUPPORTED) != 0;
    };
    return has(IORING_OP_READ) && has(IORING_OP_WRITE);
}

}  // namespace

std::unique_ptr<Engine> uring_of(unsigned depth, std::string& why_not) {
    io_uring_params given{};
    octant::Descriptor ring(static_cast<int>(syscall(SYS_io_uring_setup, depth, &given)));
    if (ring.get() < 0) {
        why_not = std::strerror(errno);
        return nullptr;
    }
    if (!has_operations(ring.get())) {
        why_not = "this Linux kernel has no read and write operations in io_uring";
        return nullptr;
    }
    auto uring = std::make_unique<Uring>(std::move(ring), given, depth);
    if (!uring->there()) {
        why_not = "the rings cannot be mapped";
        return nullptr;
    }
    return uring;
}

}  // namespace local

#else

namespace local {

std::unique_ptr<Engine> uring_of(unsigned, std::string& why_not) {
    why_not = "this program was built without linux/io_uring.h";
    return nullptr;
}

}  // namespace local

#endif
