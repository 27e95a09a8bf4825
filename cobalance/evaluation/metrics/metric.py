"""Metric protocol: inputs, the table of scores, and the registry of metrics."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pandas as pd

from cobalance.base import (
    STRING,
    CobalanceError,
    FloatArray,
    InputError,
    OptionError,
    Options,
    Plugin,
    check_known,
    misfit,
    needs_extra,
)
from cobalance.evaluation.metrics import METRICS, TABLES
from cobalance.evaluation.predictions import RUN
from cobalance.evaluation.table_files import image_ids
from cobalance.vision import ImageArray, ImageFileError, decode, rgb_array

SCORE = ("metric", "group", "value", "low", "high", "n")
COLUMNS = (*RUN, *SCORE)
"""Columns of scores: of which run, which metric of which group, its value, its confidence interval
(NaN where it has none) and the images behind it."""
LEFT_OUT = "_without_attribute"


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images of a folder, export or dataset.

    Parameters
    ----------
    source : str
        Where they are from, for messages.
    names : sequence of str
        Image ids; of a folder the paths inside it.
    content : callable
        Takes the row of an image, returns its file's content.
    """

    source: str
    names: Sequence[str]
    content: Callable[[int], bytes]

    def __len__(self) -> int:
        return len(self.names)

    def read(self, rows: Iterable[int]) -> list[ImageArray]:
        """Pixels of some images, upright and in RGB.

        Raises
        ------
        InputError
            A file is missing or damaged.
        """
        return [self._read_pixels(int(row)) for row in rows]

    def _read_pixels(self, row: int) -> ImageArray:
        try:
            return rgb_array(decode(self.content(row)).upright())
        except (ImageFileError, OSError) as error:
            reason = str(error).rstrip(".") or "it cannot be read"
            raise InputError(
                self.source, self.names[row], reason, "Mend the file, or leave the image out."
            ) from error


class Inputs:
    """Inputs of metrics, without those that are None.

    Parameters
    ----------
    predictions : pandas.DataFrame, optional
        From `cobalance.evaluation.predictions.check_predictions`, of any number of methods and
        seeds.
    images : ImageSet, optional
        The images themselves, for metrics that look at them with a model.
    seed : int
        Of whatever a metric draws at random.
    **tables : pandas.DataFrame
        Others, by their names in `cobalance.evaluation.metrics.TABLES`, which says what they have.

    Raises
    ------
    UnknownNameError
        Metrics take no such table.
    """

    def __init__(
        self,
        predictions: pd.DataFrame | None = None,
        *,
        images: ImageSet | None = None,
        seed: int = 0,
        **tables: Any,
    ) -> None:
        check_known("table", tables, list(TABLES))
        values = {"predictions": predictions, **tables, "images": images}
        self._values = {name: value for name, value in values.items() if value is not None}
        self.seed = seed

    @property
    def images(self) -> ImageSet | None:
        """The images, where they are given."""
        return cast("ImageSet | None", self._values.get("images"))

    def replace(self, **values: Any) -> "Inputs":
        """The same inputs with others in place of some."""
        return Inputs(**{"seed": self.seed, **self._values, **values})

    def given_names(self) -> list[str]:
        """Names of what is given, tables in their order in the registry."""
        return [name for name in (*TABLES, "images") if name in self._values]

    def get(self, name: str) -> pd.DataFrame | None:
        """One of the tables, None where it is not given."""
        return cast("pd.DataFrame | None", self._values.get(name))

    def need(self, name: str) -> pd.DataFrame:
        """One of the tables; OptionError where it is not given."""
        if name not in self._values:
            raise OptionError(f"no {name} are given. Give them, or choose another metric.")
        return cast("pd.DataFrame", self._values[name])

    def ids_of(self, name: str) -> "pd.Series[str]":
        """The ids of the images of one of the tables; InputError where it has none."""
        return image_ids(self.need(name), name)

    def vectors(self, name: str) -> FloatArray:
        """The embeddings of one of the tables, shape (n_rows, n_dimensions)."""
        return self.need(name).drop(columns="image", errors="ignore").to_numpy(np.float64)

    def generator(self) -> np.random.Generator:
        """A new generator of the seed."""
        return np.random.default_rng(self.seed)


Metric = Callable[[Inputs], pd.DataFrame]
"""Takes inputs and returns scores, with the columns `COLUMNS`."""


@dataclass(frozen=True)
class MetricPlugin(Plugin):
    """The declaration of a metric.

    Parameters
    ----------
    takes : tuple of str
        What it cannot do without, by names in `cobalance.evaluation.metrics.TABLES`, or
        ``"images"``; ``"predictions|table"`` for either.
    may_take : tuple of str
        Those that it reads where they are given.
    compute : callable
        Takes `Inputs` and the checked options and returns scores.
    """

    takes: tuple[str, ...] = ()
    may_take: tuple[str, ...] = ()
    compute: Callable[[Inputs, Any], pd.DataFrame] = field(kw_only=True)

    def opener(self, module: Any, name: str) -> "Callable[[Any], Metric]":
        """The function that opens it from validated options."""
        del module, name

        def open_metric(options: Options) -> Metric:
            return lambda inputs: self.score(inputs, options)

        # An opener's hints name the options that it takes: here those of the plug-in.
        open_metric.__annotations__["options"] = self.options

        return open_metric

    def fault(self, module: Any, opener_name: str) -> str:
        """Fault of the declaration or of the function that computes it."""
        fault = super().fault(module, opener_name)
        return fault or misfit(self.compute, "its compute", "(inputs, options)")

    def fits(self, inputs: Inputs) -> bool:
        """Whether everything that it cannot do without is given."""
        names = set(inputs.given_names())
        return not any(names.isdisjoint(need.split("|")) for need in self.takes)

    def score(self, inputs: Inputs, options: Options) -> pd.DataFrame:
        """Compute the scores; OptionError where a table is missing."""
        if not self.fits(inputs):
            needs = " and ".join(self.takes).replace("|", " or ")
            names = ", ".join(inputs.given_names()) or "nothing"
            raise OptionError(f"the metric {self.name} needs {needs}; given: {names}.")

        if not self.extra:
            return self.compute(inputs, options)
        with needs_extra(f"The metric {self.name}", self.extra):
            return self.compute(inputs, options)


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of several metrics.

    Parameters
    ----------
    frame : pandas.DataFrame
        With the columns `COLUMNS`.
    left_out : mapping of str to str
        Why metrics were left out, by name.
    """

    frame: pd.DataFrame
    left_out: Mapping[str, str]


def score_metrics(inputs: Inputs, chosen: Mapping[str, Any] | None = None) -> Scored:
    """Scores of several metrics, one below the other.

    Parameters
    ----------
    chosen : mapping of str to options, optional
        The metrics and their options, as `METRICS.open` takes them. By default all metrics whose
        tables are given; those that find a column missing are left out.

    Raises
    ------
    CobalanceError
        A chosen metric cannot be computed, or none can.
    """
    if chosen is None:
        return score_fitting(inputs, dict(METRICS.items()))
    frames = [METRICS.open(name, options)(inputs) for name, options in chosen.items()]
    return Scored(stack(frames), {})


def score_fitting(inputs: Inputs, names: Iterable[str]) -> Scored:
    """Scores of the metrics that the inputs suffice for; CobalanceError without any."""
    frames, left_out = [], {}
    for name in names:
        if not METRICS[name].fits(inputs):
            continue
        # A metric that cannot be computed does not keep the others back.
        try:
            frames.append(METRICS.open(name)(inputs))
        except CobalanceError as error:
            left_out[name] = str(error)

    if not frames:
        reasons = " ".join(f"{name}: {reason}" for name, reason in left_out.items())
        names_given = ", ".join(inputs.given_names()) or "nothing"
        raise OptionError(f"no metric fits what is given: {names_given}. {reasons}".rstrip())

    return Scored(stack(frames), left_out)


def score_frame(
    metric: str,
    group: str | Iterable[str],
    value: float | FloatArray,
    low: float | FloatArray = np.nan,
    high: float | FloatArray = np.nan,
    n: float | FloatArray = np.nan,
    *,
    run: tuple[str, int] = ("", 0),
) -> pd.DataFrame:
    """A table of scores with the columns `COLUMNS`: one row, or one for each element of arrays.

    The run is its method and seed.

    Examples
    --------
    >>> score_frame("accuracy", ["cat", "dog"], np.array([.5, 1]), n=np.array([2, 1]))
      method  seed    metric group  value  low  high    n
    0            0  accuracy   cat    0.5  NaN   NaN  2.0
    1            0  accuracy   dog    1.0  NaN   NaN  1.0
    """
    groups = [group] if isinstance(group, str) else list(group)
    columns: dict[str, Any] = dict(zip(RUN, run, strict=True))
    columns["metric"] = metric
    columns["group"] = pd.array(groups, dtype=STRING)

    for name, values in (("value", value), ("low", low), ("high", high), ("n", n)):
        columns[name] = np.broadcast_to(np.asarray(values, dtype=np.float64), len(groups))
    return pd.DataFrame(columns, index=range(len(groups)))


def with_left_out(
    scores: pd.DataFrame, n: float, attribute: str = "", run: Any = ("", 0), what: str = "images"
) -> pd.DataFrame:
    """Scores, and below them how many images of an unknown attribute were left out, if any."""
    left_out = score_frame(what + LEFT_OUT, attribute, n, n=n, run=run)
    return stack([scores, left_out]) if n else scores


def stack(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables of scores; images that several metrics leave out are counted once."""
    scores = pd.concat(list(frames), ignore_index=True)
    is_repeated = scores.duplicated() & scores["metric"].str.endswith(LEFT_OUT)
    return scores[~is_repeated].reset_index(drop=True)
