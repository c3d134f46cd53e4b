"""The store: one folder per run, one JSON line per record; it only grows, and stores merge by copying.

    STORE/runs/ID/asked.json      who asked what, of which machine, in which surroundings
                  plan.jsonl      all that was decided: a line per start, written before it
                  records.jsonl   points and failures, in the order in which they came
                  report.html     rebuilt at will
    STORE/models/power775-ptrans.html   pages of models; rebuilt at will
    STORE/locks/ID                exists while the run is measured (`locks`)
    STORE/index.sqlite            what a list of runs shows; rebuilt at will

An ID is 20261121-214530-123-1c8081d884c7d65f: UTC to the millisecond, three hexadecimal digits of microseconds (here
456), so that names sort by age, and 52 random bits; its folder is created exclusively. Older versions wrote shorter
ids, which are read and sorted alike. A torn last line (power cut, full disk) is dropped on reading; what else cannot be
read is named by file and line, and hides nothing else.
"""

import datetime
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from octant.failure import Exit, Refusal, remedy_for_writing, suggestion
from octant.identity import Identity, identity_of
from octant.launch import Planned
from octant.limit import StoredLimit
from octant.machine import Machine, codec
from octant.program import is_program
from octant.record import Failure, LinkTraffic, Point, RecordError
from octant.record.writer import failure_line
from octant.request import Launch, Request, canonical, cell_count, cells_of
from octant.store import environment, files, format1, index, run_request
from octant.store.index import Listed
from octant.store.lines import Records, Tail
from octant.store.locks import lock, sweep
from octant.store.run_request import ImportedFile, Pair, ProvenSetting, Repeats, RunRequest, StudyRequest
from octant.tile import DeclaredScreen
from octant.untrusted import is_file

__all__ = [
    "Listed",
    "Pair",
    "ProvenSetting",
    "Repeats",
    "Store",
    "StoredRun",
    "StudyRequest",
    "lock",
    "new_ids",
    "open_store",
    "recorded_environment",
    "sweep",
]


@dataclass(frozen=True, kw_only=True)
class StoredRun(RunRequest):
    """A run as it lies in the store: what was asked, what was started, and what came of it."""

    id: str
    folder: Path
    points: tuple[Point, ...] = ()
    failures: tuple[Failure, ...] = ()  # of launches that do not have all their results
    repeated: tuple[Failure, ...] = ()  # of launches that were repeated since, and then gave all their results
    plans: Mapping[str, Planned] = field(default_factory=dict)  # by the launch's key, as it was started last
    repeats: Repeats | None = None  # launches of each cell of a program; `None`: not decided, or there is no program
    link_traffic: Mapping[str, LinkTraffic] = field(default_factory=dict)  # by the launch's key: of emulated links
    damaged: tuple[str, ...] = ()  # "records.jsonl, line 7: why"
    torn: tuple[str, ...] = ()  # the same of last lines without an end, which may still be written

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """What was decided: beforehand, then what was decided launch by launch.

        Launches of programs end at the number that their first launches decided.
        """
        decided = {launch.key: launch for launch in self.decided_launches()}
        later = (planned.launch for key, planned in self.plans.items() if key not in decided)
        every = (*decided.values(), *(replace(launch, knobs=None) for launch in later))
        return tuple(
            one for one in every if not one.request.subject.command or one.repeat < self.repeats_of(one.request)
        )

    def repeats_of(self, request: Request) -> int:
        """Return the number of launches of a program's request: the requested number, or fewer if that was decided."""
        return min(request.repeats, self.repeats.repeats) if self.repeats else request.repeats

    @cached_property
    def _requests(self) -> Mapping[str, Request]:
        return {request.key: request for request in (*self.requests, *(launch.request for launch in self.launches))}

    def request_of(self, launch: str) -> Request | None:
        """Return the request of the launch with this key; `None` if there is none."""
        return self._requests.get(launch.rpartition("-")[0])

    def identity_of(self, point: Point) -> Identity:
        """Return the identity of the results of a point."""
        return identity_of(point, self.request_of(point.launch), self.plans.get(point.launch))

    def remaining(self) -> tuple[Launch, ...]:
        """Return the launches, or cells of them, without a result; wrong or unsupported ones are not repeated.

        Of an imported run there are none: it cannot be gone on with here.
        """
        if self.imported:
            return ()
        done = finished_cells(self.points, self.failures)
        return tuple(rest for launch in self.launches for rest in launch.without(done.get(launch.key, ())))

    @property
    def unread(self) -> tuple[str, ...]:
        """What is wrong with lines of it that are not read, for people."""
        return (*self.damaged, *self.torn)

    @property
    def complete(self) -> bool:
        """Nothing is left to do."""
        return not self.remaining()

    @property
    def records(self) -> Path:
        """The file that kernels append to."""
        return self.folder / "records.jsonl"

    @property
    def plan(self) -> Path:
        """The file of what was started."""
        return self.folder / "plan.jsonl"


def finished_cells(points: Iterable[Point], failures: Iterable[Failure]) -> dict[str, list[Mapping[str, str]]]:
    """Return the knobs of cells that are not repeated, by launch: results, and permanent failures."""
    done: dict[str, list[Mapping[str, str]]] = {}
    for point in points:
        done.setdefault(point.launch, []).append(point.knobs)
    for failure in failures:
        if failure.exit in (Exit.WRONG_WORD, Exit.NOT_SUPPORTED):
            done.setdefault(failure.launch, []).extend(cells_of(failure.knobs))
    return done


def separate_repeated(
    points: Iterable[Point], failures: Iterable[Failure]
) -> tuple[tuple[Failure, ...], tuple[Failure, ...]]:
    """Return the failures that count, and those whose launch has a point for each of their cells.

    A launch of the latter was repeated, or failed after its last point. Nothing of it is missing. For a launch that
    can be repeated, what turned out not to be supported is not missing either.
    """
    points, failures = tuple(points), tuple(failures)
    answered, done = finished_cells(points, ()), finished_cells(points, failures)
    sides: tuple[list[Failure], list[Failure]] = ([], [])
    for failure in failures:
        known = done if failure.exit == Exit.CANNOT_RUN else answered
        sides[_has_all_cells(known.get(failure.launch, ()), failure)].append(failure)
    return tuple(sides[False]), tuple(sides[True])


def _has_all_cells(answered: Sequence[Mapping[str, str]], failure: Failure) -> bool:
    """Return whether each combination of the values of what failed is among the knobs of finished cells."""
    knobs = failure.knobs
    if cell_count(knobs) > len(answered):
        return False
    spelled: Callable[[str], str] = str if is_program(failure.workload) else canonical
    found = {tuple(spelled(point.get(name, "")) for name in knobs) for point in answered}
    return all(tuple(map(spelled, cell.values())) in found for cell in cells_of(knobs))


class Store:
    """A folder of runs. Reading needs no write permission; writing creates the folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(
        self,
        title: str,
        machine: Machine,
        requests: Sequence[Request],
        order: Sequence[tuple[int, int]] | None = None,
        who: str = "run",
        study: StudyRequest | None = None,
        settings: Sequence[ProvenSetting] = (),
        seed: int = 0,
        pair: tuple[str, Pair] | None = None,
        screen: DeclaredScreen | None = None,
        imported: Sequence[ImportedFile] = (),
        benchmark: str = "",
        limits: Sequence[StoredLimit] = (),
    ) -> StoredRun:
        """Create a run without measurements.

        Args:
            order: (request, repeat) of each launch; `None`: request by request; empty: launches are decided one by one.
            seed: of this order and of those inside launches; a study has its own.
            pair: for one of two paired runs: its id (`new_ids`), and the pair.
            screen: what the first screen of its report shows; `None`: the report chooses.
            imported: the files of other tools that it is read from (`store.imported`).
            benchmark: the command that requests a set of tests; "": none.
            limits: of earlier runs, for limits that the run does not measure.

        Raises:
            Refusal: the store cannot be written.
        """
        now = datetime.datetime.now().astimezone()
        if order is None:
            order = [(number, repeat) for number, request in enumerate(requests) for repeat in range(request.repeats)]
        question = RunRequest(
            who, title, now.isoformat(timespec="seconds"), machine, recorded_environment(), tuple(requests),
            tuple(order), study.seed if study else seed, study, settings=tuple(settings),
            pair=pair[1] if pair else None,
            screen=screen or DeclaredScreen(), imported=tuple(imported), benchmark=benchmark,
            limits=tuple(limits),
        )  # fmt: skip
        try:
            folder = _new_folder(self.root / "runs", now, pair[0] if pair else "")
            os.close(files.open_for_append(folder / "records.jsonl"))  # ours before a kernel makes it everybody's
            files.write_durably(folder / "asked.json", run_request.run_request_text(question))
        except OSError as error:
            raise Refusal(
                f"cannot write to the store {self.root} ({error.strerror}); "
                f"{remedy_for_writing(error)}, or try --store DIR"
            ) from error
        return StoredRun(**vars(question), id=folder.name, folder=folder)

    def page(self, name: str) -> Path:
        """Where a page of no run goes unless a file is named: in the folder `models`, which is made.

        Raises:
            Refusal: the store cannot be written.
        """
        folder = self.root / "models"
        try:
            files.make_folder(folder)
        except OSError as error:
            hint = "try -o FILE, or --store DIR"
            raise Refusal(f"cannot write to the store {self.root} ({error.strerror}); {hint}") from error
        return folder / name

    def append(self, run: StoredRun, *failures: Failure) -> None:
        """Add failures that the kernel could not record.

        Raises:
            Refusal: the store cannot be written.
        """
        append_durably(run.records, [failure_line(failure) for failure in failures])

    def decide_repeats(self, run: StoredRun, decided: Repeats) -> None:
        """Record the number of launches per cell of the run's programs.

        Raises:
            Refusal: the store cannot be written.
        """
        append_durably(run.plan, [run_request.repeats_line(decided)])

    def read(self, name: str) -> StoredRun:
        """Read a run by its id. Samples are read only on demand.

        Raises:
            Refusal: no such run, or its description cannot be read.
        """
        try:
            return _read(self.root / "runs" / name)
        except OSError as error:
            raise Refusal(
                f"cannot read the run {name!r} in {self.root} ({error.strerror}); try `octant runs`"
            ) from error

    def ids(self) -> list[str]:
        """Ids of all runs, oldest first.

        Raises:
            Refusal: the store is there and cannot be read.
        """
        try:
            with os.scandir(self.root / "runs") as folders:
                return sorted(one.name for one in folders if os.access(f"{one.path}/asked.json", os.F_OK))
        except FileNotFoundError:
            return []
        except OSError as error:
            why = f"cannot read the store {self.root} ({error.strerror})"
            raise Refusal(f"{why}; try --store DIR") from error

    def runs(self) -> list[StoredRun]:
        """All runs, oldest first.

        Raises:
            Refusal: one cannot be read.
        """
        return [self.read(name) for name in self.ids()]

    def list_runs(self) -> list[Listed]:
        """Return every run as listed, oldest first; an unreadable run has a reason and hides no other."""
        return index.rows(self.root, self.ids(), self._row_of)

    def runs_like(self, run: StoredRun, imported: bool = False) -> Iterator[StoredRun]:
        """Yield the other readable runs of the same machine, newest first.

        Args:
            imported: imported runs too; for an imported run, all.
        """
        machine = codec.fingerprint(run.machine)
        for row in reversed(self.list_runs()):
            fits = row.fingerprint == machine or (imported and (run.imported or row.who.startswith("import ")))
            if fits and row.id != run.id and not row.refused:
                yield self.read(row.id)

    def _row_of(self, name: str) -> Listed:
        folder = str(self.root / "runs" / name)
        try:
            run = self.read(name)
        except Refusal as refusal:
            return Listed(name, folder, "", "", "", "", "", 0, 0, 0, refused=str(refusal))
        return Listed(
            name, folder, run.title, run.who, run.started, run.machine.name, run.study.name if run.study else "",
            len(run.points), len(run.failures), len(run.remaining()), run.unread,
            fingerprint=codec.fingerprint(run.machine), benchmark=run.benchmark,
        )  # fmt: skip

    def newest(self) -> tuple[StoredRun, tuple[str, ...]]:
        """Return the last readable run, and why later ones cannot be read.

        Raises:
            Refusal: there is none.
        """
        refused: list[str] = []
        for name in reversed(self.ids()):
            try:
                return self.read(name), tuple(refused)
            except Refusal as refusal:
                refused.append(str(refusal))
        raise Refusal(refused[0]) if refused else _empty_store("last", self.root)

    def find(self, name: str, words: Sequence[str] = ("last",)) -> StoredRun:
        """Return a run by its id, a unique prefix of its id, its folder, or `last`.

        Args:
            name: what the user typed.
            words: names other than ids that the caller accepts, which the error message suggests.

        Raises:
            Refusal: none or several fit; the text names the nearest.
        """
        if "/" in name and is_file(Path(name) / "asked.json"):
            folder = Path(name).resolve()
            return Store(folder.parent.parent).read(folder.name)
        if "/" in name and is_file(Path(name)):
            hint = f"to measure a program, try octant run -- {name}; to compare two, octant compare -- ./old -- {name}"
            raise Refusal(
                f"cannot find the run {name!r} (it is a file, not the directory of a run); {hint}", Exit.WRONG_WORD
            )
        ids = self.ids()
        if not ids:
            raise _empty_store(name, self.root)
        if name == "last":
            return self.read(ids[-1])
        fitting = [name] if name in ids else [run for run in ids if run.startswith(name)]
        if len(fitting) != 1:
            what = f"{len(fitting)} run ids begin with it" if fitting else "no such run"
            hint = suggestion(name, [*(fitting or ids)[-5:], *words])
            raise Refusal(f"cannot find the run {name!r} ({what}); {hint}", Exit.WRONG_WORD)
        return self.read(fitting[0])


def _empty_store(name: str, root: Path) -> Refusal:
    what = "is empty" if root.is_dir() else "does not exist"
    return Refusal(f"cannot find the run {name!r} (the store {root} {what}); try `octant evaluate` first")


def open_store(path: Path | None = None) -> Store:
    """Return the store at `path`, or at OCTANT_STORE, or `octant-store` in the current folder."""
    return Store(path or Path(os.environ.get("OCTANT_STORE") or "octant-store"))


def recorded_environment() -> dict[str, str]:
    """Return the variables of this process that a run records."""
    return environment.recorded(os.environ)


def new_ids() -> tuple[str, str]:
    """Return the ids of two paired runs, in sorting order."""
    now = datetime.datetime.now().astimezone()
    return _new_id(now), _new_id(now + datetime.timedelta(milliseconds=1))


def _new_id(now: datetime.datetime) -> str:
    utc = now.astimezone(datetime.UTC)  # names sort by age, whatever the time zone and its summer
    milliseconds, microseconds = divmod(utc.microsecond, 1000)
    # Three digits of the token are the microseconds, so that runs of one millisecond sort by age as well.
    return f"{utc:%Y%m%d-%H%M%S}-{milliseconds:03d}-{microseconds:03x}{secrets.token_hex(8)[3:]}"


def _new_folder(runs: Path, now: datetime.datetime, name: str) -> Path:
    """Create the folder of a new run; no other process gets the same one.

    Args:
        name: the id of the run; "": one is chosen.

    Raises:
        OSError: it cannot be created; FileExistsError: another run has this id.
    """
    files.make_folder(runs)
    while True:
        folder = runs / (name or _new_id(now))
        try:
            folder.mkdir(files.FOLDER_MODE)
        except FileExistsError:
            if name:
                raise
        else:
            return folder


def append_durably(path: Path, lines: Iterable[str]) -> None:
    """Append lines and wait until they are on disk; a torn last line is ended first.

    Raises:
        Refusal: the file cannot be written.
    """
    try:
        descriptor = files.open_for_append(path)
        try:
            for line in lines:
                files.append_line(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        why = f"cannot write to {path} ({error.strerror})"
        raise Refusal(f"{why}; {remedy_for_writing(error)} and resume") from error


def _read(folder: Path) -> StoredRun:
    path = folder / "asked.json"
    size = path.stat().st_size
    if size > run_request.MAX_BYTES:
        raise Refusal(
            f"cannot read {path} ({size} bytes, more than {run_request.MAX_BYTES >> 20} MiB); move its run away"
        )
    try:
        text = path.read_bytes()
        question = format1.read_run_request(text) if format1.is_ours(text) else run_request.read_run_request(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"cannot read {path} ({error}); restore it from a copy, or move its run away") from error
    records = Records(folder / "records.jsonl", question.keys, question.started)
    points, failures = records.read_new()
    failed, repeated = separate_repeated(points, failures)
    plans, repeats, problems, torn = _read_plans(folder / "plan.jsonl", question)
    return StoredRun(
        **vars(question),
        id=folder.name,
        folder=folder,
        points=tuple(points),
        failures=failed,
        repeated=repeated,
        plans=plans,
        repeats=repeats,
        link_traffic=records.link_traffic,
        damaged=(*problems, *records.tail.damaged),
        torn=tuple(text for text in (torn, records.tail.torn) if text),
    )


def _read_plans(path: Path, question: RunRequest) -> tuple[dict[str, Planned], Repeats | None, list[str], str]:
    """Return the started launches by key, the first decision on their number, damaged lines, and a torn last line."""
    tail = Tail(path)
    requests = {request.key: request for request in question.requests}
    plans, repeats, cells = dict[str, Planned](), None, 0
    for _, text in tail.lines():
        try:
            line = run_request.read_decided(text, requests, question.keys)
            if isinstance(line, Repeats):
                repeats = repeats or line
                continue
            cells += line.launch.request.key not in requests and cell_count(line.launch.request.knobs)
            run_request.check_cells(cells)
            plans[line.launch.key] = line
        except (RecordError, ValueError) as error:
            tail.reject(str(error))
    return plans, repeats, tail.damaged, tail.torn
