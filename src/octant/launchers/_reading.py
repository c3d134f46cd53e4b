"""The values of the roles `write` and `read`."""

from dataclasses import dataclass

from octant.placement import Placement
from octant.placement.request import PlacementRequest


@dataclass(frozen=True)
class Syntax:
    """Lines that request a placement from a launcher. `exact`: they give exactly the masks that Octant planned."""

    lines: tuple[str, ...]
    exact: bool
    cannot: tuple[str, ...] = ()  # plain statements of what this launcher cannot express
    files: tuple[tuple[str, str], ...] = ()  # (name, content) of files that the lines mention


@dataclass(frozen=True)
class LauncherReading:
    """What a launcher's lines would do: the equivalent request, the placement, and what may be unexpected."""

    request: PlacementRequest
    placement: Placement
    remarks: tuple[str, ...] = ()
