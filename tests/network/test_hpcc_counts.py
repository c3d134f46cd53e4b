"""What the model says that HPC Challenge's tests send, beside what their kernels count in one execution."""

import pytest

from kernel_run import KernelRuns
from octant.network.hpcc import HPL_BLOCK, hpl_sent, sent
from octant.record import Point

SHORT = ("transport=messages", "seconds=0.001", "least=5", "samples=5")
pytestmark = pytest.mark.mpi


def counted(run_kernel: KernelRuns, name: str, *words: str, ranks: int = 2) -> list[tuple[Point, float, float]]:
    """Points with the messages and bytes that a rank sent, the mean of the ranks."""
    done = run_kernel(name, *words, *SHORT, ranks=ranks)
    assert done.code == 0, done.stderr
    return [(one, one.count("messages") / ranks, one.count("bytes_sent") / ranks) for one in done.points]


def test_transpositions_send_whole_parcels(run_kernel: KernelRuns) -> None:
    for point, messages, size in counted(run_kernel, "hpcc/ptrans", "n=1024,2048", "block=128,192"):
        (said,) = sent("ptrans", float(point.knobs["n"]), 2)
        exact = point.knobs["block"] == "128"
        assert size == pytest.approx(said.bytes, rel=0 if exact else 0.02), "blocks of 192 leave a shorter one"
        assert messages == pytest.approx(said.messages, rel=0 if exact else 0.15), "a tile of 288 KiB travels alone"


def test_random_updates_go_in_half_batches(run_kernel: KernelRuns) -> None:
    for point, messages, size in counted(run_kernel, "hpcc/randomaccess", "bytes=1MiB", "sequence=polynomial,lcg"):
        said, _ = sent("randomaccess", point.count("updates"), 2)
        assert messages == said.messages
        uneven = 0.03 if point.knobs["sequence"] == "polynomial" else 0.002
        assert size == pytest.approx(said.bytes, rel=uneven), "its first numbers are small: they stay more often"


def test_the_transform_exchanges_all_with_all_three_times(run_kernel: KernelRuns) -> None:
    """Of 2^14 numbers one chunk, of 2^18 four: 512 KiB each."""
    found = counted(run_kernel, "hpcc/gfft", "n=16384,262144")
    assert [messages for _, messages, _ in found] == [3, 12]
    for point, messages, size in found:
        (said,) = sent("gfft", float(point.knobs["n"]), 2)
        assert (messages, size) == (said.messages, said.bytes)


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 1)])
def test_factors_send_panels_along_rows_and_rows_along_columns(run_kernel: KernelRuns, rows: int, columns: int) -> None:
    """Of a panel that goes along a row one rank sends, and the others wait for it: each start is one of all."""
    words = ("n=1024", f"block={HPL_BLOCK}", "library=plain", f"grid={rows}x{columns}")
    ((_, messages, size),) = counted(run_kernel, "hpcc/hpl", *words)
    said = hpl_sent(1024, rows, columns)
    assert size == pytest.approx(said.bytes, rel=0.05 if rows > 1 else 0.01)
    assert messages * columns == pytest.approx(said.messages, abs=1)


def test_factors_of_four_ranks(run_over_openmpi: KernelRuns) -> None:
    words = ("n=512", "block=32", "library=plain", "depth=0")
    ((_, messages, size),) = counted(run_over_openmpi, "hpcc/hpl", *words, ranks=4)
    said = hpl_sent(512, 2, 2, 32)
    assert size == pytest.approx(said.bytes, rel=0.05)
    assert messages == pytest.approx(said.messages, rel=0.05)
