"""Files of the profiler, to which programs can write: packed, and mapped with the empty parts left out.

They are hexadecimal digits here, because changes of inputs are made for text.
"""

import re
import tempfile
from pathlib import Path

from octant.profile import layout
from octant.profile.container import read_container, write_container
from octant.profile.merge import merge
from profile_files import exchange, mapped, packed

FORMAT = "text"
_SPARSE = b"SPARSE"
_SLABS_AT = -(-layout.TABLES_END // 4096) * 4096
_SLAB_PART = 20_000
_ONE = mapped(exchange(2)[0])


def _as_hex(data: bytes) -> bytes:
    return data.hex(" ", 8).replace(" ", "\n").encode()


SEEDS = [
    _as_hex(packed(exchange(2)[0])),
    _as_hex(b"".join(map(packed, exchange(2)))),
    _as_hex(_SPARSE + _ONE[: layout.HEADER.itemsize] + _ONE[_SLABS_AT : _SLABS_AT + _SLAB_PART]),
]


def read(data: bytes) -> None:
    """Nothing raises: what cannot be read is a problem; what was read can be stored and is read again."""
    digits = re.sub(rb"[^0-9a-fA-F]", b"", data).decode()
    data = bytes.fromhex(digits[: len(digits) // 2 * 2])
    if data.startswith(_SPARSE):
        head, slab = data[len(_SPARSE) :][: layout.HEADER.itemsize], data[len(_SPARSE) + layout.HEADER.itemsize :]
        data = head.ljust(_SLABS_AT, b"\0") + slab.ljust(layout.SLAB.itemsize, b"\0")
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "node.7.0"
        file.write_bytes(data)
        job = merge([file], 2)
    assert job.processes or job.problems
    assert all(len(problem) < 2000 for problem in job.problems)
    again = read_container(write_container(job))
    assert again.calls.tolist() == job.calls.tolist()
    assert again.sites == job.sites
