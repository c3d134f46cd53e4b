"""Values of a study of a model."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping

from octant import stats
from octant.failure import suggestion
from octant.study.cells import combinations
from octant.study.file import StudyError
from octant.study.local_reference import MISSING_RUN_HINTS, NO_LOCAL_RUN, THIS_MACHINE, LocalRun
from octant.study.parts import Argument, Cell, Measure
from octant.study.question import Study, quantities
from octant.study.values import StudyValue, StudyValues

Model = Callable[..., "float | stats.Interval | str"]
_SUFFIXES = {"normalised": " relative to peak"}


def modelled_values(study: Study, local_run: LocalRun = NO_LOCAL_RUN) -> StudyValues:
    """Return the values of a study's models in all combinations.

    Raises:
        StudyError: the model is not available.
    """
    values: dict[Cell, dict[str, StudyValue]] = {}
    absent: dict[Cell, str] = {}
    for name, measure in study.measures.items():
        published, calibrated_on = model(measure.model), calibration(measure.model)
        for levels in combinations(study):
            arguments = {**study.arguments, **measure.arguments}
            for factor, level in zip(study.factors, levels, strict=True):
                arguments |= study.factors[factor][level].arguments
            is_own = arguments.get("system") == THIS_MACHINE
            call = functools.partial(_own_value, local_run, measure.model) if is_own else published
            cell, found = Cell(name, levels), dict(_curve(call, calibrated_on, measure, arguments))
            values[cell] = {at: one for at, one in found.items() if isinstance(one, StudyValue)}
            if not values[cell]:
                del values[cell]
                absent[cell] = next(one for one in found.values() if isinstance(one, str))
    return StudyValues(quantities(study), values, absent, {})


def _own_value(local_run: LocalRun, of_model: str, **arguments: Argument) -> stats.Interval | str:
    """Return the value of this machine's run instead of a value of the model."""
    wanted = str(arguments.get("benchmark") or arguments.get("metric") or "")
    if not local_run.id:
        return MISSING_RUN_HINTS.get(of_model, "this value is not available from a run")
    return local_run.figures.get(wanted, f"run {local_run.id} has no {wanted}{_SUFFIXES.get(of_model, '')}")


def model(name: str) -> Model:
    """Return the function of a model. It takes a study's arguments by name and returns a number or an interval.

    Raises:
        StudyError: no such function, or this installation has no network model.
    """
    try:
        # The Open MPI build has no compiled network model.
        from octant.simulate.study_functions import MODELS  # noqa: PLC0415
    except ImportError as error:
        raise StudyError(
            f"cannot evaluate the model {name!r} ({error}); use an installation by `make setup`"
        ) from error
    if name not in MODELS:
        raise StudyError(f"cannot evaluate the model {name!r} (no such model); {suggestion(name, MODELS)}")
    return MODELS[name]


def calibration(name: str) -> Callable[..., tuple[str, ...]]:
    """Return the function that lists the published values on which a model was calibrated, for given arguments."""
    from octant.simulate.study_functions import CALIBRATED_ON  # noqa: PLC0415 - as above

    return CALIBRATED_ON.get(name, lambda **_: ())


def _curve(
    call: Model,
    calibrated_on: Callable[..., tuple[str, ...]],
    measure: Measure,
    arguments: Mapping[str, Argument],
) -> Iterator[tuple[str, StudyValue | str]]:
    axis = measure.axis
    for at in axis.values if axis else ("",):
        here = {**arguments, axis.knob: _number(at)} if axis else arguments
        try:
            inspect.signature(call).bind(**here)
            answer = call(**here)
        except (TypeError, ValueError, KeyError, StopIteration) as error:
            reason = str(error) or "no such value"
            why = f"{', '.join(f'{key} = {value!r}' for key, value in here.items())}: {reason}"
            raise StudyError(f"cannot evaluate the model {measure.model!r} ({why}); correct its arguments") from error
        if isinstance(answer, str):
            yield at, answer
            continue
        interval = answer if isinstance(answer, stats.Interval) else stats.Interval(answer, answer, answer)
        yield at, StudyValue(modelled=interval, calibrated_on=calibrated_on(**here))


def _number(text: str) -> Argument:
    try:
        return int(text)
    except ValueError:
        return text
