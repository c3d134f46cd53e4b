"""Emulated links: emulated hosts on this machine, connected by a link of known rate and delay.

`octant-link` makes them of namespaces and is the ssh of the launcher that starts there; native/link/link.cpp says how.
docs/links.md says what such a launch proves and what it does not.
"""

import functools
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant import build, units
from octant.failure import Exit, Refusal
from octant.launchers import JobSize

MTU_BYTES = 1500
FRAME_BYTES = 14  # head of Ethernet: a bucket counts it, and neither preamble nor gap
HEADERS_BYTES = 20 + 20 + 12  # of IPv4, of TCP and of TCP's time stamps
MAX_HOSTS, LONGEST_DELAY_S = 16, 1.0
LEAST_BITS_PER_S, MAX_BITS_PER_S = 8000, 10**10
MAX_REPORT_BYTES = 1 << 16
DEVICE = "link0"
VARIABLE = "OCTANT_LINK"
"""Variable that names the link to the ranks, which record it."""

SETTINGS: Mapping[str, str] = {
    # MPICH over UCX or libfabric: between hosts UCX would else find the shared memory that they have in common.
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": DEVICE,
    "FI_PROVIDER": "tcp",
    "I_MPI_FABRICS": "ofi",
    "I_MPI_OFI_PROVIDER": "tcp",
    # Open MPI: components of version 5 are PRTE's.
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_btl_tcp_if_include": DEVICE,
    "OMPI_MCA_oob_tcp_if_include": DEVICE,
}
"""What makes each MPI library send its messages over the link, under its own names; the others ignore them."""

_WORD = re.compile(r"(?P<name>delay|hosts)=(?P<value>.+)")


@dataclass(frozen=True)
class Link:
    """What joins emulated hosts."""

    bits_per_s: int  # of frames of Ethernet, in each direction
    delay_s: float = 0.0  # that each packet is held back, one way; 0: not at all
    hosts: int = 2

    @property
    def names(self) -> tuple[str, ...]:
        """The hosts, as launchers know them."""
        return tuple(f"host{number + 1}" for number in range(self.hosts))

    @property
    def payload_bytes_per_s(self) -> float:
        """What a stream of TCP can carry of its payload in one direction."""
        return self.bits_per_s / 8 * payload_share()

    def __str__(self) -> str:
        """Return the text of the request: `100Mbit/s,delay=1ms`."""
        power, unit = next(
            (power, unit)
            for power, unit in ((9, "Gbit/s"), (6, "Mbit/s"), (3, "kbit/s"), (0, "bit/s"))
            if self.bits_per_s % 10**power == 0
        )
        delay = f",delay={self.delay_s * 1e6:g}us" if self.delay_s else ""
        delay = f",delay={self.delay_s * 1e3:g}ms" if self.delay_s >= 1e-3 else delay
        return f"{self.bits_per_s // 10**power}{unit}{delay}{f',hosts={self.hosts}' if self.hosts != 2 else ''}"


def payload_share(mtu_bytes: int = MTU_BYTES) -> float:
    """Return the payload share of full TCP packets: 1448 of 1514 bytes at an MTU of 1500."""
    return (mtu_bytes - HEADERS_BYTES) / (mtu_bytes + FRAME_BYTES)


def parse_link(text: str) -> Link:
    """Parse a link: `100Mbit/s`, `1Gbit/s,hosts=4` or `100Mbit/s,delay=1ms`.

    Raises:
        ValueError: the text is no link, or none that can be emulated; the message says why and what to try.
    """
    rate, *words = text.split(",")
    bits_per_s = units.parse_bits_per_s(rate)
    if not LEAST_BITS_PER_S <= bits_per_s <= MAX_BITS_PER_S:
        raise ValueError(f"the rate {rate} is not between 8kbit/s and 10Gbit/s; use 100Mbit/s")
    given: dict[str, str] = {}
    for word in words:
        found = _WORD.fullmatch(word)
        if found is None or found["name"] in given:
            raise ValueError(f"cannot read {word[:60]!r} of a link; use 100Mbit/s,delay=1ms or 100Mbit/s,hosts=4")
        given[found["name"]] = found["value"]
    delay_s = units.parse_seconds(given.get("delay", "0"))
    hosts = units.parse_whole(given.get("hosts", "2"))
    if not 2 <= hosts <= MAX_HOSTS:
        raise ValueError(f"a link connects 2 to {MAX_HOSTS} hosts, not {hosts}; use hosts=2")
    if delay_s > LONGEST_DELAY_S or 0 < delay_s < 1e-6:
        raise ValueError(f"the delay {given['delay']} is not between 1us and 1s; use delay=1ms")
    if delay_s and hosts != 2:
        raise ValueError("a delay needs exactly two hosts; use hosts=2")
    return Link(bits_per_s, delay_s, hosts)


def read_link(text: str) -> Link:
    """As `parse_link`.

    Raises:
        Refusal: the text is no link.
    """
    try:
        return parse_link(text)
    except ValueError as error:
        why, _, hint = str(error).partition("; ")
        raise Refusal(f"cannot emulate the link {text[:60]!r} ({why}); {hint}", Exit.WRONG_WORD) from error


def job_size(link: Link, size: JobSize) -> JobSize:
    """Return the size of a launch on the hosts of a link.

    Raises:
        Refusal: ranks that do not fill the hosts, or hosts of the user's own.
    """
    if size.hosts:
        raise Refusal("cannot emulate a link between real hosts; remove --hosts", Exit.WRONG_WORD)
    if size.ranks % link.hosts:
        why = f"{size.ranks} is not a multiple of {link.hosts}"
        raise Refusal(
            f"cannot distribute ranks evenly over {link.hosts} hosts ({why}); use --ranks {link.hosts}", Exit.WRONG_WORD
        )
    return JobSize(size.ranks, None, size.cpus_per_rank, link.names, size.exported, str(build.find("link")))


def environment(link: Link, mpi: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of launcher and ranks.

    Args:
        mpi: settings that were asked.

    Raises:
        Refusal: one of them would lead messages elsewhere.
    """
    if taken := sorted(set(mpi) & set(SETTINGS)):
        why = "the emulated link sets it"
        raise Refusal(f"cannot set {', '.join(taken)} ({why}); remove it, or remove --link", Exit.WRONG_WORD)
    program = str(build.find("link"))
    agents = {"PRTE_MCA_plm_ssh_agent": program, "OMPI_MCA_plm_rsh_agent": program}
    return {**SETTINGS, **agents, VARIABLE: str(link)}


def wrapped(words: Sequence[str], link: Link, report: Path | None = None) -> list[str]:
    """Return the command line that starts a launcher on the first host.

    Args:
        report: where octant-link is to write what crossed.
    """
    own = [str(build.find("link")), "--bits-per-s", str(link.bits_per_s), "--hosts", str(link.hosts)]
    own += ["--delay-ns", str(round(link.delay_s * 1e9))] if link.delay_s else []
    own += ["--report", str(report)] if report else []
    return [*own, "--", *words]


@functools.cache
def why_not(link: Link) -> str:
    """Why such a link cannot be emulated here, as octant-link says it; "" where it can be.

    Raises:
        Refusal: octant-link is not installed.
    """
    words = wrapped((), link)[:-1]
    try:
        tried = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot emulate a link ({error}); run make setup"
    return tried.stderr.strip().removeprefix("octant-link: ") if tried.returncode else ""


def explain_missing_link(text: str) -> str:
    """Why the link of this text cannot be emulated here, in words; "" where it can be."""
    try:
        return why_not(read_link(text))
    except Refusal as refusal:
        return str(refusal)


def check(link: Link) -> None:
    """Check whether such a link can be emulated here.

    Raises:
        Refusal: it cannot.
    """
    if why := why_not(link):
        raise Refusal(why, Exit.NOT_SUPPORTED)


def take_report(records: Path) -> bytes:
    """Read and remove the report of octant-link; return empty bytes if there is none."""
    path = report_path(records)
    try:
        with path.open("rb") as file:
            return file.read(MAX_REPORT_BYTES)
    except OSError:
        return b""
    finally:
        path.unlink(missing_ok=True)


def report_path(records: Path) -> Path:
    """Return the path of octant-link's report on the traffic of a launch, next to the records."""
    return records.parent / f"{records.name}.link"
