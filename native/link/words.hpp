// The arguments of octant-link, and those of the ssh of a launcher, as plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octant::link {

struct Plan {
    std::size_t hosts = 2;
    std::uint64_t bits_per_s = 0;
    std::int64_t delay_ns = 0;  // 0: no relay
    std::string report;         // file for what crossed; "": none
    std::span<char*> program;   // none: only try whether the network can be made
};

// argv without the program's own name. Throws Refusal.
Plan parse(std::span<char*> words);

// The arguments of ssh: the number of a host, from 0, and the command line for its shell.
struct Order {
    std::size_t host = 0;
    std::string line;
};

// `[options] host2 words…`. Throws Refusal where the host is none of ours.
Order parse_order(std::span<char*> words, std::size_t hosts);

struct Command {
    std::vector<std::pair<std::string, std::string>> variables;  // to set, in this order
    std::vector<std::string> words;
};

// The one kind of line that launchers send: `NAME=VALUE; export NAME; PROGRAM WORDS…`, with quotes and `$NAME`. It is
// read here and no shell ever sees it. Throws Refusal for what only a shell understands.
Command read_line(std::string const& line);

std::string host_name(std::size_t host);

}  // namespace octant::link
