#include "layout.hpp"

#include "octant/failure.hpp"

#include <charconv>
#include <cmath>

namespace hpl {
namespace {

using octant::Exit;
using octant::Refusal;

bool read(std::string const& text, std::size_t first, std::size_t last, int& number) {
    auto const found = std::from_chars(text.data() + first, text.data() + last, number);
    return found.ec == std::errc() && found.ptr == text.data() + last && number > 0;
}

Grid squarest(int processes) {
    int rows = static_cast<int>(std::sqrt(processes));
    while (processes % rows != 0) --rows;
    return {rows, processes / rows};
}

}  // namespace

Grid parse_grid(std::string const& text, int processes) {
    if (text == "auto") return squarest(processes);
    Grid grid;
    auto const times = text.find('x');
    if (times == std::string::npos || !read(text, 0, times, grid.rows) ||
        !read(text, times + 1, text.size(), grid.columns))
        throw Refusal("cannot read grid=" + text + " (not PxQ); try grid=auto", Exit::wrong_word);
    if (std::int64_t{grid.rows} * grid.columns != processes) {
        Grid const fits = squarest(processes);
        throw Refusal("cannot use grid=" + text + " (" + std::to_string(processes) +
                          " ranks work together); try grid=" + std::to_string(fits.rows) + "x" +
                          std::to_string(fits.columns),
                      Exit::wrong_word);
    }
    return grid;
}

Layout::Layout(std::int64_t n, std::int64_t block, Grid grid, int process)
    : rows{n, block, grid.rows},
      columns{n + 1, block, grid.columns},
      row(process / grid.columns),
      column(process % grid.columns),
      local_rows(rows.count(row)),
      local_columns(columns.count(column)),
      leading(padded(local_columns)) {}

Process join(octant::Comm const& all, Layout const& layout) {
    return {layout, all.split(layout.row, layout.column), all.split(layout.column, layout.row), all};
}

}  // namespace hpl
