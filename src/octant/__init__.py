"""Octant: a performance laboratory for high-performance computers."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NetworkEngine:
    """Finder of `octant._network` in the build folder, if no other finder has it; it is built on first import."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of `octant._network`, as `importlib.abc.MetaPathFinder` does.

        Raises:
            Refusal: it cannot be built.
        """
        if name != f"{__name__}._network":
            return None
        from importlib.util import spec_from_file_location  # noqa: PLC0415 - slow to load

        from octant import build  # noqa: PLC0415 - as above

        file = build.network_module()
        return spec_from_file_location(name, file) if file else None


sys.meta_path.append(_NetworkEngine)


def __getattr__(name: str) -> str:
    """Return `__version__`, looked up on demand: reading package metadata takes a fifth of the start of `octant`."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from octant.build import version  # noqa: PLC0415 - slow to load

    return version.number()
