"""Traffic of an emulated link: octant-link's report of a launch, and its line of a record."""

from typing import Any

import msgspec
from msgspec import Struct

from octant.record import LinkTraffic, Natural, RecordError


class _Sent(Struct):
    bytes: Natural = 0
    packets: Natural = 0


class _Report(Struct):
    sent: list[_Sent] = []
    delay_ns: dict[str, Natural] = {}
    delayed: Natural = 0
    dropped: Natural = 0
    real_time: bool = False


class LinkLine(_Report, tag_field="kind", tag="link", kw_only=True):
    """Line of kind `link`; docs/records.md describes it."""

    launch: str
    link: str

    def read(self) -> LinkTraffic:
        """Return the record of the line."""
        sent = zip(*((one.bytes, one.packets) for one in self.sent), strict=True)
        sent_bytes, sent_packets = tuple(sent) or ((), ())
        return LinkTraffic(
            self.launch, self.link, sent_bytes, sent_packets, self.delay_ns, self.delayed, self.dropped, self.real_time
        )


def members(report: bytes) -> dict[str, Any]:
    """Return the members of a line, from the report of octant-link.

    Raises:
        RecordError: the report is invalid.
    """
    try:
        found: dict[str, Any] = msgspec.to_builtins(msgspec.json.decode(report, type=_Report))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"not a report of a link ({error})") from error
    return found
