"""Gates: whether data leans more than rules and a baseline allow."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.notebook.data import FRAME, Data
from cobalance.notebook.display import Result
from cobalance.notebook.remedies import speaks_python
from cobalance.workflows import (
    Verdict,
    check_rules,
    from_annotations,
    judge,
    judge_split,
    read_baseline,
    read_rules,
    write_baseline,
    write_verdict,
)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """A verdict; `record` has all of it."""

    record: Verdict

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return self.record.passed

    @property
    def frame(self) -> pd.DataFrame:
        """A row a finding; broken rules come first.

        Columns are ``status``, ``rule``, ``of`` and ``finding``. The status is ``new`` or ``worse``
        where a rule is broken, ``known`` where the baseline has it, and ``better`` where that is
        over.
        """
        return self.record.frame

    @property
    def metrics(self) -> dict[str, float]:
        """Flat numbers to follow over time."""
        return dict(self.record.metrics)

    def title(self) -> str:
        """The verdict in a sentence."""
        return self.record.describe().removesuffix(".")

    def to_text(self, form: str = "markdown") -> str:
        """As ``text``, ``json``, ``junit``, ``sarif``, ``markdown`` or ``metrics``.

        Raises
        ------
        UnknownNameError
            There is no such format.
        """
        return write_verdict(self.record, form)

    def save_baseline(self, file: str | Path) -> None:
        """Write the baseline: these findings pass the next `gate`."""
        write_baseline(Path(file), self.record.make_baseline())


@speaks_python
def gate(
    data: Data,
    rules: str | Path | Mapping[str, Any] | None = None,
    baseline: str | Path | None = None,
    *,
    watch: tuple[str, str] | None = None,
) -> Gate:
    """Judge data by rules and a baseline; docs/gate.md lists the rules.

    Parameters
    ----------
    data : Data
        From `read`.
    rules : str, Path or mapping, optional
        A file of rules, or the rules themselves, as ``{"min_class_images": 50}``. By default the
        file of the working folder, or the usual rules.
    baseline : str or Path, optional
        What passes, from `Gate.save_baseline` or ``cobalance gate --write-baseline``.
    watch : tuple of str, optional
        A split to judge, and the one that it is compared with in place of a baseline.

    Raises
    ------
    DataError, InputError, UnknownNameError
        A rule, the baseline or the data cannot be used.

    Examples
    --------
    >>> from cobalance.notebook.data import urbancars
    >>> verdict = gate(urbancars(), {"leans": [{"max_size": 1}]})
    >>> verdict.passed, verdict.frame.loc[0, "of"]
    (False, 'cow')
    """
    if isinstance(rules, Mapping):
        checked = check_rules(rules)
    else:
        checked, _ = read_rules(None if rules is None else Path(rules))

    subject = from_annotations(data.annotations, data.source or FRAME)
    if watch is not None:
        return Gate(judge_split(subject, checked, *watch))
    if baseline is None:
        return Gate(judge(subject, checked))
    findings_before = read_baseline(Path(baseline))
    return Gate(judge(subject, checked, findings_before, f"baseline {baseline}"))
