"""The variables of an environment that a run may record: those that change what is measured, and never a credential."""

import re
from collections.abc import Mapping

_FAMILIES = (
    "OMP_", "KMP_", "GOMP_", "OPENBLAS_", "MKL_", "BLIS_",  # threads and libraries of mathematics
    "MPIR_CVAR_", "MPICH_", "OMPI_MCA_", "OMPI_MPI_", "I_MPI_", "MV2_", "UCX_", "FI_",  # MPI and its transports
    "MP_", "LAPI_", "DCMF_",
    "MALLOC_", "MIMALLOC_", "TCMALLOC_",  # allocators
)  # fmt: skip
"""Each of a library whose variables are settings."""
_NAMES = frozenset(
    {
        "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "LD_BIND_NOT", "LD_DYNAMIC_WEAK", "LD_HWCAP_MASK",
        "GLIBC_TUNABLES",
        "XLSMPOPTS", "OCTANT_BLAS", "OCTANT_FAULT", "OCTANT_FFTW", "OCTANT_KERNELS", "OCTANT_MPIEXEC", "OCTANT_STORE",
        "SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK", "SLURM_CPU_BIND", "SLURM_CPU_FREQ_REQ",
        "SLURM_DISTRIBUTION", "SLURM_HINT", "SLURM_JOB_CPUS_PER_NODE", "SLURM_JOB_ID", "SLURM_JOB_NUM_NODES",
        "SLURM_JOB_PARTITION", "SLURM_MEM_BIND", "SLURM_MEM_PER_CPU", "SLURM_MEM_PER_NODE", "SLURM_MPI_TYPE",
        "SLURM_NNODES", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",
        "SLURM_THREADS_PER_CORE",
    }
)  # fmt: skip
_SECRET_NAME = re.compile("JWT|TOKEN|SECRET|PASS|KEY|CRED|AUTH|COOKIE", re.IGNORECASE)
# A password in a URL, a token of JSON Web Tokens or of HTTP, a key in PEM, `password=…`.
_SECRET_VALUE = re.compile(
    r"://[^/\s@]*:[^/\s@]*@|eyJ[\w-]{8,}\.|-----BEGIN|\b(bearer|basic) \S|(token|secret|passw\w*|credential)\w*[=:]",
    re.IGNORECASE,
)


def recorded(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a run records, by name; further ones of older versions are removed."""
    return {name: value for name, value in sorted(environment.items()) if may_be_recorded(name, value)}


def may_be_recorded(name: str, value: str) -> bool:
    """Whether a variable is a setting that we know, and holds no credential."""
    known = name in _NAMES or name.startswith(_FAMILIES)
    return known and not is_secret_name(name) and not is_secret_value(value)


def is_secret_name(name: str) -> bool:
    """Whether the name of a variable or an option speaks of a credential."""
    return _SECRET_NAME.search(name) is not None


def is_secret_value(value: str) -> bool:
    """Whether a text has the form of a credential."""
    return _SECRET_VALUE.search(value) is not None
