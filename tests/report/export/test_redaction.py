"""A report for others of a user's program: no argument that is a path or looks like a secret is in any of its texts."""

import base64
import contextlib
import csv
import datetime
import io
import json
import re
import string
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_kernel import planned
from fake_run import machine
from octant.analysis.summary import summarise
from octant.launch.execute import ProcessOutcome
from octant.launch.program import ProgramEnd
from octant.program import ProgramCheck, ProgramValue, shell_text
from octant.record import Failure
from octant.report.export import sharing, tidy
from octant.report.page import run_page
from octant.report.screen.first_screen import RunReport, first_screen
from octant.request import Presentation, Request, Subject
from octant.runs.programs.records import record_lines
from octant.store import Store, StoredRun
from octant.store.run_request import start_line

NAMES = st.sampled_from(
    ["--password", "--api-key", "--auth-token", "token", "-passwd", "--secret", "DB_PASSWORD", "--pw", "pwd", "--key"]
)
MEMBERS = st.sampled_from(["pw", "pass", "passwd", "pwd", "token", "secret", "key", "credential", "auth", "db_pw"])
SECRETS = st.text(string.ascii_letters + string.digits + "!$%&*+-.:;=?@^_~'\" äß", min_size=6, max_size=24).map(
    lambda text: f"Zq{text.strip()}9"
)
HEX = st.binary(min_size=12, max_size=32).map(lambda some: f"a1{some.hex()}")
BASE64 = st.text(string.ascii_letters + string.digits + "+/", min_size=20, max_size=60).map(lambda text: f"aB3{text}==")
PART = st.text(string.ascii_letters + string.digits + "._-+", min_size=1, max_size=12).map(lambda text: f"Zp{text}x")
PATHS = st.tuples(
    st.sampled_from(["", "/", "./", "../", "~/", "/home/jdoe/"]), st.lists(PART, min_size=2, max_size=4)
).map(lambda found: found[0] + "/".join(found[1]))
WORDS = st.sampled_from(["-n", "8", "input.nml", "--fast", "B/s", "1/2", "--keys=1000", "x=y", "a,b", "{n}", "s", "of"])


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Arguments of a command line, and the private parts of them."""
    words, secrets = ["./app"], []
    for kind in draw(st.lists(st.sampled_from("wpaoshbuijJPQUc"), min_size=1, max_size=8)):
        name, secret, path = draw(NAMES), draw(SECRETS), draw(PATHS)
        if kind == "w":
            words.append(draw(WORDS))
            continue
        new = {
            "p": [path], "a": [f"--file={path}"], "i": [f"-I{path}"], "o": [f"{name}={secret}"],
            "s": [f"--{name.lstrip('-')}", secret], "h": [draw(HEX)], "b": [draw(BASE64)],
            "u": [f"https://jane:{draw(HEX)}@example.org/x"],
            "j": [json.dumps({"n": 1, draw(MEMBERS): secret, "x": "y"})],
            "J": [json.dumps({"a": {draw(MEMBERS): ["b", secret]}}, separators=(",", ":"))],
            "P": ["-p", secret], "Q": [f"-p{secret}"], "U": ["-u", f"bob:{secret}"],
            "c": [f"a=1,{draw(MEMBERS)}={draw(HEX)};b=2"],
        }[kind]  # fmt: skip
        words += new
        if kind in "jJQUc":
            secrets.append(new[0].split("=")[2][:-3] if kind == "c" else secret)
            continue
        if kind in "osP" and secret.startswith("-"):
            continue
        secrets.append(new[-1].partition("=")[2] if kind in "ao" else new[-1])
        if kind == "u":
            secrets[-1] = new[0].split(":")[2].partition("@")[0]
    return words, secrets


def run_of(folder: Path, words: list[str], **parts: Any) -> StoredRun:
    """A run of a program with two launches, of which one failed and said all about it."""
    subject = replace(Subject(command=tuple(words), program="app", directory="/home/jdoe/my work"), **parts)
    request = Request(subject, {"n": "1,2"}, show=Presentation("app"), repeats=2)
    store = Store(folder)
    run = store.create(f"n=1,2 -- {shell_text(words)}", machine(), [request])
    filled = [word.replace("{n}", "1") for word in words]
    first, last = (replace(launch, knobs={"n": "1"}) for launch in request.launches())
    begun = datetime.datetime(2026, 11, 26, tzinfo=datetime.UTC)
    end = ProgramEnd(ProcessOutcome(0, False, 1.0, "", 0.9, 0.1, 1 << 20), folder)
    start = replace(planned(first, run.records), words=tuple(filled))
    run.records.write_text("".join(f"{line}\n" for line in record_lines(start, end, begun)))
    run.plan.write_text(start_line(start, was_asked=True) + "\n")
    reason = f"{shell_text(filled)} ended with status 1: {' '.join(filled)}, {filled!r} ({filled[-1][:-1]}…)"
    store.append(run, Failure(subject.name, last.key, {"n": "1"}, 1, reason, 1))
    return store.read(run.id)


def shared_texts(run: StoredRun, html: bool = False) -> list[str]:
    """Everything that `--share` writes, as text: JSON and CSV as their readers see it."""
    clean, summary = sharing.cleaner(run), summarise(run, {}, all_metrics=True)
    report = RunReport(summary, first_screen(summary))
    texts = list(strings(json.loads(tidy.as_json(report, clean=clean))))
    for what in ("figures", "results"):
        file = io.BytesIO()
        tidy.write(summary, "csv", what, file, clean)
        texts += [cell for row in csv.reader(io.StringIO(file.getvalue().decode())) for cell in row]
        texts += [text for cell in texts if cell.startswith("{") for text in strings(json.loads(cell))]
    return [*texts, *unpacked(run_page.render(report, clean))] if html else texts


def unpacked(text: str) -> list[str]:
    """A page and everything in it that is deflated."""
    found = [text]
    for packed in re.findall(r"[A-Za-z0-9+/]{200,}={0,2}", text):
        with contextlib.suppress(ValueError, zlib.error):
            found.append(zlib.decompress(base64.b64decode(packed)).decode())
    assert len(found) > 1
    return found


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in (*value, *value.values()) for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


@given(lines())
def test_no_secret_and_no_path_of_a_command_line_is_shared(
    tmp_path_factory: pytest.TempPathFactory, line: tuple[list[str], list[str]]
) -> None:
    words, secrets = line
    run = run_of(tmp_path_factory.mktemp("store"), words)
    texts = shared_texts(run)
    assert any("app" in text for text in texts)
    for secret in secrets:
        leaks = [text for text in texts if secret in text]
        assert not leaks, (secret, leaks)


SHORT_FORMS = [
    ["-ptopsecret4"], ["-p", "topsecret4"], ['{"token":"topsecret4"}'], ["-u", "bob:topsecret4"], ["-ubob:topsecret4"],
    ["echo", "pw=topsecret4"], ["--pwd", "topsecret4"], ["--key", "topsecret4"], ["--user=bob:topsecret4"],
    ["{'n': 1, 'auth': 'topsecret4'}"], ['{\\"pass\\": \\"topsecret4\\"}'], ["x?a=1&credential=topsecret4"],
    ['{"tokens": ["a", "topsecret4"]}'], ["sh", "-c", "mysql -u me -ptopsecret4"], ["sh", "-c", "a; pw: topsecret4"],
]  # fmt: skip


@pytest.mark.parametrize("words", SHORT_FORMS, ids=" ".join)
@pytest.mark.parametrize("place", ["command", "before", "after", "checks"])
def test_a_secret_in_another_form_is_not_shared(tmp_path: Path, place: str, words: list[str]) -> None:
    check = (ProgramCheck("command", command=tuple(words)),)
    parts = {} if place == "command" else {place: check if place == "checks" else (tuple(words),)}
    run = run_of(tmp_path, ["./app", *(words if place == "command" else [])], **parts)
    reason = f"{shell_text(words)}: status 1; {words!r}; the server refused topsecret4"
    run = replace(run, failures=(*run.failures, replace(run.failures[0], reason=reason)))
    assert [text for text in shared_texts(run) if "topsecret4" in text] == []


def test_a_folder_and_a_few_digits_are_no_password(tmp_path: Path) -> None:
    run = run_of(tmp_path, ["./app", "-p", "8", "-p4", "-p", "{n}"], before=(("mkdir", "-p", "results"),))
    hide = sharing.hider(run)
    assert hide("mkdir -p results with -p 8 -p4 -p {n}") == "mkdir -p results with -p 8 -p4 -p {n}"


PASSWORD, TOKEN, RELATIVE = "hunter2-x", "0123456789abcdef0123456789abcdef", "inputs/secret-project/a.nml"
PLANTED = {
    "environment": {"API_KEY": PASSWORD, "DATA": RELATIVE},
    "input": RELATIVE,
    "values": (ProgramValue("rate", source=RELATIVE, pattern="(.)"),),
    "checks": (
        ProgramCheck("command", command=("./verify", f"--token={TOKEN}", RELATIVE)),
        ProgramCheck("file", file=RELATIVE, reference="/srv/data/right"),
    ),
    "keep": (RELATIVE,),
    "before": (("sh", "-c", f"cp {RELATIVE} x; login --password {PASSWORD}"),),
}


@pytest.mark.parametrize("name", PLANTED)
def test_no_part_of_what_was_asked_is_shared(tmp_path: Path, name: str) -> None:
    words = ["./app", "{n}"]
    run = run_of(tmp_path, words, **{name: PLANTED[name]})
    said = f"cannot do {PLANTED[name]} with {PASSWORD * (name in ('environment', 'before'))}"
    run = replace(run, failures=(*run.failures, replace(run.failures[0], reason=said)))
    texts = shared_texts(run, html=True)
    for secret in (PASSWORD, TOKEN, RELATIVE, "/srv/data", "jdoe", "my work"):
        assert [text[:300] for text in texts if secret in text] == [], secret


def test_what_is_neither_stays(tmp_path: Path) -> None:
    words = ["./app", "input.nml", "-n", "8", "--keys=1000", "--passes=3", "--auth=none", "1/2", "GB/s", "--o=x_y"]
    run = run_of(tmp_path, words)
    clean = sharing.cleaner(run)
    assert clean(run.title) == f"n=1,2 -- (path) {' '.join(words[1:])}"
    assert clean("12 GB/s of program/app, 3 of 8 launches") == "12 GB/s of program/app, 3 of 8 launches"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("my_password=abc, n=3", "my_password=(hidden), n=3"),
        ("API_KEY: abc", "API_KEY: (hidden)"),
        ('{"pw": "abc", "n": 3}', '{"pw": "(hidden)", "n": 3}'),
        ("auth=abc; passed: 3", "auth=(hidden); passed: 3"),
        ("Authorization: Bearer abcdef12", "Authorization: Bearer (hidden)"),
        ("from ftp://me:you@host/x", "from ftp://(hidden)@host/x"),
    ],
)
def test_a_secret_that_a_program_printed_is_hidden(tmp_path: Path, text: str, shown: str) -> None:
    assert sharing.hider(run_of(tmp_path, ["./app"]))(text) == shown


def test_a_drawing_stays_whole_whatever_is_hidden(tmp_path: Path) -> None:
    clean = sharing.cleaner(run_of(tmp_path, ["./app", "--password=text", "--token=class"]))
    markup = '<text class="a text" x="1">n017 text</text>'
    assert sharing.cleaned_markup(markup, clean) == '<text class="a (hidden)" x="1">n017 (hidden)</text>'


def test_a_secret_that_was_cut_off_is_hidden(tmp_path: Path) -> None:
    hide = sharing.hider(run_of(tmp_path, ["./app", f"--password={PASSWORD}", "data/of/mine"]))
    assert hide(f"./app --password={PASSWORD[:5]}…") == "(path) --password=(hidden)…"
    assert hide("./app data/of/mi… and more…") == "(path) (path)… and more…"


def test_files_of_a_program_are_in_no_export(tmp_path: Path) -> None:
    run = run_of(tmp_path, ["./app"])
    file = io.BytesIO()
    tidy.write(summarise(run, {}), "json", "figures", file)
    assert json.loads(file.getvalue())["files"] == []
    assert not re.search("files", json.dumps(json.loads(file.getvalue())["failures"]))


def test_the_report_as_json_has_the_command_its_knobs_and_values(tmp_path: Path) -> None:
    value = ProgramValue("rate", pattern="(.)")
    run = run_of(tmp_path, ["./app", "a b", "{n}"], environment={"A": "{n}"}, values=(value,))
    summary = summarise(run, {}, all_metrics=True)
    document = json.loads(tidy.as_json(RunReport(summary, first_screen(summary))))
    (program,) = document["programs"]
    assert program["command"] == "./app 'a b' {n}"
    assert (program["knobs"], program["environment"], program["values"]) == ({"n": "1,2"}, {"A": "{n}"}, ["rate"])
    assert {figure["metric"] for figure in document["figures"]} >= {"rate", "wall time"}
    assert document["figures"][0]["knobs"] == {"n": "1"}
