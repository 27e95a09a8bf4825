"""Page Study: an edited image and its original side by side, one pair after the other."""

import streamlit as st

from cobalance.app.web.components import panel
from cobalance.app.web.widgets import Page, escape
from cobalance.graph import GraphStore, Panel, Study, count_edited, list_jobs, read_pairs
from cobalance.workflows import Sample, Task, draw_study

# Four questions each: half an hour or so of a person's time.
_PAIRS = 50


def page() -> None:
    """Draw the page."""
    panel.draw(
        panel.Frame(
            of=Study,
            about="People look at edited images beside their originals, and say what they see: "
            "so you know whether the edits did what they should, and no more. It takes a job "
            "that edits images, with accepted ones.",
            origins=_editing_jobs,
            first=("Plan edits", "plan"),
            unit="Pairs of images",
            usual=_PAIRS,
            sample=_sample,
            draw=_draw,
            choices=_number_choices,
        )
    )


PAGE = Page("Study", "study", ":material/groups:", page, words=("study",))


def _editing_jobs(store: GraphStore, dataset: str) -> list[str]:
    """Jobs whose accepted edits can be judged, newest first."""
    jobs = [job.id for job in list_jobs(store, dataset) if job.accepted]
    return [job for job in jobs if count_edited(store, job)]


def _sample(store: GraphStore, job: str, people: tuple[str, ...], number: int) -> Panel:
    """Draw a study of so many pairs, or of all where there are fewer."""
    n_pairs = read_pairs(store, job)["original"].nunique()
    return draw_study(store, job, Sample(people, min(number, max(n_pairs, 1))))


def _draw(task: Task) -> None:
    """Draw two images side by side, and the question about them."""
    columns = st.columns(2, gap="small")
    for number, (column, uri) in enumerate(zip(columns, task.images, strict=False), start=1):
        with column:
            panel.draw_blind(uri, f"Image {number}", "study")

    st.markdown(f"**{task.text}**")
    if task.sentence:
        st.markdown(f"“{escape(task.sentence)}”")


def _number_choices(task: Task) -> list[panel.Choice]:
    """The answers of a task of a study, the first nine by their number's key."""
    keys = [*"123456789", *[None] * len(task.choices)]
    return [(answer, answer, key) for answer, key in zip(task.choices, keys, strict=False)]
