"""Profiles of MPI programs in a stored run, and their analysis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from octant.analysis.message_curves import find_curve
from octant.failure import Exit, Refusal
from octant.profile.analysis import analyse
from octant.profile.container import read_container
from octant.profile.matrix import messages_between
from octant.record import RecordError
from octant.store.kept import read_kept

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.profile.job import JobProfile
    from octant.profile.results import Analysis
    from octant.record import KeptFile, RankResources
    from octant.store import StoredRun

KIND = "profile"
"""Kind of the file of a launch that contains its profile."""
MAX_LAUNCHES = 20
"""Maximum number of launches of a cell whose profiles are compared."""


@dataclass(frozen=True)
class ProfiledLaunch:
    """A launch with a stored profile."""

    launch: str  # its key
    knobs: tuple[tuple[str, str], ...]  # of its cell
    file: KeptFile
    given: tuple[RankResources, ...] = ()  # of the launch, if it has a result

    @property
    def request(self) -> str:
        """The key of its request."""
        return self.launch.rpartition("-")[0]


def profiled_launches(run: StoredRun) -> tuple[ProfiledLaunch, ...]:
    """Return the launches of a run with a profile, in the order of the records; failed ones first."""
    failed = [ProfiledLaunch(one.launch, (), file) for one in run.failures for file in one.files if file.kind == KIND]
    good = [
        ProfiledLaunch(one.launch, tuple(sorted(one.knobs.items())), file, one.given)
        for one in run.points
        for file in one.files
        if file.kind == KIND
    ]
    return (*failed, *good)


def read_profile(run: StoredRun, launch: ProfiledLaunch) -> JobProfile:
    """Return the profile of a launch.

    Raises:
        Refusal: it was not stored, or its file is missing or damaged.
    """
    try:
        return read_container(read_kept(run.folder, launch.file))
    except RecordError as error:
        raise Refusal(f"cannot read the profile of {launch.launch} ({error}); profile the program again") from error


def newest_analysis(run: StoredRun, launch: str = "") -> Analysis | None:
    """Return the analysis of a profile of a run, compared with other launches of the same cell; `None`: it has none.

    Args:
        launch: its key; "": the newest launch with a result, else the newest failed one.

    Raises:
        Refusal: there is no profile of this launch, or it cannot be read.
    """
    every = [one for one in profiled_launches(run) if launch in ("", one.launch)]
    if not every:
        if launch:
            raise Refusal(f"run {run.id} has no profile of the launch {launch}; try octant profile report {run.id}")
        return None
    return _analysis(_Profiles(run, every[-1]))


def profile_pairs(run: StoredRun) -> list[tuple[int, int, float]]:
    """Return the messages of the newest profile of a run as flows: sender, receiver, bytes. Collectives have none.

    Raises:
        Refusal: the run has no profile, it cannot be read, or it contains no messages between ranks.
    """
    every = profiled_launches(run)
    if not every:
        raise Refusal(f"run {run.id} has no profile; try octant profile -- PROGRAM", Exit.WRONG_WORD)
    found = messages_between(read_profile(run, every[-1]))
    flows = zip(found.sources.tolist(), found.targets.tolist(), found.bytes.tolist(), strict=True)
    rows = [(source, target, float(size)) for source, target, size in flows if size > 0]
    if not rows:
        why = "the profile contains no messages between ranks, and collectives are not divided into messages"
        raise Refusal(f"cannot use the traffic of run {run.id} ({why}); use --traffic uniform", Exit.WRONG_WORD)
    return rows


@dataclass(frozen=True, eq=False)
class _Profiles:
    """The profile of a launch within its run; equal if the stored files are."""

    run: StoredRun
    launch: ProfiledLaunch

    @property
    def others(self) -> Sequence[ProfiledLaunch]:
        """Further launches of the same cell."""
        mine = self.launch
        alike = [one for one in profiled_launches(self.run) if (one.request, one.knobs) == (mine.request, mine.knobs)]
        return [one for one in alike if one.file is not mine.file][-MAX_LAUNCHES + 1 :]

    @property
    def _key(self) -> tuple[object, ...]:
        files = (self.launch.file, *(one.file for one in self.others))
        return self.run.folder, *((one.stored, one.crc) for one in files)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Profiles) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=2)
def _analysis(of: _Profiles) -> Analysis:
    job = read_profile(of.run, of.launch)
    others = []
    for one in of.others:
        try:
            others.append(read_profile(of.run, one))
        except Refusal:
            continue
    return analyse(job, others, find_curve(of.run, job), _hardware_threads(of.launch.given))


def _hardware_threads(given: Sequence[RankResources]) -> Mapping[str, int]:
    """Return the number of hardware threads that the ranks of each host may use; hosts with an unknown mask omitted."""
    masks: dict[str, set[int]] = {}
    unknown = set()
    for rank in given:
        allowed = {cpu for mask in rank.thread_masks for cpu in mask}
        masks.setdefault(rank.host, set()).update(allowed)
        if not allowed:
            unknown.add(rank.host)
    return {host: len(cpus) for host, cpus in masks.items() if host not in unknown}
