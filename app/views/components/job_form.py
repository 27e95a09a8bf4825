"""How a job makes its images: chosen and checked before it is created, and said where it runs."""

import importlib.util
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, get_args

import streamlit as st

from app.views.components.name_choices import names_of
from app.views.state.session import CurrentDataset
from app.views.widgets.markdown import escape
from app.views.widgets.messages import show_error
from app.views.widgets.theme import shorten_middle
from generation.backends import BACKENDS
from generation.backends.backend import Preset
from generation.filters import FILTERS
from generation.jobs.settings import JobSettings, read_job_settings
from generation.sources.sampler import ANY
from graph.database import schema
from graph.errors import CobalanceError, OptionError

PACKAGES = {"worker": "dbos", "models": "torch"}
"""By extra a package that is there where the extra is installed."""

_USUAL = JobSettings()
_DOT = " \N{MIDDLE DOT} "


def is_installed(extra: str) -> bool:
    """Whether what a worker needs of an extra could be imported here."""
    return importlib.util.find_spec(PACKAGES[extra]) is not None


def choose(this: CurrentDataset) -> dict[str, Any] | None:
    """Draw the settings of a job, folded away; give them checked, or None where they are wrong.

    They are in the address, but for those that are as usual.
    """
    place = st.container(gap="xxsmall")
    with place.expander("How to make them", key="_making"):
        values = _fields(this)
    with place:
        try:
            settings = check(values)
        except OptionError as error:
            show_error(error)
            return None
        st.caption(escape(describe(settings)))
        _say_needs(settings)
    return settings


def chosen_backend() -> str:
    """The backend that the form has, or that the address names, before the form is drawn."""
    name = st.session_state.get("backend", st.query_params.get("backend"))
    return name if name in list(BACKENDS) else _USUAL.backend


def check(values: Mapping[str, Any]) -> dict[str, Any]:
    """Check the settings of a job, and give them as they are kept with it, without what is usual.

    Raises
    ------
    OptionError
        One cannot be used.

    Examples
    --------
    >>> check({"making": {"preset": "fast"}, "filters": {"blank": {}}})
    {'making': {'preset': 'fast'}, 'filters': {'blank': {}}, 'backend': 'procedural'}
    """
    read = read_job_settings(values)
    checked: dict[str, Any] = read.model_dump(mode="json", exclude_unset=True)
    return checked | {"backend": read.backend}


def describe(values: Mapping[str, Any]) -> str:
    """How a job makes its images, as a line of plain text.

    Examples
    --------
    >>> print(describe({"backend": "inpaint", "making": {"model": "/home/ann/sd", "steps": 20}}))
    inpaint · model sd · faithful · filters sanity, blank, duplicates, clip · at most 4 candidates \
for an image
    >>> print(describe({"filters": {}, "candidates_per_image": 1, "keep_rejected": False}))
    procedural · no filters · one candidate for an image · rejected ones are not kept
    """
    try:
        settings = read_job_settings(values)
    except CobalanceError as error:
        return f"Its settings cannot be read here: {error}"
    making = settings.making
    said = [settings.backend]
    if BACKENDS[settings.backend].extra == "models":
        said += [f"model {_model(making.model)}" if making.model else "its usual model"]
        said += [making.preset]
    if making.width_px or making.height_px:
        said += [f"{making.width_px or 'usual'} x {making.height_px or 'usual'} px"]
    if settings.masks.object:
        names = ", ".join("any" if name == ANY else name for name in settings.masks.object)
        said += [f"object {names}"]
    chosen = settings.filter_options()
    filters = ", ".join(name for name in FILTERS if name in chosen)
    said += [f"filters {filters}" if filters else "no filters"]
    most = settings.candidates_per_image
    said += ["one candidate for an image"] if most == 1 else []
    said += [f"at most {most:,} candidates for an image"] if most > 1 else []
    said += [] if settings.keep_rejected else ["rejected ones are not kept"]
    return _DOT.join(said)


def needed_extras(values: Mapping[str, Any]) -> list[str]:
    """What a worker has to have installed for a job with these settings.

    Examples
    --------
    >>> needed_extras({}), needed_extras({"filters": {"clip": {}}})
    (['worker'], ['worker', 'models'])
    """
    settings = read_job_settings(values)
    used = {BACKENDS[settings.backend].extra} | {
        FILTERS[name].extra for name in settings.filter_options()
    }
    return [extra for extra in PACKAGES if extra == "worker" or extra in used]


def _fields(this: CurrentDataset) -> dict[str, Any]:
    making: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        backend = st.selectbox(
            "Backend",
            list(BACKENDS),
            index=list(BACKENDS).index(_USUAL.backend),
            key="backend",
            bind="query-params",
            width=150,
        )
        if BACKENDS[backend].extra == "models":
            making |= _model_fields()
        for side in ("width", "height"):
            pixels = st.number_input(
                f"{side.capitalize()} in pixels",
                1,
                value=None,
                step=8,
                key=side,
                bind="query-params",
                placeholder="as usual",
                width=130,
                help="A multiple of 8. Without it, that of the original image, or the model's own.",
            )
            making |= {f"{side}_px": pixels} if pixels is not None else {}
    st.caption(BACKENDS[backend].purpose)
    filters = _choose_filters(backend)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        objects = st.multiselect(
            "Concept of the object",
            [ANY, *(name for name in names_of(this, schema.CONCEPT) if name != ANY)],
            format_func=lambda name: "any region" if name == ANY else name,
            key="object",
            bind="query-params",
            placeholder="the class's own regions",
            width=320,
            help="Whose outlines show the object that is kept, where the annotations have none of "
            "the class's own name: such as person for nurses and doctors.",
        )
        candidates = st.number_input(
            "Most candidates for an image",
            1,
            1000,
            value=_USUAL.candidates_per_image,
            key="candidates",
            bind="query-params",
            width=210,
            help="A query gives up after so many for each image that it wants.",
        )
        keep = st.checkbox(
            "Keep rejected candidates",
            value=_USUAL.keep_rejected,
            key="keep_rejected",
            bind="query-params",
            help="Their files, to look at why. They are counted either way.",
        )
    values: dict[str, Any] = {"backend": backend}
    values |= {"making": making} if making else {}
    values |= {"masks": {"object": objects}} if objects else {}
    values |= {"filters": filters} if filters is not None else {}
    for name, value in (("candidates_per_image", candidates), ("keep_rejected", keep)):
        values |= {name: value} if value != getattr(_USUAL, name) else {}
    return values


def _model_fields() -> dict[str, Any]:
    model = st.text_input(
        "Model",
        placeholder="the usual one",
        key="model",
        bind="query-params",
        max_chars=500,
        width=320,
        help="A folder of the workers' machine, or owner/name of the Hugging Face hub.",
    ).strip()
    preset = st.segmented_control(
        "Preset",
        get_args(Preset),
        default=_USUAL.making.preset,
        key="preset",
        bind="query-params",
        required=True,
        help="**faithful**: as the paper and the model's card have it. **fast**: fewer steps.",
    )
    given = {"model": model} if model else {}
    return given | ({"preset": preset} if preset != _USUAL.making.preset else {})


def _choose_filters(backend: str) -> dict[str, Mapping[str, Any]] | None:
    """Draw the filters; give those that are chosen, in order, or None for the usual ones."""
    usual = JobSettings(backend=backend).filter_options()
    chosen = st.multiselect(
        "Filters",
        list(FILTERS),
        default=list(usual),
        # Of its own for each backend, which has usual ones of its own.
        key=f"{backend}_filters",
        bind="query-params",
        placeholder="none: every image is accepted",
        help="\n".join(f"- **{name}**: {plugin.purpose}" for name, plugin in FILTERS.items()),
    )
    if set(chosen) == set(usual):
        return None
    return {name: usual.get(name, {}) for name in FILTERS if name in chosen}


def _say_needs(settings: Mapping[str, Any]) -> None:
    """Say what workers need, where this installation does not have it."""
    needed = needed_extras(settings)
    missing = [extra for extra in needed if not is_installed(extra)]
    if missing:
        st.info(
            "Workers make the images; this installation could not. Whoever runs one needs "
            + " and ".join(f'`pip install "cobalance[{extra}]"`' for extra in missing)
            + ".",
            icon=":material/download:",
        )


def _model(name: str) -> str:
    """What to call a model: of a folder the last part, as the rest may name a person."""
    path = PurePath(name)
    is_path = path.is_absolute() or name.startswith((".", "~"))
    return shorten_middle(path.name if is_path and path.name else name, 60)
