#include "segments.hpp"

#include "kernels/random.hpp"
#include "octant/failure.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

extern "C" char const __executable_start, etext;  // of the linker: where this program's text is

namespace memory {
namespace {

constexpr std::uintptr_t large = std::uintptr_t{2} << 20;
constexpr std::size_t page = 4096;
constexpr int collapse_advice = 25;  // MADV_COLLAPSE, Linux 6.1; headers of older systems do not name it

using Touch = std::function<void(std::function<void()> const&)>;
using Look = std::function<void(Segment const&)>;

std::string advised(std::span<std::byte> bytes, int advice) {
    auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    std::uintptr_t const first = (begin + large - 1) / large * large, last = (begin + bytes.size()) / large * large;
    if (first >= last) return "segment is smaller than a huge page";
    return madvise(bytes.data() + (first - begin), last - first, advice) == 0 ? "" : std::strerror(errno);
}

// Otherwise pages that one round moved to large pages would stay there in the next round.
void release_pages(std::span<std::byte> bytes) {
    auto const size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    std::uintptr_t const first = (begin + size - 1) / size * size, last = (begin + bytes.size()) / size * size;
    if (madvise(bytes.data() + (first - begin), last - first, MADV_DONTNEED) != 0)
        throw octant::Refusal("cannot release the pages of the data segment (" + std::string(std::strerror(errno)) +
                              "); do not lock the memory of the process");
}

// Writes a segment, requests large pages, reads the page sizes and compares the contents: the same for each segment.
class Round {
  public:
    Round(Request request, Touch const& touch, Look const& look) : request_(request), touch_(touch), look_(look) {}

    void go(std::string const& name, std::span<std::byte> bytes) {
        Segment segment{name, bytes, {}};
        if (request_ == Request::madvise) segment.refused = advised(bytes, MADV_HUGEPAGE);
        touch_([&] {
            for (std::size_t at = 0; at < bytes.size(); at += page) bytes[at] = mark_of(at);
        });
        if (request_ == Request::collapse) segment.refused = advised(bytes, collapse_advice);
        look_(segment);
        for (std::size_t at = 0; at < bytes.size(); at += page) wrong_ += bytes[at] == mark_of(at) ? 0 : 1;
    }
    // The text segment, which exists and is read-only.
    void test_text() {
        auto* const first = const_cast<char*>(&__executable_start);
        Segment segment{"text", {reinterpret_cast<std::byte*>(first), static_cast<std::size_t>(&etext - first)}, {}};
        if (request_ == Request::madvise) segment.refused = advised(segment.bytes, MADV_HUGEPAGE);
        if (request_ == Request::collapse) segment.refused = advised(segment.bytes, collapse_advice);
        look_(segment);
    }
    [[nodiscard]] std::int64_t wrong() const noexcept { return wrong_; }

  private:
    static std::byte mark_of(std::size_t at) noexcept { return static_cast<std::byte>(octant::mixed(at) | 1U); }
    Request request_;
    Touch const& touch_;
    Look const& look_;
    std::int64_t wrong_ = 0;
};

struct Free {
    void operator()(std::byte* block) const noexcept { std::free(block); }
};
using Block = std::unique_ptr<std::byte, Free>;  // of malloc

// The heap, as malloc uses it for small objects: here one object of all bytes moves the end of the heap.
void test_heap(Round& round, std::size_t bytes) {
    constexpr int usual_maps = 65536;
    mallopt(M_MMAP_MAX, 0);
    Block block(static_cast<std::byte*>(std::malloc(bytes)));
    mallopt(M_MMAP_MAX, usual_maps);
    if (block == nullptr || block.get() > static_cast<std::byte*>(sbrk(0)))
        throw octant::Refusal("cannot locate the heap (malloc used another segment); try a smaller bytes=");
    round.go("heap", {block.get(), bytes});
    block.reset();
    malloc_trim(0);
}

void test_mapping(Round& round, std::size_t bytes) {
    Block const mapping(static_cast<std::byte*>(std::malloc(bytes)));  // so large that malloc maps it
    if (mapping == nullptr) throw octant::Refusal("cannot allocate memory (malloc failed); try a smaller bytes=");
    round.go("mapping", {mapping.get(), bytes});
}

[[gnu::noinline]] void test_stack(Round& round, char const* name) {
    std::array<std::byte, stack_bytes> deep;  // NOLINT: not initialised, the round writes it
    round.go(name, deep);
}

struct OnThread {
    Round& round;
    std::exception_ptr failed = {};
};

void* run_on_thread(void* given) {
    auto* const one = static_cast<OnThread*>(given);
    try {
        test_stack(one->round, "thread stack");
    } catch (...) {
        one->failed = std::current_exception();
    }
    return nullptr;
}

// A stack that a program lays out itself begins where a large page does; that of the main thread grows page by page.
void test_thread_stack(Round& round) {
    constexpr std::size_t bytes = 4 * stack_bytes;
    void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        throw octant::Refusal("cannot map a stack (out of memory); free some memory, then try again");
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    OnThread given{round};
    pthread_t thread{};
    int failed = pthread_attr_setstack(&attributes, address, bytes);
    if (failed == 0) failed = pthread_create(&thread, &attributes, run_on_thread, &given);
    pthread_attr_destroy(&attributes);
    if (failed == 0) pthread_join(thread, nullptr);
    munmap(address, bytes);
    if (failed != 0)
        throw octant::Refusal("cannot start a thread with a separate stack (" + std::string(std::strerror(failed)) +
                              "); check the limit on processes (ulimit -u)");
    if (given.failed) std::rethrow_exception(given.failed);
}

}  // namespace

std::int64_t test_segments(Request request, std::size_t bytes, Touch const& touch, Look const& look) {
    static std::array<std::byte, data_bytes> data;  // part of the segment that is examined
    Round round(request, touch, look);
    round.test_text();
    round.go("data", std::span(data).first(std::min(bytes, data_bytes)));
    test_heap(round, bytes);
    test_mapping(round, bytes);
    test_stack(round, "stack");
    test_thread_stack(round);
    release_pages(data);
    return round.wrong();
}

}  // namespace memory
