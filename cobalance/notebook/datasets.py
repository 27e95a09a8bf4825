"""A dataset in the store: mined, diagnosed, planned for, and rebalanced by jobs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd

from cobalance.base import (
    NO_LIMIT,
    CobalanceError,
    DataError,
    ImageRecord,
    OptionError,
    Progress,
    clean_name,
    map_optional,
    silent,
)
from cobalance.counting import Engine, MiningOptions
from cobalance.evaluation import USUAL
from cobalance.generation import PlanOptions, simulate
from cobalance.graph import (
    MAX_CLIQUES,
    Audit as AuditRecord,
    ConsoleQuery,
    GraphStore,
    Study as StudyRecord,
    TagChanges,
    TagRole,
    answer_frame,
    apply_tags,
    bind_named,
    class_sizes,
    compare_dataset_splits,
    dataset_state,
    delete_tag,
    images_of_tag,
    list_evaluations,
    list_jobs,
    list_notes,
    list_panels,
    list_runs,
    list_tags,
    load_cliques,
    read_annotations,
    read_clustered_images,
    read_mining_options,
    read_task,
    result_frame,
    set_role,
    tag_images,
    untag_images,
    write_note,
    write_plan,
)
from cobalance.ingest import check_vectors, read_embeddings
from cobalance.notebook.arguments import list_names
from cobalance.notebook.data import Data
from cobalance.notebook.diagnosis import (
    Comparison,
    Imbalances,
    PublishedComparison,
    SplitComparison,
)
from cobalance.notebook.display import Result
from cobalance.notebook.evaluations import Evaluations
from cobalance.notebook.graphs import ConceptGraph
from cobalance.notebook.jobs import Job, run_in_process
from cobalance.notebook.labels import Labels
from cobalance.notebook.panels import Audit, Study
from cobalance.notebook.plans import CounterfactualPlan, Plan, Simulation
from cobalance.notebook.remedies import SpeaksPython, speaks_python
from cobalance.statistics import Measure
from cobalance.workflows import (
    EvaluationOrder,
    LabelOrder,
    ReportOptions,
    Settings,
    check_settings,
    cluster_duplicates,
    compare_classes,
    compare_dataset,
    compare_datasets,
    dataset_incidence,
    describe_mining,
    find_across_splits,
    jobs_frame,
    keep_embeddings,
    mine,
    order_embeddings,
    order_evaluations,
    order_labels,
    order_plan,
    order_properties,
    plan_counterfactual_dataset,
    plan_dataset,
    read_order,
    read_properties,
    rename_dataset,
    require_embedded,
    resample_dataset,
    show_properties,
    write_report,
)


class Questions(SpeaksPython):
    """Queries of a store, or of one dataset of it."""

    graph: GraphStore

    def scope(self) -> dict[str, str]:
        """Parameters that every query is given: none, or the name of the dataset."""
        return {}

    def query(self, name: str, /, **parameters: Any) -> pd.DataFrame:
        """Answer a saved query, see `Store.queries`; a dataset passes its name to it.

        Raises
        ------
        OptionError
            No query, parameter, class or concept has this name, or a parameter is missing.
        StaleError
            The dataset has to be mined first.
        """
        # An expression of pandas, or Cypher, is often tried here.
        if re.search(r"[=<>()]", name):
            raise OptionError(
                f"{name!r} is no name of a saved query, see store.queries(). Ask for images with "
                ".read().query(...), and Cypher with .cypher(...)."
            )

        query, bound = bind_named(self.graph, name, self.scope() | parameters)
        rows = self.graph.read(query.text, **bound)
        return answer_frame(query.columns, [list(row.values()) for row in rows])

    def cypher(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = 30.0,
        max_rows: int = 100_000,
        **named: Any,
    ) -> pd.DataFrame:
        """Run Cypher that only reads; ``$dataset`` is the name of the dataset that is asked.

        Parameters
        ----------
        parameters : mapping, optional
            Values of ``$name``; also given as keywords.
        timeout_s : float
            When to give up.
        max_rows : int
            At most so many rows; ``frame.attrs["truncated"]`` says whether there are more.

        Raises
        ------
        QueryRefusedError, QueryError, QueryTimeoutError
            It does more than read, is wrong, or takes too long.
        """
        values = {**self.scope(), **(parameters or {}), **named}
        query = ConsoleQuery(text, False, values, max_rows, timeout_s)
        return result_frame(query.run(self.graph))

    def jobs(self) -> pd.DataFrame:
        """A row a job, the newest first."""
        return jobs_frame(list_jobs(self.graph, self.scope().get("dataset"), limit=NO_LIMIT))


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Questions, Result):
    """A dataset of a `Store`, by its name.

    `graph`, `settings` and `progress` are those of the store; `remarks` are what `Store.load`
    says of image files, or what `Job.rebalance` left out, or kept unedited.
    """

    graph: GraphStore
    settings: Settings
    name: str
    progress: Progress = silent
    remarks: tuple[str, ...] = ()
    bars = ("images",)

    def mine(
        self,
        *,
        max_cliques: int = MAX_CLIQUES,
        engine: Engine = "auto",
        master: str | None = None,
        classes: Sequence[str] | None = None,
        **options: Any,
    ) -> "Dataset":
        """Mine the concept cliques and keep them in the graph, with how each leans to a class.

        Parameters
        ----------
        engine : {"auto", "memory", "out-of-core", "spark"}
            Where to count; ``auto`` is where the dataset was loaded.
        master : str, optional
            Of Spark, such as ``"local[4]"``; all cores of this machine by default.
        classes : sequence of str, optional
            Concepts to compare by, the first with the images that do not show it; none for the
            dataset's classes. As it was mined last by default.
        **options
            `max_size`, `min_support`, `common`, `split` and `confidence` as in
            `cobalance.imbalances`; those not given are as the dataset was mined last.

        Returns
        -------
        Dataset
            This one, so that calls can follow: ``store["cars"].mine().imbalances()``.

        Raises
        ------
        OptionError, TooManyCliquesError
            An option cannot be used, or there are more cliques; nothing is written.
        """
        # Raises for options that there are not; the others are completed by the last ones.
        speaks_python(MiningOptions)(**options)
        mine(
            self.graph,
            self.name,
            dataset_state(self.graph, self.name).mining_options(**options),
            max_cliques=max_cliques,
            engine=engine,
            master=master,
            classes=map_optional(list_names, classes),
            progress=self.progress,
        )
        return self

    def imbalances(
        self,
        *,
        under_represented: str | None = None,
        concepts: str | Sequence[str] = (),
        min_gap: int = 0,
        max_q_value: float | None = None,
        min_size: int = 1,
        max_size: int | None = None,
        closed: bool = False,
    ) -> Imbalances:
        """The mined cliques with their imbalances; takes the keywords of `Imbalances.where`.

        Raises
        ------
        StaleError
            The dataset has not been mined, or has changed since.
        """
        options = read_mining_options(self.graph, self.name)
        cliques = load_cliques(self.graph, self.name)
        images = read_clustered_images(self.graph, self.name, cliques)
        mined = Imbalances.of(cliques, options.confidence, images, options.min_support)

        return mined.where(
            under_represented=under_represented,
            concepts=concepts,
            min_gap=min_gap,
            max_q_value=max_q_value,
            min_size=min_size,
            max_size=max_size,
            closed=closed,
        )

    def plan(
        self,
        planner: str | None = None,
        *,
        min_size: int | None = None,
        max_size: int | None = None,
        max_per_query: int | None = None,
        budget: int | None = None,
        cliques: Sequence[Sequence[str]] = (),
        continued: Sequence[str] = (),
        name: str | None = None,
        **planner_options: Any,
    ) -> Plan:
        """Plan the missing images, and keep the plan in the graph.

        Parameters
        ----------
        cliques : sequence of sequences of str
            The combinations to plan for, each by its concepts; all by default.
        continued : sequence of str
            Ids of jobs whose accepted images count beside the real ones; without a budget as many
            images are planned as the first was asked for and they all have not got.
        name : str, optional
            The plan's name in the dataset; the planner's by default. The rest as in
            `cobalance.plan`.

        Raises
        ------
        OptionError
            No planner has this name, it has no such option, or a size was not mined.
        StaleError
            The dataset has not been mined, or has changed since.
        """
        options = PlanOptions(min_size, max_size, max_per_query, budget)
        plan_name = map_optional(clean_name, name)
        planned = plan_dataset(
            self.graph,
            self.name,
            planner,
            options,
            plan_name,
            self.progress,
            planner_options,
            chosen=cliques,
            continued=continued,
        )

        return Plan(
            planned.plan,
            planned.cliques,
            plan_name or planned.plan.planner,
            planned.chosen,
            planned.images,
            planned.sizes,
        )

    def resample(
        self,
        how: str,
        *,
        min_size: int = 2,
        max_size: int | None = None,
        most: int | None = None,
        seed: int = 0,
    ) -> pd.DataFrame:
        """Repeat, drop or weight the images that were mined, without a new one.

        Parameters
        ----------
        min_size, max_size : int
            Of the cliques whose concepts make groups. The rest as in `cobalance.resample`.

        Returns
        -------
        pandas.DataFrame
            A row an image, by id: ``image``, ``class``, ``split``, and ``times``, how often it is
            taken (0 where it is dropped), or ``weight``.

        Raises
        ------
        UnknownNameError
            There is no such baseline.
        StaleError
            The dataset has not been mined, or has changed since.
        """
        options = PlanOptions(min_size, max_size, budget=most)
        return resample_dataset(self.graph, self.name, how, options, seed, self.progress)[0]

    def plan_counterfactuals(
        self, recipe: str = "resampled", *, name: str | None = None, **options: Any
    ) -> CounterfactualPlan:
        """Plan to edit images so that they show other groups, and keep the plan in the graph.

        Parameters
        ----------
        recipe : str
            One that edits images: ``resampled``, ``pinpoint``, ``gensynth``, ``genswap``, or
            ``resampled-control``.
        name : str, optional
            The plan's name in the dataset; the recipe's by default.
        **options
            What differs from the recipe's, such as ``groups=("woman", "man")``, ``limit=100``,
            ``concepts=("tie",)``, ``cliques=(("dog", "tie"),)``; see
            `cobalance.generation.planning.counterfactuals.CounterfactualOptions`.

        Raises
        ------
        OptionError
            The recipe edits no images, an option cannot be used, captions are needed and there are
            none, or no image is left to edit.
        """
        name = map_optional(clean_name, name)
        # Options of a plan are tuples, for which people write lists.
        changes = dict(options)
        for key, value in options.items():
            if isinstance(value, list):
                changes[key] = tuple(value)

        folder = self.settings.folders().captions
        planned = plan_counterfactual_dataset(
            self.graph, folder, self.name, recipe, changes, name, self.progress
        )
        return CounterfactualPlan(planned.plan, planned.summary(), name or recipe)

    def keep(self, plan: Plan, name: str) -> Plan:
        """Keep a plan in the graph under a name, such as one that was edited.

        Raises
        ------
        StaleError
            The dataset has not been mined, or has changed since.
        """
        name, options = clean_name(name), plan.record.options
        _, largest = options.resolve(load_cliques(self.graph, self.name))
        record = replace(plan.record, options=replace(options, max_size=largest))
        write_plan(self.graph, self.name, name, **record.write_arguments(), progress=self.progress)
        return replace(plan, name=name)

    def simulate(self, plan: Plan) -> Simulation:
        """The exact counts of this dataset once all images of a plan are made.

        Raises
        ------
        UnknownNameError
            The plan is for other classes or concepts.
        """
        cliques = load_cliques(self.graph, self.name)
        return Simulation(cliques, simulate(cliques, plan.record.queries))

    def compare(
        self, other: "Dataset | str", *, by: Measure | None = None, min_gap: int | None = None
    ) -> Comparison:
        """Compare the imbalances of this and another dataset, such as a rebalanced one.

        By default by rates; by counts where `min_gap` is given, below which a gap is no imbalance,
        or where a plan that balances counts made the other dataset.

        Raises
        ------
        DataError, StaleError
            They have different classes, or one has not been mined.
        """
        name = _name_of(other)
        compared = compare_datasets(
            self.graph, self.name, name, by=by, min_gap=min_gap, limit=NO_LIMIT
        )
        return Comparison(compared)

    def compare_splits(
        self, first: str, second: str, *, max_size: int | None = None, max_q_value: float = 0.05
    ) -> SplitComparison:
        """Compare the imbalances of two splits, such as ``train`` and ``val``.

        By the cliques of both together, up to `max_size` or what the dataset was mined to; an
        imbalance holds in a split at a q-value of at most `max_q_value`.

        Raises
        ------
        OptionError, StaleError, TooManyCliquesError
            There is no such split, the dataset is not complete, or there are too many cliques.
        """
        compared = compare_dataset_splits(
            self.graph, self.name, first, second, max_size=max_size, max_q_value=max_q_value
        )
        return SplitComparison(compared)

    def check_splits(self, similarity: float = 0.97) -> pd.DataFrame:
        """Clusters and near duplicates in several splits, a row an image; see `find_across_splits`.

        Near duplicates have vectors with a cosine of at least `similarity`.
        """
        folders = self.settings.folders()
        return find_across_splits(self.graph, folders, self.name, similarity, self.progress)

    def compare_published(self, file: str | Path) -> PublishedComparison:
        """Compare counts, cliques or queries with a file that the authors of ConBias published.

        Raises
        ------
        InputError, StaleError
            The file is none of theirs, or the dataset has not been mined.
        """
        return PublishedComparison(*compare_dataset(self.graph, self.name, file))

    def order(
        self,
        plan: Plan | CounterfactualPlan | str | None = None,
        *,
        recipe: str | None = None,
        **settings: Any,
    ) -> "Job[Dataset]":
        """Order a plan's images: create a job, which workers run, or `Job.run` here.

        Parameters
        ----------
        plan : Plan, CounterfactualPlan or str, optional
            A plan for this dataset, perhaps edited, or the name of one in the graph; by default
            ``conbias``, or the recipe's own where it edits images.
        recipe : str, optional
            How images are made: ``procedural`` (by default), ``paste``, ``inpaint``, ``instruct``,
            or one that edits images, by default that of the plan. Painting people needs
            ``consent="..."``, and ``alters_real_people=True`` where a part of them stays.
        **settings
            Other settings of a job, such as `backend` or `quality`, as docs/generation.md lists
            them; groups are mappings: ``making={"steps": 30}``,
            ``filters={"clip": {"threshold": 0.65}}``.

        Raises
        ------
        OptionError
            A setting is unknown or cannot be used, the plan asks for nothing, or no file of an
            image to take objects from is found, and there is no ``without_images=True``.
        """
        if recipe is None and isinstance(plan, CounterfactualPlan):
            recipe = plan.record.planner
        if recipe is not None:
            settings["recipe"] = recipe
        checked = check_settings(settings)

        planned: Mapping[str, Any]
        if isinstance(plan, Plan | CounterfactualPlan):
            name = plan.name or plan.record.planner
            queries, planned = list(plan.record.queries), plan.record.planner_options
        else:
            plan_name = map_optional(clean_name, plan)
            name, queries, planned = read_order(self.graph, self.name, checked["recipe"], plan_name)

        job = order_plan(
            self.graph,
            self.name,
            name,
            queries,
            checked,
            self.progress,
            places=self.settings.folders().image_roots(self.name),
            planned=planned,
        )
        return job_of(self.graph, self.settings, job, self.progress)

    def evaluate(self, *others: "Dataset | str", **order: Any) -> Evaluations:
        """Order models trained on this dataset and on others, and tested on the same images.

        Workers train them, or `Evaluations.run` here.

        Parameters
        ----------
        *others : Dataset or str
            Such as what a job made of it.
        **order
            As `cobalance.workflows.evaluate.order.EvaluationOrder` has it: `methods`,
            `seeds`, `training_sets`, `preset`, `test`, `test_split`, `shortcuts` and the like.

        Raises
        ------
        OptionError
            There are no test images, or an option or the images cannot be used.
        """
        names = dict.fromkeys((self.name, *map(_name_of, others)))
        checked = speaks_python(EvaluationOrder)(tuple(names), **order)
        ordered = order_evaluations(self.graph, checked, progress=self.progress)
        return Evaluations(self.graph, self.settings, ordered.ids, self.progress)

    def evaluations(self) -> Evaluations:
        """Models that were trained or tested on it, or on a job's dataset made from it."""
        ids = [evaluation.id for evaluation in list_evaluations(self.graph, self.name)]
        return Evaluations(self.graph, self.settings, tuple(ids), self.progress)

    def label(self, annotator: str, **order: Any) -> Labels:
        """Order labels of this dataset's images by a model.

        Workers make them, or `Labels.run` here.

        Parameters
        ----------
        annotator : str
            Such as ``owlv2``; see ``cobalance annotate label --help``.
        **order
            As `cobalance.workflows.label.order.LabelOrder` has it: `options`, `level`,
            `base`, `concepts`, `rule`, `threshold`, `split` and the like.

        Raises
        ------
        OptionError, DataError
            An option cannot be used; there is nothing to look for, or no image.
        """
        checked = speaks_python(LabelOrder)(self.name, annotator, **order)
        folder = self.settings.folders().open_output()
        ordered = order_labels(self.graph, folder, checked)
        return Labels(self.graph, self.settings, ordered, self.progress)

    def labels(self) -> list[Labels]:
        """Labels of the dataset by models, the newest first."""
        runs = [run.id for run in list_runs(self.graph, self.name) if run.kind == "label"]
        return [Labels(self.graph, self.settings, run, self.progress) for run in runs]

    def audit(
        self, people: Sequence[str] | str, *, labels: Labels | str | None = None, **sample: Any
    ) -> Audit:
        """Draw a sample of a model's labels for people to check.

        Parameters
        ----------
        people : sequence of str
            Who checks.
        labels : Labels or str, optional
            What is checked, or its id; by default the newest labels that are complete.
        **sample
            As in `Labels.audit`.

        Raises
        ------
        OptionError, DataError
            An option cannot be used; no model has labelled the dataset.
        """
        if labels is None:
            complete = [run.id for run in list_runs(self.graph, self.name) if run.has_labels]
            if not complete:
                raise DataError(
                    f"No model has labelled {self.name!r}. Have one do so with label(...).run()."
                )
            labels = complete[0]
        if isinstance(labels, str):
            labels = Labels(self.graph, self.settings, labels, self.progress)
        return labels.audit(people, **sample)

    def audits(self) -> list[Audit]:
        """Audits of its labels, the newest first."""
        audits = list_panels(self.graph, AuditRecord, dataset=self.name)
        return [Audit(self.graph, audit.id) for audit in audits]

    def studies(self) -> list[Study]:
        """Human studies of its jobs, the newest first."""
        studies = list_panels(self.graph, StudyRecord, dataset=self.name)
        return [Study(self.graph, study.id) for study in studies]

    def add_embeddings(
        self, vectors: npt.ArrayLike | str | Path, ids: Sequence[str] | None = None
    ) -> int:
        """Keep the vectors of images, in place of those before; return how many images have one.

        Parameters
        ----------
        vectors : array, shape (n_images, width), or path
            Numbers; or a Parquet, ``.npz`` or CSV file with ids and vectors.
        ids : sequence of str, optional
            Of an array: the images that its rows are of.

        Raises
        ------
        InputError
            The file cannot be read; ids and rows do not match, or values are no finite numbers.
        OptionError
            None of them is an image of the dataset; what was kept before stays.
        """
        if isinstance(vectors, str | Path):
            source = str(vectors)
            names, unit = read_embeddings(Path(vectors))
        else:
            source, names = "the array", list(map(str, ids or ()))
            unit = check_vectors(source, names, vectors)
        return keep_embeddings(self.graph, self.settings.folders(), self.name, source, names, unit)

    def compute_embeddings(self, features: str = USUAL, **options: Any) -> int:
        """Compute the vectors of all images in this process; return how many images have one.

        Parameters
        ----------
        features : str
            What gives an image its vector: a name in
            `cobalance.evaluation.training.features.FEATURES`.
        **options
            Of these features, such as ``model`` for a folder with weights.

        Raises
        ------
        OptionError
            The options are not theirs.
        CobalanceError
            No image has a file, or the vectors cannot be computed.
        MissingExtraError
            A worker, or what the features need, is not installed.
        """
        self._execute(order_embeddings(self.graph, self.name, features, options))
        return len(require_embedded(self.graph, self.settings.folders(), self.name).images)

    def _execute(self, task: str) -> None:
        run_in_process(self.settings, [task], self.progress)
        ended = read_task(self.graph, task)
        if ended.state != "done":
            raise CobalanceError(ended.error or f"The task is {ended.state}.")

    def similar(self, image: str, n: int = 20) -> pd.DataFrame:
        """The `n` images most like one: ``id``, ``class``, ``similarity`` (cosine).

        Raises
        ------
        DataError
            The dataset has no vectors.
        UnknownNameError
            The image has none.
        """
        return require_embedded(self.graph, self.settings.folders(), self.name).similar(image, n)

    def near_duplicates(
        self, similarity: float = 0.97, *, as_clusters: bool = False
    ) -> pd.DataFrame:
        """Groups of images with a cosine of at least `similarity`, across classes first.

        With `as_clusters` each group is a cluster of images that are not independent, and no other
        images are, until the dataset's file is loaded again; mine again to count them.

        Returns
        -------
        pandas.DataFrame
            A row an image: ``group`` (from 1), ``id``, ``class``, ``classes`` (of the group).

        Raises
        ------
        DataError
            The dataset has no vectors.
        """
        embedded = require_embedded(self.graph, self.settings.folders(), self.name)
        groups = embedded.duplicates(similarity, self.progress)
        if as_clusters:
            cluster_duplicates(self.graph, self.name, groups, self.progress)
        return groups

    def properties(
        self, *, measure: bool = False, concepts: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """How far brightness, sharpness, file type and the like tell the classes apart.

        Parameters
        ----------
        measure : bool
            Measure the image files first, in this process.
        concepts : sequence of str, optional
            Have images show these properties as concepts, and no others; mine again to count them.

        Returns
        -------
        pandas.DataFrame
            As `cobalance.workflows.properties.compare_classes` has it.

        Raises
        ------
        UnknownNameError, DataError
            There is no such property; they have not been measured, or no file can be read.
        """
        folders = self.settings.folders()
        if measure:
            self._execute(order_properties(self.graph, self.name))
        if concepts is not None:
            show_properties(self.graph, folders, self.name, concepts, self.progress)
        return compare_classes(read_properties(self.graph, folders, self.name))

    def tag(
        self, tag: str, images: Sequence[str], *, role: TagRole | None = None, by: str = ""
    ) -> int:
        """Give images a tag; return how many have been named.

        Parameters
        ----------
        tag : str
            Its name; made if it does not exist.
        images : sequence of str
            Ids.
        role : {"tag", "concept", "exclude"}, optional
            What the tag does: nothing more, its images show it as a concept, or they are left out
            of counts and exports. Counts follow with the next `mine`.
        by : str
            Who says so, for others to read.

        Raises
        ------
        OptionError
            The dataset has no such image, or no tag can have this name; nothing is written.
        """
        tagged = tag_images(self.graph, self.name, tag, list(images), by=by)
        if role is not None:
            set_role(self.graph, self.name, tag, role)
        return tagged

    def untag(self, tag: str, images: Sequence[str] | None = None) -> None:
        """Take a tag from images, or delete it if none are given; its effects are undone."""
        if images is None:
            delete_tag(self.graph, self.name, tag)
        else:
            untag_images(self.graph, self.name, tag, list(images))

    def tags(self) -> pd.DataFrame:
        """A row a tag: ``tag``, ``role``, ``images``, ``shown``, ``left_out``, who and when."""
        return list_tags(self.graph, self.name)

    def tagged(self, tag: str) -> pd.DataFrame:
        """A row an image with a tag: ``image``, ``class``, ``left_out``, who and when."""
        return images_of_tag(self.graph, self.name, tag)

    def apply_tags(self) -> TagChanges:
        """Apply tags to counts, as `mine` does first."""
        return apply_tags(self.graph, self.name, progress=self.progress)

    def note(self, image: str, text: str, *, by: str = "") -> None:
        """Replace the note on an image; an empty text deletes it."""
        write_note(self.graph, self.name, image, text, by=by)

    def notes(self) -> pd.DataFrame:
        """A row a note: ``image``, ``note``, who and when."""
        return list_notes(self.graph, self.name)

    def report(
        self,
        path: str | Path,
        *,
        compare: "Dataset | str | None" = None,
        plan: str | None = None,
        evaluation: str | None = None,
        date: str | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write the imbalances, plots, method and Cypher to one HTML file; return its path.

        Parameters
        ----------
        compare : Dataset or str, optional
            Another version of the dataset, to say what it closes and opens.
        plan, evaluation : str, optional
            The name of a plan, and the id of an evaluation.
        date : str, optional
            The date that the report bears; today's by default.

        Raises
        ------
        OptionError
            The file exists, and `overwrite` is not set.
        StaleError
            The dataset has not been mined, or has changed since.
        """
        options = ReportOptions(
            compare=None if compare is None else _name_of(compare),
            plan=map_optional(clean_name, plan),
            evaluation=evaluation,
            date=date,
        )

        file = Path(path).expanduser()
        write_report(
            self.graph, self.name, file, options, overwrite=overwrite, progress=self.progress
        )
        return file

    def rename(self, new: str) -> "Dataset":
        """Rename the dataset, and return it; ConflictError if the name is taken."""
        new = clean_name(new)
        rename_dataset(self.graph, self.settings.folders(), self.name, new, self.progress)
        return replace(self, name=new)

    def read(self) -> Data:
        """The annotations, as they are in the graph: concepts without boxes and outlines."""
        return Data(read_annotations(self.graph, self.name, self.progress), self.name)

    def concept_graph(self, *, split: str | None = None) -> ConceptGraph:
        """The concept graph of all images, or of one split."""
        incidence = dataset_incidence(self.graph, self.name, map_optional(clean_name, split))
        return ConceptGraph.of(incidence, self.name)

    @property
    def images(self) -> pd.DataFrame:
        """A row an image, as of `Data.images`."""
        return self.read().images

    def to_pandas(self) -> pd.DataFrame:
        """A row an image, with its concepts, as of `Data.to_pandas`."""
        return self.read().to_pandas()

    def __getitem__(self, at: Any) -> Any:
        return self.read()[at]

    def __iter__(self) -> Iterator[ImageRecord]:
        return iter(self.read())

    def __len__(self) -> int:
        return sum(class_sizes(self.graph, self.name).values())

    @property
    def frame(self) -> pd.DataFrame:
        """A row a class, with its images."""
        sizes = class_sizes(self.graph, self.name)
        return pd.DataFrame({"class": list(sizes), "images": list(sizes.values())})

    def title(self) -> str:
        """Name, and whether the dataset is mined."""
        state = dataset_state(self.graph, self.name)
        title = f"Dataset {self.name!r}, not mined"
        if state.is_mined:
            title = f"Dataset {self.name!r}, mined. {describe_mining(state.mining_options())}"
        return " ".join([title, *self.remarks])

    def scope(self) -> dict[str, str]:
        """The name of the dataset, as a parameter."""
        return {"dataset": self.name}


def _name_of(dataset: Dataset | str) -> str:
    if isinstance(dataset, Dataset):
        return dataset.name
    return clean_name(dataset)


def job_of(graph: GraphStore, settings: Settings, job: str, report: Progress) -> Job[Dataset]:
    """A job whose rebalanced dataset opens as a `Dataset`."""
    return Job(
        graph,
        settings,
        job,
        open_dataset=lambda name, remarks: Dataset(graph, settings, name, report, remarks),
        report=report,
    )
