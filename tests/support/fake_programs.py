"""Two programs that only take time: handed to `interleaved.measure_rounds` in place of what starts processes."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from octant.launch.execute import ProcessOutcome


@dataclass
class Programs:
    """Answers each start of `./old` and `./new` with the time that the program takes, and its noise."""

    seconds: Mapping[str, float] = field(default_factory=lambda: {"./old": 0.1, "./new": 0.1})
    noise: float = 0.01  # standard deviation of the logarithm of a time
    ends: Mapping[tuple[str, int], ProcessOutcome] = field(default_factory=dict)  # of the n-th start of a program
    seed: int = 0
    started: list[str] = field(default_factory=list)  # the programs, in the order of their starts
    stop_at: int = -1  # Ctrl-C at this start

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def __call__(
        self, words: Sequence[str], _environment: object, _timeout_s: float, observe: Callable[[float], None]
    ) -> ProcessOutcome:
        observe(0.0)
        if len(self.started) == self.stop_at:
            self.stop_at = -1
            raise KeyboardInterrupt
        name = next(word for word in words if word in self.seconds)
        number = self.started.count(name)
        self.started.append(name)
        seconds = self.seconds[name] * math.exp(self.random.gauss(0, self.noise))
        return self.ends.get((name, number)) or ProcessOutcome(0, False, seconds, "")
