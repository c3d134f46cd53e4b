"""libhwloc for thousands of inputs: a fork of this process for each, in place of a helper process that starts Python.

The child does what the helper does after its start, with the same limits; its end is explained as the helper's is.
"""

import faulthandler
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from octant.machine.hwloc import _helper, process, source
from octant.machine.hwloc.process import HelperRequest, wheel_library

SECONDS = 3.0
"""Wall time of one input; the helper has `_helper.WALL_S`."""
_LIBRARY: list[object] = []  # loaded once, by the first input


@contextmanager
def forked_hwloc() -> Iterator[None]:
    """Let every reader use the fork inside the block, with less time for each input."""
    before = vars(source)["export_xml"], _helper.CPU_S, _helper.MEMORY_BYTES
    setattr(source, "export_xml", forked_export)  # noqa: B010 - which it imports
    _helper.CPU_S = 2
    if "asan" in os.environ.get("LD_PRELOAD", ""):  # which reserves more addresses than the limit
        _helper.MEMORY_BYTES = resource.RLIM_INFINITY
    try:
        yield
    finally:
        setattr(source, "export_xml", before[0])  # noqa: B010
        _helper.CPU_S, _helper.MEMORY_BYTES = before[1:]


def forked_export(request: HelperRequest) -> str:
    """Return the topology of a source as XML, as `octant.machine.hwloc.process.export_xml` does."""
    if not _LIBRARY:
        _LIBRARY.append(_helper._library(str(wheel_library() or "")))
    status, output, errors = _in_child(lambda: _serve(request))
    if status is None:
        raise process._failure(request, f"no answer within {SECONDS:g} s")
    return process._answer(request, status, output, errors.decode(errors="replace"))


def _serve(request: HelperRequest) -> None:
    for name in [name for name in os.environ if name.startswith("HWLOC_")]:
        del os.environ[name]
    os.environ.update(process._COMMON | dict(request.environment))
    try:
        _helper._limit()
        text = _helper._export(_LIBRARY[0], request.kind, request.text.encode())  # type: ignore[arg-type]
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except MemoryError:
        _helper._end(_helper.REFUSED, "out of memory")


def _in_child(serve: Callable[[], None]) -> tuple[int | None, bytes, bytes]:
    """Return the exit status (`None`: it took too long), output and errors of a fork that calls `serve`."""
    pipes = [os.pipe(), os.pipe()]
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            faulthandler.disable()
            for number, (_, writing) in enumerate(pipes, 1):
                os.dup2(writing, number)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            serve()
            code = 0
        finally:
            os._exit(code)
    for _, writing in pipes:
        os.close(writing)
    texts, end = _read_both([reading for reading, _ in pipes], time.monotonic() + SECONDS)
    if not end:
        os.kill(child, signal.SIGKILL)
    for reading, _ in pipes:
        os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return (status if end else None), *texts


def _read_both(descriptors: list[int], until: float) -> tuple[tuple[bytes, bytes], bool]:
    """Return what comes from two pipes, and whether both ended in time."""
    texts, left = dict.fromkeys(descriptors, b""), set(descriptors)
    while left:
        ready = select.select(list(left), [], [], max(0.0, until - time.monotonic()))[0]
        if not ready:
            return (texts[descriptors[0]], texts[descriptors[1]]), False
        for number in ready:
            part = os.read(number, 1 << 20)
            texts[number] += part
            if not part:
                left.remove(number)
    return (texts[descriptors[0]], texts[descriptors[1]]), True
