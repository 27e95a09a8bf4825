"""Plans that edit images: what they ask for, and which images they leave out."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cobalance.display import Result
from cobalance.generation.planning.plan import Plan as PlanRecord
from cobalance.generation.planning.plan_file import plan_to_json
from cobalance.graph.whole_files import replacing
from cobalance.workflows.plan.edits import CounterfactualPlan as Made


@dataclass(frozen=True, eq=False, repr=False)
class CounterfactualPlan(Result):
    """The images to make from others, so that each shows every group.

    Parameters
    ----------
    made : cobalance.workflows.plan.edits.CounterfactualPlan
        The plan, and how its images were chosen.
    name : str
        What the dataset calls it.
    """

    made: Made
    name: str

    @property
    def record(self) -> PlanRecord:
        """The plan with its queries."""
        return self.made.plan

    @property
    def frame(self) -> pd.DataFrame:
        """A row a query: class (the group), concepts, n, source_image, caption."""
        return self.record.frame()

    @property
    def images(self) -> int:
        """All images asked for."""
        return self.record.images

    @property
    def left_out(self) -> dict[str, int]:
        """Images that are not edited, by the first reason of each."""
        return dict(self.made.selection.left_out)

    def to_json(self) -> str:
        """The plan as text that ``cobalance enqueue --plan-file`` reads."""
        return plan_to_json(self.record, self.made.summary()).decode()

    def save(self, file: str | Path) -> None:
        """Write `to_json` to a file."""
        with replacing(Path(file)) as part:
            part.write_text(self.to_json(), encoding="utf-8")

    def title(self) -> str:
        """Images to make and to edit, and how many are left out."""
        by_class = ", ".join(f"{n:,} {name}" for name, n in self.record.images_by_class().items())
        sources = len(self.made.selection.sources)
        said = f"{self.images:,} images to make ({by_class}) from {sources:,} images"
        left_out = sum(self.left_out.values())
        return f"{said}; {left_out:,} others are left out" if left_out else said
