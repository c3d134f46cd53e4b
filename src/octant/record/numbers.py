"""Lists of numbers inside a record's line, which numpy reads three times as fast as a JSON decoder."""

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from octant.record import RecordError

_NUMBERS = msgspec.json.Decoder(list[float])
_LONGEST = 18  # digits of a number that fits into 64 bits


def count_of(raw: bytes, least: int = 0) -> int:
    """Return the number of counts in a list, or 1 for a single one.

    Raises:
        RecordError: one of them is not a count, is below `least` (0 or 1), or exceeds 64 bits.
    """
    body = np.frombuffer(_list_body(raw), dtype=np.uint8)
    if not len(body):
        return 0
    ends = np.append(np.flatnonzero(body == ord(",")), len(body))
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (ends - starts).max() > _LONGEST:
        raise RecordError("a list of samples contains a number that is too large")
    if least and (body[starts] == ord("0")).any():
        raise RecordError("a sample has no duration")
    return len(starts)


def _list_body(raw: bytes) -> bytes:
    """Return the counts of a list separated by commas, or the single count. The JSON is known to be complete."""
    body = (raw[1:-1] if raw.startswith(b"[") else raw).translate(None, b" \t\r\n")
    if body.translate(None, b"0123456789,"):
        raise RecordError("a list of samples contains an invalid count")
    return body


def array_of(text: Raw, count: int | None = None) -> NDArray[np.float64] | None:
    """Return a list of counts, or `count` copies of a single number; `None` if it is absent.

    Raises:
        RecordError: as `count_of`, or their number is not `count`.
    """
    raw = bytes(text)
    if not raw:
        return None
    count_of(raw)
    body = _list_body(raw)
    values = np.fromstring(body, dtype=np.int64, sep=",").astype(np.float64) if body else np.zeros(0)
    if not raw.startswith(b"["):
        if count is None:
            raise RecordError("a list of samples is a single number")
        values = np.full(count, values[0])
    if count is not None and len(values) != count:
        raise RecordError(f"a list has {len(values)} numbers, not {count}")
    return values


def readings_of(raw: bytes) -> NDArray[np.float64]:
    """Return a list of readings, which may have any sign and fraction.

    Raises:
        RecordError: it is not a list, or a number is not finite.
    """
    try:
        return np.asarray(_NUMBERS.decode(raw), dtype=np.float64)
    except msgspec.DecodeError as error:
        raise RecordError(f"a list of readings is invalid ({error})") from error
