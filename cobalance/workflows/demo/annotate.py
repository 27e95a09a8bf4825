"""Annotation demonstration: an annotator invents imbalances, and an audit corrects them.

Pictures of things before photographs (`cobalance.workflows.demo.digits`), where all things but one
are equally frequent in both classes. A scripted endpoint proposes what to look for; a linear probe,
trained on pictures where things and backgrounds go together, labels; people who see what is there
check a sample. Proposing, training, labelling and auditing are the real ones.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from PIL import Image

from cobalance.annotation.auditing.consensus import DOES_NOT, SHOWS
from cobalance.annotation.measuring.truth import GroundTruth
from cobalance.annotation.proposing.options import read_preset
from cobalance.graph.annotations.attributes import Decision, decide_attributes, list_attributes
from cobalance.graph.annotations.runs import read_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.progress import Progress, silent
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.graph.records import Annotations, ImageRecord
from cobalance.ingest.annotators.linear_probe import fit_linear_probe
from cobalance.ingest.stored.output_folder import OutputFolder
from cobalance.workflows.demo.digits import (
    BACKGROUNDS,
    SIDE_PX,
    THINGS,
    make_test_digits,
    make_training_digits,
    uri_of,
)
from cobalance.workflows.demo.runner import Runner, prefix_of
from cobalance.workflows.demo.scripted_endpoint import scripted_endpoint
from cobalance.workflows.label.decide import decide_labels
from cobalance.workflows.label.measure import Measured, measure_run
from cobalance.workflows.label.order import LabelOrder, order_labels
from cobalance.workflows.label.propose import (
    Proposed,
    ProposeOrder,
    open_endpoint,
    propose_attributes,
)
from cobalance.workflows.load.dataset import drop_dataset
from cobalance.workflows.panel.answers import answer_sheet, take_answers
from cobalance.workflows.panel.audit import AuditSample, draw_audit
from cobalance.workflows.panel.verdicts import audit_imbalances
from cobalance.workflows.settings import Settings

NAME = "things"
CLASSES: Mapping[str, str] = {
    **dict.fromkeys(BACKGROUNDS["eight"], "town"),
    **dict.fromkeys(BACKGROUNDS["three"], "garden"),
}
"""The class of a picture, by its background."""
CONCEPTS = (*THINGS["eight"], *THINGS["three"])
RARE = ("stars", "garden")
"""The one thing that truly is rarer in a class: a third of it stays there."""
CAPTION = "a photo of a thing"
PEOPLE = ("Ann", "Ben", "Cleo")
THRESHOLD = 0.3

_PER_GROUP = 6  # images of each class, background and thing
_LABELLED = 300  # pictures that the probe is trained with
_CHECKED = 60  # of each concept, class and verdict
_WRONG = 0.03  # of a person's answers


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures, their class and thing.

    Parameters
    ----------
    pixels : uint8 array, shape (n_images, 48, 48, 3)
    table : pandas.DataFrame
        ``id``, ``class_name`` and ``thing``.
    """

    pixels: npt.NDArray[np.uint8]
    table: pd.DataFrame

    def shows(self) -> npt.NDArray[np.bool_]:
        """Whether each picture shows each of `CONCEPTS`."""
        things = self.table["thing"].to_numpy(object)
        return np.stack([things == name for name in CONCEPTS], axis=1)

    def true_gap(self, concept: str, more: str, fewer: str) -> int:
        """How many more pictures of one class than of another show a concept."""
        of = self.table[self.table["thing"] == concept]["class_name"]
        return int((of == more).sum()) - int((of == fewer).sum())


@dataclass(frozen=True, eq=False)
class AnnotateDemo:
    """Results of each step.

    Parameters
    ----------
    pictures : Pictures
    asked : int
        Questions that the language model got.
    proposed : Proposed
    attributes : pandas.DataFrame
        What was proposed, and what was decided of it.
    run : str
        The labelling run.
    measured : Measured
        Its labels against the truth.
    believed : pandas.DataFrame
        The dataset's imbalances as labelled, by the graph.
    checked : int
        Labels that people checked.
    corrected : pandas.DataFrame
        From `cobalance.workflows.panel.verdicts.audit_imbalances`, with ``true_gap``.
    """

    pictures: Pictures
    asked: int
    proposed: Proposed
    attributes: pd.DataFrame
    run: str
    measured: Measured
    believed: pd.DataFrame
    checked: int
    corrected: pd.DataFrame


def run_annotate_demo(
    store: GraphStore, settings: Settings, *, progress: Progress = silent
) -> AnnotateDemo:
    """Run the demonstration, anew each time.

    Raises
    ------
    OptionError
        The output folder is not on this machine.
    CobalanceError
        The labelling failed.
    MissingExtraError
        scikit-image, scikit-learn or openai is not installed.
    """
    runner = Runner(store, settings, progress)
    folder = runner.output
    pictures = draw_pictures()
    _load(runner, pictures)
    asked, proposed = _propose(store, folder, progress)
    attributes = _review(store)
    progress("train the annotator", 0, None)
    run = _label(runner, _train(runner))
    decide_labels(store, folder, run, "accepted", decided_by=PEOPLE[0], progress=progress)
    mine_dataset(
        store, NAME, MiningOptions(max_size=1, common=()), max_cliques=1_000, progress=progress
    )
    believed = read_imbalances(store, NAME, Ranking(by="gap", max_size=1, limit=len(CONCEPTS)))
    checked, corrected = _audit(store, folder, pictures, run)
    truth = pd.DataFrame(
        pictures.shows().astype(float), index=pictures.table["id"], columns=list(CONCEPTS)
    )
    measured = measure_run(store, folder, run, GroundTruth(truth))
    return AnnotateDemo(
        pictures, asked, proposed, attributes, run, measured, believed, checked, corrected
    )


def draw_pictures(seed: int = 0) -> Pictures:
    """Draw pictures of every background and thing equally often, but for the `RARE` one."""
    drawn = make_test_digits(seed, per_group=_PER_GROUP)
    classes = drawn.table["background"].map(CLASSES)
    things = drawn.table["thing"]
    rare = ((things == RARE[0]) & (classes == RARE[1])).to_numpy()
    kept = ~rare | (np.cumsum(rare) % 3 == 0)
    table = pd.DataFrame({"id": drawn.table["id"], "class_name": classes, "thing": things})
    return Pictures(drawn.pixels[kept], table[kept].reset_index(drop=True))


def _load(runner: Runner, pictures: Pictures) -> None:
    """Write the pictures, and load them with their classes alone."""
    folder = runner.pictures(NAME)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    ids = pictures.table["id"].tolist()
    for name, pixels in zip(ids, pictures.pixels, strict=True):
        Image.fromarray(pixels).save(folder / uri_of(name))
    records = [
        ImageRecord(name, of, (), "train", prefix_of(NAME) + uri_of(name), SIDE_PX, SIDE_PX)
        for name, of in zip(ids, pictures.table["class_name"], strict=True)
    ]
    if find_dataset(runner.store, NAME) is not None:
        drop_dataset(runner.store, runner.folders, NAME, runner.progress)
    write_annotations(
        runner.store,
        NAME,
        Annotations.from_records(records),
        source="things before photographs",
        progress=runner.progress,
    )


def scripted_reply(body: Mapping[str, Any]) -> str:
    """Reply of the scripted language model, which names an absent object in one round.

    Examples
    --------
    >>> ask = 'different examples of the category "place" that'
    >>> scripted_reply({"messages": [{"content": ask}], "seed": 0})
    '{"items": ["town", "garden"]}'
    """
    text = str(body["messages"][-1]["content"])
    odd = int(body.get("seed") or 0) == 1
    if "categories that" in text:
        items = ["place", "thing", "mood"] if odd else ["thing", "place"]
    elif "outlined" in text:
        return json.dumps({"answer": "yes", "explanation": "They are objects."})
    elif '"thing"' in text:
        items = [*reversed(CONCEPTS), "banknote"] if odd else [*CONCEPTS]
    else:
        items = ["town", "garden"]
    return json.dumps({"items": items})


def _propose(store: GraphStore, folder: OutputFolder, progress: Progress) -> tuple[int, Proposed]:
    options = read_preset("default", {"categories": 2, "attributes": len(CONCEPTS), "rounds": 3})
    with scripted_endpoint(scripted_reply) as served:
        chat = open_endpoint(served.url, "scripted")
        order = ProposeOrder(NAME, CAPTION, options)
        proposed = propose_attributes(store, folder, chat, order, progress=progress)
    return len(served.requests), proposed


def _review(store: GraphStore) -> pd.DataFrame:
    """Reject flagged attributes, such as names of classes, and accept the rest."""
    attributes = list_attributes(store, NAME)
    decisions = [
        Decision((category, name), "rejected" if flags else "accepted")
        for category, name, flags in zip(
            *(attributes[column] for column in ("category", "proposed", "flags")), strict=True
        )
    ]
    decide_attributes(store, NAME, decisions, PEOPLE[0])
    return list_attributes(store, NAME)


def _train(runner: Runner) -> Path:
    """Train a probe on pictures where things and backgrounds go together; return its file."""
    labelled = make_training_digits(0)
    things = labelled.table["thing"].to_numpy(object)[:_LABELLED]
    shows = np.stack([things == name for name in CONCEPTS], axis=1)
    probe = fit_linear_probe(list(labelled.pixels[:_LABELLED]), shows, CONCEPTS, c=0.1)
    path = runner.pictures(NAME) / "probe.npz"
    probe.save(path)
    return path


def _label(runner: Runner, probe: Path) -> str:
    order = LabelOrder(
        NAME,
        "linear-probe",
        {"model": str(probe)},
        level="object",
        threshold=THRESHOLD,
        chunk_images=200,
    )
    run = order_labels(runner.store, runner.output, order)
    chunks = range(read_run(runner.store, run).chunks)
    runner.run_tasks([f"{run}-{at}" for at in chunks], runner.progress)
    return run


def _audit(
    store: GraphStore, folder: OutputFolder, pictures: Pictures, run: str
) -> tuple[int, pd.DataFrame]:
    """Audit a sample with people who err at times; the number of labels, and imbalances."""
    audit = draw_audit(store, folder, run, AuditSample(PEOPLE, n=_CHECKED))
    sheet = answer_sheet(store, audit)
    thing = dict(zip(pictures.table["id"], pictures.table["thing"], strict=True))
    there = np.array([thing[of] for of in sheet["image"]], object) == sheet["concept"]
    wrong = np.random.default_rng(0).random(len(sheet)) < _WRONG
    sheet["answer"] = np.where(there.to_numpy() ^ wrong, SHOWS, DOES_NOT)
    take_answers(store, audit, sheet)
    found = audit_imbalances(store, audit)
    columns = (found[name] for name in ("concept", "over_represented", "under_represented"))
    found["true_gap"] = [pictures.true_gap(*row) for row in zip(*columns, strict=True)]
    return len(audit.labels), found


def measured_table(found: AnnotateDemo) -> pd.DataFrame:
    """AUC, precision and recall of each concept."""
    scores = found.measured.scores
    names = {"AUC": "auc", "precision": "precision", "recall": "recall"}
    shown = {title: scores[name].map("{:.2f}".format) for title, name in names.items()}
    return pd.DataFrame({"concept": scores["concept"], **shown})


def labelled_table(found: AnnotateDemo) -> pd.DataFrame:
    """The most telling imbalances of the labels, as mined."""
    rows = found.believed
    return pd.DataFrame(
        {
            "concept": [" + ".join(names) for names in rows["concepts"]],
            "more in": rows["over_represented"],
            "odds ratio": np.exp(rows["log_odds_ratio"].abs()).map("{:.1f}".format),
            "q-value": rows["q_value"].map("{:.1g}".format),
        }
    )


def corrected_table(found: AnnotateDemo) -> pd.DataFrame:
    """Gaps as labelled, as corrected, and in truth."""
    rows = found.corrected.sort_values("gap", ascending=False)
    corrected = rows[["corrected_gap", "corrected_gap_low", "corrected_gap_high"]]
    verdicts = rows["verdict"].replace("not supported", "not supported: invented")
    return pd.DataFrame(
        {
            "concept": rows["concept"],
            "more in": rows["over_represented"],
            "labelled gap": rows["gap"].map("{:+.0f}".format),
            "corrected gap": [
                "{:+.0f} [{:+.0f}, {:+.0f}]".format(*row) for row in corrected.to_numpy()
            ],
            "true gap": rows["true_gap"].map("{:+d}".format),
            "the audit": verdicts,
        }
    )
