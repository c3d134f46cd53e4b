#include "line.hpp"

#include "local_rank.hpp"
#include "octant/json_text.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace octant::bind {
namespace {

constexpr std::size_t max_threads = 256;
constexpr std::int64_t busy_share = 20;  // a thread with less than 1/20 of the busiest one's CPU time is a helper

double seconds_of(timeval const& time) {
    return static_cast<double>(std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) / 1e6;
}

double microseconds_kept(std::int64_t ns) { return static_cast<double>((ns + 500) / 1000) / 1e6; }

double seconds_of_ticks(std::int64_t ticks) {
    return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void numbers(JsonText& text, Numbers const& of) {
    text.open('[');
    for (int const one : of) text.number(one);
    text.close(']');
}

std::string host() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

// Threads in descending order of CPU time.
std::vector<ThreadRecord const*> busiest(ProcessRecord const& record) {
    std::vector<ThreadRecord const*> threads;
    for (auto const& [_, thread] : record.threads) threads.push_back(&thread);
    std::ranges::stable_sort(threads, std::ranges::greater{}, &ThreadRecord::cpu_ticks);
    threads.resize(std::min(threads.size(), max_threads));
    return threads;
}

void write_binding(JsonText& text, Numbers const& mask, std::vector<ThreadRecord const*> const& threads) {
    std::vector<ThreadRecord const*> busy;
    for (auto const* thread : threads)
        if (thread->cpu_ticks * busy_share >= threads.front()->cpu_ticks) busy.push_back(thread);
    text.key("given").open('{');
    text.key("host").word(host());
    text.key("cpus").open('[');
    for (auto const* thread : busy) text.number(thread->cpu);
    text.close(']');
    text.key("thread_masks").open('[');
    for (auto const* thread : busy) numbers(text, thread->mask);
    if (busy.empty()) numbers(text, mask);
    text.close(']');
    text.close('}');
}

void write_threads(JsonText& text, std::vector<ThreadRecord const*> const& threads) {
    text.key("threads").open('[');
    for (auto const* thread : threads) {
        text.open('{');
        text.key("name").word(thread->name);
        text.key("process").number(thread->process);
        text.key("cpu_s").number(seconds_of_ticks(thread->cpu_ticks));
        if (!thread->mask.empty()) text.key("mask").word(text_of(thread->mask));
        text.key("seen_on").open('{');
        for (auto const& [cpu, samples] : thread->samples_by_cpu) text.key(std::to_string(cpu)).number(samples);
        text.close('}');
        text.close('}');
    }
    text.close(']');
}

void write_samples(JsonText& text, ProcessRecord const& record, std::vector<ThreadRecord const*> const& threads) {
    text.key("looks").number(record.samples);
    if (record.samples == 0) return;
    text.key("processes").number(record.max_processes);
    write_threads(text, threads);
    if (record.huge_bytes < 0) return;
    text.key("huge_bytes").number(record.huge_bytes);
    text.key("nodes").open('{');
    for (auto const& [node, bytes] : record.node_bytes) text.key(std::to_string(node)).number(bytes);
    text.close('}');
}

void write_lost(JsonText& text, Lost const& lost, std::int64_t wall_ns, std::int64_t rank) {
    text.key("lost").open('{');
    text.key("rank").number(rank);
    text.key("wall_ns").open('[');
    text.number(wall_ns);
    text.close(']');
    text.key("elapsed_ns").number(lost.elapsed_ns);
    if (!lost.throttled_group.empty()) {
        text.key("throttled_ns").number(lost.throttled_ns);
        text.key("throttled_group").word(lost.throttled_group);
    }
    if (lost.stolen_ns >= 0) text.key("stolen_ns").number(lost.stolen_ns);
    text.close('}');
    if (lost.pressure_us >= 0) text.key("pressure_s").number(static_cast<double>(lost.pressure_us) / 1e6);
}

void write_usage(JsonText& text, rusage const& used) {
    text.key("user_s").number(seconds_of(used.ru_utime));
    text.key("system_s").number(seconds_of(used.ru_stime));
    text.key("memory_bytes").number(used.ru_maxrss * 1024);
    text.key("minor_faults").number(used.ru_minflt);
    text.key("major_faults").number(used.ru_majflt);
    text.key("voluntary_switches").number(used.ru_nvcsw);
    text.key("involuntary_switches").number(used.ru_nivcsw);
}

void write_end(JsonText& text, ProgramResult const& ended) {
    if (WIFSIGNALED(ended.status))
        text.key("signal").number(WTERMSIG(ended.status));
    else if (ended.known)
        text.key("status").number(WEXITSTATUS(ended.status));
    if (!ended.start_error.empty()) text.key("not_started").word(ended.start_error);
    if (ended.stop_signal != 0) text.key("stop_signal").number(ended.stop_signal);
    if (ended.left > 0) text.key("left").number(ended.left);
    if (ended.survivors.empty()) return;
    text.key("outlived").open('[');
    for (auto const& [pid, name] : ended.survivors) {
        text.open('{');
        text.key("pid").number(pid);
        text.key("name").word(name);
        text.close('}');
    }
    text.close(']');
}

void write_energy(JsonText& text, std::vector<EnergyDomain> const& domains) {
    if (std::ranges::none_of(domains, &EnergyDomain::readable)) return;
    text.key("energy").open('[');
    for (auto const& domain : domains) {
        if (!domain.readable) continue;
        text.open('{');
        text.key("domain").word(domain.name);
        text.key("joules").number(static_cast<double>(domain.sum_uj) / 1e6);
        text.close('}');
    }
    text.close(']');
}

}  // namespace

std::string line_of(Plan const& plan, ProgramResult const& ended, std::vector<EnergyDomain> const& energy) {
    JsonText text;
    text.open('{');
    text.key("kind").word("guard");
    text.key("whole").boolean(plan.whole);
    text.key("host").word(host());
    text.key("pid").number(ended.pid);
    auto const number = [](std::optional<std::size_t> known) { return known ? static_cast<std::int64_t>(*known) : -1; };
    std::int64_t rank = -1;
    if (!plan.whole) {
        rank = number(global_rank());
        auto const* variable = local_rank_variable();
        std::int64_t const launcher_rank = variable == nullptr ? -1 : number(whole_number(std::getenv(variable->name)));
        std::int64_t const local_rank = plan.local_rank ? number(plan.local_rank) : launcher_rank;
        if (rank >= 0) text.key("rank").number(rank);
        if (local_rank >= 0) text.key("local_rank").number(local_rank);
    }
    text.key("started").number(ended.started_s);
    text.key("wall_s").number(microseconds_kept(ended.wall_ns));
    write_usage(text, ended.used);
    write_end(text, ended);
    auto const threads = busiest(ended.record);
    write_binding(text, ended.mask, threads);
    if (!ended.memory_policy.empty()) text.key("memory_policy").word(ended.memory_policy);
    write_samples(text, ended.record, threads);
    write_lost(text, ended.lost, ended.wall_ns, std::max<std::int64_t>(rank, 0));
    write_energy(text, energy);
    text.close('}');
    return text.take() + '\n';
}

}  // namespace octant::bind
