// Files that kernels leave: names, limits, how they are stored, and which rank each is of. By one rank and by two.
#include "octant/crc.hpp"
#include "octant/json_text.hpp"
#include "octant/kept_files.hpp"

#include "check.hpp"
#include "json.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

using octant::FileLimits;
using octant::FileWriter;
using octant::Json;
using octant::KeptFiles;
namespace fs = std::filesystem;

fs::path folder;  // of the run

std::span<std::byte const> bytes_of(std::string const& text) { return std::as_bytes(std::span(text)); }

std::string content(fs::path const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// At rank 0: what the record lists of these files of the point `place`.
Json written(octant::Comm const& world, KeptFiles const& kept, FileWriter& writer, int place = 0) {
    return Json::parse("[" + octant::write_files(world, kept.list(), writer, place) + "]");
}

void names(octant::Checks& checks) {
    KeptFiles kept;
    std::int64_t memory = 1000;
    std::string const longest(64, 'n');
    for (std::string const& name : std::vector<std::string>{"field.bin", "9", "a-b_c.D", longest})
        kept.keep(name, "k", {}, memory);
    checks.that(kept.list().size() == 4, "plain names");
    for (std::string const& name : std::vector<std::string>{"", ".", "..", "../x", "/etc/passwd", "a/b", ".hidden",
                                                            "-x", "a b", "a\n", "\xC3\xA9", longest + "n"}) {
        checks.refused([&] { kept.keep(name, "kind", {}, memory); }, "(invalid name)");
        checks.refused([&] { kept.keep("name", name, {}, memory); }, "(invalid name)");
    }
    checks.refused([&] { kept.keep(std::string("a\0b", 3), "kind", {}, memory); }, "(invalid name)");
    checks.refused([&] { kept.keep("name", std::string(33, 'k'), {}, memory); }, "(invalid name)");
}

void limits_of_a_rank(octant::Checks& checks) {
    KeptFiles kept({.file_bytes = 10});
    std::int64_t memory = 25;
    kept.keep("a", "k", bytes_of("0123456789"), memory);
    kept.keep("b", "k", bytes_of("0123456789+"), memory);
    checks.that(memory == 15 && kept.list()[0].left_out.empty(), "as large as is allowed");
    checks.that(kept.list()[1].left_out.starts_with("larger than") && kept.list()[1].bytes.empty(), "one byte more");
    kept.keep("a", "k", bytes_of("01"), memory);
    checks.that(memory == 23 && kept.list().size() == 2, "a file of the same name is replaced, its memory given back");
    memory = 1;
    kept.keep("c", "k", bytes_of("01"), memory);
    checks.that(memory == 1 && kept.list()[2].left_out == "out of memory", "no memory");
    for (int i = 3; i < 32; ++i) kept.keep("n" + std::to_string(i), "k", {}, memory);
    checks.refused([&] { kept.keep("n33", "k", {}, memory); }, "at most 32 files");
    kept.keep("a", "k", {}, memory);
    checks.that(kept.list().size() == 32, "one of them is still replaced");
}

void each_rank(octant::Checks& checks, octant::Comm const& world) {
    KeptFiles kept;
    std::int64_t memory = 1 << 20;
    std::string const mine(1000U * static_cast<unsigned>(world.rank() + 1), static_cast<char>('a' + world.rank()));
    kept.keep("field.bin", "field", bytes_of(mine), memory);
    if (world.rank() == world.size() - 1) kept.keep("empty", "log", {}, memory);
    FileWriter writer((folder / "records.jsonl").string(), "node-x-0123-0");
    Json const first = written(world, kept, writer), second = written(world, kept, writer, 1);
    FileWriter again((folder / "records.jsonl").string(), "node-x-0123-0");
    Json const repeated = written(world, kept, again);
    if (world.rank() > 0) return;
    checks.that(first.size() == static_cast<std::size_t>(world.size()) + 1, "the files of all ranks");
    std::vector<std::string> stored;
    for (Json const& list : {first, second, repeated})
        for (Json const& file : list) {
            stored.emplace_back(file["stored"].text());
            auto const path = folder / "files" / stored.back();
            auto const rank = file["rank"].whole();
            std::string const expected =
                file["name"] == "empty" ? "" : std::string(1000U * static_cast<unsigned>(rank + 1), char('a' + rank));
            checks.that(content(path) == expected && file["bytes"] == expected.size(), "what that rank kept");
            checks.that(file["crc"] == octant::hex8(octant::crc32(expected)), "its checksum");
            checks.that(fs::status(path).permissions() == fs::perms(0600), "the user's alone");
            checks.that(fs::status(path.parent_path()).permissions() == fs::perms(0700), "and so is its folder");
        }
    std::ranges::sort(stored);
    checks.that(std::ranges::adjacent_find(stored) == stored.end(), "each point and each attempt has its own");
    checks.that(stored[0].starts_with("node-x-0123-0."), "the folder names the launch");
    checks.that(fs::status(folder / "files").permissions() == fs::perms(0700), "the folder of all");
}

void limits_of_a_launch(octant::Checks& checks, octant::Comm const& world) {
    KeptFiles kept;
    std::int64_t memory = 1000;
    if (world.rank() == world.size() - 1)
        for (std::string const name : {"a", "b", "c", "d"}) kept.keep(name, "k", bytes_of("0123456789"), memory);
    auto const reasons = [&](FileLimits const& limits, std::string const& records) {
        FileWriter writer(records, "../bad launch", limits);
        std::vector<std::string> found;
        for (int place : {0, 1})
            for (Json const& file : written(world, kept, writer, place))
                found.emplace_back(file.contains("stored") ? "" : file["left_out"].text());
        return found;
    };
    std::string const records = (folder / "records.jsonl").string();
    auto const bytes = reasons({.launch_bytes = 25}, records), files = reasons({.launch_files = 3}, records);
    auto const piped = reasons({}, "-");
    if (world.rank() > 0) return;
    std::string const too_large = "more than 0 MiB of all files of a launch", many = "more than 3 files of a launch";
    checks.that(
        bytes == std::vector<std::string>{"", "", too_large, too_large, too_large, too_large, too_large, too_large},
        "of both points together");
    checks.that(files == std::vector<std::string>{"", "", "", many, many, many, many, many}, "the number of files");
    checks.that(piped == std::vector<std::string>(8, "the records go to standard output"), "no folder");
}

// What cannot be written is left out with the reason of the system, and nothing is left of it.
void failures(octant::Checks& checks, octant::Comm const& world) {
    KeptFiles kept;
    std::int64_t memory = 100'000;
    kept.keep("large", "k", bytes_of(std::string(20'000, 'x')), memory);
    fs::path const other = folder / "other";
    if (world.rank() == 0) {
        fs::create_directory(other);
        fs::create_directory_symlink("/tmp", other / "files");
    }
    FileWriter linked((other / "records.jsonl").string(), "launch-1"), little((folder / "r").string(), "launch-1"),
        nowhere((folder / "none/r").string(), "launch-1");
    Json const through_link = written(world, kept, linked), no_folder = written(world, kept, nowhere);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit const few{8192, before.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &few);
    Json const full = written(world, kept, little);
    setrlimit(RLIMIT_FSIZE, &before);
    if (world.rank() > 0) return;
    checks.that(through_link[0]["left_out"] == "Not a directory", "a link in the place of the folder is not followed");
    checks.that(no_folder[0]["left_out"] == "No such file or directory", "no folder");
    checks.that(full[0]["left_out"] == "File too large" && !full[0].contains("stored"), "a full disk");
    for (auto const& entry : fs::recursive_directory_iterator(folder / "files"))
        checks.that(entry.path().filename() != "0.0.large", "nothing is left of it");
}

}  // namespace

int main(int argc, char** argv) {
    octant::Session const session(&argc, &argv);
    octant::Comm const& world = session.world();
    octant::Checks checks;
    char name[] = "/tmp/octant-kept-XXXXXX";
    if (world.rank() == 0) checks.that(mkdtemp(name) != nullptr, "a folder");
    octant::check(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, world.get()));
    folder = name;
    names(checks);
    limits_of_a_rank(checks);
    each_rank(checks, world);
    limits_of_a_launch(checks, world);
    failures(checks, world);
    world.barrier();
    if (world.rank() == 0) fs::remove_all(folder);
    return checks.result();
}
