#include "layout.hpp"

#include "octant/amounts.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace ptrans {
namespace {

// Blocks number first, first + apart, … of a dimension, as runs that are contiguous in both parts, cut to pieces.
std::vector<Piece> pieces(octant::BlockCyclic const& c, octant::BlockCyclic const& a, std::int64_t first,
                          std::int64_t apart, std::int64_t edge) {
    std::vector<Piece> runs, found;
    for (std::int64_t at = first * c.block; at < c.n; at += apart * c.block) {
        Piece const next{c.local(at), a.local(at), std::min(c.block, c.n - at)};
        bool const joins = !runs.empty() && runs.back().in_c + runs.back().length == next.in_c &&
                           runs.back().in_a + runs.back().length == next.in_a;
        if (joins)
            runs.back().length += next.length;
        else
            runs.push_back(next);
    }
    for (Piece const& run : runs) {
        std::int64_t const number = (run.length + edge - 1) / edge;
        std::int64_t const even = std::min(edge, ((run.length + number - 1) / number + 7) / 8 * 8);
        for (std::int64_t done = 0; done < run.length; done += even)
            found.push_back({run.in_c + done, run.in_a + done, std::min(even, run.length - done)});
    }
    return found;
}

// The least number that leaves `a` when divided by `by_a`, and `b` when divided by `by_b`; there is one.
std::int64_t common(std::int64_t a, std::int64_t by_a, std::int64_t b, std::int64_t by_b) {
    std::int64_t found = a;
    while (found % by_b != b) found += by_a;
    return found;
}

std::int64_t longest(std::vector<Piece> const& pieces) {
    std::int64_t most = 0;
    for (Piece const& piece : pieces) most = std::max(most, piece.length);
    return most;
}

// Tiles that travel together: as many as fit the bytes, at least one and at most all.
std::int64_t in_parcel(std::int64_t tiles, std::int64_t largest, std::int64_t bytes) {
    if (largest == 0) return 1;
    return std::clamp<std::int64_t>(tiles, 1, std::max<std::int64_t>(1, bytes / (8 * largest)));
}

}  // namespace

Grid Grid::parse(std::string const& text, int ranks) {
    if (text == "auto") {
        int rows = 1;
        for (int p = 1; p * p <= ranks; ++p)
            if (ranks % p == 0) rows = p;
        return {rows, ranks / rows};
    }
    auto const refuse = [&](std::string const& why) {
        Grid const fits = parse("auto", ranks);
        return octant::Refusal("cannot use grid=" + text + " (" + why + "); try grid=" + fits.text(),
                               octant::Exit::wrong_word);
    };
    auto const by = text.find('x');
    if (by == std::string::npos) throw refuse("it is not rows x columns");
    std::int64_t rows = 0, columns = 0;
    try {
        rows = octant::parse_integer(text.substr(0, by));
        columns = octant::parse_integer(text.substr(by + 1));
    } catch (octant::Refusal const&) {
        throw refuse("it is not rows x columns");
    }
    if (rows < 1 || columns < 1 || rows > ranks || columns > ranks || rows * columns != ranks)
        throw refuse("the number of ranks is " + std::to_string(ranks));
    return {static_cast<int>(rows), static_cast<int>(columns)};
}

// C's block (i, j) lies at (i mod P, j mod Q) and is A's block (j, i), which lies at (j mod P, i mod Q): the places of
// both sides fix i and j modulo both P and Q.
Share::Share(Layout const& layout, Place from, Place to, std::int64_t edge, std::int64_t bytes) {
    std::int64_t const p = layout.rows.processes, q = layout.columns.processes, both = std::lcm(p, q);
    rows_ = pieces(layout.rows, layout.columns, common(to.row, p, from.column, q), both, edge);
    columns_ = pieces(layout.columns, layout.rows, common(to.column, q, from.row, p), both, edge);
    tiles_ = static_cast<std::int64_t>(rows_.size() * columns_.size());
    largest_ = longest(rows_) * longest(columns_);
    in_parcel_ = in_parcel(tiles_, largest_, bytes);
}

std::int64_t Share::elements(std::int64_t parcel) const noexcept {
    std::int64_t sum = 0;
    for (std::int64_t number = first(parcel); number < first(parcel + 1); ++number) {
        Tile const one = tile(number);
        sum += one.rows_of_c.length * one.columns_of_c.length;
    }
    return sum;
}

// Rows and columns are cut alike, and any remainder of i modulo lcm(P, Q) meets any of j between some two places.
// Blocks of different remainders differ in the last one alone, so that only a few ways to cut are left.
std::int64_t max_in_a_parcel(Layout const& layout, std::int64_t edge, std::int64_t bytes) {
    std::int64_t const both = std::lcm<std::int64_t>(layout.rows.processes, layout.columns.processes);
    std::set<std::pair<std::int64_t, std::int64_t>> cuts;  // the longest piece, and how many
    for (std::int64_t first = 0; first < both && first * layout.rows.block < layout.n(); ++first) {
        auto const found = pieces(layout.rows, layout.columns, first, both, edge);
        cuts.emplace(longest(found), static_cast<std::int64_t>(found.size()));
    }
    std::int64_t most = 0;
    for (auto const& [high, down] : cuts)
        for (auto const& [wide, across] : cuts)
            most = std::max(most, high * wide * in_parcel(down * across, high * wide, bytes));
    return most;
}

// With g = gcd(P, Q): place (p, q) sends to (q mod g + g u, p mod g + g v), all u < P/g and v < Q/g. Round (du, dv)
// adds du and dv to the sender's own p/g and q/g, which makes it a permutation of all places.
std::vector<Partners> schedule(Grid grid, Place at) {
    int const g = std::gcd(grid.rows, grid.columns), high = grid.rows / g, wide = grid.columns / g;
    std::vector<Partners> found;
    for (int du = 0; du < high; ++du) {
        for (int dv = 0; dv < wide; ++dv) {
            Place const to{at.column % g + g * ((at.row / g + du) % high),
                           at.row % g + g * ((at.column / g + dv) % wide)};
            Place const from{at.column % g + g * ((at.row / g + high - du) % high),
                             at.row % g + g * ((at.column / g + wide - dv) % wide)};
            found.push_back({grid.number(to), grid.number(from)});
        }
    }
    return found;
}

}  // namespace ptrans
