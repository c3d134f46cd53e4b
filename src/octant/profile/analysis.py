"""The analysis of an MPI profile: from the arrays of a job to the results that reports and findings show."""

from __future__ import annotations

from octant.profile.results import Analysis

__all__ = ["Analysis"]
