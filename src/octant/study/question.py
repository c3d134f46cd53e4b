"""A question as data: the study, the findings that it tests, and what each kind of test declares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union

from msgspec import Meta

from octant import catalogue, registry, untrusted
from octant.facts import Need
from octant.registry import Entries, UndeclaredError
from octant.study.local_reference import HOW
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
    """What a test says of the values here."""

    status: Decision
    why: str  # the sentence behind the status
    here: Bounded | None = None  # the tested quantity, where there is one
    here_is: str = ""  # what its ends are
    more_launches: int | None = None  # undecided: about how many more would decide; `None`: too close, or no matter
    in_unit: str = ""  # the tested quantity with its unit, where it is no factor


def _kind_name(class_name: str) -> str:
    """Return the name of a kind of test in study files: `ratio` of `RatioTest`."""
    return class_name.removesuffix("Test").lower()


class KindOfTest(TaggedTable, frozen=True, tag=_kind_name):
    """What a finding must pass. Each file of `octant.study.kinds` has one kind: `ratio.py` has the class `RatioTest`.

    Study files name it by the name of the file.
    """

    def problems(self, study: "Study") -> Iterator[Problem]:
        """What of the test leads nowhere in its study, with keys below the test's own (`""`: the test itself).

        The reader takes the first problem, so each check may rely on those before it.
        """
        raise NotImplementedError

    def judge(self, study: "Study", values: StudyValues) -> Judgement:
        """Whether the values pass.

        Raises:
            CannotTest: there is nothing to test.
        """
        raise NotImplementedError

    def published_range(
        self,
        study: "Study",  # noqa: ARG002 - what a kind may look at
        published: Sequence[PublishedValue],  # noqa: ARG002
    ) -> tuple[float, float] | None:
        """The least and the greatest of the tested quantity in published values; `None` where they do not give it."""
        return None

    def unit(self, study: "Study") -> str:  # noqa: ARG002
        """The unit of the tested quantity, `1` of a number; empty: it is a factor."""
        return ""

    def compared(self, study: "Study") -> tuple[Place, Place] | None:  # noqa: ARG002
        """The two places whose ratio is tested; `None` where it is no such ratio."""
        return None


def kinds_of_test() -> Entries[type[KindOfTest]]:
    """The kinds of tests that can be used, and those whose file cannot."""
    return registry.entries("octant.study.kinds", _declared)


def _declared(module: ModuleType) -> type[KindOfTest]:
    """Return the class that a file declares.

    Raises:
        UndeclaredError: it declares none of the file's name.
    """
    name = module.__name__.rpartition(".")[2].capitalize() + "Test"
    found = getattr(registry.declared(module, name), name)
    if not (isinstance(found, type) and issubclass(found, KindOfTest)):
        raise UndeclaredError(f"its {name} is not a subclass of KindOfTest")
    return found


def _as_test(value: Mapping[str, object]) -> KindOfTest:
    """A test of the kind that it names, of all that were found."""
    every: Any = Union[tuple(kinds_of_test().working.values())]  # noqa: UP007 - the only form for types in a list
    found: KindOfTest = untrusted.convert(value, every)
    return found


if TYPE_CHECKING:
    _Test: TypeAlias = KindOfTest
else:
    _Test = untrusted.read_with(_as_test, KindOfTest, dict[str, Any])


class FindingTest(untrusted.InputTable, frozen=True):
    """A finding of the catalogue, or a statement of the author's own, and the test that it must pass here."""

    id: str
    test: _Test
    statement: str = ""  # of the author's own: what the test is about; the id is none of the catalogue
    there: PublishedRange | None = None
    needs: tuple[Need, ...] = ()

    @property
    def finding(self) -> catalogue.Finding:
        """The finding of the catalogue, or one without a document."""
        if not self.statement:
            return catalogue.findings()[self.id]
        return catalogue.Finding(self.id, "", "", "", "suggested", self.statement, "", "", ())


class Study(untrusted.InputTable, frozen=True, kw_only=True):
    """A question: measures × factors, the published numbers, the findings that it tests, its picture."""

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
    scale: tuple[str, ...] = ()  # factors that say how large what is asked is, such as ranks: no setting to propose
    published: tuple[PublishedTable, ...] = ()
    findings: tuple[FindingTest, ...] = ()
    notes: tuple[str, ...] = ()
    larger: Larger | None = None

    @property
    def is_published(self) -> bool:
        """Whether its values are published ones, with this machine's own beside: nothing is modelled."""
        return all(measure.model in HOW for measure in self.measures.values())

    def full(self, levels: Levels) -> tuple[str, ...]:
        """The level of every factor, in the file's order."""
        return tuple({**self.baseline, **levels}[factor] for factor in self.factors)

    def is_scaled(self, levels: tuple[str, ...]) -> bool:
        """Whether a combination differs from the baseline in what is asked, so that it is no other setting of it."""
        return any(self.baseline[f] != level for f, level in zip(self.factors, levels, strict=True) if f in self.scale)

    def beside_baseline(self, levels: Levels) -> str:
        """`, cache past it`: those of these levels that are not the baseline's."""
        return "".join(f", {factor} {level}" for factor, level in levels.items() if level != self.baseline[factor])

    def cell(self, measure: str, levels: Levels) -> Cell:
        """The cell of a measure; factors left out are at the baseline."""
        return Cell(measure, self.full(levels))


def quantities(study: Study) -> dict[str, Quantity]:
    """The quantity of every measure of a study."""
    return {name: quantity_of(measure) for name, measure in study.measures.items()}
