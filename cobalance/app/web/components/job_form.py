"""Form of a job's settings, and the settings in words."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import streamlit as st

from cobalance.app.web.components.option_fields import draw_options
from cobalance.app.web.state import CurrentDataset, choice_in_url, in_url, names_of, number_in_url
from cobalance.app.web.widgets import (
    escape,
    in_app,
    index_or_first,
    shorten_middle,
    show_error,
    unless_empty,
)
from cobalance.base import CobalanceError, OptionError, install_command, is_installed, path_options
from cobalance.generation import (
    ANY,
    BACKENDS,
    DEFAULT,
    FILTERS,
    PILOT_ABOVE,
    RECIPES,
    JobSettings,
    Recipe,
    check_consent,
    read_job_settings,
)
from cobalance.graph.database import schema
from cobalance.workflows import licence_warnings

_USUAL = JobSettings()
_DOT = " \N{MIDDLE DOT} "


def choose(this: CurrentDataset, *, edits: bool = False) -> dict[str, Any] | None:
    """Draw the settings of a job, folded away; return them checked, or None if they are wrong.

    Those that differ from the defaults are in the URL, but for the consent to painting people:
    a link gives none. `edits`: whether to offer the recipes that edit images, or those that make
    images of a planner's plan.
    """
    place = st.container(gap="xxsmall")
    label = "Recipe and settings" if edits else "How to make them"
    with place.expander(label, key="_making", expanded=edits):
        recipes = _recipes(edits=edits)
        values = _fields(this, recipes)

    with place:
        try:
            settings = read_job_settings(values)
        except OptionError as error:
            show_error(error)
            return None
        try:
            check_consent(settings, ())
        except OptionError as error:
            # Consent that is not yet given is no error: nothing went wrong.
            st.info(escape(error.render(in_app)), icon=":material/front_hand:")
            return None

        checked = settings.model_dump(mode="json", exclude_unset=True)
        st.caption(escape(describe(checked)))
        _say_needs(settings)
        for warning in licence_warnings(settings):
            st.caption(f":orange[:material/warning:] {escape(warning)}")
    return checked


def _recipes(*, edits: bool) -> list[str]:
    return [name for name, recipe in RECIPES.items() if (recipe.plan is not None) == edits]


def chosen_recipe() -> Recipe:
    """The recipe that the form has, or that the URL names, before the form is drawn."""
    name = st.session_state.get("recipe", st.query_params.get("recipe"))
    names = _recipes(edits=False)

    # A link may name a recipe that is not installed, or one that edits images.
    if name not in names:
        name = DEFAULT
    return RECIPES[name]


def draw_caution() -> None:
    """Draw the caution of the form's recipe before a job is created; most have none."""
    name = st.session_state.get("recipe", "")
    if name in RECIPES and RECIPES[name].caution:
        st.caption(f":orange[:material/warning:] {RECIPES[name].caution}")


def describe(values: Mapping[str, Any]) -> str:
    """Describe the settings of a job in a line of plain text.

    Examples
    --------
    >>> print(describe({"recipe": "inpaint", "making": {"model": "/home/ann/sd", "steps": 20}}))
    inpaint · model sd · steps 20 · filters sanity, blank, duplicates, clip · at most 4 candidates \
for an image
    >>> print(describe({"filters": {}, "candidates_per_image": 1, "keep_rejected": False}))
    procedural · no filters · one candidate for an image · rejected ones are not kept
    """
    try:
        settings = read_job_settings(values)
    except CobalanceError as error:
        return f"Its settings cannot be read here: {error}"
    facts = [settings.recipe]
    if settings.backend != RECIPES[settings.recipe].backend:
        facts.append(f"backend {settings.backend}")

    making = dict(settings.making)
    sides = [making.pop("width_px", None), making.pop("height_px", None)]
    if any(sides):
        size = " x ".join(str(side or "usual") for side in sides)
        facts.append(f"{size} px")
    paths = path_options(BACKENDS[settings.backend].options)
    for name, value in making.items():
        text = _last_part(str(value)) if name in paths else str(value)
        facts.append(f"{name.replace('_', ' ')} {text}")

    if settings.masks.object:
        names = ", ".join({ANY: "any"}.get(name, name) for name in settings.masks.object)
        facts.append(f"object {names}")
    chosen = settings.filter_options()
    filters = ", ".join(name for name in FILTERS if name in chosen)
    facts.append(f"filters {filters}" if filters else "no filters")

    most = settings.candidates_per_image
    if settings.best_of > 1:
        facts.append(f"the best of {settings.best_of:,} by {', '.join(settings.rank_by)}")
    elif most == 1:
        facts.append("one candidate for an image")
    else:
        facts.append(f"at most {most:,} candidates for an image")
    if settings.pilot is not None:
        facts.append("a pilot first" if settings.pilot else "no pilot")
    if not settings.keep_rejected:
        facts.append("rejected ones are not kept")
    return _DOT.join(facts)


def _fields(this: CurrentDataset, recipes: Sequence[str]) -> dict[str, Any]:
    """Draw the fields of a job; return the settings that are not the recipe's own."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Recipe",
            recipes,
            index=index_or_first(recipes, DEFAULT),
            **choice_in_url("recipe"),
            width=150,
        )
        recipe = RECIPES[name]
        kind = BACKENDS[recipe.backend].options
        offered = [field for field in recipe.fields if field.option in kind.model_fields]
        making = draw_options(offered, kind)

    choices = "".join(f"\n- {choice}" for choice in recipe.choices)
    reference = recipe.reference + unless_empty("\n{}", choices)
    st.caption(recipe.purpose, help=reference)
    values: dict[str, Any] = {"recipe": name, **_ask_consent(recipe)}
    filters = _choose_filters(recipe)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        objects = st.multiselect(
            "Concept of the object",
            [ANY, *(concept for concept in names_of(this, schema.CONCEPT) if concept != ANY)],
            format_func=lambda concept: {ANY: "any region"}.get(concept, concept),
            **in_url("object"),
            placeholder=", ".join(recipe.masks.object) or "the class's own regions",
            width=320,
            help="Whose outlines show the object that is kept, where the annotations have none of "
            "the class's own name: such as person for nurses and doctors.",
        )
        values |= _choose_candidates(recipe)
        keep = st.checkbox(
            "Keep rejected candidates",
            value=_USUAL.keep_rejected,
            **in_url("keep_rejected"),
            help="Their files, to look at why. They are counted either way.",
        )
        pilot = st.checkbox(
            "Pilot",
            value=True,
            **in_url("pilot"),
            help=f"Above {PILOT_ABOVE} images, some of each query are made first: the rest follows "
            "from how many are accepted, and queries that will not be had are held back.",
        )
        without_images = st.checkbox(
            "Order without images",
            key="_without_images",
            help="Create the job even though no file of the images to take objects from is found "
            "here: workers elsewhere have them, or the recipe can do without.",
        )

    # A setting that is left out stays the recipe's own. No filter at all is a choice, too.
    if objects:
        values["masks"] = {"object": objects}
    if keep != _USUAL.keep_rejected:
        values["keep_rejected"] = keep
    if not pilot:
        values["pilot"] = False
    rest = {"making": making or None, "filters": filters, "without_images": without_images or None}
    return values | {name: value for name, value in rest.items() if value is not None}


def _choose_candidates(recipe: Recipe) -> dict[str, int]:
    """Draw how many candidates to make; give it where it is not the recipe's own number."""
    if "best_of" in recipe.job:
        setting, label = "best_of", "Candidates for an image"
        purpose = "So many are made of each image and group, and the best of them is kept."
    else:
        setting, label = "candidates_per_image", "Most candidates for an image"
        purpose = "A query gives up after so many for each image that it wants."

    # A recipe with a number of its own has a parameter of its own.
    usual: int = recipe.job.get(setting, getattr(_USUAL, setting))
    parameter = f"{recipe.name}_candidates" if setting in recipe.job else "candidates"
    chosen = st.number_input(
        label, 1, 1000, value=usual, **number_in_url(parameter), width=210, help=purpose
    )
    return {} if chosen in (None, usual) else {setting: chosen}


def _ask_consent(recipe: Recipe) -> dict[str, Any]:
    """Draw the consent fields of a recipe that paints people; they have no defaults."""
    if not recipe.people:
        return {}

    consent: dict[str, Any] = {}
    basis = st.text_input(
        "Basis on which people are painted",
        key=f"_consent {recipe.name}",
        placeholder="such as the consent of those shown",
        help="In your words. It is kept with the job, its manifest and the dataset. Not needed "
        "where the object is no person, which **Concept of the object** says.",
    )
    if basis.strip():
        consent["consent"] = basis.strip()
    if recipe.people == "alters" and st.checkbox(
        "A part of real people stays in the images",
        key=f"_alters {recipe.name}",
        help="This recipe shows them as somebody else, and keeps what it does not paint: hair, "
        "clothes, posture. Confirm that this is meant.",
    ):
        consent["alters_real_people"] = True
    return consent


def _choose_filters(recipe: Recipe) -> dict[str, Mapping[str, Any]] | None:
    """Draw the filters; return the chosen ones in order, or None for the recipe's own."""
    usual = recipe.filters

    # The parameter is the recipe's own, as each has filters of its own. The lookup of each default
    # raises where a plug-in's filter is not installed, and says why.
    chosen = st.multiselect(
        "Filters",
        [name for name, _ in FILTERS.items()],
        default=[name for name in usual if FILTERS[name]],
        **in_url(f"{recipe.name}_filters"),
        placeholder="none: every image is accepted",
        help="\n".join(f"- **{name}**: {plugin.purpose}" for name, plugin in FILTERS.items()),
    )
    if set(chosen) == set(usual):
        return None
    return {name: usual.get(name, {}) for name in FILTERS if name in chosen}


def _say_needs(settings: JobSettings) -> None:
    """Name the extras that workers need and this installation lacks."""
    missing = [extra for extra in settings.extras if not is_installed(extra)]
    if missing:
        st.info(
            "Workers make the images; this installation could not. Whoever runs one needs "
            f"`{install_command(','.join(missing))}`.",
            icon=":material/download:",
        )


def _last_part(name: str) -> str:
    """A model's name; of a path the last part, as the rest may name a person."""
    path = PurePath(name)
    is_path = path.is_absolute() or name.startswith((".", "~"))
    if is_path and path.name:
        name = path.name
    return shorten_middle(name, 60)
