// The switch of a core's hardware prefetchers: a register of the processor, which root may write through files of the
// kernel, or on POWER one that each thread may set.
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
    std::uint64_t off;  // bits that are set while a prefetcher is off
    [[nodiscard]] std::uint64_t switched(std::uint64_t value, bool on) const noexcept {
        return on ? value & ~off : value | off;
    }
};

// Of x86 processors, by what CPUID says of them: the vendor's name, the family, and whether AMD's register is there.
[[nodiscard]] std::optional<PrefetchRegister> prefetch_register(std::string const& vendor, unsigned family,
                                                                bool amd_control) noexcept;
[[nodiscard]] std::optional<PrefetchRegister> prefetch_register();  // of this processor

// That register of some hardware threads, in the files `folder`/0/msr, …. A process of its own puts back what it held:
// once this object is gone, or this process, however it ends.
class SwitchedRegisters {
  public:
    // Reads what they hold; switches nothing yet. Throws Refusal: a file is missing, or another process of Octant holds
    // any of this folder, since hardware threads share registers.
    SwitchedRegisters(std::vector<int> const& cpus, PrefetchRegister which, std::string const& folder = "/dev/cpu");
    SwitchedRegisters(SwitchedRegisters const&) = delete;
    SwitchedRegisters& operator=(SwitchedRegisters const&) = delete;
    ~SwitchedRegisters();

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

// The DSCR of each of this rank's threads on POWER: what it held is put back once this object is gone.
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

// The knob `hwprefetch`: keep, on or off, for as long as it lives.
class PrefetcherSwitch {
  public:
    // `cpus`: of all ranks of the node, given to the rank that writes their registers and runs on one of them; POWER's
    // are set by each of this rank's threads. Throws Refusal, also where an ascending read takes as long without
    // prefetchers: a hypervisor may accept what is written and do nothing.
    PrefetcherSwitch(std::string const& word, std::vector<int> const& cpus, int threads);
    PrefetcherSwitch(PrefetcherSwitch const&) = delete;
    PrefetcherSwitch& operator=(PrefetcherSwitch const&) = delete;
    ~PrefetcherSwitch() = default;
    [[nodiscard]] std::string const& text() const noexcept { return text_; }  // "": they are kept as they are

  private:
    std::unique_ptr<SwitchedRegisters> registers_;
    std::unique_ptr<StreamControls> controls_;  // on POWER
    std::string text_;
};

// How many times as long a read of ascending lines takes without prefetchers; `set` switches them.
[[nodiscard]] double slowdown_without_prefetch(std::function<void(bool on)> const& set);
// Throws Refusal: by less than a third, so that they are not switched at all.
void expect_effect(double slower);

}  // namespace octant
