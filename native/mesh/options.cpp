#include "options.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace mesh {
namespace {

struct Number {
    std::string_view name;
    int Options::*member;
    int least, most;
    std::string_view about;
};

constexpr std::array numbers{
    Number{"--size", &Options::size, 2, 8192, "cells of a block in each direction"},
    Number{"--fields", &Options::fields, 1, 64, "quantities in each cell"},
    Number{"--steps", &Options::steps, 1, 1000000, "time steps"},
    Number{"--refine", &Options::refine, 1, 1000000, "time steps between two refinements"},
    Number{"--sweeps", &Options::sweeps, 1, 10000, "sweeps of each step; all compute the same values"},
    Number{"--slow-rank", &Options::slow_rank, -1, 1 << 24, "rank with additional sweeps; -1: none"},
    Number{"--slow-factor", &Options::slow_factor, 1, 10000, "its sweeps relative to those of the other ranks"},
};

Number const* find(std::string_view name) {
    for (auto const& one : numbers)
        if (one.name == name) return &one;
    return nullptr;
}

}  // namespace

std::optional<Options> read_options(std::span<char const* const> words, std::string& problem) {
    Options found;
    for (std::size_t at = 0; at < words.size(); ++at) {
        std::string_view const word = words[at];
        if (word == "--by-rank" || word == "--help") {
            (word == "--help" ? found.help : found.by_rank) = true;
            continue;
        }
        auto const* const number = find(word);
        if (!number) {
            problem = "no such option '" + std::string(word) + "'; try --help";
            return std::nullopt;
        }
        char const* const text = at + 1 < words.size() ? words[++at] : "";
        char const* const end = text + std::strlen(text);
        int value = 0;
        auto const read = std::from_chars(text, end, value);
        if (read.ec != std::errc() || read.ptr != end || value < number->least || value > number->most) {
            problem = std::string(word) + " '" + text + "' is not a number from " + std::to_string(number->least) +
                      " to " + std::to_string(number->most) + "; try " + std::string(word) + " " +
                      std::to_string(found.*number->member);
            return std::nullopt;
        }
        found.*number->member = value;
    }
    return found;
}

std::string help_text() {
    std::string text =
        "octant-mpi-mesh: diffusion on a mesh of blocks, one for each rank, with messages like those of ENZO\n\n";
    for (auto const& one : numbers) {
        std::string line = "  " + std::string(one.name) + " N";
        line.resize(20, ' ');
        text += line + std::string(one.about) + " (default: " + std::to_string(Options().*one.member) + ")\n";
    }
    return text + "  --by-rank         print the counts of each rank, too\n";
}

}  // namespace mesh
