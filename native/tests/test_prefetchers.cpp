// Switched registers, in plain files instead of a processor's: what is written, what is put back, and by whom.
#include "octant/prefetchers.hpp"

#include "check.hpp"

#include "octant/failure.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace {

using octant::prefetch_register;
using octant::PrefetchRegister;
using octant::PrefetchRegisters;

constexpr PrefetchRegister which{0x1A4, 0b1111};
constexpr std::uint64_t first = 0xABCD0000000000F0, second = 0xABCD000000000005;

class Folder {  // with 0/msr and 3/msr
  public:
    Folder() : path_(std::filesystem::temp_directory_path() / ("octant-msr-" + std::to_string(getpid()))) {
        put(0, first);
        put(3, second);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string text() const { return path_.string(); }
    [[nodiscard]] std::string file(int cpu) const { return text() + "/" + std::to_string(cpu) + "/msr"; }
    [[nodiscard]] std::uint64_t at(int cpu, std::uint32_t number = which.number) const {
        std::uint64_t value = 0;
        int const descriptor = open(file(cpu).c_str(), O_RDONLY);
        static_cast<void>(pread(descriptor, &value, sizeof value, number));
        close(descriptor);
        return value;
    }
    void put(int cpu, std::uint64_t value) const {
        std::filesystem::create_directories(path_ / std::to_string(cpu));
        int const descriptor = open(file(cpu).c_str(), O_RDWR | O_CREAT, 0600);
        static_cast<void>(pwrite(descriptor, &value, sizeof value, which.number));
        close(descriptor);
    }
    [[nodiscard]] bool untouched() const { return at(0) == first && at(3) == second; }

  private:
    std::filesystem::path path_;
};

std::string refusal_of(auto const& body) {
    try {
        body();
    } catch (octant::Refusal const& refusal) {
        return refusal.code() == octant::Exit::not_supported ? refusal.what() : "another code";
    }
    return "not refused";
}

void registers(octant::Checks& checks) {
    checks.that(which.switched(0xF0, false) == 0xFF, "off sets the bits");
    checks.that(which.switched(0xFF, true) == 0xF0, "on clears them");
    checks.that(which.switched(0x5, false) == 0xF && which.switched(0x5, true) == 0, "some were off");
    auto const intel = prefetch_register("GenuineIntel", 6, false), amd = prefetch_register("AuthenticAMD", 26, true);
    checks.that(intel && intel->number == 0x1A4 && intel->off == 0xF, "Intel's");
    checks.that(amd && amd->number == 0xC0000108 && amd->off == 0x2F, "AMD's: bit 4 is reserved");
    checks.that(!prefetch_register("AuthenticAMD", 23, false), "AMD without it");
    checks.that(!prefetch_register("HygonGenuine", 24, true), "another vendor");
    checks.that(!prefetch_register("GenuineIntel", 15, false), "another family");
}

void switching(octant::Checks& checks) {
    Folder const folder;
    {
        PrefetchRegisters held({0, 3}, which, folder.text());
        checks.that(folder.untouched(), "nothing is switched yet");
        held.write(false);
        checks.that(folder.at(0) == (first | 0xF) && folder.at(3) == (second | 0xF), "off, and nothing else");
        held.write(true);
        checks.that(folder.at(0) == first && folder.at(3) == (second & ~std::uint64_t{0xF}), "on");
        checks.that(refusal_of([&] {
                        PrefetchRegisters again({0, 3}, which, folder.text());
                    }).find("in use by another run") != std::string::npos,
                    "one at a time");
    }
    checks.that(folder.untouched(), "put back");
    PrefetchRegisters const again({0, 3}, which, folder.text());
    checks.that(folder.untouched(), "free again");
}

// A register of two hardware threads: who reads it through the other one would take what is switched for what was
// there.
void siblings(octant::Checks& checks) {
    Folder const folder;
    std::filesystem::remove(folder.file(3));
    std::filesystem::create_hard_link(folder.file(0), folder.file(3));
    {
        PrefetchRegisters held({0}, which, folder.text());
        held.write(false);
        checks.that(refusal_of([&] {
                        PrefetchRegisters other({3}, which, folder.text());
                        other.write(false);
                    }).find("in use by another run") != std::string::npos,
                    "nor through a sibling");
        checks.that(folder.at(3) == (first | 0xF), "off for both");
    }
    checks.that(folder.at(0) == first && folder.at(3) == first, "put back for both");
}

void high_numbers(octant::Checks& checks) {
    Folder const folder;
    constexpr PrefetchRegister amd{0xC0000108, 0b101111};
    {
        PrefetchRegisters held({0}, {which.number, 0}, folder.text());
        held.write(false);
        checks.that(folder.untouched(), "no bits, no change");
    }
    int const descriptor = open(folder.file(0).c_str(), O_RDWR);
    std::uint64_t const zero = 0;
    checks.that(pwrite(descriptor, &zero, sizeof zero, amd.number) == sizeof zero, "a file with a hole");
    close(descriptor);
    PrefetchRegisters held({0}, amd, folder.text());
    held.write(false);
    checks.that(folder.at(0, amd.number) == 0x2F, "a number above 2^31");
}

// The process that switched is killed in the middle of its work, with all of its group, as a launcher does.
void killed(octant::Checks& checks) {
    Folder const folder;
    pid_t const child = fork();
    if (child == 0) {
        setpgid(0, 0);
        PrefetchRegisters held({0, 3}, which, folder.text());
        held.write(false);
        kill(0, SIGKILL);
    }
    waitpid(child, nullptr, 0);
    for (int tries = 0; tries < 5000 && !folder.untouched(); ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    checks.that(folder.untouched(), "put back by the watcher");
}

void refusals(octant::Checks& checks) {
    Folder const folder;
    std::string const missing = refusal_of([&] { PrefetchRegisters held({0, 7}, which, folder.text()); });
    checks.that(missing.find("/7/msr: No such file or directory (usual in a guest") != std::string::npos, missing);
    checks.that(missing.find("try hwprefetch=keep") != std::string::npos, missing);
    std::string const empty = refusal_of([&] { PrefetchRegisters held({0}, {0xFFFF, 1}, folder.text()); });
    checks.that(empty.find("cannot be read") != std::string::npos, empty);
    checks.that(folder.untouched(), "as before");
    std::string const ignored = refusal_of([] { octant::expect_effect(1.04); });
    checks.that(
        ignored.find("accepted but without effect: an ascending read without them takes 1.04") != std::string::npos,
        ignored);
    octant::expect_effect(1.5);
}

void effects(octant::Checks& checks) {
    std::vector<bool> asked;
    double const slower = octant::slowdown_without_prefetch([&](bool on) { asked.push_back(on); });
    checks.that(slower > 0 && asked == std::vector<bool>{true, false}, "with them first, without them at the end");
}

}  // namespace

int main() {
    octant::Checks checks;
    registers(checks);
    switching(checks);
    siblings(checks);
    high_numbers(checks);
    killed(checks);
    refusals(checks);
    effects(checks);
    return checks.result();
}
