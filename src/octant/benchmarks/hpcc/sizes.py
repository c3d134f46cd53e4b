"""Sizes of HPC Challenge, which all follow from N, the order of HPL's matrix, and the number of ranks.

Source: HPCC 1.5, which derives sizes from M = 8 N² / P, the bytes of HPL's matrix in each of P processes.
"""

import math
from dataclasses import dataclass

from octant.benchmarks import requests
from octant.failure import Exit, Refusal
from octant.units import bytes_text

BLOCK = 64
"""Chosen orders are multiples of this, so that the usual block sizes of HPL divide them or leave little."""
FULL_SHARE = 0.8
"""Share of memory that the matrix of an official run uses at least."""
AVAILABLE_SHARE = 0.9
"""Largest share of available memory; the rest is for libraries and messages."""
QUICK_RANK_BYTES = 192 << 20
"""Bytes of the matrix per rank in a quick run: vectors and tables exceed the share of a core in the caches."""
QUICK_SHARE = 0.125
"""Largest share of memory in a quick run."""
MAX_PAIRS = 28
"""Largest number of pairs of ranks that are measured one after the other: all pairs of eight ranks."""
_PRIMES = (2, 3, 5)


@dataclass(frozen=True)
class HpccSizes(requests.Sizes):
    """Sizes of every test; lengths are in elements unless their name contains `bytes`."""

    hpl_n: int

    @property
    def label(self) -> str:
        """Value of `--size`."""
        return f"hpl:{self.hpl_n}"

    @property
    def matrix_bytes(self) -> int:
        """Bytes of HPL's matrix in all ranks."""
        return 8 * self.hpl_n**2

    @property
    def rank_bytes(self) -> int:
        """Bytes of HPL's matrix per rank, from which HPCC derives other sizes."""
        return self.matrix_bytes // self.ranks

    @property
    def dgemm_n(self) -> int:
        """Order of three matrices that together have the size of a rank's share."""
        return max(1, math.floor(math.sqrt(self.rank_bytes // 8 // 3 + 0.25) - 0.5))

    @property
    def stream_length(self) -> int:
        """Elements of each of three vectors that together have the size of a rank's share."""
        return max(128, self.rank_bytes // 8 // 3)

    @property
    def stream_two_bytes(self) -> int:
        """Bytes of the two vectors of copy and scale."""
        return 16 * self.stream_length

    @property
    def stream_three_bytes(self) -> int:
        """Bytes of the three vectors of add and triad."""
        return 24 * self.stream_length

    @property
    def table_bytes(self) -> int:
        """Bytes of a rank's own table of random updates: a power of two, more than half of its share."""
        return 8 * _power_of_two(self.rank_bytes // 8)

    @property
    def mpi_table_bytes(self) -> int:
        """Bytes of the table of all ranks: a power of two, more than half of the matrix."""
        return 8 * _power_of_two(self.ranks * self.rank_bytes // 8)

    @property
    def fft_n(self) -> int:
        """Length of a rank's own transform: a power of two; input and output are at most its share."""
        return _power_of_two(self.rank_bytes // 16 // 2)

    @property
    def gfft_ranks(self) -> int:
        """Number of ranks in the global transform: the greatest 2^i 3^j 5^k."""
        return next(count for count in range(self.ranks, 0, -1) if _is_smooth(count))

    @property
    def gfft_n(self) -> int:
        """Length of the global transform: P² times a power of two; four vectors are at most the matrix."""
        count = self.gfft_ranks
        share = self.matrix_bytes // count
        return count * count * _power_of_two(share // 16 // (4 * count))

    @property
    def ptrans_n(self) -> int:
        """Order of the transposed matrix."""
        return max(1, self.hpl_n // 2)

    @property
    def ptrans_bytes(self) -> int:
        """Bytes of the transposed matrix, which ranks of a node share."""
        return 8 * self.ptrans_n**2

    @property
    def gfft_shared_bytes(self) -> int:
        """Bytes of the three vectors of the global transform, which ranks of a node share."""
        return 3 * 16 * self.gfft_n

    @property
    def pairs(self) -> str:
        """Pairs of ranks that are measured one after the other; of many pairs, a regular selection as in HPCC."""
        every = [(a, b) for a in range(min(self.ranks, 1000)) for b in range(a + 1, min(self.ranks, 1000))]
        stride = -(-len(every) // MAX_PAIRS) or 1
        return ",".join(f"{a}+{b}" for a, b in every[::stride])


def choose(size: str, quick: bool, ranks: int, memory_bytes: int, available_bytes: int) -> tuple[HpccSizes, list[str]]:
    """Return the sizes of a run, and a remark if they are smaller than the rule requires.

    Args:
        size: `hpl:N`; "": by rule.
        quick: use the rule of a quick run.
        ranks: number of ranks.
        memory_bytes: memory of all nodes.
        available_bytes: available memory of all nodes.

    Raises:
        Refusal: see `read_order`.
    """
    if size:
        return HpccSizes(ranks, read_order(size, memory_bytes)), []
    order = quick_order(ranks, memory_bytes) if quick else full_order(memory_bytes)
    if (left := full_order(memory_bytes, available_bytes)) >= order:
        return HpccSizes(ranks, order), []
    rule = "the default of a quick run" if quick else "required by HPCC's rules"
    why = f"only {bytes_text(available_bytes)} of {bytes_text(memory_bytes)} of memory are available"
    return HpccSizes(ranks, left), [f"N is {left} instead of {order} ({rule}): {why}"]


def prescribed(ranks: int, memory_bytes: int) -> HpccSizes:
    """Return the smallest sizes of a run by HPCC's rules.

    Args:
        ranks: number of ranks.
        memory_bytes: memory of all nodes.
    """
    return HpccSizes(ranks, full_order(memory_bytes))


def quick_order(ranks: int, memory_bytes: int) -> int:
    """Return N of a quick run: 192 MiB of the matrix per rank, at most an eighth of memory."""
    return _order(min(ranks * QUICK_RANK_BYTES, int(QUICK_SHARE * memory_bytes)))


def full_order(memory_bytes: int, available_bytes: int | None = None) -> int:
    """Return N of a full run: HPL's matrix uses four fifths of memory, the minimum of HPCC's rules.

    Args:
        memory_bytes: memory of all nodes.
        available_bytes: available memory, of which the matrix uses at most nine tenths.
    """
    left = memory_bytes if available_bytes is None else int(AVAILABLE_SHARE * available_bytes)
    return _order(min(int(FULL_SHARE * memory_bytes), left))


def read_order(text: str, memory_bytes: int) -> int:
    """Read N from `hpl:N`.

    Args:
        text: the value of `--size`.
        memory_bytes: memory of all nodes.

    Raises:
        Refusal: not of this form, or the matrix is larger than memory.
    """
    number = text.removeprefix("hpl:")
    if number == text or not (number.isascii() and number.isdigit()) or not 1 <= len(number) <= 9 or int(number) < 1:
        raise Refusal(f"cannot read --size {text[:60]!r} (not of the form hpl:N); try --size hpl:8192", Exit.WRONG_WORD)
    order = int(number)
    if (bytes_asked := 8 * order**2) > memory_bytes:
        why = f"the matrix needs {bytes_text(bytes_asked)}, and this machine has {bytes_text(memory_bytes)}"
        raise Refusal(
            f"cannot measure with N = {order} ({why}); try --size hpl:{full_order(memory_bytes)}", Exit.NOT_SUPPORTED
        )
    return order


def _order(matrix_bytes: int) -> int:
    return max(BLOCK, math.isqrt(matrix_bytes // 8) // BLOCK * BLOCK)


def _power_of_two(most: int) -> int:
    """Return the greatest power of two that is at most `most`; at least 1."""
    return 1 << max(0, most.bit_length() - 1)


def _is_smooth(number: int) -> bool:
    for prime in _PRIMES:
        while number % prime == 0:
            number //= prime
    return number == 1
