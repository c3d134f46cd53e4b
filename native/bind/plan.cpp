#include "plan.hpp"

#include "local_rank.hpp"
#include "octant/exit.hpp"

#include <algorithm>
#include <array>

namespace octant::bind {
namespace {

constexpr int usage = static_cast<int>(Exit::wrong_word);
constexpr int most = 1 << 16;  // hardware threads or memory nodes; more is a typing error
constexpr std::string_view example = "octant-bind --rank 0 cpus=0-3 threads=0/1/2/3 mem=bind:0 -- PROGRAM";

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(std::min(text.size(), end + 1))) {
        end = text.find_first_of(separators);
        parts.push_back(text.substr(0, end));
    }
    return parts;
}

[[noreturn]] void cannot_read(std::string_view word, std::string_view why) {
    throw Refusal("cannot read '" + std::string(word) + "' (" + std::string(why) + "); try " + std::string(example),
                  usage);
}

Memory parse_memory(std::string_view text) {
    auto const colon = text.find(':');
    std::string_view const kind = text.substr(0, colon);
    Memory found;
    found.name = text;
    if (colon != std::string_view::npos) found.nodes = parse_numbers(text.substr(colon + 1));
    struct Policy {
        std::string_view name;
        Mode mode;
        bool nodes;
    };
    static constexpr std::array policies{Policy{"default", mode_default, false},
                                         Policy{"preferred", mode_preferred, true}, Policy{"bind", mode_bind, true},
                                         Policy{"interleave", mode_interleave, true},
                                         Policy{"local", mode_local, false}};
    for (auto const& policy : policies) {
        if (policy.name != kind) continue;
        if (policy.nodes != !found.nodes.empty() || (policy.mode == mode_preferred && found.nodes.size() != 1))
            cannot_read(text, policy.nodes ? "this policy needs memory nodes ('preferred': exactly one)"
                                           : "this policy takes no nodes");
        found.mode = policy.mode;
        return found;
    }
    cannot_read(text, "no such memory policy: default, local, bind:0, interleave:0+1, preferred:0");
}

void read_entry(RankPlan& rank, std::string_view word) {
    auto const equals = word.find('=');
    std::string_view const key = word.substr(0, equals);
    std::string_view const value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
    if (key == "cpus") {
        rank.cpus = parse_numbers(value);
    } else if (key == "threads") {
        for (auto const part : split(value, "/")) rank.threads.push_back(parse_numbers(part));
    } else if (key == "mem") {
        rank.memory = parse_memory(value);
    } else {
        cannot_read(word, "not cpus=, threads= or mem=");
    }
}

void check_threads(RankPlan& rank) {
    if (rank.cpus.empty())
        for (auto const& set : rank.threads) rank.cpus.insert(rank.cpus.end(), set.begin(), set.end());
    std::ranges::sort(rank.cpus);
    rank.cpus.erase(std::unique(rank.cpus.begin(), rank.cpus.end()), rank.cpus.end());
    for (auto const& set : rank.threads)
        if (!std::ranges::includes(rank.cpus, set))
            throw Refusal("cannot bind a thread to " + text_of(set) + " (its rank has " + text_of(rank.cpus) +
                              "); try threads within cpus",
                          usage);
}

std::string parse_segments(std::string_view text) {
    for (auto const name : split(text, "+"))
        if (name != "text" && name != "data" && name != "stack")
            cannot_read(name, "not a list of text, data, stack, joined by '+'");
    return std::string(text);
}

void check_profile(Plan const& plan) {
    bool const used = !plan.profile.empty() || !plan.collect.empty();
    for (auto const& name : {plan.profile, plan.collect})
        if (name.find_first_of("/.") != std::string::npos) cannot_read(name, "the name of a launch has no '/' or '.'");
    for (auto const* path : {&plan.to, &plan.profiler})
        if (!path->empty() && path->front() != '/') cannot_read(*path, "not a full path");
    for (auto const sign : {' ', ':'})
        if (plan.profiler.find(sign) != std::string::npos)
            cannot_read(plan.profiler, "LD_PRELOAD cannot contain a path with blanks or colons");
    constexpr std::array<std::string_view, 4> modes{"full", "counts", "off", "waits"};
    if (std::ranges::find(modes, plan.profile_mode) == modes.end())
        cannot_read(plan.profile_mode, "not full, counts, off or waits");
    if (used == plan.to.empty() || plan.profile.empty() != plan.profiler.empty() ||
        (!plan.profile.empty() && plan.report.empty()))
        throw Refusal(
            "cannot profile (--profile NAME needs --profiler LIBRARY, --to FOLDER and --report FILE; --collect NAME "
            "needs "
            "--to FOLDER); add the missing option",
            usage);
}

// The value of an option that takes a text which is not empty; null: another option.
std::string* text_option(Plan& plan, std::string_view word) {
    struct Option {
        std::string_view name;
        std::string Plan::*value;
    };
    static constexpr std::array options{Option{"--report", &Plan::report},
                                        Option{"--remove", &Plan::remove},
                                        Option{"--sysfs", &Plan::sysfs},
                                        Option{"--preload", &Plan::preload},
                                        Option{"--profile", &Plan::profile},
                                        Option{"--profiler", &Plan::profiler},
                                        Option{"--profile-mode", &Plan::profile_mode},
                                        Option{"--to", &Plan::to},
                                        Option{"--collect", &Plan::collect}};
    auto const found = std::ranges::find(options, word, &Option::name);
    return found == options.end() ? nullptr : &(plan.*found->value);
}

// Options that contradict each other.
void check_options(Plan const& plan) {
    check_profile(plan);
    if (!plan.remove.empty() && (plan.remove[0] != '/' || plan.remove.find_first_not_of("/.") == std::string::npos))
        cannot_read(plan.remove, "--remove needs the full path of a folder");
    if (plan.report.empty() && (plan.whole || !plan.remove.empty()))
        throw Refusal(
            "cannot use --whole or --remove (octant-bind waits for the program only with --report); try "
            "--report FILE",
            usage);
    if (plan.no_thp && plan.heap == "thp")
        throw Refusal("cannot combine --heap thp with --no-thp; drop one of them", usage);
    if (plan.no_thp && !plan.segments.empty())
        throw Refusal("cannot combine --segments with --no-thp; drop one of them", usage);
    if (plan.segments.empty() != plan.preload.empty())
        throw Refusal(
            "cannot use --segments without --preload, or --preload without --segments; try --segments stack --preload "
            "octant-pages",
            usage);
}

}  // namespace

Numbers parse_numbers(std::string_view text) {
    Numbers numbers;
    for (auto const part : split(text, ",+")) {
        auto const dash = part.find('-');
        auto const first = whole_number(part.substr(0, dash));
        auto const last = dash == std::string_view::npos ? first : whole_number(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last >= most) cannot_read(text, "not a list such as 0-3,8");
        for (std::size_t n = *first; n <= *last; ++n) numbers.push_back(static_cast<int>(n));
    }
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

std::string text_of(Numbers const& numbers, char comma) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t j = i;
        while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
        if (!text.empty()) text += comma;
        text += std::to_string(numbers[i]);
        if (j > i) text += "-" + std::to_string(numbers[j]);
        i = j + 1;
    }
    return text.empty() ? "none" : text;
}

Plan parse(std::span<char*> words) {
    Plan plan;
    std::size_t i = 0;
    auto const following = [&](std::string_view word) {
        if (i + 1 >= words.size()) cannot_read(word, "its value is missing");
        return std::string_view(words[++i]);
    };
    for (; i < words.size() && std::string_view(words[i]) != "--"; ++i) {
        std::string_view const word = words[i];
        if (word == "--die-with") {
            plan.die_with = whole_number(following(word));
            if (!plan.die_with) cannot_read(words[i], "not a process ID");
        } else if (word == "--widen")
            plan.widen = true;
        else if (word == "--no-thp")
            plan.no_thp = true;
        else if (word == "--mark")
            plan.mark = following(word);
        else if (word == "--refusal")
            plan.refusal = following(word);
        else if (word == "--whole")
            plan.whole = true;
        else if (word == "--no-sites")
            plan.profile_sites = false;
        else if (std::string* const text = text_option(plan, word)) {
            *text = following(word);
            if (text->empty()) cannot_read(word, "its value is empty");
        } else if (word == "--heap") {
            plan.heap = following(word);
            if (plan.heap != "thp" && !whole_number(plan.heap))
                cannot_read(plan.heap, "not 'thp' or a page size in bytes");
        } else if (word == "--segments") {
            plan.segments = parse_segments(following(word));
        } else if (word == "--local-rank") {
            plan.local_rank = whole_number(following(word));
            if (!plan.local_rank) cannot_read(words[i], "not a rank");
        } else if (word == "--rank") {
            if (whole_number(following(word)) != plan.ranks.size())
                cannot_read(words[i], "ranks come in order, from 0");
            plan.ranks.emplace_back();
        } else if (word.starts_with("--")) {
            cannot_read(word,
                        "no such option: --rank, --local-rank, --widen, --no-thp, --heap, --segments, --preload, "
                        "--mark, --refusal, --die-with, --report, --whole, --remove, --sysfs, --profile, --profiler, "
                        "--profile-mode, --no-sites, --to, --collect");
        } else if (plan.ranks.empty()) {
            cannot_read(word, "unexpected argument before --rank, or '--' is missing before the program");
        } else {
            read_entry(plan.ranks.back(), word);
        }
    }
    if (!plan.collect.empty() && i < words.size())
        throw Refusal("cannot start a program with --collect; remove the program", usage);
    if (plan.collect.empty() && i + 1 >= words.size())
        throw Refusal("cannot start a program (none is given); try " + std::string(example), usage);
    check_options(plan);
    for (auto& rank : plan.ranks) check_threads(rank);
    if (plan.collect.empty()) plan.program = words.subspan(i + 1);
    return plan;
}

RankPlan const& mine(Plan const& plan) {
    auto local = plan.local_rank;
    std::string source = "--local-rank";
    if (!local) {
        if (auto const* variable = local_rank_variable()) {
            local = whole_number(std::getenv(variable->name));
            source = variable->name;
        } else if (plan.ranks.size() == 1) {
            local = 0;
        } else {
            std::string names;
            for (auto const& known : rank_variables) names += (names.empty() ? "" : ", ") + std::string(known.name);
            throw Refusal("cannot determine the local rank (none of " + names +
                              " is set); start it with a launcher that sets one, or give --local-rank N",
                          usage);
        }
    }
    if (*local >= plan.ranks.size())
        throw Refusal("cannot place local rank " + std::to_string(*local) + " (" + source + "; the placement has " +
                          std::to_string(plan.ranks.size()) +
                          " ranks per node); use fewer ranks per node, or a larger placement",
                      usage);
    return plan.ranks[*local];
}

}  // namespace octant::bind
