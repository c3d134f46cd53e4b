"""Start-up time of the command against a bare Python, interleaved; medians."""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "octant --help": [sys.executable, "-m", "octant.cli", "--help"],
    "octant --version": [sys.executable, "-m", "octant.cli", "--version"],
    "octant settings I_MPI_PIN_DOMAIN": [sys.executable, "-m", "octant.cli", "settings", "I_MPI_PIN_DOMAIN"],
    "octant settings UCX_TLS": [sys.executable, "-m", "octant.cli", "settings", "UCX_TLS"],
}
REPEATS = 15


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(REPEATS):
        for name, command in COMMANDS.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - begin)
    bare = statistics.median(seconds["python -c pass"])
    print(f"{'command':<34} {'median':>9} {'min':>9} {'/ bare':>8}")
    for name, values in seconds.items():
        middle = statistics.median(values)
        print(f"{name:<34} {middle * 1e3:>6.0f} ms {min(values) * 1e3:>6.0f} ms {middle / bare:>8.1f}")


if __name__ == "__main__":
    main()
