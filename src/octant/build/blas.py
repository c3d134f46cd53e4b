"""Where the tuned BLAS is that every installation of Octant contains."""

import importlib.util
from pathlib import Path


def openblas_path() -> Path | None:
    """The library of the `scipy-openblas32` wheel (symbols carry a `scipy_` prefix), without importing it."""
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(spec.submodule_search_locations[0]).glob("lib/libscipy_openblas*.so*"), None)
