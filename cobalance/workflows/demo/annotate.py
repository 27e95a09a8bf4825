"""Annotation demonstration: an annotator invents imbalances, and an audit corrects them.

Pictures of things before photographs (`cobalance.workflows.demo.draw_digits`), where all things but
one are equally frequent in both classes. A scripted language model proposes what to look for; a
linear probe, trained on pictures where things and backgrounds go together, labels; people who see
what is there check a sample. Proposing, training, labelling and auditing are the real ones.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.annotation import (
    DOES_NOT,
    SHOWS,
    GroundTruth,
    Question,
    Reply,
    fit_linear_probe,
    read_preset,
)
from cobalance.base import Annotations, ImageRecord, Progress, silent
from cobalance.counting import MiningOptions
from cobalance.graph import (
    Decision,
    GraphStore,
    Ranking,
    decide_attributes,
    list_attributes,
    mine_dataset,
    read_imbalances,
    read_run,
    read_task,
    write_annotations,
)
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.demo.draw_digits import (
    BACKGROUNDS,
    SIDE_PX,
    THINGS,
    make_test_digits,
    make_training_digits,
    uri_of,
    write_images,
)
from cobalance.workflows.demo.removal import claim_name
from cobalance.workflows.demo.runner import Runner, prefix_of
from cobalance.workflows.label.decide import decide_labels
from cobalance.workflows.label.measure import Measured, measure_run
from cobalance.workflows.label.order import LabelOrder, order_labels
from cobalance.workflows.label.propose import Proposed, propose_attributes
from cobalance.workflows.load.dataset import drop_dataset
from cobalance.workflows.panel import (
    AuditSample,
    answer_sheet,
    audit_imbalances,
    draw_audit,
    take_answers,
)
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

# Images of each class, background and thing.
_PER_GROUP = 6
# Pictures that the probe is trained with.
_LABELLED = 300
# Labels of each concept, class and verdict that people check.
_CHECKED = 60
# The share of wrong answers of a person.
_WRONG = 0.03


@dataclass(frozen=True, eq=False)
class AnnotateDemo:
    """Results of each step.

    Parameters
    ----------
    pictures : pandas.DataFrame
        ``id``, ``class_name`` and ``thing`` of each.
    attributes : pandas.DataFrame
        What was proposed, and what was decided of it.
    run : str
        The labelling run, whose labels `measured` compares with the truth.
    believed : pandas.DataFrame
        The dataset's imbalances as labelled, by the graph.
    checked : int
        Labels that people checked.
    corrected : pandas.DataFrame
        From `cobalance.workflows.panel.verdicts.audit_imbalances`, with ``true_gap``.
    """

    pictures: pd.DataFrame
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
        scikit-image or scikit-learn is not installed.
    """
    runner = Runner(store, settings, progress)
    folder = runner.output
    pixels, pictures = draw_pictures()
    write_images(runner.pictures(NAME), pictures["id"], pixels)
    _load(runner, pictures)

    limits = {"categories": 2, "attributes": len(CONCEPTS), "rounds": 3}
    options = read_preset("default", limits)
    model = ScriptedModel()
    proposed = propose_attributes(store, folder, model, NAME, CAPTION, options, progress=progress)
    attributes = _review(store)

    progress("train the annotator", 0, None)
    run = _label(runner, _train(runner))
    decide_labels(store, folder, run, "accepted", decided_by=PEOPLE[0], progress=progress)
    mining = MiningOptions(max_size=1, common=())
    mine_dataset(store, NAME, mining, max_cliques=1_000, progress=progress)
    believed = read_imbalances(store, NAME, Ranking(by="gap", max_size=1, limit=len(CONCEPTS)))

    checked, corrected = _audit(store, folder, pictures, run)
    truth = find_things(pictures).set_index(pictures["id"]).astype(float)
    return AnnotateDemo(
        pictures=pictures,
        proposed=proposed,
        attributes=attributes,
        run=run,
        measured=measure_run(store, folder, run, GroundTruth(truth)),
        believed=believed,
        checked=checked,
        corrected=corrected,
    )


def draw_pictures() -> tuple[npt.NDArray[np.uint8], pd.DataFrame]:
    """Draw pictures of every background and thing equally often, but for the `RARE` one.

    Returns
    -------
    pixels : uint8 array, shape (n_images, 48, 48, 3)
    table : pandas.DataFrame
        ``id``, ``class_name`` and ``thing``.
    """
    drawn = make_test_digits(0, per_group=_PER_GROUP)
    classes = drawn.table["background"].map(CLASSES)
    things = drawn.table["thing"]
    table = pd.DataFrame({"id": drawn.table["id"], "class_name": classes, "thing": things})

    is_rare = ((things == RARE[0]) & (classes == RARE[1])).to_numpy()
    selected = ~is_rare | (np.cumsum(is_rare) % 3 == 0)
    return drawn.pixels[selected], table[selected].reset_index(drop=True)


def find_things(table: pd.DataFrame) -> pd.DataFrame:
    """Whether each picture of a table shows each of `CONCEPTS`: a column each."""
    return pd.get_dummies(table["thing"])[list(CONCEPTS)]


def _load(runner: Runner, pictures: pd.DataFrame) -> None:
    """Load the pictures with their classes alone."""
    prefix = prefix_of(NAME)
    records = [
        ImageRecord(name, class_name, (), "train", prefix + uri_of(name), SIDE_PX, SIDE_PX)
        for name, class_name in zip(pictures["id"], pictures["class_name"], strict=True)
    ]

    drop_dataset(runner.store, runner.folders, NAME, runner.progress)
    claim_name(runner.store, NAME)
    write_annotations(
        runner.store,
        NAME,
        Annotations.from_records(records),
        source="things before photographs",
        progress=runner.progress,
    )


class ScriptedModel:
    """A language model that names the pictures' things, and an absent one in one round."""

    def ask(self, question: Question) -> Reply:
        """Reply to one of the questions of `cobalance.annotation.proposing`.

        Examples
        --------
        >>> ScriptedModel().ask(Question('different examples of the category "place" that')).text
        '{"items": ["town", "garden"]}'
        """
        # In one round of two it names an object that no picture shows.
        is_odd = question.seed == 1
        if "categories that" in question.text:
            items = ["place", "thing", "mood"] if is_odd else ["thing", "place"]
        elif "outlined" in question.text:
            return Reply(json.dumps({"answer": "yes", "explanation": "They are objects."}))
        elif '"thing"' in question.text:
            items = [*reversed(CONCEPTS), "banknote"] if is_odd else [*CONCEPTS]
        else:
            items = ["town", "garden"]
        return Reply(json.dumps({"items": items}))

    def describe(self) -> Mapping[str, Any]:
        """Its name."""
        return {"model": "scripted"}


def _review(store: GraphStore) -> pd.DataFrame:
    """Reject flagged attributes, such as names of classes, and accept the rest."""
    attributes = list_attributes(store, NAME)
    decisions = [
        Decision((row["category"], row["proposed"]), "rejected" if row["flags"] else "accepted")
        for row in attributes.to_dict("records")
    ]
    decide_attributes(store, NAME, decisions, PEOPLE[0])
    return list_attributes(store, NAME)


def _train(runner: Runner) -> Path:
    """Train a probe on pictures where things and backgrounds go together; return its file."""
    labelled = make_training_digits(0)
    shows = find_things(labelled.table[:_LABELLED]).to_numpy()
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
    runner.run(read_task, [f"{run}-{chunk}" for chunk in chunks])
    return run


def _audit(
    store: GraphStore, folder: OutputFolder, pictures: pd.DataFrame, run: str
) -> tuple[int, pd.DataFrame]:
    """Audit a sample with people who err at times; the number of labels, and imbalances."""
    audit = draw_audit(store, folder, run, AuditSample(PEOPLE, n=_CHECKED))
    sheet = answer_sheet(store, audit)
    is_shown = sheet["image"].map(pictures.set_index("id")["thing"]) == sheet["concept"]
    is_wrong = np.random.default_rng(0).random(len(sheet)) < _WRONG
    sheet["answer"] = np.where(is_shown.to_numpy() ^ is_wrong, SHOWS, DOES_NOT)
    take_answers(store, audit, sheet)

    imbalances = audit_imbalances(store, audit)
    counts = pictures.value_counts(["thing", "class_name"])
    gaps = []
    for row in imbalances.to_dict("records"):
        thing = row["concept"]
        gap = counts[thing, row["over_represented"]] - counts[thing, row["under_represented"]]
        gaps.append(int(gap))
    imbalances["true_gap"] = gaps
    return len(audit.labels), imbalances


def measured_table(demo: AnnotateDemo) -> pd.DataFrame:
    """AUC, precision and recall of each concept."""
    scores = demo.measured.scores
    table = scores[["concept"]].copy()
    for title, name in (("AUC", "auc"), ("precision", "precision"), ("recall", "recall")):
        table[title] = scores[name].map("{:.2f}".format)
    return table


def labelled_table(demo: AnnotateDemo) -> pd.DataFrame:
    """The most telling imbalances of the labels, as mined."""
    rows = demo.believed
    return pd.DataFrame(
        {
            "concept": rows["concepts"].map(" + ".join),
            "more in": rows["over_represented"],
            "odds ratio": np.exp(rows["log_odds_ratio"].abs()).map("{:.1f}".format),
            "q-value": rows["q_value"].map("{:.1g}".format),
        }
    )


def corrected_table(demo: AnnotateDemo) -> pd.DataFrame:
    """Gaps as labelled, as corrected, and in truth."""
    rows = demo.corrected.sort_values("gap", ascending=False)
    corrected = rows[["corrected_gap", "corrected_gap_low", "corrected_gap_high"]].to_numpy()
    return pd.DataFrame(
        {
            "concept": rows["concept"],
            "more in": rows["over_represented"],
            "labelled gap": rows["gap"].map("{:+.0f}".format),
            "corrected gap": ["{:+.0f} [{:+.0f}, {:+.0f}]".format(*gap) for gap in corrected],
            "true gap": rows["true_gap"].map("{:+d}".format),
            "the audit": rows["verdict"].replace("not supported", "not supported: invented"),
        }
    )
