"""Blue Gene: letter orders and map files, for L, P and Q."""

import math
import re
from collections.abc import Sequence

from octant.launchers import LauncherReading, Syntax, _command, _reading, _tables, _words, _writing
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import MAX_NODE_THREADS, PlacementRequest
from octant.placement.torus import coordinates, letter_orders, read_map, write_map

TITLE = "Blue Gene/L, /P and /Q"
READS = ("mpirun", "runjob")
OPTIONS = _tables.table(
    _tables.interpreted("np|n mapping", 1),
    _tables.assigning("env envs", 1),
    _tables.irrelevant("one rank is assumed on each core of the machine", "mode ranks-per-node|p", 1),
    _tables.irrelevant("it selects the partition, which is not shown", "partition block corner shape", 1),
    _tables.irrelevant("it concerns output or files", "cwd label verbose|v exe exp-env strace", 1),
    _tables.not_read("it changes the mapping of ranks", "mapfile", 1),
)
"""Options of mpirun (Blue Gene/L and /P) and runjob (Blue Gene/Q): from documentation."""
VARIABLES = _tables.table(
    _tables.interpreted("BG_MAPPING BGLMPI_MAPPING"),
    _tables.not_read("it may change the mapping of ranks", "BG_* BGLMPI_* RUNJOB_*"),
)
MARK = r"BG(LMPI)?_MAPPING|--mapping\b|\brunjob\b"
FILE = r"(?:BG(?:LMPI)?_MAPPING=|--mapping[ =])(?!(?i:[XYZT]{4}|[ABCDET]{6})(?!\S))(\S+)"  # else: an order of letters
FILE_LINES = r"^[ \t]*\d+([ \t]+\d+){3,5}[ \t]*(#.*)?$"  # one place per line


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options, which have one dash or two; runjob separates the program by a colon."""
    given = _words.scan(words, OPTIONS, _split)
    given.end += words[given.end : given.end + 1] == [":"]
    return given


def _split(word: str) -> tuple[str, str | None]:
    name, equals, value = word.lstrip("-").partition("=")
    return name, value if equals else None


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the letters that give these places, or a map file if there are none."""
    places = [place.coordinates for place in placement.ranks]
    if not request.torus:
        hint = "Blue Gene places ranks on a torus, one core each; add order=TXYZ,torus=8x8x16"
        return Syntax((), False, (hint,))
    per_node = max(place[-1] for place in places) + 1
    shape = (*request.torus, per_node)
    dimensions = len(request.torus)
    letters = next((o for o in (request.order, *letter_orders(dimensions)) if _gives(o, shape, places)), None)
    files: tuple[tuple[str, str], ...] = ()
    value = letters or "octant.map"
    if letters is None:
        files = (("octant.map", write_map(places)),)
    per = f"-mode {({1: 'SMP', 2: 'DUAL'}).get(per_node, 'VN')}"
    if dimensions == 5:
        lines = [f"runjob --np {len(places)} --ranks-per-node {per_node} --mapping {value} : {_writing.PROGRAM}"]
    else:
        lines = [f"export BGLMPI_MAPPING={value}  # Blue Gene/L"]
        lines += [f"mpirun -np {len(places)} {per} -env BG_MAPPING={value} {_writing.PROGRAM}  # Blue Gene/P"]
    cannot = ["a node has a single memory, and the system binds its ranks: only the order can be selected"]
    if letters and dimensions == 3 and letters not in ("XYZT", "TXYZ"):
        cannot.append("Blue Gene/L accepts T only as the first or last letter")
    if files and len(places) < math.prod(shape):
        cannot.append("a map file must cover the whole partition; add lines for unused cores")
    return Syntax(tuple(lines), True, tuple(cannot), files)


def _gives(letters: str, shape: tuple[int, ...], places: list[tuple[int, ...]]) -> bool:
    if not letters.isupper():
        return False
    return coordinates(letters, shape, len(places)) == places


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Letters from BGLMPI_MAPPING, BG_MAPPING or `runjob --mapping`, or the lines of a map file after the command.

    The partition is one node of each dimension's two unless a map file is given, which must cover all of it.
    """
    listed = re.search(FILE_LINES, command.file, re.MULTILINE)
    ranks, variables = command.number("np"), command.variables
    given = variables.get("BG_MAPPING") or variables.get("BGLMPI_MAPPING") or command.last("mapping")
    letters = (given or "XYZT").upper()
    shape = {4: (2, 2, 2), 6: (2, 2, 2, 1, 1)}.get(len(letters))
    if listed:
        request = _map_request(command.file[listed.start() :], ranks)
        size = "x".join(str(n) for n in request.torus)
        return _reading.reading_of_request(
            request, topology, [f"the coordinates in the map file span a torus of {size}"]
        )
    if shape is None or set(letters) not in (set("XYZT"), set("ABCDET")):
        raise ValueError(
            f"cannot read the mapping {given!r}; use XYZT, TXYZ, ABCDET or a map file, and append its lines"
        )
    side = "x".join(str(n) for n in shape)
    notes = [f"the options do not specify the partition; a torus of {side} is assumed"]
    if letters[0] != "T" and len(letters) == 4:
        notes.append(f"{letters} puts consecutive ranks on different nodes; TXYZ fills a node first")
    return _reading.reading_of_request(PlacementRequest(ranks or 1, 1, order=letters, torus=shape), topology, notes)


def _map_request(text: str, ranks: int | None) -> PlacementRequest:
    """Return the request of the lines of a map file, on the smallest torus that contains them."""
    width = len(text.split("\n", 1)[0].split("#")[0].split())
    places = read_map(text, (MAX_NODE_THREADS,) * (width - 1))
    torus = tuple(max(place[axis] for place in places) + 1 for axis in range(width - 1))
    return PlacementRequest(ranks or len(places), torus=torus, map=tuple(places))
