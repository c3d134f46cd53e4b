// Loaded into a program before it starts (LD_PRELOAD). Requests large pages for the segments in OCTANT_PAGES
// (`text+data+stack`), and reports on standard error which of them are not on large pages afterwards. With
// OCTANT_PAGES_TELL=1 only the first process reports; its children inherit the value 0.
//
// What counts is what the system shows afterwards in smaps: it takes requests and does nothing. Only libc is used, and
// nothing is allocated but by stdio: the program may bring its own malloc.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::uintptr_t large = std::uintptr_t{2} << 20;
constexpr std::uintptr_t max_stack = std::uintptr_t{8} << 20;  // of it that is filled beforehand
constexpr int collapse_advice = 25, fill_advice = 23;          // MADV_COLLAPSE, Linux 6.1; MADV_POPULATE_WRITE, 5.14
constexpr std::size_t max_ranges = 16;
constexpr std::size_t longest_line = 4608;  // of smaps: a path may have 4096 characters

enum class Part { none, text, data, stack };

struct Range {
    std::uintptr_t begin, end;  // of whole large pages
    [[nodiscard]] bool holds(std::uintptr_t from, std::uintptr_t to) const { return begin < to && from < end; }
};

struct Line {
    std::uintptr_t begin = 0, end = 0;
    std::array<char, 5> rights{};
    std::array<char, longest_line> path{};
};

// One of the program's parts: its ranges of whole large pages, and what came of asking.
struct Segment {
    char const* name = "";
    Part part = Part::none;
    std::array<Range, max_ranges> ranges{};
    std::size_t count = 0;
    std::uint64_t resident_kib = 0, large_kib = 0;
    int refused = 0;  // errno of the last request that was
};

// Which part a line of smaps begins; what follows the data without a name belongs to it.
Part part_of(Line const& line, char const* program, std::uintptr_t data_end) {
    if (std::strcmp(line.path.data(), "[stack]") == 0) return Part::stack;
    if (std::strcmp(line.path.data(), program) == 0) {
        if (line.rights[2] == 'x') return Part::text;
        return line.rights[1] == 'w' ? Part::data : Part::none;
    }
    return line.path[0] == '\0' && line.begin == data_end ? Part::data : Part::none;
}

// Calls `begins` with each line of /proc/self/smaps that begins a range, and `holds` with the others.
template <class Begins, class Holds>
void parse_smaps(Begins begins, Holds holds) {
    std::FILE* const file = std::fopen("/proc/self/smaps", "re");
    if (file == nullptr) return;
    static std::array<char, longest_line> text;  // as large as some stacks of threads
    static Line line;
    while (std::fgets(text.data(), static_cast<int>(text.size()), file) != nullptr) {
        line.path[0] = '\0';
        if (std::sscanf(text.data(), "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %4600[^\n]", &line.begin, &line.end,
                        line.rights.data(), line.path.data()) >= 3)
            begins(line);
        else
            holds(text.data());
    }
    std::fclose(file);
}

void find(Segment& segment, char const* program) {
    std::uintptr_t data_end = 1;  // no range begins there
    parse_smaps(
        [&](Line const& line) {
            Part const part = part_of(line, program, data_end);
            if (part == Part::data) data_end = line.end;
            std::uintptr_t const first = (line.begin + large - 1) / large * large, last = line.end / large * large;
            if (part == segment.part && first < last && segment.count < max_ranges)
                segment.ranges[segment.count++] = {first, last};
        },
        [](char const*) {});
}

// Searches by address: a request splits mappings, and the parts have no names.
void read_back(Segment& segment) {
    bool ours = false;
    auto const add = [](char const* text, char const* format, std::uint64_t& to) {
        std::uint64_t kib = 0;
        if (std::sscanf(text, format, &kib) == 1) to += kib;
    };
    parse_smaps(
        [&](Line const& line) {
            ours = std::any_of(segment.ranges.begin(), segment.ranges.begin() + segment.count,
                               [&](Range const& one) { return one.holds(line.begin, line.end); });
        },
        [&](char const* text) {
            if (!ours) return;
            add(text, "Rss: %" SCNu64 " kB", segment.resident_kib);
            add(text, "AnonHugePages: %" SCNu64 " kB", segment.large_kib);
            add(text, "FilePmdMapped: %" SCNu64 " kB", segment.large_kib);
        });
}

// Where the main thread's stack ends: above what is in use lie arguments and environment, however long. 0: unknown.
std::uintptr_t end_of_stack() {
    std::uintptr_t end = 0;
    parse_smaps(
        [&](Line const& line) {
            if (std::strcmp(line.path.data(), "[stack]") == 0) end = line.end;
        },
        [](char const*) {});
    return end;
}

// A stack is as long as it was ever used: it is written at the lowest place that it may reach, or 8 MiB down.
[[gnu::noinline]] void extend_stack() {
    constexpr std::uintptr_t margin = std::uintptr_t{512} << 10;  // more than the system keeps free of it
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
    std::uintptr_t const length = std::min<rlim_t>(limit.rlim_cur, max_stack);
    std::uintptr_t const end = end_of_stack();
    if (end == 0 || length <= margin) return;
    std::uintptr_t const lowest = end - length + margin;
    if (lowest < reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))
        *reinterpret_cast<char volatile*>(lowest) = 0;
}

void request_huge_pages(Segment& segment) {
    for (std::size_t i = 0; i < segment.count; ++i) {
        auto* const begin = reinterpret_cast<void*>(segment.ranges[i].begin);
        std::size_t const bytes = segment.ranges[i].end - segment.ranges[i].begin;
        auto const advise = [&](int advice) {
            if (madvise(begin, bytes, advice) != 0) segment.refused = errno;
        };
        advise(MADV_HUGEPAGE);
        if (segment.part == Part::stack) advise(fill_advice);  // data may be much larger than what is used of it
        if (segment.part != Part::stack) advise(collapse_advice);
    }
}

// Reports a segment of which less than half is on large pages. Data that were not accessed yet are not resident and do
// not count.
void report_shortfall(Segment const& segment) {
    if (segment.count > 0 && segment.large_kib >= segment.resident_kib / 2) return;
    char const* why = segment.refused != 0 ? std::strerror(segment.refused)
                                           : "accepted by the system, but no huge pages were provided";
    if (segment.count == 0) why = "segment is smaller than a huge page";
    std::fprintf(stderr, "octant-pages: %s of process %d: %" PRIu64 " of %" PRIu64 " KiB on large pages (%s)\n",
                 segment.name, static_cast<int>(getpid()), segment.large_kib, segment.resident_kib, why);
}

bool is_named(char const* list, char const* name) {
    std::size_t const length = std::strlen(name);
    for (char const* at = std::strstr(list, name); at != nullptr; at = std::strstr(at + 1, name))
        if ((at == list || at[-1] == '+') && (at[length] == '\0' || at[length] == '+')) return true;
    return false;
}

// Whether this process reports: OCTANT_PAGES_TELL=1 restricts the reports to the first process, without its children.
// The variable is changed in place, since setenv() would allocate.
bool reports() {
    char* const text = std::getenv("OCTANT_PAGES_TELL");
    if (text == nullptr) return true;
    bool const first = text[0] == '1';
    if (first) text[0] = '0';
    return first;
}

[[gnu::constructor]] void ask_for_large_pages() {
    char const* const wanted = std::getenv("OCTANT_PAGES");
    static std::array<char, longest_line> program;
    if (wanted == nullptr || readlink("/proc/self/exe", program.data(), program.size() - 1) < 0) return;
    static std::array<Segment, 3> segments{{{.name = "text", .part = Part::text},
                                            {.name = "data", .part = Part::data},
                                            {.name = "stack", .part = Part::stack}}};
    bool const reporting = reports();
    for (Segment& segment : segments) {
        if (!is_named(wanted, segment.name)) continue;
        if (segment.part == Part::stack) extend_stack();
        find(segment, program.data());
        request_huge_pages(segment);
        read_back(segment);
        if (reporting) report_shortfall(segment);
    }
}

}  // namespace
