// Control of hardware prefetchers: a model-specific register that root may write through files of the kernel, or on
// POWER a register of each thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace octant {

struct PrefetchRegister {
    std::uint32_t number;
    std::uint64_t off;  // bits that switch prefetchers off
    [[nodiscard]] std::uint64_t switched(std::uint64_t value, bool on) const noexcept {
        return on ? value & ~off : value | off;
    }
};

// Of x86 processors, by CPUID: vendor, family, and availability of AMD's register.
[[nodiscard]] std::optional<PrefetchRegister> prefetch_register(std::string const& vendor, unsigned family,
                                                                bool amd_control) noexcept;
[[nodiscard]] std::optional<PrefetchRegister> prefetch_register();  // of this processor

// That register of some hardware threads, in the files `folder`/0/msr, …. A separate process restores the values
// when this object is destroyed or this process ends.
class PrefetchRegisters {
  public:
    // Reads the registers without changes. Throws Refusal: a file is missing, or another process of Octant uses a
    // register of this folder (hardware threads share registers).
    PrefetchRegisters(std::vector<int> const& cpus, PrefetchRegister which, std::string const& folder = "/dev/cpu");
    PrefetchRegisters(PrefetchRegisters const&) = delete;
    PrefetchRegisters& operator=(PrefetchRegisters const&) = delete;
    ~PrefetchRegisters();

    void write(bool on);  // and reads it back; throws Refusal

  private:
    struct File {
        int cpu, descriptor;
        std::uint64_t before;
    };
    void lock(std::string const& folder);
    void close_files() noexcept;
    void watch();

    PrefetchRegister which_;
    int lock_ = -1;
    std::vector<File> files_;
    int socket_ = -1;  // this end of it closes with this process
    pid_t watcher_ = -1;
};

// The DSCR of each of this rank's threads on POWER: restored when this object is destroyed.
class StreamControls {
  public:
    explicit StreamControls(int threads);
    StreamControls(StreamControls const&) = delete;
    StreamControls& operator=(StreamControls const&) = delete;
    ~StreamControls();
    void write(bool on);

  private:
    std::vector<unsigned long> before_;
};

// The knob `hwprefetch`: keep, on or off, during the lifetime of this object.
class PrefetcherSwitch {
  public:
    // `cpus`: of all ranks of the node, given to the rank that writes their registers and runs on one of them; POWER's
    // are set by each of this rank's threads. Throws Refusal, also if switching has no effect on an ascending
    // read (a hypervisor may ignore writes).
    PrefetcherSwitch(std::string const& word, std::vector<int> const& cpus, int threads);
    PrefetcherSwitch(PrefetcherSwitch const&) = delete;
    PrefetcherSwitch& operator=(PrefetcherSwitch const&) = delete;
    ~PrefetcherSwitch() = default;
    [[nodiscard]] std::string const& text() const noexcept { return text_; }  // "": unchanged

  private:
    std::unique_ptr<PrefetchRegisters> registers_;
    std::unique_ptr<StreamControls> controls_;  // on POWER
    std::string text_;
};

// Returns the ratio of times of an ascending read without and with prefetchers; `set` switches them.
[[nodiscard]] double slowdown_without_prefetch(std::function<void(bool on)> const& set);
// Throws Refusal: less than a third, i.e. switching has no effect.
void expect_effect(double slower);

}  // namespace octant
