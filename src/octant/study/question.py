"""Studies as data, the findings that they test, and the interface of the kinds of tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union

from msgspec import Meta

from octant import catalogue, registry, untrusted
from octant.facts import Need
from octant.registry import Entries, UndeclaredError
from octant.stats.paired import LEAST_ROUNDS
from octant.study.local_reference import MISSING_RUN_HINTS
from octant.study.parts import (
    Argument,
    Cell,
    Larger,
    Level,
    Levels,
    Measure,
    Problem,
    PublishedRange,
    PublishedTable,
)
from octant.study.values import Bounded, Place, PublishedValue, Quantity, StudyValues, quantity_of
from octant.untrusted import TaggedTable

Decision: TypeAlias = Literal["holds", "does not hold", "undecided"]


@dataclass(frozen=True)
class Judgement:
    """Result of a test."""

    status: Decision
    why: str  # the sentence behind the status
    here: Bounded | None = None  # the tested quantity, where there is one
    interval_text: str = ""  # what its ends are
    more_launches: int | None = None  # undecided: about how many more would decide; `None`: too close, or no matter
    in_unit: str = ""  # the tested quantity with its unit, where it is no factor


def _kind_name(class_name: str) -> str:
    """Return the name of a kind of test in study files: `ratio` of `RatioTest`."""
    return class_name.removesuffix("Test").lower()


class KindOfTest(TaggedTable, frozen=True, tag=_kind_name):
    """Test of a finding. Each file of `octant.study.kinds` has one kind: `ratio.py` has the class `RatioTest`.

    Study files refer to it by the name of the file.
    """

    def problems(self, study: "Study") -> Iterator[Problem]:
        """Yield problems of the test in its study, with keys relative to the test (`""`: the test itself).

        The reader reports the first problem, so that each check may rely on the previous ones.
        """
        raise NotImplementedError

    def judge(self, study: "Study", values: StudyValues) -> Judgement:
        """Judge whether the values pass.

        Raises:
            CannotTest: there is nothing to test.
        """
        raise NotImplementedError

    @property
    def least_launches(self) -> int:
        """Return the number of launches per configuration below which `judge` gives no verdict."""
        return LEAST_ROUNDS

    @property
    def sufficient_launches(self) -> int:
        """Return the number of launches per configuration from which `judge` can give each verdict."""
        return self.least_launches

    def published_range(
        self,
        study: "Study",  # noqa: ARG002 - what a kind may look at
        published: Sequence[PublishedValue],  # noqa: ARG002
    ) -> tuple[float, float] | None:
        """Return the range of the tested quantity in published values; `None` if they do not contain it."""
        return None

    def unit(self, study: "Study") -> str:  # noqa: ARG002
        """Return the unit of the tested quantity; `1` for a number, empty for a ratio."""
        return ""

    def compared(self, study: "Study") -> tuple[Place, Place] | None:  # noqa: ARG002
        """Return the two places whose ratio is tested; `None` for other tests."""
        return None


def kinds_of_test() -> Entries[type[KindOfTest]]:
    """Return the usable kinds of tests, and the unusable ones with their errors."""
    return registry.entries("octant.study.kinds", _declared)


def _declared(module: ModuleType) -> type[KindOfTest]:
    """Return the class that a file declares.

    Raises:
        UndeclaredError: the file declares no class of its name.
    """
    name = module.__name__.rpartition(".")[2].capitalize() + "Test"
    found = getattr(registry.declared(module, name), name)
    if not (isinstance(found, type) and issubclass(found, KindOfTest)):
        raise UndeclaredError(f"its {name} is not a subclass of KindOfTest")
    return found


def _as_test(value: Mapping[str, object]) -> KindOfTest:
    """Return the test of a table, which contains its kind."""
    every: Any = Union[tuple(kinds_of_test().working.values())]  # noqa: UP007 - the only form for types in a list
    found: KindOfTest = untrusted.convert(value, every)
    return found


if TYPE_CHECKING:
    _Test: TypeAlias = KindOfTest
else:
    _Test = untrusted.read_with(_as_test, KindOfTest, dict[str, Any])


class FindingTest(untrusted.InputTable, frozen=True):
    """Finding of the catalogue, or a statement of the author, and its test."""

    id: str
    test: _Test
    statement: str = ""  # of the author's own: what the test is about; the id is none of the catalogue
    there: PublishedRange | None = None
    needs: tuple[Need, ...] = ()

    @property
    def finding(self) -> catalogue.Finding:
        """Return the finding of the catalogue, or one without a document."""
        if not self.statement:
            return catalogue.findings()[self.id]
        return catalogue.Finding(self.id, "", "", "", "suggested", self.statement, "", "", ())


class Study(untrusted.InputTable, frozen=True, kw_only=True):
    """Question with measures and factors, published values, findings to test, and a picture."""

    question: str
    source: Literal["measure", "model"] = "measure"
    repeats: Annotated[int, Meta(ge=1, le=1000)] = 6  # launches of every combination: each is a sample
    picture: Literal["bars", "curve", "years"] = "bars"  # a bar per combination and axis value; curves along the axis;
    # a mark for each level at its year
    needs: tuple[Need, ...] = ()
    knobs: Mapping[str, str] = {}
    arguments: Mapping[str, Argument] = {}
    measures: Annotated[Mapping[str, Measure], Meta(min_length=1)]
    factors: Annotated[Mapping[str, Mapping[str, Level]], Meta(min_length=1)]
    baseline: Levels
    combinations: tuple[Levels, ...] = ()  # none: all of them
    scale: tuple[str, ...] = ()  # factors that set the problem size, such as ranks; never recommended
    parts: tuple[str, ...] = ()  # factors that name a part of the result in `metric`; their levels are not compared
    published: tuple[PublishedTable, ...] = ()
    findings: tuple[FindingTest, ...] = ()
    notes: tuple[str, ...] = ()
    larger: Larger | None = None

    @property
    def is_published(self) -> bool:
        """Return whether all values are published ones or of this machine, without a model."""
        return all(measure.model in MISSING_RUN_HINTS for measure in self.measures.values())

    def full(self, levels: Levels) -> tuple[str, ...]:
        """Return the level of every factor, in the order of the file."""
        return tuple({**self.baseline, **levels}[factor] for factor in self.factors)

    @property
    def has_only_parts(self) -> bool:
        """Return whether all factors name parts of the result, so that no settings are compared."""
        return set(self.factors) == set(self.parts)

    def baseline_of(self, levels: tuple[str, ...]) -> tuple[str, ...]:
        """Return the combination that a combination is compared with: the baseline for the same parts."""
        pairs = zip(self.factors, levels, strict=True)
        return tuple(level if factor in self.parts else self.baseline[factor] for factor, level in pairs)

    def is_scaled(self, levels: tuple[str, ...]) -> bool:
        """Return whether a combination differs from the baseline in a factor of `scale`."""
        return any(self.baseline[f] != level for f, level in zip(self.factors, levels, strict=True) if f in self.scale)

    def baseline_difference(self, levels: Levels) -> str:
        """Return the levels that differ from the baseline as text: `, mode direct`."""
        return "".join(f", {factor} {level}" for factor, level in levels.items() if level != self.baseline[factor])

    def named_levels(self, cell: Cell) -> Levels:
        """Return the level of each factor in a cell."""
        return dict(zip(self.factors, cell.levels, strict=True))

    def cell(self, measure: str, levels: Levels) -> Cell:
        """Return the cell of a measure; omitted factors are at the baseline."""
        return Cell(measure, self.full(levels))


def quantities(study: Study) -> dict[str, Quantity]:
    """Return the quantity of every measure of a study."""
    return {name: quantity_of(measure) for name, measure in study.measures.items()}
