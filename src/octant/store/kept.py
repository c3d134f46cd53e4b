"""Files that launches leave in a run's folder: stored before the record that names them, read only if unchanged.

    STORE/runs/ID/files/LAUNCH.TOKEN/PLACE.RANK.NAME

The harness stores the files of kernels (`Context::keep`), this module those of programs. TOKEN is random and its
folder is created exclusively, so that the files of two attempts of a launch are never mixed. A store may be anybody's:
no part of a path is followed if it is a link.
"""

import contextlib
import os
import re
import secrets
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from octant.launch.copies import remove_tree
from octant.launch.program import MatchedFile
from octant.record import KEPT_NAME, KEPT_PATH, KeptFile, RecordError
from octant.store.files import FILE_MODE, FOLDER_MODE

FOLDER = "files"
"""In the folder of a run."""
VARIABLE = "OCTANT_KEEP"
"""Names the folder into which a program puts the files that are to be kept."""
MAX_FILE_BYTES = 16 << 20
MAX_LAUNCH_BYTES = 64 << 20
PROFILE = "profile"
"""Kind and name of the file with the profile of the MPI calls of a launch."""
MAX_PROFILE_BYTES = 1 << 30
MAX_FILES = 256
"""Of a launch; what a program leaves beyond them is counted, not listed."""
_KIND = "output"
_ATTEMPT = re.compile(rf"{KEPT_NAME}\.[0-9a-f]{{16}}")
_STORED = re.compile(rb'"stored":"([A-Za-z0-9._-]{1,200})/')
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not hold us up
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_kept(run: Path, file: KeptFile) -> bytes:
    """Return the content of a file of the run in this folder.

    Raises:
        RecordError: the file was not stored, is missing, a link or damaged; the message names the file.
    """
    if not file.stored:
        raise RecordError(f"the file {file.name} of rank {file.rank} was not stored ({file.left_out})")
    name = f"the file {file.name} of rank {file.rank} ({FOLDER}/{file.stored})"
    if not re.fullmatch(KEPT_PATH, file.stored) or file.bytes > _most_bytes(file.kind):
        raise RecordError(f"{name} has no path or size of a stored file")
    try:
        with contextlib.ExitStack() as stack:
            folder = _opened(stack, str(run), _READ_FOLDER & ~os.O_NOFOLLOW)  # the user names the run, by any path
            *folders, last = FOLDER, *file.stored.split("/")
            for part in folders:
                folder = _opened(stack, part, _READ_FOLDER, folder)
            content = _read_plain(_opened(stack, last, _READ_FILE, folder), file.bytes)
    except OSError as error:
        raise RecordError(f"{name} cannot be read ({error.strerror})") from error
    if content is None:
        raise RecordError(f"{name} cannot be read (not a regular file)")
    if len(content) != file.bytes:
        raise RecordError(f"{name} is damaged: it does not have {file.bytes} bytes")
    if f"{zlib.crc32(content):08x}" != file.crc:
        raise RecordError(f"{name} is damaged: its checksum differs")
    return content


def _most_bytes(kind: str) -> int:
    return MAX_PROFILE_BYTES if kind == PROFILE else MAX_FILE_BYTES


@contextlib.contextmanager
def offered_folder(records: Path) -> Iterator[Path]:
    """Yield an empty folder next to the records, into which a program writes files; it is removed at the end.

    `progress.remove_leftovers` removes the folder of a process that was killed, by its name.

    Raises:
        OSError: the folder cannot be made.
    """
    folder = records.with_name(f"{records.name}.scratch-keep-{secrets.token_hex(8)}").absolute()
    folder.mkdir(FOLDER_MODE)
    try:
        yield folder
    finally:
        remove_tree(folder)


def store_files(run: Path, launch: str, source: Path) -> tuple[KeptFile, ...]:
    """Store the files in the folder `source` in the run's folder, durably; a file that cannot be stored has a reason.

    Args:
        run: folder of the run.
        launch: key of the launch that left the files.
        source: files of a program; folders, links and devices are skipped.
    """
    return store_outputs(run, launch, {}, (), source)


def store_outputs(
    run: Path,
    launch: str,
    outputs: Mapping[str, Path],
    found: Iterable[MatchedFile] = (),
    offered: Path | None = None,
    profile: Path | None = None,
) -> tuple[KeptFile, ...]:
    """Store the output of a program and the requested files, as `store_files` does.

    A stream to which nothing was written is not stored. The name of a file in a folder is its path, with `_` for `/`.

    Args:
        outputs: files with what it printed, by the names under which they are stored.
        found: requested files.
        offered: the folder into which the program may have put further files; `None`: they are not stored.
        profile: file with the profile of the MPI calls; `None`: there is none.

    Raises:
        OSError: what a program printed cannot be read, or the folder of its files is not safely on the disk.
    """
    wanted = [(path, name, "") for name, path in outputs.items() if path.stat().st_size]
    wanted += [(one.path, one.place.replace("/", "_"), one.left_out) for one in found]
    if offered is not None:
        wanted += [(offered / name, name, "") for name in _names(offered)]
    stored: list[KeptFile] = []
    taken = set[str]()
    with contextlib.ExitStack() as stack:
        writer = _Writer(run, launch, stack)
        if profile is not None:
            taken.add(PROFILE)
            stored.append(writer.store(profile, PROFILE, PROFILE))
        for path, name, why in wanted[:MAX_FILES]:
            other = f"another file of the launch is stored as {_plain(name, 64)}" if name in taken else ""
            taken.add(name)
            if why or other:
                stored.append(KeptFile(_plain(name, 64), _KIND, 0, left_out=why or other))
            else:
                stored.append(writer.store(path, name))
        writer.finish()
    return (*stored, *_further(len(wanted)))


def remove_unnamed(run: Path) -> None:
    """Remove the folders of files that no record of the run in this folder names: their launch was killed as it wrote.

    A name in a damaged line counts, too. The caller holds the lock of the run.
    """
    folders = [name for name in _names(run / FOLDER) if _ATTEMPT.fullmatch(name)]
    if not folders:
        return
    named = set[str]()
    with contextlib.suppress(FileNotFoundError), (run / "records.jsonl").open("rb") as file:
        for line in file:
            named.update(found.decode() for found in _STORED.findall(line))
    for name in folders:
        if name not in named and not (run / FOLDER).is_symlink():
            remove_tree(run / FOLDER / name)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names
    except OSError:  # the program removed it
        return []


def _further(count: int) -> tuple[KeptFile, ...]:
    """Return an entry for the files that exceed the limit of a launch."""
    more = count - MAX_FILES
    why = f"{more} files beyond {MAX_FILES} of a launch"
    return (KeptFile("further-files", _KIND, 0, left_out=why),) if more > 0 else ()


class _Writer:
    """Writes the files of one launch of a program."""

    def __init__(self, run: Path, launch: str, stack: contextlib.ExitStack) -> None:
        self._run, self._stack = run, stack
        self._attempt = f"{_plain(launch, 80)}.{secrets.token_hex(8)}"
        self._folder = -1  # opened with the first file
        self._above: list[int] = []  # folders above it in which something is new
        self._bytes = 0

    def store(self, path: Path, name: str, kind: str = _KIND) -> KeptFile:
        """Store one file under this name; what prevents this is in its `left_out`."""
        shown = _plain(name, 64)
        size = 0
        try:
            with contextlib.ExitStack() as stack:
                opened = _opened(stack, str(path), _READ_FILE)
                size = os.fstat(opened).st_size
                most = _most_bytes(kind)
                content = _read_plain(opened, most if kind == PROFILE else min(most, MAX_LAUNCH_BYTES - self._bytes))
            if why := self._refused(name, content, size, kind):
                return KeptFile(shown, kind, size, left_out=why)
            assert content is not None  # noqa: S101 - see `_refused`
            stored = self._write(f"0.0.{name}", content)
        except OSError as error:
            return KeptFile(shown, kind, size, left_out=error.strerror or "cannot be read or written")
        self._bytes += 0 if kind == PROFILE else len(content)
        return KeptFile(name, kind, len(content), crc=f"{zlib.crc32(content):08x}", stored=stored)

    def _refused(self, name: str, content: bytes | None, size: int, kind: str) -> str:
        """Why a file is not stored; empty: it is."""
        if content is None:
            return "not a regular file"
        if not re.fullmatch(KEPT_NAME, name) or len(name) > 64:
            return "invalid name; use at most 64 letters, digits and . _ -, beginning with a letter or digit"
        if size > _most_bytes(kind) or len(content) > _most_bytes(kind):
            return f"larger than {_most_bytes(kind) >> 20} MiB"
        if kind != PROFILE and len(content) > MAX_LAUNCH_BYTES - self._bytes:
            return f"more than {MAX_LAUNCH_BYTES >> 20} MiB of all files of a launch"
        return ""

    def _write(self, name: str, content: bytes) -> str:
        if self._folder < 0:
            self._folder = self._made()
        descriptor = os.open(name, _NEW_FILE, FILE_MODE, dir_fd=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            os.unlink(name, dir_fd=self._folder)
            raise
        return f"{self._attempt}/{name}"

    def finish(self) -> None:
        """Have the folders on the disk, too: a record must not survive a power cut that they do not survive.

        Raises:
            OSError: the disk refuses it.
        """
        for folder in (self._folder, *self._above) if self._folder >= 0 else ():
            os.fsync(folder)

    def _made(self) -> int:
        run = _opened(self._stack, str(self._run), _READ_FOLDER & ~os.O_NOFOLLOW)
        with contextlib.suppress(FileExistsError):
            os.mkdir(FOLDER, FOLDER_MODE, dir_fd=run)
            self._above.append(run)
        every = _opened(self._stack, FOLDER, _READ_FOLDER, run)
        os.mkdir(self._attempt, FOLDER_MODE, dir_fd=every)
        self._above.append(every)
        return _opened(self._stack, self._attempt, _READ_FOLDER, every)


def _opened(stack: contextlib.ExitStack, name: str, flags: int, folder: int | None = None) -> int:
    descriptor = os.open(name, flags, dir_fd=folder)
    stack.callback(os.close, descriptor)
    return descriptor


def _read_plain(descriptor: int, most: int) -> bytes | None:
    """Return at most `most` bytes of an open file and one more; `None`: it is no plain file."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(most + 1)


def _plain(text: str, most: int) -> str:
    """Return a name with nothing but letters, digits and `. _ -`, which begins with a letter or digit."""
    plain = _UNSAFE.sub("_", text)[:most]
    return plain if plain[:1].isalnum() else f"L{plain[1:]}"
