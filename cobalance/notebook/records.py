"""Bias records of data, written and read again."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cobalance.base import replacing
from cobalance.notebook.data import FRAME, Data
from cobalance.notebook.diagnosis import Imbalances
from cobalance.notebook.display import Result
from cobalance.notebook.remedies import speaks_python
from cobalance.workflows import (
    Examination,
    bias_sentences,
    card_section,
    examine_subject,
    from_annotations,
    imbalance_table,
    read_record as read_examination,
    write_document,
)


@dataclass(frozen=True, eq=False, repr=False)
class Record(Result):
    """The leans of a dataset; `record` has all that was examined."""

    record: Examination

    @property
    def frame(self) -> pd.DataFrame:
        """The combinations that lean, with the columns of `Imbalances.frame`."""
        return self.record.leans.reset_index(drop=True)

    @property
    def imbalances(self) -> Imbalances:
        """All combinations that were tested."""
        options = self.record.options
        return Imbalances.of(
            self.record.cliques, options.confidence, min_support=options.min_support
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on leans, the largest difference first, and on other signs of the class."""
        return tuple(bias_sentences(self.record))

    def title(self) -> str:
        """The dataset, and how many of its combinations lean."""
        return f"{self.record.name}: {self.sentences[0]}".removesuffix(".")

    def shown(self) -> pd.DataFrame:
        """Counts, gap and statistics, in words."""
        return imbalance_table(self.frame, self.record.class_images)

    def save(self, file: str | Path) -> None:
        """Write it as Croissant JSON-LD; to a file ``.md``, the section of a data card."""
        content = write_document(self.record)
        if Path(file).suffix.lower() == ".md":
            content = card_section(self.record).encode()
        with replacing(Path(file)) as target:
            target.write_bytes(content)


@speaks_python
def record(data: Data) -> Record:
    """Examine data for biases, as ``cobalance record`` does of a file.

    Combinations of up to two concepts are counted, with those that some class never shows.

    Parameters
    ----------
    data : Data
        From `read`.

    Raises
    ------
    DataError
        There are no two classes with images.

    Examples
    --------
    >>> from cobalance.notebook.data import urbancars
    >>> examined = record(urbancars())
    >>> examined.sentences[1]
    'cow is in 37.3% of country and in 1.9% of urban (1,492 and 78 images; q <0.001).'
    """
    subject = from_annotations(data.annotations, data.source or FRAME)
    return Record(examine_subject(subject, "cobalance.record(data)"))


@speaks_python
def read_record(file: str | Path) -> Record:
    """Read a bias record, or an export's ``croissant.json``: the numbers that were written.

    Raises
    ------
    InputError
        It is no bias record, or a damaged one.
    """
    return Record(read_examination(Path(file)))
