"""A run under the names of a published benchmark: as text, for programs, and in the benchmark's own format."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

from octant import units
from octant.analysis.summary import Summary
from octant.benchmarks import Benchmark, BenchmarkArguments, benchmarks
from octant.benchmarks.rows import UNMEASURABLE, BenchmarkRow, is_shown, over_peak, published_values, rows_of
from octant.failure import Exit, Refusal
from octant.record import NOT_STATED
from octant.report import claims
from octant.report.tables.layout import aligned, fill, table_rows

_DIGITS = 4
_NOTHING = BenchmarkArguments()


def text(
    summary: Summary, benchmark: Benchmark, chosen: BenchmarkArguments = _NOTHING, below: Sequence[str] = ()
) -> str:
    """Return the tables of a run as the benchmark's folder writes them; else the rows of all tests.

    Args:
        below: sentences that stand below tables of the folder's own.

    Raises:
        Refusal: the run has nothing that the tables show.
    """
    if own := benchmark.part("tables"):
        links = dict.fromkeys(one.link for one in summary.figures if one.link)
        return str(own.text(summary, chosen, (*below, *map(claims.link_text, links))))
    rows = _shown(summary, benchmark)
    shown = [row for row in rows if not row.reason]
    sources = dict.fromkeys(row.limit for row in shown if row.limit)
    limits = {source: claims.mark(number) for number, source in enumerate(sources)}
    of_test = [list(several) for _, several in groupby(shown, key=lambda row: (row.test, row.ranks))]
    lines = table_rows(
        "tables/benchmark", "rows", short_name=benchmark.short_name, not_stated=NOT_STATED, limits=limits,
        groups=[(rows, [word for word in rows[0].shown if all(word in row.shown for row in rows)]) for rows in of_test],
        fixed=units.fixed_text, decimals=lambda value: units.decimals(value, _DIGITS), readable=_readable,
        caveat=lambda row: UNMEASURABLE if row.invalid else claims.short_caveat(row.caveats),
        unmet={text: f"*{number}" for number, text in enumerate(_unmet_rules(shown), 1)},
    )  # fmt: skip
    title = f"{benchmark.title}: octant {summary.run.title}, run {summary.run.id}"
    missing = dict.fromkeys(f"  {row.test}: {row.reason}" for row in rows if row.reason)
    notes = _notes(summary, benchmark, shown, limits) if shown else []
    return "\n".join([title, *aligned(lines, right=(1, 2, 3, 4)), *["Not measured:"] * bool(missing), *missing, *notes])


def as_json(summary: Summary, benchmark: Benchmark, chosen: BenchmarkArguments = _NOTHING) -> str:
    """Return the same for programs; values are in the units of the keys.

    Raises:
        Refusal: the run has nothing that the tables show.
    """
    if own := benchmark.part("tables"):
        return str(own.as_json(summary, chosen))
    of_peak = over_peak(summary, benchmark)
    said: dict[str, object] = {
        "run": summary.run.id,
        "figures": [row.as_data for row in _shown(summary, benchmark)],
    }
    if of_peak:
        said |= {"peak_flops_per_s": of_peak[0], "over_peak": [asdict(one) for one in of_peak[1]]}
    return json.dumps(said, indent=1)


def section(summary: Summary) -> tuple[str, str] | None:
    """Return the short name of the benchmark that a run was asked by, and its tables; `None` for other runs."""
    if (benchmark := benchmarks().get(summary.run.benchmark)) is None or not summary.figures:
        return None
    try:
        return benchmark.short_name, text(summary, benchmark)
    except Refusal:  # no figure has a row
        return None


def exported(summary: Summary, benchmark: Benchmark) -> str:
    """Return a run in the benchmark's own text format; without one its tables, else a line `key=value` for each key.

    Raises:
        Refusal: the run has no figure of the benchmark.
    """
    if benchmark.part("tables"):
        return text(summary, benchmark) + "\n"
    rows = rows_of(summary, benchmark)
    values = published_values(rows)
    if all(value is None for value in values.values()):
        why = f"it contains no result of {benchmark.title}"
        raise Refusal(
            f"cannot export {summary.run.id} as {benchmark.command} ({why}); try octant {benchmark.command}",
            Exit.WRONG_WORD,
        )
    if own := benchmark.part("summary"):
        return "".join(f"{line}\n" for line in unmet_lines(rows)) + str(own.text(summary, benchmark, values))
    return "".join(f"{key}={value:.10g}\n" for key, value in values.items() if value is not None)


def _unmet_rules(rows: Sequence[BenchmarkRow]) -> dict[str, list[str]]:
    """Return the keys of each run rule that is not met."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.unmet_rule and row.value is not None:
            found.setdefault(row.unmet_rule, []).append(row.key)
    return found


def unmet_lines(rows: Sequence[BenchmarkRow]) -> list[str]:
    """Return a line for each run rule that is not met, with its keys."""
    return [
        f"Run rule not met by {', '.join(dict.fromkeys(keys))}: {text}" for text, keys in _unmet_rules(rows).items()
    ]


def _shown(summary: Summary, benchmark: Benchmark) -> tuple[BenchmarkRow, ...]:
    """Return the rows of a run.

    Raises:
        Refusal: the run is not one of the benchmark.
    """
    rows, run = rows_of(summary, benchmark), summary.run
    if is_shown(summary, benchmark, rows):
        return rows
    why = f"it is `{run.title}` and contains no result of {benchmark.title}"
    raise Refusal(f"cannot print {run.id} as {benchmark.command} ({why}); try octant report {run.id}", Exit.WRONG_WORD)


def _readable(word: str) -> str:
    """Return `bytes=256MiB` for `bytes=268435456`; other values stay."""
    name, _, value = word.partition("=")
    if name != "bytes" or not value.isdigit() or int(value) % 1024:
        return word
    return f"{name}={units.bytes_text(int(value)).replace(' ', '')}"


def _notes(summary: Summary, benchmark: Benchmark, shown: Sequence[BenchmarkRow], limits: dict[str, str]) -> list[str]:
    peak, figures = over_peak(summary, benchmark) or (0.0, ())
    return fill(
        "tables/benchmark", "notes", benchmark=benchmark, run=summary.run, peak=peak, figures=figures, limits=limits,
        legend=claims.legend(figure.value for figure in summary.figures),
        has_caveats=any(row.caveats or row.invalid for row in shown), unmet=_unmet_rules(shown),
    ).splitlines()  # fmt: skip
