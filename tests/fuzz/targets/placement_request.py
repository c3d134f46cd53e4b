"""Requests of placements in Octant's words, LIKWID's and hwloc's, written for every launcher."""

from fuzz_targets import one_in
from octant.launchers import translate
from octant.machine.hwloc import read_synthetic
from octant.placement.draw import as_svg
from octant.placement.planner import DoesNotFitError
from octant.report.placement.text import as_json, as_text, syntax_text

_NODES = (
    read_synthetic("pack:2 numa:2 core:2 pu:2"),
    read_synthetic("pack:1 l3:2 core:2 pu:1\nallowed: 1-3"),
)
FORMAT = "text"
REFUSES = (ValueError, DoesNotFitError)
SEEDS = [
    b"4x2,unit=core,order=scatter,smt=1,memory=local,pages=2m",
    b"2x4,unit=numa,order=scatter:package,smt=all,memory=bind:0+1,heap=huge,near=adapter",
    b"4x1,oversubscribe=yes,share=yes,unit=l3,memory=preferred:1,kind=any",
    b"cpus=0-3+8/4-7,threads=2",
    b"ranks=8,threads=1,torus=2x2x2,order=TXYZ",
    b"8x1,torus=2x2x2x2x2,order=ABCDET",
    b"E:S0:8:1:2",
    b"S0:0-3@S1:0-3",
    b"L:N:0-3_N:scatter:4",
    b"M:balanced:4_C0:1,3-2",
    b"0,4,8",
    b"numa:1.core:0-1;pack:0.l2:odd",
    b"all ~pu:0 x0xff ^core:2:3",
    b"0x0000000f,0x1",
    b"map=/dev/null,torus=2x2x2",
]


def read(data: bytes) -> None:
    """A placement, in use: what `octant place` prints of it."""
    text = data.decode("utf-8", "surrogateescape")
    node = _NODES[len(data) % 2]
    answer = translate(text, node, ("all",) if one_in(16, data) else ())
    if one_in(16, data):
        as_text(answer)
        syntax_text(answer)
        as_json(answer)
        as_svg(node, answer.placement, f"{answer.request}")
