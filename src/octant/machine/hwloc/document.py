"""XML documents of topologies, which are untrusted: no document types of their own, no entities."""

import re
import xml.etree.ElementTree as ET

from octant.untrusted import DEEPEST

_DOCTYPE = re.compile(r"<!DOCTYPE\s+topology\s+SYSTEM\s+\"hwloc[0-9]*\.dtd\"\s*>")


def parse_document(text: str) -> ET.Element:
    """Return the root element of a document with hwloc's document type, or with none.

    Raises:
        ValueError: it is not XML, is nested too deep, or declares another document type or entities.
    """
    body = _DOCTYPE.sub("", text, count=1)
    if "<!DOCTYPE" in body or "<!ENTITY" in body:
        raise ValueError("cannot read the topology (it declares a document type or entities); remove them")
    try:
        root = ET.fromstring(body)  # noqa: S314 (without a document type there are no entities)
    except ET.ParseError as error:
        raise ValueError(f"cannot read the topology (no XML: {error}); try 'lstopo --of xml'") from error
    level, depth = [root], 0
    while level:
        level, depth = [child for item in level for child in item], depth + 1
        if depth > DEEPEST:
            raise ValueError(f"cannot read the topology (nested deeper than {DEEPEST} levels); try 'lstopo --of xml'")
    return root
