"""Lines of records, of both formats; a line without a checksum gets the right one, so that changes get behind it."""

from fuzz_targets import sealed
from octant.record import Failure, Point, RecordError
from octant.record.lines import Reader
from paths import DATA

FORMAT = "json"
REFUSES = (RecordError,)
_POINT = (
    b'{"format":2,"kind":"point","workload":"node/stream","launch":"node/stream-1-0","knobs":{"n":"64"},'
    b'"shape":{"ranks":4,"threads":1,"groups":[[0,1],[2,3]]},"pace":"steps","warmup":1,"stopped_by":"samples",'
    b'"work":[{"group":0,"lanes":2,"batch":2,"counts":{"bytes_read":100},"by_rank":{"x":[1,2]}}],'
    b'"marks":{"off":[[0,2],[1,3,1]]},"coalesced":2,"sync":{"method":"clock","exit_skew_ns":[-3,4]},'
    b'"series":[{"name":"step","rank":0,"gap_ns":5,"ns":[10,11,12],"preempted":[2],"clock_hz":[3000,5000]},'
    b'{"name":"phase/pack","rank":0,"ns":[1,2,3],"entries":6},'
    b'{"name":"reading/residual","unit":"1","values":[0.1,-1e-9]}],'
    b'"reduced":[{"name":"step","ranks":[[0,3,30,9,12]],"sketch":{"count":3,"bins":[[800,[1,2]]]},'
    b'"slowest_ns":[10,11,12],"blocks_ns":[33],"worst":[[12,0,2]]}],'
    b'"results":[{"name":"wrong","value":0,"bound":0},{"name":"iterations","value":null}],'
    b'"given":[{"host":"a","cpus":[0],"thread_masks":[[0,1]],"buffers":[{"bytes":8,"resident_bytes":8,"huge_bytes":0,'
    b'"page_bytes":4096,"pages_on_node":{"0":1}}],"scheduling":{"policy":"other","nice":0}}],'
    b'"lost":[{"rank":0,"wall_ns":[5],"cpu_ns":[4],"wait_ns":[1],"stolen_ns":null}],'
    b'"noise":{"during":{"time_s":1.0}},"notes":{"a":"b"},"files":[{"path":"x"}]}'
)
_OTHERS = (
    b'{"format":2,"kind":"launch","launch":"node/stream-1-0","mpi":"MPICH","build":{"a":1},"clock":{"source":"tsc",'
    b'"cost_ns":1.5},"hosts":["a"],"started":"2026-11-21T21:45:31Z","init_s":0.1,"settings":{"x":["1","one"]}}\n'
    b'{"format":2,"kind":"failure","workload":"node/stream","launch":"node/stream-1-0","knobs":{},"ranks":1,"reason":"no",'
    b'"exit":3,"progress":{"share":0.5,"phase":"x"}}'
)
SEEDS = [
    _POINT,
    _OTHERS + b"\n" + _POINT,
    *(
        line
        for path in sorted(DATA.glob("store-format-1/runs/*/records.jsonl"))
        for line in path.read_bytes().splitlines()
    ),
]


def read(data: bytes) -> None:
    """Records, with their samples."""
    reader, refused = Reader("2026-11-21T21:45:31Z"), None
    for line in data.split(b"\n"):
        try:
            record = reader.read(sealed(line))
            if isinstance(record, Point):
                record.read()
                _ = record.passed, record.clock_hz, record.count("bytes_read")
            else:
                assert record is None or isinstance(record, Failure)
        except RecordError as error:  # the store says which line it was, and goes on
            refused = refused or error
    if refused:
        raise refused
