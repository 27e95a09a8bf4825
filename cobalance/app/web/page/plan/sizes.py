"""The sizes of a plan as cards to choose from, and the curve that they are points of."""

from collections.abc import Callable, Mapping

import altair as alt
import streamlit as st

from cobalance.app.web.page.plan.estimate import Pace
from cobalance.app.web.widgets import escape
from cobalance.base import inflect, text_if
from cobalance.generation import Plan, PlanSizes
from cobalance.workflows import NEUTRAL, bits_text, change_text

BUDGET = "budget"
_SIZE, _SLIDER = "_plan_size", "_plan_budget"
# Width of the axis left of the curve: page.css begins the slider below where the curve begins.
_AXIS_PX, _CURVE_PX = 48, 170

PILOT = """\
No number of images is right for every model, and equal rates are not the aim: **validate**.

- Begin with a pilot of 5% of your images, train, and look at the worst group of validation images.
  Of the digits of `cobalance demo --full` a small model got 3 ± 2% of the worst group right without
  generated images, 21 ± 5% with a pilot of 5%, 33 ± 3% with 10%, 49 ± 5% with 20% and 63 ± 4% with
  50% (ten seeds; docs/what-helps.md).
- Go on while it rises. The best number may lie below or above what evens everything out: choose it
  by the balanced loss on validation images (Ma and Zhang, arXiv 2601.16120).
- Look closely at a class with fewer than 50 real images. Somewhere between 20 and 50 of them images
  of a GAN began to make a classifier more biased; those of a fine-tuned diffusion model made it
  less so (Gupta and Brown, arXiv 2603.16134)."""

Measure = Callable[[int | None], Mapping[str, int | float]]
"""All measures of the plan within a budget."""


def draw_cards(sizes: PlanSizes, plan: Plan, measure: Measure, pace: Pace) -> None:
    """Draw the sizes to choose from, of which the plan may be one."""
    cards = sizes.cards()
    chosen = [name for name, sized in cards.items() if sized.plan == plan]
    # The plan may have changed by another control, so that the card is set in each run.
    st.session_state[_SIZE] = next(iter(chosen), None)

    def take() -> None:
        sized = cards[st.session_state[_SIZE]]
        is_usual = sized.plan == sizes.usual.plan
        st.session_state[BUDGET] = None if is_usual else sized.plan.options.budget

    measures = [measure(sized.plan.options.budget) for sized in cards.values()]
    st.radio(
        "Size of the plan",
        list(cards),
        key=_SIZE,
        horizontal=True,
        width="stretch",
        label_visibility="collapsed",
        captions=[_card_text(of_card, pace) for of_card in measures],
        on_change=take,
    )


def _card_text(measures: Mapping[str, int | float], pace: Pace) -> str:
    """Cost and effect of a plan, as Markdown."""
    n_images = int(measures["images"])
    parts = [
        f"largest difference {change_text(measures['largest_before'], measures['largest'], '.1%')}",
        f"{change_text(measures['leaning_before'], measures['leaning'])} lean",
    ]
    if "bits" in measures:
        parts.append(f"concepts tell {bits_text(measures)}")
    cost = pace.cost(n_images)
    parts.append(pace.time(n_images) + text_if(cost, f" for {cost}"))
    return f"**{inflect(n_images, 'images')}** · {escape(' · '.join(parts))}"


def draw_curve(sizes: PlanSizes, plan: Plan) -> None:
    """Draw the largest difference left by number of images, with the plan as a rule."""
    curve, n_images = sizes.curve(), plan.images
    most = int(curve["images"].max())
    x = alt.X(
        "images:Q",
        title=None,
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(format=",.0f", tickCount=6),
    )
    y = alt.Y(
        "largest:Q",
        title="largest difference",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=".0%", tickCount=4, minExtent=_AXIS_PX, maxExtent=_AXIS_PX),
    )
    tooltip = [
        alt.Tooltip("images:Q", format=",.0f"),
        alt.Tooltip("largest:Q", format=".1%", title="largest difference"),
        alt.Tooltip("leaning:Q", format=",.0f", title="cliques that lean"),
        alt.Tooltip("difference:Q", format=",.2f", title="sum of rate differences"),
    ]
    line = alt.Chart(curve).mark_line(point=True).encode(x=x, y=y, tooltip=tooltip)
    rule = alt.Chart().mark_rule(color=NEUTRAL, aria=False).encode(x=alt.datum(n_images))
    st.altair_chart(
        alt.layer(rule, line).properties(height=_CURVE_PX),
        width="stretch",
        key="_plan_curve",
        alt="Images to make against the largest rate difference that is left",
    )
    _draw_slider(sizes, min(n_images, most), most)

    # The last size is within a budget of all images, which is only how it is found.
    budget = plan.options.budget
    if budget in (None, sizes.end.plan.options.budget):
        return
    if (n_planned := sizes.within(budget).images) < budget:
        st.caption(
            f"Of a budget of {budget:,} images {n_planned:,} are planned: more would change "
            "nothing that can be told from chance."
        )


def _draw_slider(sizes: PlanSizes, n_images: int, most: int) -> None:
    """Draw the rule of the curve as a slider, which sets the budget."""
    if most < 2:
        return

    def take() -> None:
        images = st.session_state[_SLIDER]
        # The plan of most images may be of a larger budget than it takes.
        budget = sizes.end.plan.options.budget if images == most else max(images, 1)
        st.session_state[BUDGET] = budget

    # The plan may have changed by another control, so that its size is set in each run.
    st.session_state[_SLIDER] = n_images
    st.slider(
        "Images to make",
        0,
        most,
        key=_SLIDER,
        on_change=take,
        label_visibility="collapsed",
    )
