"""Libraries that replace functions of a program that a test starts."""

import subprocess
from pathlib import Path

FEW_THREADS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*body)(void*), void* given) {
    static int started = 0;
    Dl_info caller = {0};
    dladdr(__builtin_return_address(0), &caller);
    int const counts = caller.dli_fname != NULL && strstr(caller.dli_fname, "libstdc++") != NULL;
    if (counts && __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST) > atoi(getenv("MAX_THREADS"))) return EAGAIN;
    int (*real)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, body, given);
}
"""
"""A system that starts MAX_THREADS of the program's own C++ threads, as under `ulimit -u` and `ulimit -v`.

Threads of the MPI library are not counted: some libraries abort without them.
"""


def preloaded(source: str, folder: Path) -> dict[str, str]:
    """Compile a library from C source and return the environment with which programs load it."""
    file, library = folder / "preloaded.c", folder / "preloaded.so"
    file.write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, file, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library)}
