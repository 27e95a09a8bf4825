"""Form that orders training runs."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_origin

import pandas as pd
import streamlit as st

from cobalance.app.web.components import draw_options, say_needs
from cobalance.app.web.state import (
    CurrentDataset,
    accept_uploads,
    choice_in_url,
    in_url,
    may_edit,
    number_in_url,
    session,
    user_name,
)
from cobalance.app.web.widgets import (
    choose_one,
    choose_split,
    default_unless_set,
    edits,
    escape,
    shorten,
    show_error,
    show_kept_error,
    unless_empty,
)
from cobalance.base import CobalanceError, Options, inflect, readable
from cobalance.evaluation import FEATURES, LEARNERS, METHODS, PRESETS, SETS, Shortcuts
from cobalance.generation import FormField
from cobalance.graph import origin_of, split_sizes
from cobalance.workflows import EvaluationOrder, Ordered, order_evaluations, temporary_files

MOST_SEEDS = 20
_USUAL = "augmented"
_ORDERED = "_ordered"
_LEANING, _FILE, _NONE = "Concepts that lean to a class", "A file", "None"


def show(current: CurrentDataset) -> None:
    """Draw the form and the last order."""
    order, is_whole = _fields(current, session.datasets())
    show_kept_error()
    _say_ordered()

    runs = len(order.train) * len(order.training_sets) * len(order.methods)
    total = runs * len(order.seeds or ())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Train {inflect(total, 'models')}",
            type="primary",
            key="_train",
            disabled=not total or not is_whole or not may_edit(),
            on_click=_order,
            args=(order,),
        )
        st.caption(
            "Workers train them, predict the test images and score the predictions. Equal seeds "
            "give equal predictions."
        )


def _fields(current: CurrentDataset, datasets: pd.DataFrame) -> tuple[EvaluationOrder, bool]:
    """Draw the fields; give the order, and whether all that it needs has been given."""
    names = datasets["dataset"].tolist()
    with st.container(border=True):
        training, testing = st.columns(2)
        with training:
            train, sets, methods = _choose_training(current, names)
        first = next(iter(train), None)

        with testing:
            preset = st.selectbox(
                "Preset",
                list(PRESETS),
                **choice_in_url("evaluate_preset"),
                help=_purposes(PRESETS, lambda name: PRESETS[name].purpose),
            )
            seeds = st.number_input(
                "Seeds",
                1,
                MOST_SEEDS,
                PRESETS[preset].seeds,
                **number_in_url("evaluate_seeds"),
                help="How many: 0, 1, and so on.",
            )
            usual = first and (origin_of(current.store, first) or first)
            test = choose_one(
                "Test dataset",
                names,
                "evaluate_on",
                usual or "the first that is trained on",
                help="Whose real images are predicted. By default the dataset that was rebalanced.",
            )

        test_split = _choose_split(current, test or usual, "Test split", "evaluate_split", "test")
        shortcuts, is_whole = _choose_shortcuts()
        with st.expander("Validation and options"):
            validation, validation_split = _choose_validation(current, names, first)
            learner_options = choose_learner_options(preset)
            method_options = choose_method_options(methods)
    say_needs("train" if PRESETS[preset].learner == "network" else "evaluate")

    order = EvaluationOrder(
        train=tuple(train),
        training_sets=tuple(sets),
        methods=tuple(methods),
        preset=preset,
        seeds=tuple(range(int(seeds))),
        test=test,
        test_split=test_split,
        validation=validation,
        validation_split=validation_split,
        shortcuts=shortcuts,
        learner_options=learner_options,
        method_options=method_options,
    )
    return order, is_whole


def _choose_training(
    current: CurrentDataset, names: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """Draw the choice of training datasets, of their images and of methods; return all three."""
    # Another dataset's choice is forgotten before the default is decided.
    train_in_url = in_url("evaluate_train", names)
    train = st.multiselect(
        "Train on",
        names,
        default=default_unless_set("evaluate_train", [current.name]),
        **train_in_url,
        help="Each by itself: such as this dataset and what a job made of it.",
    )
    sets = st.multiselect(
        "Images of them",
        list(SETS),
        default=default_unless_set("evaluate_sets", [_USUAL]),
        **in_url("evaluate_sets"),
        help="  \n".join(f"**{name}**: {SETS[name].purpose}" for name in SETS),
    )
    methods = st.multiselect(
        "Methods",
        list(dict(METHODS.items())),
        default=default_unless_set("evaluate_methods", ["erm"]),
        **in_url("evaluate_methods"),
        help=_purposes(dict(METHODS.items()), lambda name: METHODS[name].purpose),
    )
    return train, sets, methods


def _choose_shortcuts() -> tuple[Shortcuts | Literal["none"] | None, bool]:
    """Draw the choice of shortcuts; also whether a file that is to be sent was."""
    chosen = st.segmented_control(
        "Shortcuts",
        (_LEANING, _FILE, _NONE),
        default=_LEANING,
        **choice_in_url("evaluate_shortcuts"),
        help="They make the groups, of which scores are given and which methods balance.",
    )
    if chosen == _NONE:
        return "none", True
    if chosen != _FILE:
        return None, True
    shortcuts = send_shortcuts()
    return shortcuts, shortcuts is not None


def _purposes(registry: Iterable[str], purpose: Callable[[str], str]) -> str:
    """Purposes of some plugins, in Markdown."""
    return "  \n".join(f"**{escape(name)}**: {escape(purpose(name))}" for name in registry)


def _choose_validation(
    current: CurrentDataset, names: Sequence[str], first: str | None
) -> tuple[str | None, str | None]:
    """Draw the choice of the images to select by: their dataset and split, None for the usual.

    `first` is the first dataset that is trained on.
    """
    chosen = choose_one(
        "Validation dataset",
        names,
        "evaluate_validation",
        "the one that is trained on",
        help="Whose images select the model, for methods and presets that do. By default the split "
        "validation of the training dataset, or else a share of its training images.",
    )
    split = _choose_split(current, chosen or first, "Validation split", "evaluate_validation_split")
    return chosen, split


def _choose_split(
    current: CurrentDataset, dataset: str | None, label: str, key: str, usual: str | None = None
) -> str | None:
    """Draw the choice of a split, where the dataset has any."""
    sizes = split_sizes(current.store, dataset) if dataset is not None else {}
    splits = [name for name in sizes if name is not None]

    return choose_split(
        label, splits, key, usual, format_func=lambda name: f"{name} ({sizes.get(name, 0):,})"
    )


@edits
def _order(order: EvaluationOrder) -> None:
    """Order the runs in the button's callback, so that the page is drawn with them."""
    st.session_state[_ORDERED] = order_evaluations(session.store(), order, created_by=user_name())


def _say_ordered() -> None:
    ordered = cast("Ordered | None", st.session_state.pop(_ORDERED, None))
    if ordered is None:
        return
    new = len(ordered.ids) - len(ordered.known)
    before = unless_empty(" {:,} were ordered before.", len(ordered.known))
    st.success(
        f"{inflect(new, 'evaluations')} ordered. Workers run them: `cobalance work`.{before}",
        icon=":material/check:",
    )


_SHOWN = 6  # concepts of a class
_NAMES = {"features": tuple(FEATURES)}


def choose_learner_options(preset: str) -> dict[str, Any]:
    """Draw the options of a preset's learner; return the changed ones."""
    chosen = PRESETS[preset]
    kind = LEARNERS[chosen.learner].options
    st.markdown(f"**Learner {escape(chosen.learner)}**")
    offered = [
        FormField(name, readable(name), choices=_NAMES.get(name, ())) for name in _offered(kind)
    ]
    with st.container(horizontal=True):
        return draw_options(offered, kind, chosen.learner_options, f"{preset}_")


def choose_method_options(methods: Sequence[str]) -> dict[str, Any]:
    """Draw the options of methods, equal names once; return the changed ones."""
    options: dict[str, Any] = {}
    drawn = set[str]()
    for method in methods:
        kind = METHODS[method].options
        names = [name for name in _offered(kind) if name not in drawn]
        if not names:
            continue

        drawn.update(names)
        st.markdown(f"**Method {escape(method)}**")
        with st.container(horizontal=True):
            offered = [FormField(name, readable(name), _takers(name, methods)) for name in names]
            options |= draw_options(offered, kind, prefix=f"{method}_")
    return options


def _offered(kind: type[Options]) -> list[str]:
    """Options that a field can be drawn for."""
    fields = kind.model_fields
    return [name for name in fields if get_origin(fields[name].annotation) is not dict]


def _takers(option: str, methods: Sequence[str]) -> str:
    """Which of some methods have an option, where several do."""
    takers = [name for name in methods if option in METHODS[name].options.model_fields]
    if len(takers) < 2:
        return ""
    return f"For {', '.join(map(escape, takers))}."


def send_shortcuts() -> Shortcuts | None:
    """Draw the upload of shortcuts and its content; None until there is one."""
    if not may_edit():
        st.caption("Only editors may send files.")
        return None
    accept_uploads()
    uploaded = st.file_uploader(
        "File of shortcuts",
        ["toml"],
        key="_shortcuts_file",
        help="TOML: a table for each shortcut, with a list of concepts for each class, such as  \n"
        '`[background]`  \n`urban = ["alley"]`  \n`country = ["field road"]`',
    )
    if uploaded is None:
        return None

    try:
        # A sent name may be a path; only its last part is a name in our folder.
        name = Path(uploaded.name).name
        with temporary_files({name: uploaded.getvalue()}) as folder:
            shortcuts = Shortcuts.from_toml(folder / name)
    except CobalanceError as error:
        show_error(error)
        return None

    for name, classes in shortcuts.concepts.items():
        texts = [f"{class_name}: {_some(concepts)}" for class_name, concepts in classes.items()]
        st.caption(escape(f"{name} - {'; '.join(texts)}"))
    return shortcuts


def _some(concepts: Sequence[str]) -> str:
    listed = ", ".join(shorten(concept, 40) for concept in concepts[:_SHOWN])
    more = len(concepts) - _SHOWN
    if more > 0:
        return f"{listed} and {inflect(more, 'others')}"
    return listed or "none"
