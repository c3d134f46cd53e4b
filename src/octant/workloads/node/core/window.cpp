// pattern=rob-size: two chains of misses with more and more fillers between their loads. As long as the core looks far
// enough ahead to see the other load, both are on the way at once.
#include "additions.hpp"
#include "cycle.hpp"
#include "rows.hpp"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace core {
namespace {

using octant::Context;
using octant::Refusal;

constexpr std::int64_t turns_a_phase = 48;
constexpr int per_octave = 12;  // 6 % apart
constexpr int octaves = 4;      // 64 to 1024
constexpr int sizes = per_octave * octaves + 1;

constexpr std::array<int, sizes> fillers() {
    constexpr double ratio = 1.0594630943592953;  // twelfth root of 2
    std::array<int, sizes> found{};
    for (int i = 0; i < sizes; ++i) {
        double size = 64 << i / per_octave;
        for (int k = 0; k < i % per_octave; ++k) size *= ratio;
        found[static_cast<std::size_t>(i)] = static_cast<int>(size + 0.5);
    }
    return found;
}

// A sequence of machine instructions of this processor.
class Text {
  public:
    void put(std::initializer_list<int> bytes) {
        for (int const byte : bytes) bytes_.push_back(static_cast<std::uint8_t>(byte));
    }
    void put_word(std::uint32_t word) {
        for (unsigned shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<std::uint8_t>(word >> shift));
    }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] std::vector<std::uint8_t> const& bytes() const { return bytes_; }

  private:
    std::vector<std::uint8_t> bytes_;
};

#if defined(__x86_64__)
void emit_fillers(Text& text, int count, bool additions) {
    for (int i = 0; i < count; ++i)
        if (additions)
            text.put({0x49, 0x01, 0xC8 + i % 4});  // add rcx to r8, r9, r10, r11 by turns
        else
            text.put({0x90});
}

// void (Node const** pair, long turns)
void put_function(Text& text, int count, bool additions) {
    text.put({0x48, 0x8B, 0x07, 0x48, 0x8B, 0x57, 0x08});  // rax, rdx = pair
    std::size_t const turn = text.size();
    text.put({0x48, 0x8B, 0x00});  // rax = *rax
    emit_fillers(text, count, additions);
    text.put({0x48, 0x8B, 0x12});  // rdx = *rdx
    emit_fillers(text, count, additions);
    text.put({0x48, 0xFF, 0xCE, 0x0F, 0x85});  // until --rsi == 0
    text.put_word(static_cast<std::uint32_t>(turn - text.size() - 4));
    text.put({0x48, 0x89, 0x07, 0x48, 0x89, 0x57, 0x08, 0xC3});
}
#elif defined(__aarch64__)
void emit_fillers(Text& text, int count, bool additions) {
    for (int i = 0; i < count; ++i)
        text.put_word(additions ? 0x8B0D0129U + 0x21U * static_cast<std::uint32_t>(i % 4)  // add x13 to x9 … x12
                                : 0xD503201FU);
}

void put_function(Text& text, int count, bool additions) {
    text.put_word(0xA9400C02);  // ldp x2, x3, [x0]
    std::size_t const turn = text.size();
    text.put_word(0xF9400042);  // ldr x2, [x2]
    emit_fillers(text, count, additions);
    text.put_word(0xF9400063);  // ldr x3, [x3]
    emit_fillers(text, count, additions);
    text.put_word(0xF1000421);  // subs x1, x1, #1
    auto const back =
        static_cast<std::uint32_t>((static_cast<std::int64_t>(turn) - static_cast<std::int64_t>(text.size())) / 4);
    text.put_word(0x54000001U | (back & 0x7FFFFU) << 5);  // b.ne
    text.put_word(0xA9000C02);                            // stp x2, x3, [x0]
    text.put_word(0xD65F03C0);
}
#else
void put_function(Text&, int, bool) {
    throw Refusal("cannot measure pattern=rob-size (not implemented for this instruction set); try pattern=mlp",
                  octant::Exit::not_supported);
}
#endif

// Memory that was written once and can then only be executed.
class Executable {
  public:
    explicit Executable(std::vector<std::uint8_t> const& text)
        : size_(text.size()),
          memory_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        if (memory_ == MAP_FAILED) refuse("map");
        std::memcpy(memory_, text.data(), size_);
        if (mprotect(memory_, size_, PROT_READ | PROT_EXEC) != 0) {
            int const reason = errno;
            munmap(memory_, size_);
            errno = reason;
            refuse("execute");
        }
        auto* const begin = static_cast<char*>(memory_);
        __builtin___clear_cache(begin, begin + size_);
    }
    Executable(Executable const&) = delete;
    Executable& operator=(Executable const&) = delete;
    ~Executable() { munmap(memory_, size_); }
    [[nodiscard]] std::byte const* at(std::size_t place) const { return static_cast<std::byte*>(memory_) + place; }

  private:
    [[noreturn]] static void refuse(char const* what) {
        throw Refusal(std::string("cannot ") + what + " generated code (" + std::strerror(errno) +
                          ": the system may forbid it); try pattern=mlp",
                      octant::Exit::not_supported);
    }
    std::size_t size_;
    void* memory_;
};

using Run = void (*)(Node const** pair, std::int64_t turns);

class RobSize {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo found{.knobs = knobs(), .pace = octant::Pace::steps, .takes = one_thread};
        for (int const count : fillers()) found.phases.push_back("fillers " + std::to_string(count));
        found.phases.push_back("additions");
        return found;
    }

    explicit RobSize(Context& context) : context_(context), cycle_(context, 2) {
        Text text;
        std::array<std::size_t, sizes> places{};
        for (std::size_t i = 0; i < sizes; ++i) {
            while (text.size() % 64 != 0) text.put({0});
            places[i] = text.size();
            put_function(text, fillers()[i], context.knobs.word("filler") == "add");
        }
        code_ = std::make_unique<Executable>(text.bytes());
        for (std::size_t i = 0; i < sizes; ++i)
            runs_[i] = reinterpret_cast<Run>(reinterpret_cast<std::uintptr_t>(code_->at(places[i])));
    }

    void step() {
        for (std::size_t i = 0; i < sizes; ++i) {
            auto const mark = context_.phase(i);
            runs_[i](cycle_.at.data(), turns_a_phase);
        }
        add_up();
        cycle_.count(2, sizes * turns_a_phase);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {
            {"loads", 2 * sizes * turns_a_phase}, {"loads_of_chain", turns_a_phase}, {"additions", Additions::each}};
    }

    octant::Results verify() { return {cycle_.check(), additions_.check()}; }

    void corrupt(std::size_t check) {
        if (check == 0)
            cycle_.spoil();
        else
            additions_.spoil();
    }

  private:
    void add_up() {
        auto const mark = context_.phase(sizes);
        additions_.run();
    }

    Context& context_;
    Cycle cycle_;
    Additions additions_;
    std::unique_ptr<Executable> code_;
    std::array<Run, sizes> runs_{};
};

}  // namespace

octant::Row rob_size_row() { return octant::row<RobSize>("rob-size"); }

}  // namespace core
