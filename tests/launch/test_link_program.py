"""octant-link: hosts of their own, a stand-in for ssh that no shell reads for, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from octant.failure import Exit

pytestmark = pytest.mark.slow

RATE = ("--bits-per-s", "100000000")
DELAY = ("--delay-ns", "1000000")
SHOW = "import os, socket, sys; print(socket.gethostname(), sorted(os.sched_getaffinity(0)), sys.argv[1:], os.getcwd())"

Link = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def program(kernels: Path) -> str:
    """octant-link, where it may make what it makes."""
    path = str(kernels / "octant-link")
    skip_if_refused(path, *RATE)
    return path


@pytest.fixture(scope="module")
def delays(program: str) -> None:
    """Skip the test if a link cannot have a delay here: some systems let only root open `/dev/net/tun`."""
    skip_if_refused(program, *RATE, *DELAY)


def skip_if_refused(*words: str) -> None:
    tried = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if tried.returncode == Exit.NOT_SUPPORTED:
        pytest.skip(tried.stderr.strip())
    assert tried.returncode == 0, tried.stderr


@pytest.fixture
def link(program: str) -> Link:
    def call(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)

    return call


def ssh(program: str, host: str, *line: str) -> list[str]:
    """Start ssh like a launcher on the first host."""
    return [*RATE, "--", program, "-x", "-o", "BatchMode=yes", host, *line]


def test_the_program_runs_on_the_first_host_and_its_ssh_reaches_the_second(link: Link, program: str) -> None:
    here = link(*RATE, "--", sys.executable, "-c", SHOW, "a b")
    assert here.stdout.startswith("host1 ")
    assert f"['a b'] {Path.cwd()}" in here.stdout
    line = f"X='a  b';export X;{sys.executable} -c '{SHOW}' $X \"$X-c\" \\$X"
    there = link(*ssh(program, "host2", line))
    assert there.stdout.startswith("host2 "), there.stderr
    assert "['a  b', 'a  b-c', '$X']" in there.stdout
    if len(os.sched_getaffinity(0)) > 1:  # each has a share of the hardware threads of its own
        assert here.stdout.split("]")[0].split("[")[1] != there.stdout.split("]")[0].split("[")[1]


def test_devices_run_when_the_program_starts(link: Link, program: str) -> None:
    """UCX takes no other, and the kernel may say so a second after packets pass."""
    code = (
        "import fcntl, socket, struct; one = socket.socket(type=socket.SOCK_DGRAM); "
        'flags = fcntl.ioctl(one, 0x8913, struct.pack("16sh14x", b"link0", 0)); '
        'print(struct.unpack_from("H", flags, 16)[0] & 0x40)'
    )
    for _ in range(4):
        assert link(*RATE, "--", sys.executable, "-c", code).stdout == "64\n"
        assert link(*ssh(program, "host2", f"{sys.executable} -c '{code}'")).stdout == "64\n"


def test_a_backslash_means_what_it_means_to_a_shell(link: Link, program: str) -> None:
    show = f"{sys.executable} -c 'import sys; print(sys.argv[1:])'"
    line = r""" "a\b \$X \" \\ \n" c\d "e""" + "\\\n" + 'f" g\\\nh'
    expected = subprocess.run(["/bin/sh", "-c", show + line], capture_output=True, text=True, check=True)
    done = link(*ssh(program, "host2", show + line))
    assert done.stdout == expected.stdout, done.stderr


def test_the_profile_that_prrte_reads_for_users_of_sh_is_left_out(link: Link, program: str) -> None:
    """Recorded with PRRTE 4 for an account whose login shell is /bin/sh; for one of bash it sends the middle alone."""
    line = "( test ! -r ./.profile || . ./.profile; ONE=1;export ONE;/usr/bin/env )"
    done = link(*ssh(program, "host2", line))
    assert done.returncode == 0, done.stderr
    assert "ONE=1" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("( touch a )", "the sign ("),
        ("touch a && touch b", "the sign &"),
        ("echo `id`", "the sign `"),
        ("echo $(id)", "a $ without a name"),
        ("echo a > b", "the sign >"),
        ("echo a; echo b", "two programs"),
        ("echo 'a", "an open quote"),
        ("A=1", "no program"),
    ],
)
def test_what_only_a_shell_understands_is_refused(link: Link, program: str, line: str, why: str) -> None:
    done = link(*ssh(program, "host2", line))
    assert done.returncode == 3
    assert why in done.stderr
    assert not done.stdout


def test_a_host_that_is_not_there_is_refused(link: Link, program: str) -> None:
    done = link(*ssh(program, "host3", "hostname"))
    assert done.returncode == 2
    assert "an emulated link has host1 to host2" in done.stderr


@pytest.mark.parametrize(
    "words",
    [(), ("--bits-per-s", "fast"), (*RATE, "--hosts", "1"), (*RATE, "--hosts", "3", "--delay-ns", "5"), ("-x",)],
)
def test_words_that_cannot_be_read_are_refused(link: Link, words: tuple[str, ...]) -> None:
    done = link(*words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("octant-link: cannot ")


def test_every_pair_of_several_hosts_is_joined(link: Link, program: str, tmp_path: Path) -> None:
    listen = tmp_path / "listen.py"
    listen.write_text(
        "import socket\ns = socket.create_server(('host3', 5000))\nc, _ = s.accept()\nwhile c.recv(65536): pass\n"
    )
    talk = tmp_path / "talk.py"
    talk.write_text(
        "import socket, time\nfor _ in range(600):\n"
        "    try:\n        s = socket.create_connection(('host3', 5000)); break\n"
        "    except OSError: time.sleep(0.05)\n"
        "s.sendall(bytes(300000))\n"
    )
    code = (
        "import subprocess, sys\n"
        f"ends = [subprocess.Popen([{program!r}, host, sys.executable, path])\n"
        f"        for host, path in (('host3', {str(listen)!r}), ('host2', {str(talk)!r}))]\n"
        "sys.exit(sum(end.wait() for end in ends))\n"
    )
    report = tmp_path / "report"
    done = link(*RATE, "--hosts", "3", "--report", str(report), "--", sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    sent = [host["bytes"] for host in json.loads(report.read_text())["sent"]]
    assert sent[1] > 300000
    assert max(sent[0], sent[2]) < 50000


def test_the_end_of_the_program_is_the_end_of_all(link: Link, program: str) -> None:
    assert link(*RATE, "--", sys.executable, "-c", "raise SystemExit(7)").returncode == 7
    killed = link(*RATE, "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert killed.returncode == -signal.SIGKILL
    missing = link(*RATE, "--", "/no/such/program")
    assert missing.returncode == 1
    assert "cannot start '/no/such/program'" in missing.stderr


def test_nothing_is_left_of_a_link_that_is_killed(program: str) -> None:
    before = set(Path("/tmp").glob("octant-link-*"))  # noqa: S108 - where it writes the names of its hosts
    words = [
        program,
        *RATE,
        "--",
        sys.executable,
        "-c",
        "import os, time; print(os.getpid(), flush=True); time.sleep(60)",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        inside = int(started.stdout.readline())
        network = Path(f"/proc/{inside}/ns/net").readlink()
        assert network != Path("/proc/self/ns/net").readlink()
        started.kill()
    end = time.monotonic() + 10
    while Path(f"/proc/{inside}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{inside}").exists()
    assert set(Path("/tmp").glob("octant-link-*")) == before  # noqa: S108


@pytest.mark.usefixtures("delays")
def test_a_daemon_on_another_host_ends_with_a_link_that_is_killed(program: str) -> None:
    """The daemon has no parent, and its link disappears with the relay: nothing else would stop it."""
    daemon = "import os, time; os.fork() and os._exit(0); os.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
    code = (
        "import shlex, subprocess, sys, time\n"
        f"line = shlex.join([sys.executable, '-c', {daemon!r}])\n"
        f"subprocess.Popen([{program!r}, 'host2', line]).wait()\n"
        "time.sleep(60)"
    )
    words = [program, *RATE, *DELAY, "--", sys.executable, "-c", code]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        inside = Path(f"/proc/{int(started.stdout.readline())}")
        assert inside.exists()
        started.kill()
        end = time.monotonic() + 10
        while inside.exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert not inside.exists()


@pytest.mark.root("becomes another user")
def test_no_root_is_needed(program: str, tmp_path: Path) -> None:
    copy = Path("/tmp") / f"octant-link-test-{os.getpid()}"  # noqa: S108 - where anybody may start it
    copy.write_bytes(Path(program).read_bytes())
    copy.chmod(0o755)
    try:
        line = f"{copy} host2 /bin/sh -c 'id -u; cat /proc/sys/kernel/hostname; grep CapEff /proc/self/status'"
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(copy), *RATE, "--"]
        done = subprocess.run([*words, *line.split(" ", 2)[:2], line.split(" ", 2)[2]], capture_output=True, text=True,
                              timeout=60, check=False, cwd="/")  # fmt: skip
    finally:
        copy.unlink()
    if "no namespaces available" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.stdout.split() == ["65534", "host2", "CapEff:", "0000000000000000"], done.stderr
