"""Datasets in second use, in any order: counts, weights, state words, reports and plans follow from
images, labels, tags and options alone."""

import copy
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings as hypothesis_settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelledAttribute, LabelSettings
from cobalance.base.errors import ConflictError, StaleError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.annotations.runs import NewRun, create_run, end_run
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.dataset.state import dataset_state, find_dataset, list_datasets
from cobalance.graph.dataset.write import LOADED_TAG_SOURCE
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.rebalance import SOURCE, generated_id
from cobalance.graph.jobs.status import read_job
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.graph.tags.applying import apply_tags, pending_tags
from cobalance.graph.tags.tags import delete_tag, list_tags, set_role, tag_images, untag_images
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.backup.store_backup import back_up, restore
from cobalance.workflows.diagnose.mine import mine
from cobalance.workflows.label.decide import decide_labels
from cobalance.workflows.load.dataset import load_dataset
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.rebalance import rebalance_job

CLASSES = ("farm", "town", "sea side")
CONCEPTS = ("cow", "road sign", "tree", "dusk")
TAGS = ("dusk", "cow", "blurred")
IDS = tuple(f"image {at}" for at in range(12))

images_of_file = st.dictionaries(
    st.sampled_from(IDS),
    st.tuples(
        st.sampled_from((*CLASSES[:2], *CLASSES)),
        st.frozensets(st.sampled_from(CONCEPTS[:3]), max_size=3),
        st.sampled_from((None, "train", "test")),
    ),
    min_size=1,
    max_size=8,
)
some_ids = st.sets(st.sampled_from(IDS), min_size=1, max_size=4)


@dataclass
class Model:
    """What a dataset holds, by plain sets.

    Parameters
    ----------
    base : dict of str to (str, dict of str to str, str or None)
        Class, concepts with their sources, and split of each image as it was loaded last.
    tags : dict of str to (str, set of str)
        Role and images of each tag.
    runs : dict of str to dict of str to set of str
        Concepts that each accepted run labels images with.
    shown : dict
        Like `base`, of the images that count since tags were applied last.
    mined : tuple or None
        What was shown when it was mined, and the options.
    intact : bool
        Whether no class or concept has been without an image since.
    """

    name: str
    base: dict = field(default_factory=dict)
    tags: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)
    shown: dict = field(default_factory=dict)
    mined: tuple | None = None
    intact: bool = True
    compared: tuple = ()
    plan: tuple | None = None

    def left_out(self):
        excluded = [ids for role, ids in self.tags.values() if role == "exclude"]
        return set().union(*excluded) & self.base.keys()

    def lay_over(self):
        """Labels and tags over what was loaded."""
        shown = {}
        for image in self.base.keys() - self.left_out():
            class_name, concepts, split = self.base[image]
            concepts = dict(concepts)
            labels = Counter()
            for run in self.runs:
                labels.update(self.runs[run].get(image, ()))
            for name in labels.keys() - concepts.keys():
                # Of equally sure runs the first by name is the source.
                first = min(run for run in self.runs if name in self.runs[run].get(image, ()))
                concepts[name] = mention(f"m (run {first})", labels[name])
            for tag, (role, ids) in self.tags.items():
                if role == "concept" and image in ids:
                    concepts.setdefault(tag, "image tag")
            shown[image] = (class_name, concepts, split)
        return shown

    def apply(self):
        self.show(self.lay_over())

    def show(self, shown):
        before, after = (names_of(every) for every in (self.shown, shown))
        self.intact &= before <= after
        self.shown = shown

    def delete(self, gone):
        for image in gone:
            del self.base[image]
        for _, ids in self.tags.values():
            ids.difference_update(gone)

    @property
    def word(self):
        if self.mined is None:
            return "not mined"
        ready = self.intact and self.mined[0] == self.shown
        return "ready" if ready else "changed since mined"


def mention(source, times):
    return source if times == 1 else f"{source}, {times} times"


def names_of(shown):
    """Classes and concepts of images."""
    classes = {("class", class_name) for class_name, _, _ in shown.values()}
    return classes | {("concept", name) for _, concepts, _ in shown.values() for name in concepts}


def count_changed(before, after):
    """Images that came, went, or show something else."""
    seen = [{i: (of, set(names)) for i, (of, names, _) in one.items()} for one in (before, after)]
    return sum(seen[0].get(image) != seen[1].get(image) for image in before.keys() | after.keys())


def annotations_of(images):
    return Annotations.from_records(
        ImageRecord(
            image,
            class_name,
            tuple(Mention(name, source) for name, source in concepts.items()),
            split,
        )
        for image, (class_name, concepts, split) in images.items()
    )


def counted(images, max_size, of_class=lambda class_name, _: class_name):
    """In how many images of each class each combination is, one image at a time."""
    found = Counter()
    for class_name, concepts, _ in images:
        label = of_class(class_name, concepts)
        for size in range(1, max_size + 1):
            for clique in combinations(sorted(concepts), size):
                found[clique, label] += 1
    return found


class SecondUse(RuleBasedStateMachine):
    """A dataset and its rebalanced copy."""

    store = settings = None

    @initialize(file=images_of_file)
    def begin(self, file):
        self._folder = TemporaryDirectory(prefix="second-use-")
        home = Path(self._folder.name)
        self.own = self.settings.model_copy(
            update={"cobalance_home": home, "cobalance_output": str(home / "made")}
        )
        self.folders = self.own.folders()
        self.original = Model(f"test {uuid4()}")
        self.copy = None
        self.copied = None
        self.job = None
        self.saved = None
        self.load(file)

    def teardown(self):
        for name in (self.original.name, f"{self.original.name}-rebalanced"):
            if find_dataset(self.store, name) is not None:
                drop_dataset(self.store, name)
        self._folder.cleanup()

    # --- what people do --------------------------------------------------------------------

    def _load(self, file, source="file.csv", if_exists=None):
        """Load some images, and compare the report."""
        model = self.original
        images = {
            image: (class_name, dict.fromkeys(concepts, "annotation"), split)
            for image, (class_name, concepts, split) in file.items()
        }
        report = load_dataset(
            *(self.store, self.folders, model.name, annotations_of(images)),
            source=source,
            if_exists=if_exists,
        )
        shared = images.keys() & model.base.keys()
        updated = {image for image in shared if images[image] != model.base[image]}
        gone = set()
        if if_exists == "replace":
            gone = model.base.keys() - images.keys()
        assert (report.created, report.updated, report.deleted, report.unchanged) == (
            len(images) - len(shared),
            len(updated),
            len(gone),
            len(shared) - len(updated),
        )
        model.delete(gone)
        model.base.update(images)
        model.apply()

    @rule(file=images_of_file)
    def load(self, file):
        self._load(file)

    @rule()
    def load_again(self):
        self._load(self._file())

    def _file(self):
        """The images as they were loaded last."""
        base = self.original.base
        return {image: (of, frozenset(names), split) for image, (of, names, split) in base.items()}

    @rule(data=st.data())
    def swap_labels(self, data):
        """Concepts move between two images, so that each is in as many as before."""
        file = self._file()
        one, other = data.draw(st.permutations(sorted(file) * 2))[:2]
        names = file[one][1], file[other][1]
        file[one] = (file[one][0], names[1], file[one][2])
        file[other] = (file[other][0], names[0], file[other][2])
        self._load(file)

    @rule(file=images_of_file)
    def replace_images(self, file):
        self._load(file, if_exists="replace")

    @rule(file=images_of_file)
    def append(self, file):
        """Images of another file, which may say otherwise of some that there are."""
        known = self.original.base.keys() & file.keys()
        if not known:
            self._load(file, source="other.csv", if_exists="append")
            return
        other = {image: ("town", frozenset({"hat"}), None) for image in known}
        with pytest.raises(ConflictError, match="say otherwise of"):
            self._load(other, source=f"{uuid4()}.csv", if_exists="append")

    @rule(tag=st.sampled_from(TAGS), ids=some_ids, of_copy=st.booleans(), data=st.data())
    def tag(self, tag, ids, of_copy, data):
        model = self._model(of_copy)
        ids = {image for image in ids if image in model.base} or {min(model.base)}
        role = data.draw(st.sampled_from(("exclude",) if tag == "blurred" else ("concept", "tag")))
        tag_images(self.store, model.name, tag, sorted(ids))
        set_role(self.store, model.name, tag, role)
        held = model.tags.get(tag, ("", set()))[1]
        model.tags[tag] = (role, held | ids)

    @rule(ids=some_ids, of_copy=st.booleans(), data=st.data())
    def untag(self, ids, of_copy, data):
        model = self._model(of_copy)
        if not model.tags:
            return
        tag = data.draw(st.sampled_from(sorted(model.tags)))
        role, held = model.tags[tag]
        if ids & held:
            untag_images(self.store, model.name, tag, sorted(ids & held))
            model.tags[tag] = (role, held - ids)
        else:
            delete_tag(self.store, model.name, tag)
            del model.tags[tag]

    @rule(of_copy=st.booleans())
    def apply_tags(self, of_copy):
        model = self._model(of_copy)
        apply_tags(self.store, model.name)
        model.apply()

    @rule(labels=st.dictionaries(st.sampled_from(IDS), st.sets(st.sampled_from(CONCEPTS))))
    def accept_labels(self, labels):
        settings = LabelSettings(
            annotator="extract",
            attributes=[LabelledAttribute(category="", concept=n, caption=n) for n in CONCEPTS],
            rule="threshold",
            threshold=0.5,
            images=len(IDS),
            chunk_images=len(IDS),
        )
        new = NewRun("label", "m", settings.model_dump(mode="json"))
        run = create_run(self.store, self.original.name, new)
        matrix = [[float(name in labels.get(image, ())) for name in CONCEPTS] for image in IDS]
        scores = Scores(np.array(matrix, np.float32), None, False)
        ScoreFiles(OutputFolder(self.folders.output), run).write_scores(0, IDS, scores)
        end_run(self.store, run)
        self._decide(run, "accepted")
        self.original.runs[run] = labels
        self.original.apply()

    @precondition(lambda self: self.original.runs)
    @rule()
    def reject_labels(self):
        run = next(iter(self.original.runs))
        self._decide(run, "rejected")
        del self.original.runs[run]
        self.original.apply()

    def _decide(self, run, state):
        decide_labels(self.store, OutputFolder(self.folders.output), run, state)

    @rule(
        of_copy=st.booleans(),
        max_size=st.sampled_from((1, 2, 3)),
        common=st.sampled_from((None, ())),
        compared=st.sampled_from((None, None, (), ("cow",), ("tree", "cow"))),
    )
    def mine(self, of_copy, max_size, common, compared):
        model = self._model(of_copy)
        apply_tags(self.store, model.name)
        model.apply()
        options = MiningOptions(max_size=max_size, common=common)
        wanted = model.compared if compared is None else compared
        present = {name for _, concepts, _ in model.shown.values() for name in concepts}
        if not model.shown:
            return
        arguments = (self.store, model.name, options)
        if set(wanted) - present:
            if compared is None:
                with pytest.raises(StaleError, match="which it is compared by"):
                    mine(*arguments, max_cliques=10_000)
            return
        report = mine(*arguments, max_cliques=10_000, classes=compared)
        assert report.images == len(model.shown)
        if report.changed is not None:
            assert report.changed == count_changed(model.mined[0], model.shown)
        model.compared = tuple(wanted)
        model.mined, model.intact = (model.shown, options), True

    @precondition(lambda self: self.original.word == "ready" and not self.original.compared)
    @rule()
    def plan(self):
        model = self.original
        if len({class_name for class_name, _, _ in model.shown.values()}) < 2:
            return
        plan_dataset(self.store, model.name, "conbias", PlanOptions(min_size=1))
        model.plan = (read_plan(self.store, model.name, "conbias"), model.mined)

    @rule()
    def rebalance(self):
        model = self.original
        asked_for = {("class", "farm"), ("concept", "cow"), ("concept", "tree")}
        if not model.shown or (self.job is None and not asked_for <= names_of(model.shown)):
            return
        if self.job is None:
            self.job = create_job(self.store, model.name, "p", [("farm", ("cow", "tree"), 2)])
            query = query_id(self.job, 0)
            output = OutputFolder(self.folders.output)
            paths = [f"{self.job}/images/{at}.png" for at in range(2)]
            for path in paths:
                output.write(path, b"a picture")
            made = [NewCandidate(f"{query}/{at}", paths[at], "accepted") for at in range(2)]
            record_made(self.store, self.job, {query: made})
        self.copied = copy.deepcopy(model.shown)
        if self.copy is None:
            self.copy = Model(f"{model.name}-rebalanced")
        splits = {split for _, _, split in model.shown.values()}
        split = splits.pop() if len(splits) == 1 else "train"
        base = {
            image: (
                class_name,
                {n: LOADED_TAG_SOURCE if s == "image tag" else s for n, s in concepts.items()},
                of_split,
            )
            for image, (class_name, concepts, of_split) in model.shown.items()
        }
        query = query_id(self.job, 0)
        for at in range(2):
            concepts = dict.fromkeys(("cow", "tree"), SOURCE)
            base[generated_id(f"{query}/{at}")] = ("farm", concepts, split)
        self.copy.delete(self.copy.base.keys() - base.keys())
        self.copy.base = base
        self.copy.apply()
        gone = set(self.copy.compared) - {n for _, c, _ in self.copy.shown.values() for n in c}
        call = (self.store, self.folders, read_job(self.store, self.job))
        if model.word == "ready" and gone:
            with pytest.raises(StaleError, match="which it is compared by"):
                rebalance_job(*call)
            return
        rebalance_job(*call)
        if model.word == "ready":
            self.copy.mined = (self.copy.shown, replace(model.mined[1]))
            self.copy.intact = True

    @rule()
    def back_up(self):
        file = Path(self._folder.name, f"{uuid4()}.zip")
        back_up(self.store, self.folders, file, [self.original.name])
        self.saved = (file, copy.deepcopy(self.original), self.job)

    @precondition(lambda self: self.saved)
    @rule()
    def restore(self):
        file, model, job = self.saved
        if job != self.job:  # the copy would be of a job that is gone
            return
        restore(*(self.store, self.folders, self.own.queue_url(), file, [model.name]), replace=True)
        self.original = copy.deepcopy(model)

    def _model(self, of_copy):
        return self.copy if of_copy and self.copy else self.original

    # --- what follows ----------------------------------------------------------------------

    @invariant()
    def all_follows_from_images_tags_and_options(self):
        for model in filter(None, (self.original, self.copy)):
            self._check_images(model)
            self._check_weights(model)
            self._check_cliques(model)
            self._check_tags(model)
        self._check_plan(self.original)
        self._check_copy()

    def _check_images(self, model):
        rows = self.store.read(
            "MATCH (i:Image {dataset: $name})-[:LABELED]->(y) RETURN i.id AS id, y.name AS class, "
            "i.split AS split, "
            "COLLECT { MATCH (i)-[e:CONTAINS]->(c) RETURN [c.name, e.source, e.count] } "
            "AS concepts",
            name=model.name,
        )
        assert {
            row["id"]: (
                row["class"],
                {name: mention(source, times) for name, source, times in row["concepts"]},
                row["split"],
            )
            for row in rows
        } == model.shown
        listed = list_datasets(self.store).set_index("dataset").loc[model.name]
        assert listed["images"] == len(model.shown)
        assert listed["state"] == model.word

    def _check_weights(self, model):
        pairs, of_class = Counter(), Counter()
        for class_name, concepts, _ in model.shown.values():
            pairs.update(combinations(sorted(concepts), 2))
            of_class.update((class_name, name) for name in concepts)
        for label, expected in (("Concept", pairs), ("Class", of_class)):
            rows = self.store.read(
                f"MATCH (a:{label} {{dataset: $name}})-[e:CO_OCCURS]->(b) "
                "RETURN a.name AS a, b.name AS b, e.images AS images",
                name=model.name,
            )
            assert {(row["a"], row["b"]): row["images"] for row in rows} == expected

    def _check_cliques(self, model):
        if model.word != "ready":
            with pytest.raises(StaleError):
                load_cliques(self.store, model.name)
            return
        shown, options = model.mined
        cliques = load_cliques(self.store, model.name)
        found = {
            (names, class_name): n
            for names, row in zip(cliques.names(), cliques.counts.tolist(), strict=True)
            for class_name, n in zip(cliques.classes, row, strict=True)
        }
        classes = {class_name for class_name, _, _ in shown.values()}
        if model.compared:
            by = model.compared[0]
            expected = counted(
                shown.values(), options.max_size, lambda _, names: by if by in names else "rest"
            )
            named = {(k, c if c == by else "rest"): n for (k, c), n in found.items()}
            assert all(n == expected[key] for key, n in named.items())
            with_it = sum(by in concepts for _, concepts, _ in shown.values())
            sizes = dict(dataset_state(self.store, model.name).mined_classes)
            assert sizes.pop(by) == with_it
            assert [*sizes.values()] == [len(shown) - with_it]
            return
        expected = counted(shown.values(), options.max_size)
        if options.common is None:
            usual = {
                name
                for name in {name for (clique, _) in expected for name in clique}
                if all(expected[(name,), class_name] for class_name in classes)
            }
            expected = {key: n for key, n in expected.items() if usual.issuperset(key[0])}
        assert {key: n for key, n in found.items() if n} == dict(expected)

    def _check_tags(self, model):
        left_out = model.left_out()
        listed = list_tags(self.store, model.name).set_index("tag")
        assert listed["images"].to_dict() == {t: len(ids) for t, (_, ids) in model.tags.items()}
        pending = pending_tags(self.store, model.name)
        wanted = model.lay_over()
        assert pending.left_out == len(left_out & model.shown.keys())
        assert pending.brought_back == len(wanted.keys() - model.shown.keys())
        both = wanted.keys() & model.shown.keys()
        assert pending.changed == sum(wanted[image] != model.shown[image] for image in both)

    def _check_plan(self, model):
        if model.plan is None:
            return
        queries, mined = model.plan
        (row,) = self.store.read(
            "MATCH (p:Plan {dataset: $name, name: 'conbias'}) "
            "RETURN COUNT { (p)<-[:ASKED_BY]-() } AS queries",
            name=model.name,
        )
        assert row["queries"] == len(queries)
        if model.word == "ready" and model.mined == mined:
            assert read_plan(self.store, model.name, "conbias") == queries
        else:
            with pytest.raises(StaleError):
                read_plan(self.store, model.name, "conbias")

    def _check_copy(self):
        if self.copy is None or {self.original.word, self.copy.word} != {"ready"}:
            return
        if self.original.compared or self.copy.compared:
            return
        found = compare_imbalances(self.store, self.original.name, self.copy.name)
        notes = " ".join(str(note) for note in found.notes)
        assert ("older version" in notes) == (self.copied != self.original.shown)


def run_sequences(store, settings, sequences, steps, *, always_the_same):
    machine = type("Machine", (SecondUse,), {"store": store, "settings": settings})
    drawn = hypothesis_settings(
        max_examples=sequences,
        stateful_step_count=steps,
        derandomize=always_the_same,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=drawn)


def test_everything_follows_from_images_tags_and_options(store, settings):
    run_sequences(store, settings, 8, 12, always_the_same=True)


@pytest.mark.soak
def test_everything_follows_from_them_in_many_sequences(store, settings):
    run_sequences(store, settings, 100, 30, always_the_same=False)
