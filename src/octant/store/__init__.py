"""The store: one folder a run, one JSON line a record; it only grows, and stores merge by copying.

    STORE/runs/20261121-214530-3f2a/asked.json      what was asked, of which machine, in which surroundings
                                    records.jsonl   points and failures, in the order in which they came
                                    report.html     rebuilt at will

No two writers share a folder, so nothing needs a lock. A torn last line (power cut, full disk) is dropped on reading.
"""

import contextlib
import datetime
import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from octant import record
from octant.ask import Ask, Launch
from octant.failure import Refusal
from octant.machine import Machine, codec

SCHEMA = 1
ENVIRONMENT = (
    "OMP_",
    "KMP_",
    "GOMP_",
    "MPIR_CVAR_",
    "OMPI_MCA_",
    "UCX_",
    "FI_",
    "I_MPI_",
    "OPENBLAS_",
    "SLURM_",
    "OCTANT_",
)


@dataclass(frozen=True)
class StudyAsked:
    """The study that a run answers: its file as it was then, and what else its launches came from."""

    name: str
    seed: int  # of the order of the launches
    text: str
    library: str = ""  # the MPI library that its settings were written for
    lacking: Mapping[str, str] = field(default_factory=dict)  # settings without effect there, and why


@dataclass(frozen=True)
class StoredRun:
    """A run as it lies in the store."""

    id: str
    folder: Path
    title: str
    started: str  # ISO 8601 with offset
    machine: Machine
    environment: Mapping[str, str]
    launches: tuple[Launch, ...]
    points: tuple[record.Point, ...]
    failures: tuple[record.Failure, ...]
    torn_lines: int
    study: StudyAsked | None = None

    def left(self) -> tuple[Launch, ...]:
        """The launches, or points of them, without a result; what was wrong or is not supported is not asked again."""
        done: dict[str, list[Mapping[str, str]]] = {}
        for point in self.points:
            done.setdefault(point.launch, []).append(point.knobs)
        for failure in self.failures:
            if failure.exit in (2, 3):
                done.setdefault(failure.launch, []).append(failure.knobs)
        return tuple(rest for launch in self.launches for rest in launch.without(done.get(launch.key, [])))

    def ask_of(self, launch: str) -> Ask | None:
        """The ask that a launch answers, by the launch's key."""
        return next((one.ask for one in self.launches if one.key == launch), None)

    @property
    def complete(self) -> bool:
        """Nothing is left to do."""
        return not self.left()

    @property
    def records(self) -> Path:
        """The file that kernels append to."""
        return self.folder / "records.jsonl"


class Store:
    """A folder of runs. Reading needs no write permission; writing creates the folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(
        self, title: str, machine: Machine, launches: Sequence[Launch], study: StudyAsked | None = None
    ) -> StoredRun:
        """A new run with nothing measured yet.

        Raises:
            Refusal: the store cannot be written.
        """
        now = datetime.datetime.now().astimezone()
        utc = now.astimezone(datetime.UTC)  # names sort by age, whatever the time zone and its summer
        name = f"{utc:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}{secrets.token_hex(1)}"
        folder = self.root / "runs" / name
        asked = {
            "schema": SCHEMA,
            "title": title,
            "started": now.isoformat(timespec="seconds"),
            "machine": codec.to_json(machine),
            "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(ENVIRONMENT)},
            "launches": [asdict(launch) for launch in launches],
            **({"study": asdict(study)} if study else {}),
        }
        try:
            folder.mkdir(parents=True)
            _write_durably(folder / "asked.json", json.dumps(asked, indent=1), folder / "asked.part")
        except OSError as error:
            raise Refusal(
                f"cannot write to the store {self.root} ({error.strerror}); "
                "try --store with a folder of yours, or free some space"
            ) from error
        return self.read(name)

    def append(self, run: StoredRun, failure: record.Failure) -> None:
        """Adds a failure that the kernel could not record itself.

        Raises:
            Refusal: the store cannot be written.
        """
        try:
            _end_torn_line(run.records)
            with run.records.open("a", encoding="utf-8") as file:
                file.write(record.failure_line(failure) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Refusal(f"cannot write to {run.records} ({error.strerror}); free some space and resume") from error

    def read(self, name: str, samples: bool = True) -> StoredRun:
        """One run by its id; without `samples` it has none, and is read several times as quickly.

        Raises:
            Refusal: no such run, or its description cannot be read.
        """
        folder = self.root / "runs" / name
        try:
            asked = json.loads((folder / "asked.json").read_text(encoding="utf-8"))
            return _read(folder, asked, samples)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refusal(f"cannot read the run {name!r} in {self.root} ({error}); try `octant runs`") from error

    def ids(self) -> list[str]:
        """Ids of all runs, oldest first."""
        folder = self.root / "runs"
        return sorted(p.name for p in folder.iterdir() if (p / "asked.json").is_file()) if folder.is_dir() else []

    def runs(self) -> list[StoredRun]:
        """All runs, oldest first."""
        return [self.read(name) for name in self.ids()]

    def listed(self) -> tuple[list[StoredRun], list[str]]:
        """All runs without their samples, oldest first, and a sentence on each that cannot be read."""
        found, unread = [], []
        for name in self.ids():
            try:
                found.append(self.read(name, samples=False))
            except Refusal as refusal:
                unread.append(str(refusal))
        return found, unread

    def find(self, name: str) -> StoredRun:
        """A run by its id, the start of its id, its folder, `last` or `previous`.

        Raises:
            Refusal: none or several fit; the text names the nearest.
        """
        if "/" in name and (Path(name) / "asked.json").is_file():
            folder = Path(name).resolve()
            return Store(folder.parent.parent).read(folder.name)
        ids = self.ids()
        if not ids:
            raise Refusal(f"cannot find the run {name!r} (the store {self.root} is empty); try `octant evaluate` first")
        back = {"last": 1, "previous": 2}.get(name)
        if back is not None:
            if len(ids) < back:
                raise Refusal(
                    f"cannot find the previous run (the store {self.root} has only one); try `octant evaluate`"
                )
            return self.read(ids[-back])
        fitting = [run for run in ids if run.startswith(name)]
        if len(fitting) != 1:
            what = f"{len(fitting)} runs start so" if fitting else "no such run"
            raise Refusal(f"cannot find the run {name!r} ({what}); try one of: {', '.join(ids[-5:])}, last, previous")
        return self.read(fitting[0])


def open_store(path: Path | None = None) -> Store:
    """The store at `path`, else at OCTANT_STORE, else `octant-store` in the current folder."""
    return Store(path or Path(os.environ.get("OCTANT_STORE", "octant-store")))


@contextlib.contextmanager
def held(run: StoredRun) -> Iterator[None]:
    """Nobody else measures this run as long as the block lasts; the system lets go of it however this process ends.

    Raises:
        Refusal: another process holds it.
    """
    folder = os.open(run.folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refusal(
                    f"cannot go on with {run.id} (another octant is measuring it); try when it ended"
                ) from None
        yield
    finally:
        os.close(folder)


def mend(run: StoredRun) -> None:
    """Ends a torn last line, so that the next record starts on a line of its own.

    Raises:
        Refusal: the store cannot be written.
    """
    try:
        _end_torn_line(run.records)
    except OSError as error:
        raise Refusal(
            f"cannot write to {run.records} ({error.strerror}); try a copy of the store that is yours"
        ) from error


def _end_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        if file.seek(0, os.SEEK_END) > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")


def _write_durably(path: Path, text: str, partial: Path) -> None:
    """Whole or not at all, so that who reads the store meanwhile, or after the disk was full, finds no half of it."""
    with partial.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


_SAMPLES = re.compile(rb"\[[-+., 0-9eE]{64,}\]")  # no other array of a record is as long, and none is of bare numbers


def _read(folder: Path, asked: Mapping[str, Any], samples: bool) -> StoredRun:
    if asked["schema"] != SCHEMA:
        raise ValueError(f"schema {asked['schema']} is not the one this version reads ({SCHEMA})")
    launches, keys = _launches(asked["launches"])
    points, failures, torn = [], [], 0
    records = folder / "records.jsonl"
    if records.is_file():
        text = records.read_bytes() if samples else _SAMPLES.sub(b"[]", records.read_bytes())
        for line in text.decode(errors="replace").split("\n"):  # names may hold what else ends a line in Unicode
            try:
                found = record.parse(line)
            except record.RecordError:
                torn += bool(line.strip())
                continue
            found = replace(found, launch=keys.get(found.launch, found.launch))
            if isinstance(found, record.Point):
                points.append(found)
            else:
                failures.append(found)
    return StoredRun(
        id=folder.name,
        folder=folder,
        title=asked["title"],
        started=asked["started"],
        machine=codec.from_json(asked["machine"]),
        environment=asked["environment"],
        launches=launches,
        points=tuple(points),
        failures=tuple(failures),
        torn_lines=torn,
        study=StudyAsked(**asked["study"]) if "study" in asked else None,
    )


def _launches(asked: Sequence[Mapping[str, Any]]) -> tuple[tuple[Launch, ...], dict[str, str]]:
    """The launches under the full names of their workloads, and their keys by those that they were written with."""
    written = [Launch(**{**launch, "hosts": tuple(launch.get("hosts", ()))}) for launch in asked]
    launches = tuple(replace(launch, workload=record.full_name(launch.workload)) for launch in written)
    return launches, {old.key: new.key for old, new in zip(written, launches, strict=True)}
