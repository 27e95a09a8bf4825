from .base.errors import CobalanceError as CobalanceError
from .notebook.data import (
    Data as Data,
    read as read,
    urbancars as urbancars,
)
from .notebook.datasets import Dataset as Dataset
from .notebook.diagnosis import (
    Comparison as Comparison,
    Imbalances as Imbalances,
    PublishedComparison as PublishedComparison,
    SplitComparison as SplitComparison,
    compare as compare,
    compare_published as compare_published,
    compare_splits as compare_splits,
    imbalances as imbalances,
    imbalances_in_files as imbalances_in_files,
    imbalances_of_batches as imbalances_of_batches,
)
from .notebook.evaluations import (
    Evaluations as Evaluations,
    Scores as Scores,
    evaluate as evaluate,
)
from .notebook.gates import Gate as Gate, gate as gate
from .notebook.graphs import ConceptGraph as ConceptGraph, concept_graph as concept_graph
from .notebook.jobs import Job as Job
from .notebook.labels import Labels as Labels
from .notebook.panels import Audit as Audit, Study as Study
from .notebook.plans import (
    Plan as Plan,
    Simulation as Simulation,
    budget_curve as budget_curve,
    compare_planners as compare_planners,
    plan as plan,
    read_plan as read_plan,
    resample as resample,
    weights as weights,
)
from .notebook.records import Record as Record, read_record as read_record, record as record
from .notebook.stores import Store as Store, connect as connect

__version__: str
