#include "octant/record.hpp"

#include "octant/crc.hpp"
#include "octant/mpi_variables.hpp"
#include "point_text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace octant {
namespace {

std::string utc_now() {
    std::time_t const now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

// The settings that the library reports, which show whether it has ignored a misspelled variable.
void write_settings(JsonText& text) {
    auto const settings = settings_in_force();
    if (settings.empty()) return;
    text.key("settings").open('{');
    for (auto const& [name, spellings] : settings) {
        text.key(name).open('[');
        for (auto const& spelling : spellings) text.word(spelling);
        text.close(']');
    }
    text.close('}');
}

// A line that was torn by a process that died in the middle of it would take the next record with it.
bool ends_torn(int file) {
    off_t const size = lseek(file, 0, SEEK_END);
    char last = '\n';
    return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

bool ends_with(int file, std::string const& text) {
    std::string end(text.size(), '\0');
    off_t const begin = lseek(file, 0, SEEK_END) - static_cast<off_t>(text.size());
    return begin >= 0 && pread(file, end.data(), end.size(), begin) == static_cast<ssize_t>(end.size()) && end == text;
}

JsonText start_record(char const* kind, std::string const& workload, std::string const& launch) {
    JsonText text;
    text.open('{');
    text.key("format").number(record_format);
    text.key("kind").word(kind);
    text.key("workload").word(workload);
    text.key("launch").word(launch);
    return text;
}

void write_end(JsonText& text, int ranks, std::string const& reason, Exit code) {
    text.key("ranks").number(ranks);
    text.key("reason").word(reason);
    text.key("exit").number(static_cast<int>(code));
    text.key("end").word(name_of(code));
}

// The line with the check sum that ends it.
std::string sealed(JsonText text) {
    std::string const sum = hex8(crc32(text.text()));
    text.key("crc").word(sum);
    text.close('}');
    return text.take() + '\n';
}

Refusal not_written(std::string const& path, int error, bool clean) {
    return Refusal("cannot write a record to " + path + " (" + std::strerror(error) + "); " +
                   remedy_for_writing(error) + (clean ? "" : ", drop the torn last line") + " and run again");
}

}  // namespace

Recorder::Recorder(Session const& session, std::string workload, std::string path, std::string launch)
    : world_(session.world()),
      workload_(std::move(workload)),
      path_(std::move(path)),
      launch_(std::move(launch)),
      clock_(measure_clock()),
      marks_(measure_marks()),
      polls_(waits_use_cpu(world_)),
      files_(path_, launch_) {
    std::int64_t failed = 0;
    if (world_.rank() == 0 && path_ != "-") {
        int const file = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        failed = file < 0 ? errno : 0;
        if (file >= 0) close(file);
    }
    failed = world_.broadcast(failed);
    if (failed != 0)
        throw Refusal("cannot write records to " + path_ + " (" + std::strerror(static_cast<int>(failed)) +
                      "); try --output with a path in a writable folder");
    write_launch(session);
}

void Recorder::write_launch(Session const& session) const {
    auto const hosts = world_.gather(processor_name());
    double const init_s = world_.max(session.init_s());
    if (world_.rank() != 0) return;
    JsonText text = start("launch");
    text.key("started").word(utc_now());
    text.key("init_s").number(init_s);
    text.key("ranks").number(world_.size());
    text.key("mpi").word(Session::library());
    if (world_.size() > 1) text.key("waits").word(polls_ ? "polls" : "sleeps");
    write_settings(text);
    if (char const* link = std::getenv("OCTANT_LINK")) text.key("link").word(link);
    text.key("build").raw(build_text());
    text.key("clock").open('{');
    text.key("source").word("CLOCK_MONOTONIC");
    text.key("cost_ns").number(clock_.cost_ns);
    text.key("resolution_ns").number(clock_.resolution_ns);
    text.key("mark_ns").number(marks_.mark_ns);
    text.key("empty_ns").number(marks_.empty_ns);
    text.close('}');
    text.key("hosts").open('[');
    for (std::size_t i = 0; i < hosts.size(); ++i)
        if (std::find(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(i), hosts[i]) ==
            hosts.begin() + static_cast<std::ptrdiff_t>(i))
            text.word(hosts[i]);
    text.close(']');
    finish(std::move(text));
}

JsonText Recorder::start(char const* kind) const { return start_record(kind, workload_, launch_); }

void Recorder::finish(JsonText text) const { append(sealed(std::move(text))); }

void Recorder::append(std::string text) const {
    bool const piped = path_ == "-";
    int const file = piped ? dup(STDOUT_FILENO) : open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
    if (file < 0) throw not_written(path_, errno, true);
    off_t const before = lseek(file, 0, SEEK_END);
    if (!piped && ends_torn(file)) text.insert(0, "\n");
    int reason = 0;
    for (std::size_t done = 0; reason == 0 && done < text.size();) {
        ssize_t const wrote = ::write(file, text.data() + done, text.size() - done);
        if (wrote < 0 && errno != EINTR) reason = errno;
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
    if (reason == 0 && !piped && fsync(file) != 0) reason = errno;
    // Half a line would take the next record with it. Nothing can be taken back from a pipe.
    bool const clean = reason == 0 || before < 0 || ftruncate(file, before) == 0;
    close(file);
    if (reason != 0) throw not_written(path_, reason, clean);
}

bool Recorder::write(KernelInfo const& info, Context const& context, Groups const& groups, Outcome const& outcome) {
    JsonText text = start("point");
    text.key("place").number(places_);
    bool const right = write_point(text, {info, context, groups, outcome, {}});
    std::string const files = write_files(world_, context.files.list(), files_, places_++);
    if (!files.empty()) {
        text.key("files").open('[');
        text.raw(files);
        text.close(']');
    }
    if (world_.rank() == 0) finish(std::move(text));
    return right;
}

void Recorder::write_failure(Knobs const& knobs, std::string const& reason, Exit code,
                             std::string const& progress) const {
    JsonText text = start("failure");
    write_knobs(text, knobs);
    write_end(text, world_.size(), reason, code);
    if (!progress.empty()) text.key("progress").raw(progress);
    finish(std::move(text));
}

void record_early_end(std::string const& path, std::string const& workload, std::string const& launch,
                      std::span<std::string const> words, std::string const& reason, Exit code) {
    JsonText text = start_record("failure", workload, launch);
    text.key("knobs").open('{');
    for (auto const& word : words)
        if (auto const equals = word.find('='); equals != std::string::npos)
            text.key(word.substr(0, equals)).word(word.substr(equals + 1));
    text.close('}');
    write_end(text, 0, reason, code);
    std::string const line = sealed(std::move(text));
    int const file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    flock(file, LOCK_EX);  // the others would not see a line that is being written; without locks, lines may repeat
    if (!ends_with(file, line)) {
        std::string const whole = ends_torn(file) ? '\n' + line : line;
        static_cast<void>(!::write(file, whole.data(), whole.size()));
    }
    close(file);
}

std::string build_text() {
    JsonText text;
    text.open('{');
    text.key("compiler").word("g++ " __VERSION__);
    text.key("mpi_version").word(std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION));
    text.key("faults_compiled").boolean(faults_compiled);
#ifdef __OPTIMIZE__
    text.key("optimised").boolean(true);
#else
    text.key("optimised").boolean(false);
#endif
    text.close('}');
    return text.text();
}

}  // namespace octant
