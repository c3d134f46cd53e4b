"""Octant: a performance laboratory for high-performance computers."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("octant-hpc")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+source"
