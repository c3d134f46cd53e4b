"""A launch of a user's program: its input, folder and commands, what is kept of its output, and what survives."""

import dataclasses
import os
import pty
import shlex
import signal
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from octant.launch import Planned
from octant.launch.capture import HEAD_BYTES
from octant.launch.execute import ProcessOutcome
from octant.launch.program import Attached, ProgramEnd, matching, run_program
from octant.request import Launch, Request, Subject
from octant.runs.plan import resolve_program

MIB = 1 << 20


@dataclasses.dataclass
class Programs:
    """Runs command lines in a folder of their own, each in a scratch folder of its own."""

    root: Path

    def __post_init__(self) -> None:
        self.work = self.root / "work"
        self.work.mkdir()

    def planned(self, words: Sequence[str], timeout_s: float | None = None, **subject: Any) -> Planned:
        asked = Subject(command=tuple(words), directory=str(self.work), **subject)
        records = self.root / "records.jsonl"
        return resolve_program(Launch(Request(asked)), records, _no_placement, timeout_s, timeout_s)

    def run(self, *words: str, timeout_s: float | None = None, shown: bool = False, **subject: Any) -> ProgramEnd:
        scratch = self.root / f"scratch-{time.monotonic_ns()}"
        scratch.mkdir()
        planned = self.planned(words, timeout_s, **subject)
        return run_program(planned, scratch, lambda _: None, attached=Attached(output=shown), store=self.root / "store")

    def script(self, text: str, **options: Any) -> ProgramEnd:
        return self.run("sh", "-c", text, **options)

    def python(self, text: str, **options: Any) -> ProgramEnd:
        return self.run(sys.executable, "-c", text, **options)


@pytest.fixture
def programs(kernels: Path, tmp_path: Path) -> Programs:
    assert (kernels / "octant-bind").exists()
    return Programs(tmp_path)


def _no_placement(_text: str) -> Any:
    raise AssertionError


def output(end: ProgramEnd, name: str = "stdout") -> bytes:
    return end.outputs[name].read_bytes()


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_what_a_program_prints_is_kept_apart_and_byte_for_byte(programs: Programs) -> None:
    end = programs.script(r"printf 'a\000\377b'; printf 'no line' >&2; exit 0")
    assert (output(end), output(end, "stderr")) == (b"a\0\xffb", b"no line")
    assert (end.reason, end.cut, end.problems, end.outcome.code) == ("", (), (), 0)
    assert end.whole
    assert len(end.ranks) == 1


def test_standard_input_is_empty_unless_a_file_is_named(programs: Programs) -> None:
    (programs.work / "in put.nml").write_text("some text")
    ours, (reading, writing) = os.dup(0), os.pipe()
    os.write(writing, b"of Octant")
    os.close(writing)
    os.dup2(reading, 0)
    try:
        _check_input(programs)
    finally:
        os.dup2(ours, 0)
        for descriptor in (ours, reading):
            os.close(descriptor)


def _check_input(programs: Programs) -> None:
    assert output(programs.run("cat")) == b""
    assert output(programs.run("cat", input="in put.nml")) == b"some text"
    assert output(programs.run("cat", input=str(programs.work / "in put.nml"))) == b"some text"


@pytest.mark.parametrize("name", ["missing.nml", "folder", "pipe"])
def test_an_input_that_cannot_be_read_fails_the_launch_before_the_program(programs: Programs, name: str) -> None:
    (programs.work / "folder").mkdir()
    os.mkfifo(programs.work / "pipe")
    end = programs.script("touch started", input=name)
    assert end.reason.startswith(f"cannot read the input file {name} (")
    assert not (programs.work / "started").exists()


def test_a_gigabyte_is_read_and_its_beginning_and_end_are_kept(programs: Programs) -> None:
    end = programs.script("yes 0123456 | head -c 1073741824; echo; echo last")
    assert end.reason == ""
    kept = output(end)
    assert len(kept) <= 16 * MIB
    assert kept.startswith(b"0123456\n0123456\n")
    assert kept.endswith(b"0123456\n\nlast\n")
    (cut,) = end.cut
    left_out = 1073741824 + 6 - (len(kept) - len(kept.splitlines(keepends=True)[HEAD_BYTES // 8]) - 1)
    assert cut == f"{left_out:,} of 1,073,741,830 bytes of stdout were omitted"
    marker = kept[HEAD_BYTES - 1 :].splitlines()[1]
    assert marker == f"[octant: {left_out} bytes of stdout are omitted here]".encode()


def test_output_without_line_ends_is_cut_at_a_byte(programs: Programs) -> None:
    end = programs.script(f"head -c {20 * MIB} /dev/zero")
    assert len(output(end)) <= 16 * MIB
    assert end.cut


def test_a_program_that_closes_or_passes_on_its_output_delays_no_other(programs: Programs) -> None:
    end = programs.script("echo one; exec >&- 2>&-; sleep 0.2; exit 0")
    assert (output(end), end.reason) == (b"one\n", "")
    begun_s = time.monotonic()
    end = programs.script("setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 0.3; echo two")
    assert time.monotonic() - begun_s < 60
    assert output(end) == b"two\n"
    assert not alive(int((programs.work / "pid").read_text()))
    assert any("sleep" in text and text.startswith("processes were still running") for text in end.problems)


def test_a_daemon_that_ignores_sigterm_is_ended(programs: Programs) -> None:
    daemon = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        open("pid", "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists("pid") or not open("pid").read():
    time.sleep(0.01)
"""
    end = programs.python(daemon)
    assert end.reason == ""
    assert not alive(int((programs.work / "pid").read_text()))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exit 3", "sh exited with status 3"),
        ("kill -SEGV $$", "sh killed by SIGSEGV"),
        ("kill -KILL $$", "sh killed by SIGKILL (possibly out of memory)"),
    ],
)
def test_a_program_that_fails_says_how_and_keeps_what_it_printed(programs: Programs, text: str, reason: str) -> None:
    end = programs.script(f"echo before; {text}")
    assert end.reason == reason
    assert output(end) == b"before\n"
    assert programs.script("exit 3", statuses=(0, 3)).reason == ""
    assert programs.script("exit 3", statuses=(4,)).reason == "sh exited with status 3"


def test_a_program_that_is_missing_or_no_program_is_named(programs: Programs) -> None:
    assert programs.run("./missing").reason == "./missing cannot be started (No such file or directory); " + (
        "check its path and mode"
    )
    (programs.work / "text").write_text("")
    assert programs.run("./text", statuses=(0, 126)).reason.startswith("./text cannot be started (Permission denied)")


def test_a_hang_ends_with_the_time_limit_and_everything_that_it_started(programs: Programs) -> None:
    end = programs.script("trap '' TERM; echo $$ > pid; sleep 600 & echo $! > child; wait; sleep 600", timeout_s=0.5)
    assert end.outcome.timed_out
    assert end.reason.startswith("sh timed out after 0.5 s")
    assert not any(alive(int((programs.work / name).read_text())) for name in ("pid", "child"))


def test_ctrl_c_ends_the_program(programs: Programs) -> None:
    def stop(_elapsed_s: float) -> None:
        if (programs.work / "pid").exists():
            raise KeyboardInterrupt

    (scratch := programs.root / "scratch").mkdir()
    with pytest.raises(KeyboardInterrupt):
        run_program(programs.planned(["sh", "-c", "echo $$ > pid; sleep 600"]), scratch, stop)
    assert not alive(int((programs.work / "pid").read_text()))


def test_what_is_measured_is_of_the_program_alone(programs: Programs) -> None:
    """Peak memory survives exec, so that of a Python process that forks must not be that of the program."""
    end = programs.run("true")
    assert end.whole
    assert end.outcome.seconds == end.whole.wall_s
    assert end.outcome.memory_bytes == end.whole.memory_bytes < 8 * MIB


def test_each_launch_works_in_a_copy(programs: Programs) -> None:
    work = programs.work
    (work / "deep").mkdir()
    (work / "deep" / "input").write_text("text")
    (work / "deep" / "input").chmod(0o640)
    (work / "link").symlink_to(work / "deep" / "input")
    (work / "outside").symlink_to("/etc")
    script = "#!/bin/sh\ncat link; echo changed > link; touch new; pwd; echo $PWD\nls outside/passwd"
    (work / "script").write_text(script)
    (work / "script").chmod(0o755)
    end = programs.run("./script", fresh=True)
    lines = output(end).decode().splitlines()
    assert lines == [f"text{end.folder}", str(end.folder), "outside/passwd"]
    assert (end.folder / "deep" / "input").read_text() == "changed\n"
    assert (end.folder / "deep" / "input").stat().st_mode & 0o777 == 0o640
    assert (work / "deep" / "input").read_text() == "text"
    assert not (work / "new").exists()
    assert programs.run("ls", fresh=True, input="deep/input").reason == ""


def test_commands_around_a_launch_run_without_a_shell_and_are_not_timed(programs: Programs) -> None:
    script = 'cat "$OCTANT_LAUNCH/stdout" "$OCTANT_LAUNCH/stderr" > seen'
    end = programs.script(
        "cat made; echo error >&2; rm made",
        before=(("sleep", "0.2"), ("cp", "/etc/hostname", "made")),
        after=(("sh", "-c", script), ("touch", "$HOME")),
    )
    assert end.reason == ""
    assert output(end) == Path("/etc/hostname").read_bytes()
    assert (programs.work / "seen").read_bytes() == output(end) + b"error\n"
    assert (programs.work / "$HOME").exists()
    assert end.outcome.seconds < 0.2


def test_a_command_before_that_fails_fails_the_launch_and_one_after_is_a_problem(programs: Programs) -> None:
    bad = ("sh", "-c", "echo why >&2; exit 2")
    end = programs.script("touch started", before=(bad,), after=(("touch", "after"),))
    assert end.reason == f"the command `{shlex.join(bad)}` before the launch exited with status 2"
    assert output(end, "stderr") == b"why\n"
    assert not (programs.work / "started").exists()
    assert not (programs.work / "after").exists()
    end = programs.script("touch started", after=(bad,))
    assert end.reason == ""
    assert [text.rpartition("after the launch ")[2] for text in end.failed_after] == ["exited with status 2"]
    end = programs.script("exit 1", after=(("touch", "after"),))
    assert end.reason == "sh exited with status 1"
    assert (programs.work / "after").exists()


def test_a_command_around_a_launch_that_hangs_is_ended(programs: Programs) -> None:
    end = programs.script("touch started", before=(("sh", "-c", "echo $$ > pid; sleep 600"),), timeout_s=0.3)
    assert "timed out after 0.3 s" in end.reason
    assert not alive(int((programs.work / "pid").read_text()))


def test_files_that_the_user_asked_for_are_found(programs: Programs) -> None:
    work = programs.work
    (work / "stale.dat").write_text("of an earlier launch")
    (work / "old.dat").write_text("old")
    (work / "secret").mkdir()
    keep = ("*.dat", "out/**/*.log", "../records.jsonl", "none-*")
    end = programs.script(
        "echo new > old.dat; mkdir -p out/a; echo 1 > out/a/x.log; echo 2 > out/y.log;"
        "ln -s /etc/passwd out.dat; ln -s old.dat inner.dat",
        keep=keep,
    )
    found = {one.place: (one.path.name, one.left_out) for one in end.found}
    assert found == {
        "stale.dat": ("stale.dat", "the launch did not change it"),
        "old.dat": ("old.dat", ""),
        "out.dat": ("passwd", "it is a link to a file outside the working directory"),
        "inner.dat": ("old.dat", ""),
        "out/a/x.log": ("x.log", ""),
        "out/y.log": ("y.log", ""),
        "../records.jsonl": ("missing", "no such file after the launch"),
        "none-*": ("missing", "no such file after the launch"),
    }


def test_of_thousands_of_files_all_are_counted(programs: Programs) -> None:
    text = "for number in range(3000): open(f'f{number}', 'w').close()"
    end = programs.python(text, keep=("f*",))
    assert len(end.found) == 3000
    assert not any(one.left_out for one in end.found)


def test_patterns_follow_no_link_and_match_as_in_a_shell(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/1.txt", "a/b/2.txt", ".hidden", "a/[x]"):
        (tmp_path / name).touch()
    (tmp_path / "loop").symlink_to(tmp_path)
    patterns = ("*", "**", "**/*.txt", "a/*.txt", ".h*", "loop/*", "/etc/*")
    found = {one: list(matching(tmp_path, one)) for one in patterns}
    assert found == {
        "*": ["loop"],
        "**": ["loop", "a/1.txt", "a/[x]", "a/b/2.txt"],
        "**/*.txt": ["a/1.txt", "a/b/2.txt"],
        "a/*.txt": ["a/1.txt"],
        ".h*": [".hidden"],
        "loop/*": [],
        "/etc/*": [],
    }


def test_output_is_passed_through_as_it_comes(
    programs: Programs, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("stdout", "stderr"), 1):
        monkeypatch.setattr(sys, name, os.fdopen(number, "w", closefd=False))
    end = programs.script(r"printf 'out\377'; printf err >&2", shown=True)
    assert capfdbinary.readouterr() == (b"out\xff", b"err")
    assert (output(end), output(end, "stderr")) == (b"out\xff", b"err")


def test_a_program_cannot_change_the_settings_of_our_terminal(programs: Programs) -> None:
    text = """
import os, sys, termios
for name in (0, 1, 2, "/dev/tty"):
    try:
        fd = os.open(name, os.O_RDWR) if isinstance(name, str) else name
        settings = termios.tcgetattr(fd)
        settings[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(fd, termios.TCSANOW, settings)
        print(name, "changed")
    except (OSError, termios.error):
        pass
print("done")
"""
    pid, terminal = pty.fork()
    if pid == 0:
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        os._exit(programs.python(text, shown=True).outcome.code)
    before = termios.tcgetattr(terminal)
    printed = _read_all(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert printed == b"done\r\n"
    assert before == _settings_after(terminal, before)
    os.close(terminal)


def _read_all(terminal: int) -> bytes:
    found = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            return found
        if not data:
            return found
        found += data


def _settings_after(terminal: int, before: list[Any]) -> list[Any]:
    try:
        return termios.tcgetattr(terminal)
    except termios.error:
        return before


def test_a_fake_start_is_given_what_was_planned(programs: Programs) -> None:
    seen: list[object] = []

    def start(
        words: Sequence[str], _variables: object, timeout_s: float, observe: Callable[[float], None]
    ) -> ProcessOutcome:
        seen.extend((tuple(words), timeout_s))
        observe(0.0)
        return ProcessOutcome(-signal.SIGBUS, False, 0.5, "")

    planned = programs.planned(["./x"], 7.0)
    (scratch := programs.root / "scratch").mkdir()
    assert run_program(planned, scratch, lambda _: None, start).reason == "./x killed by SIGBUS"
    assert seen == [planned.words, 7.0]
