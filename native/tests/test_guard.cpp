// The parts of octant-bind's guard on texts and trees as Linux shows them; whole guards below a process of their own.
#include "../bind/guard.hpp"
#include "../bind/line.hpp"
#include "../bind/processes.hpp"
#include "check.hpp"
#include "json.hpp"
#include "octant/clock.hpp"
#include "octant/json_text.hpp"
#include "tree.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace {

using namespace octant::bind;
using octant::Checks;
using octant::Json;

void stat_lines(Checks& checks) {
    std::string const rest =
        " S 7 12 12 0 -1 4194560 90 0 0 0 250 50 0 0 20 0 3 0 4242 5000000 300 18446744073709551615 1 1 0 0 0 0 0 0 0 "
        "0 "
        "0 0 17 5 0 0";
    auto const found = parse_stat("12 (a) b (c)" + rest);
    checks.that(found.has_value(), "a name may have brackets");
    if (found) {
        checks.that(found->name == "a) b (c", "its name: " + found->name);
        checks.that(found->id == 12 && found->parent == 7 && found->threads == 3, "numbers");
        checks.that(found->cpu_ticks == 300 && found->cpu == 5 && found->started == 4242, "times and place");
        checks.that(found->resident_pages == 300 && !found->ended(), "memory, state");
    }
    checks.that(!parse_stat("12 (a) S 7"), "too short");
    checks.that(!parse_stat(""), "nothing");
    auto ended = parse_stat("12 (a) Z" + rest.substr(2));
    checks.that(ended && !ended->ended(), "its first thread ended, two others live");
}

void memory(Checks& checks) {
    std::map<int, std::int64_t> nodes;
    add_node_bytes(
        "00400000 default file=/bin/a mapped=10 N0=10 kernelpagesize_kB=4\n"
        "7f000000 bind:1 anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n"
        "7f100000 default file=/anon_hugepage huge anon=2 N1=2 kernelpagesize_kB=2048\n"
        "7f200000 default file=/x=1 Nodes=5 N=3 anon=1 N0=1\n",
        nodes);
    checks.that(nodes == std::map<int, std::int64_t>{{0, 2 * 4096}, {1, 2 * 4096 + 2 * 2097152}}, "by node");
    checks.that(huge_bytes_in("Rss: 9 kB\nAnonHugePages:  2048 kB\nShmemPmdMapped: 4096 kB\nPrivate_Hugetlb: 4 kB\n") ==
                    2052 * 1024,
                "huge pages");
}

void energy(Checks& checks) {
    octant::Tree const tree;
    auto const write = [&](std::string const& zone, std::string const& file, std::string const& text) {
        tree.write("class/powercap/" + zone + "/" + file, text);
    };
    auto const zone = [&](std::string const& name, std::string const& domain, std::string const& uj) {
        write(name, "name", domain);
        write(name, "energy_uj", uj);
        write(name, "max_energy_range_uj", "1000");
    };
    zone("intel-rapl:0", "package-0", "900");
    zone("intel-rapl:0:0", "dram", "10");
    zone("intel-rapl-mmio:0", "package-0", "900");
    write("intel-rapl:1", "name", "package-1");  // its counter is for root alone
    write("dtpm", "name", "x");
    Energy counters;
    counters.begin(tree.root());
    write("intel-rapl:0", "energy_uj", "950");
    counters.sample();
    write("intel-rapl:0", "energy_uj", "20");
    write("intel-rapl:0:0", "energy_uj", "15");
    counters.sample();
    checks.that(counters.domains().size() == 2, "each counter once");
    checks.that(counters.domains()[0].name == "package-0" && counters.domains()[0].sum_uj == 50 + 70, "wrapped around");
    checks.that(counters.domains()[1].name == "package-0/dram" && counters.domains()[1].sum_uj == 5, "its memory");
    Energy none;
    none.begin(tree.root() + "/none");
    none.sample();
    checks.that(none.domains().empty(), "no counters");
}

Plan plan_of(std::vector<std::string>& words) {
    static std::vector<char*> pointers;
    pointers.clear();
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return parse(std::span(pointers.data(), words.size()));
}

// A guard that this process started, and its line.
Json guarded(Checks& checks, std::string const& report, std::string const& script, int expected, int number = 0) {
    std::vector<std::string> words{"--report", report, "--", "/bin/sh", "-c", script};
    Plan const plan = plan_of(words);
    pid_t const child = fork();
    if (child == 0) guard(plan);
    if (number != 0) {
        usleep(200'000);
        kill(child, number);
    }
    int status = 0;
    waitpid(child, &status, 0);
    checks.that(status == expected, script + ": status " + std::to_string(status));
    Json const line = Json::parse_file(report);
    unlink(report.c_str());
    return line;
}

void guards(Checks& checks) {
    octant::Tree const tree;
    std::string const report = tree.root() + "/report";
    constexpr int exit_bits = 8;
    auto const seven = guarded(checks, report, "sleep 0.1; exit 7", 7 << exit_bits);
    checks.that(seven["status"] == 7, "its status");
    checks.that(seven["wall_s"] >= 0.1, "its time");
    checks.that(seven["looks"] >= 1 && !seven["threads"].empty(), "looks");
    auto const killed = guarded(checks, report, "kill -SEGV $$", SIGSEGV);
    checks.that(killed["signal"] == SIGSEGV, "its signal");
    auto const left = guarded(checks, report, "sleep 60 & sleep 50 & exit 0", 0);
    checks.that(left["outlived"].size() == 2, "what outlived it");
    auto const stopped = guarded(checks, report, "trap 'exit 3' TERM; while :; do sleep 0.02; done", SIGTERM, SIGTERM);
    checks.that(stopped["stop_signal"] == SIGTERM && stopped["status"] == 3, "a signal ends the guard and the program");
}

}  // namespace

int main() {
    Checks checks;
    stat_lines(checks);
    memory(checks);
    energy(checks);
    guards(checks);
    return checks.result();
}
