// Runs a fuzz target where no libFuzzer is linked: random inputs, and mutations of those that the target kept.
//
//   fuzz_network [--inputs N] [--seconds S] [--seed K]   until either is reached; prints inputs, inputs/s and memory
//   fuzz_network FILE…                                   one run of each file
//
// An input that fails, or takes more than `max_s` of processor time, is written to the file `failing-input`.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
// What sanitizers find ends in SIGABRT, where the input is kept.
extern "C" char const* __asan_default_options() { return "abort_on_error=1"; }
extern "C" char const* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t longest = 256, max_kept = 512;
constexpr int max_s = 10;  // of one input, under sanitizers on a busy machine; without them 2 s are far off too

Input const* running = nullptr;  // what a handler of the process must find

void keep_failing_input() {
    if (running == nullptr) return;
    int const file = open("failing-input", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0) return;
    auto const written = write(file, running->data(), running->size());
    static_cast<void>(written == 0);
    close(file);
    std::fputs("the input is in the file failing-input\n", stderr);
}

extern "C" void stop_at(int number) {
    if (number == SIGVTALRM) std::fputs("an input takes too long\n", stderr);
    keep_failing_input();
    std::_Exit(1);
}

int run(Input const& input) {
    itimerval const most{{}, {max_s, 0}};
    setitimer(ITIMER_VIRTUAL, &most, nullptr);
    running = &input;
    int const verdict = LLVMFuzzerTestOneInput(input.data(), input.size());
    running = nullptr;
    return verdict;
}

class Inputs {
  public:
    explicit Inputs(std::uint64_t seed) : generator_(seed) {}

    Input next() {
        if (kept_.empty() || below(4) == 0) return fresh();
        Input input = kept_[below(kept_.size())];
        for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(input);
        return input;
    }
    void keep(Input const& input) {
        if (kept_.size() < max_kept) {
            kept_.push_back(input);
        } else {
            kept_[below(max_kept)] = input;
        }
    }

  private:
    [[nodiscard]] std::size_t below(std::size_t end) { return generator_() % end; }
    [[nodiscard]] std::uint8_t byte() { return static_cast<std::uint8_t>(generator_()); }

    Input fresh() {
        Input input(below(longest));
        for (auto& one : input) one = byte();
        return input;
    }
    void change(Input& input) {
        auto const place = [&] { return input.begin() + static_cast<std::ptrdiff_t>(below(input.size() + 1)); };
        auto const other = input.empty() ? 3 : below(5);
        if (other == 0) {
            input[below(input.size())] = byte();
        } else if (other == 1) {
            input[below(input.size())] ^= static_cast<std::uint8_t>(1U << below(8));
        } else if (other == 2) {
            input.erase(place(), input.end());
        } else if (other == 3 || input.size() >= longest) {
            input.insert(place(), byte());
        } else {
            Input const& second = kept_[below(kept_.size())];
            input.erase(place(), input.end());
            auto const from = std::min(input.size(), second.size());
            input.insert(input.end(), second.begin() + static_cast<std::ptrdiff_t>(from), second.end());
        }
    }

    std::mt19937_64 generator_;
    std::vector<Input> kept_;
};

int run_files(int count, char** names) {
    for (int i = 0; i < count; ++i) {
        std::ifstream file(names[i], std::ios::binary);
        if (!file) {
            std::fprintf(stderr, "cannot read %s\n", names[i]);
            return 1;
        }
        run(Input(std::istreambuf_iterator<char>(file), {}));
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    for (int const number : {SIGABRT, SIGVTALRM}) std::signal(number, stop_at);
    std::uint64_t max_inputs = 1'000'000, seed = 1;
    double seconds = 3600;
    int first = 1;
    for (; first + 1 < argc && std::strncmp(argv[first], "--", 2) == 0; first += 2) {
        std::string const option(argv[first]);
        if (option == "--inputs") {
            max_inputs = std::strtoull(argv[first + 1], nullptr, 10);
        } else if (option == "--seconds") {
            seconds = std::strtod(argv[first + 1], nullptr);
        } else if (option == "--seed") {
            seed = std::strtoull(argv[first + 1], nullptr, 10);
        } else {
            std::fprintf(stderr, "cannot use %s; try --inputs, --seconds, --seed or files\n", option.c_str());
            return 2;
        }
    }
    if (first < argc) return run_files(argc - first, argv + first);

    auto const since = [begin = std::chrono::steady_clock::now()] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    Inputs inputs(seed);
    std::uint64_t done = 0, kept = 0;
    for (; done < max_inputs && since() < seconds; ++done) {
        Input const input = inputs.next();
        if (run(input) != 0) continue;
        inputs.keep(input);
        ++kept;
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    std::printf("%llu inputs from seed %llu, %llu of them built; %.0f inputs/s, %ld MiB\n",
                static_cast<unsigned long long>(done), static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(kept), static_cast<double>(done) / since(), used.ru_maxrss / 1024);
    return 0;
}
