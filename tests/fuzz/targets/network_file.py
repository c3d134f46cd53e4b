"""Network files: checked, built by the native engine, asked a small question, exported."""

from pathlib import Path

from fuzz_targets import one_in
from octant.catalogue import __file__ as catalogue
from octant.network import make, solve
from octant.network.export import FORMATS, write
from octant.network.files import parse
from octant.report.network.answers import answer_text

_SMALL = 64  # nodes: larger ones are built, and asked nothing
_OTHERS = {
    "fat-tree": "planes = 2\ndown = [4, 4]\nup = [2]\njob_nodes = 9",
    "torus": "sizes = [4, 2, 3]\nwraps = [true, false, true]",
    "dragonfly": "groups = 5\nrouters = 2\nnodes_per_router = 2\nglobal_links = 2",
    "hyperx": "sizes = [3, 2]\nnodes_per_router = 2",
    "two-level-direct": "supernodes = 3\ndrawers = 2\noctants = 4\nlinks_per_host = 1\nholes = [1]\njob_supernodes = 2",
    "graph": 'hosts = "n"\norder = ["n2", "n1"]\nedges = """\nn1 s1\nn2 s1 link # c\nn3 s2\ns1 s2\n"""',
}
_LINKS = {
    "fat-tree": ("port", "trunk"),
    "dragonfly": ("group", "global"),
    "two-level-direct": ("L-local", "L-remote", "D"),
}
_ROUTINGS = {
    "fat-tree": "d-mod-k",
    "torus": "dimension-ordered",
    "dragonfly": "minimal",
    "hyperx": "dimension-ordered",
    "two-level-direct": "direct",
    "graph": "ecmp",
}


def _small(kind: str) -> bytes:
    links = "\n".join(
        f'[links.{name}]\nbytes_per_s = "1 GB/s"\nlatency = "100 ns"\nlanes = 4' for name in _LINKS.get(kind, ("link",))
    )
    return f"""name = "small"
[topology]
kind = "{kind}"
{_OTHERS[kind]}
{links}
[endpoint]
injection = {{ bytes_per_s = {{ value = 2e9, low = 1e9, high = 3e9, source = "x" }}, packets_per_s = "1 Mpackets/s" }}
to_itself = "memory"
[packet]
payload_bytes = 256
overhead_bytes = 16
[routing]
name = "{_ROUTINGS[kind]}"
policy = "stall"
[windows]
uniform = 8
""".encode()


FORMAT = "toml"
SEEDS = [
    *(path.read_bytes() for path in sorted((Path(catalogue).parent / "networks").glob("*.toml"))),
    *map(_small, _OTHERS),
    b'extends = "bgp"\nname = "mine"\n[topology]\nkind = "torus"\nsizes = [2, 2]\n',
    b'extends = "power775"\nname = "mine"\n[topology]\nsupernodes = 2\ndrawers = 1\n[routing]\nname = "indirect"\n',
]


def read(data: bytes) -> None:
    """A network, in use."""
    network = parse(data.decode("utf-8", "surrogateescape"), "fuzz.toml")
    network.build()
    if network.topology.nodes() > _SMALL:
        return
    for traffic in ("uniform", "shift"):
        answer = solve(network, make(network, traffic))
    if one_in(8, data):
        answer_text(answer)
        for form in FORMATS:
            write(network, form)
