"""Emulated links as data: what may be asked, what is planned for each library, and what a record says of one."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import KIB, fake_run, lane, machine, point, stored, write_run
from fake_study import programs
from octant.analysis.compare import compare
from octant.analysis.figures import figure, known_limits
from octant.analysis.names import short_name
from octant.analysis.summary import summarise
from octant.benchmarks.messages import requests as mpi_patterns
from octant.failure import Exit, Refusal
from octant.launch import link as links
from octant.launch.link import Link, parse_link
from octant.launchers import JobSize
from octant.launchers.mpiexec import options
from octant.record import LinkTraffic, Point, Process, RecordError
from octant.record.lines import Reader
from octant.record.writer import link_line
from octant.report.claims import link_text
from octant.report.tables.table import table
from octant.report.tables.text import lines
from octant.request import Launch, Request, Shape, Subject
from octant.runs import plan
from octant.runs.command_line import LaunchTarget
from octant.simulate.timestep import measured_step
from octant.store import run_request
from octant.workloads import workload
from reports import report_of

RATES = st.integers(1, 9999).flatmap(lambda n: st.sampled_from([n * 10**4, n * 10**5, n * 10**6]))


@given(RATES, st.integers(0, 10**6), st.integers(2, 16))
def test_the_text_of_a_link_reads_back(bits_per_s: int, delay_us: int, hosts: int) -> None:
    link = Link(min(bits_per_s, 10**10), delay_us * 1e-6, 2 if delay_us else hosts)
    again = parse_link(str(link))
    assert (again.bits_per_s, again.hosts) == (link.bits_per_s, link.hosts)
    assert again.delay_s == pytest.approx(link.delay_s, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fast", "as a rate"),
        ("100", "as a rate"),
        ("1.5bit/s", "not an integer number of bits"),
        ("1bit/s", "the rate 1.* is not between"),
        ("100Gbit/s", "the rate 1.* is not between"),
        ("100Mbit/s,delay", "of a link"),
        ("100Mbit/s,delay=1ms,delay=2ms", "of a link"),
        ("100Mbit/s,delay=2min", "the delay 2min is not between"),
        ("100Mbit/s,hosts=1", "2 to 16 hosts"),
        ("100Mbit/s,hosts=3,delay=1ms", "two hosts"),
        ("100Mbit/s,rate=3", "of a link"),
    ],
)
def test_what_is_no_link_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(Refusal, match=why) as refused:
        links.read_link(text)
    assert refused.value.code == Exit.WRONG_WORD


def test_a_full_packet_of_tcp_has_1448_bytes_of_payload_in_1514() -> None:
    assert links.payload_share() == pytest.approx(1448 / 1514)
    assert Link(10**8).payload_bytes_per_s * 8 == pytest.approx(95.64e6, rel=1e-4)


def test_each_library_is_configured_to_use_the_stand_in_and_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(tmp_path, monkeypatch, ("mpi/p2p", "link"))
    size = links.job_size(Link(10**8), JobSize(4, None, 1, (), ("A",)))
    agent = str(tmp_path / "octant-link")
    for flavour in ("mpich", "intelmpi"):
        words = options(flavour, size)
        at = words.index("-launcher")
        assert words[at : at + 4] == ["-launcher", "ssh", "-launcher-exec", agent]
        assert words[words.index("-hosts") : words.index("-hosts") + 4] == ["-hosts", "host1,host2", "-ppn", "2"]
    assert "host1:2,host2:2" in options("openmpi", size)
    found = links.environment(Link(10**8), {})
    assert found["PRTE_MCA_plm_ssh_agent"] == found["OMPI_MCA_plm_rsh_agent"] == agent
    assert found["OCTANT_LINK"] == "100Mbit/s"
    words = links.wrapped(["mpiexec", "x"], Link(10**8, 1e-3), tmp_path / "report")
    assert words[:1] + words[-3:] == [agent, "--", "mpiexec", "x"]
    assert "1000000" in words


def test_what_does_not_go_with_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path, monkeypatch, ("mpi/p2p", "bind", "link"))
    monkeypatch.setattr(links, "why_not", lambda _link: "")

    def refusal(mpi: dict[str, str] | None = None, **shape: Any) -> str:
        request = Request(Subject("mpi/p2p"), {}, Shape(**{"ranks": 2, "link": "100Mbit/s", **shape}), mpi or {})
        with pytest.raises(Refusal) as refused:
            plan.check_startable(request, machine())
        assert refused.value.code == Exit.WRONG_WORD
        return str(refused.value)

    assert "3 is not a multiple of 2" in refusal(ranks=3)
    assert "a placement" in refusal(place="2x1")
    assert "the launcher srun" in refusal(launcher="srun")
    assert "between real hosts" in refusal(hosts=("a", "b"))
    assert "the emulated link sets it" in refusal({"UCX_TLS": "posix"})
    monkeypatch.setattr(links, "why_not", lambda _link: "cannot emulate a link (no veth); try another kernel")
    with pytest.raises(Refusal, match="no veth") as refused:
        plan.check_startable(Request(Subject("mpi/p2p"), {}, Shape(2, link="100Mbit/s")), machine())
    assert refused.value.code == Exit.NOT_SUPPORTED


def test_a_link_makes_another_question_and_none_leaves_the_old_key() -> None:
    request = Request(Subject("mpi/p2p"), {"bytes": "8"}, Shape(2))
    linked = dataclasses.replace(request, shape=Shape(2, link="100Mbit/s"))
    assert request.key == "mpi-p2p-bc2b5fbbf1"
    assert linked.key != request.key
    question = fake_run().requests[0]
    over = dataclasses.replace(question, shape=dataclasses.replace(question.shape, link="100Mbit/s"))
    run = dataclasses.replace(fake_run(), requests=(over,), order=())
    read = run_request.read_run_request(run_request.run_request_text(run).encode())
    assert read.requests[0].shape.link == "100Mbit/s"


REPORT = b'{"sent":[{"bytes":10,"packets":2},{"bytes":20,"packets":3}],"real_time":true,"dropped":1,"delayed":5,\
"delay_ns":{"least":1,"median":1050000}}'


def test_what_crossed_is_read_back_from_its_line() -> None:
    reader = Reader()
    assert reader.read(link_line("pingpong-0", "100Mbit/s,delay=1ms", REPORT).encode()) is None
    assert reader.link_traffic == {
        "pingpong-0": LinkTraffic(
            "pingpong-0", "100Mbit/s,delay=1ms", (10, 20), (2, 3), {"least": 1, "median": 1050000}, 5, 1, True
        )
    }


@pytest.mark.parametrize("report", [b"", b"{", b'{"sent":[{"bytes":-1}]}', b"\xff"])
def test_a_report_that_cannot_be_read_is_refused(report: bytes) -> None:
    with pytest.raises(RecordError, match="not a report of a link"):
        link_line("a-0", "100Mbit/s", report)


def message(link: str, ns: int = 1000, launch: str = "mpi-p2p-0") -> Point:
    return point(
        workload="mpi/p2p", launch=launch, ranks=2,
        knobs={"pattern": "pingpong", "bytes": "65536", "buffers": "rotating"},
        counts={"messages": 2, "turns": 2, "bytes_sent": 128 * KIB}, pace="steps", given=(), results=(),
        lanes=(lane([ns] * 12),), process=Process(link=link, started="2026-11-21T21:45:31Z"),
    )  # fmt: skip


def test_a_figure_over_a_link_says_so_and_is_no_figure_of_the_machine() -> None:
    local, linked = (figure(workload("mpi/p2p"), [message(link)]) for link in ("", "100Mbit/s"))
    assert short_name(linked).endswith(" link")
    assert "emulated link 100Mbit/s" in linked.name
    assert "link" not in short_name(local) + local.name
    assert local.identity.same_quantity != linked.identity.same_quantity
    assert [one.kind for one in linked.caveats if one.kind == "emulated link"]
    assert known_limits([(local, {"memory traffic": ""})], machine()).by_name
    assert not known_limits([(linked, {"memory traffic": ""})], machine()).by_name


def test_the_page_says_below_its_table_what_a_link_is() -> None:
    linked = figure(workload("mpi/p2p"), [message("100Mbit/s")])
    local = figure(workload("mpi/p2p"), [message("")])
    found = table([linked, local], {id(linked): 0, id(local): 1})
    assert ("link", link_text("100Mbit/s")) in found.footnotes
    assert not [letter for letter, _ in table([local], {id(local): 0}).footnotes if letter == "link"]


def test_patterns_over_a_link_have_one_rank_on_each_host() -> None:
    with pytest.raises(Refusal, match="cannot measure 4 ranks on 2 hosts"):
        mpi_patterns.requests(["pingpong"], 4, where=LaunchTarget(link="100Mbit/s"))


def test_runs_with_and_without_a_link_have_no_figure_in_common(tmp_path: Path) -> None:
    runs = []
    for number, link in enumerate(("", "100Mbit/s")):
        launch = Launch(Request(Subject("mpi/p2p"), {"bytes": "65536"}, Shape(2, link=link)))
        run = stored([launch], [message(link, launch=launch.key)])
        runs.append(write_run(run, tmp_path / str(number)))
    text = " ".join(" ".join(map(str, lines(report_of(summarise(runs[1]))))).split())
    assert "emulated link: all hosts are on this machine, connected at 100Mbit/s; no real network" in text
    assert not compare(summarise(runs[0]), summarise(runs[1])).verdicts
    with pytest.raises(Refusal, match="over an emulated link"):
        measured_step(runs[1], "mpi/p2p", 1)
