"""Examples of planned images: real ones with the changes in class and concepts."""

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter

import streamlit as st

from cobalance.app.web.components import image_files, uris_of
from cobalance.app.web.page.plan.choice import show_of_images
from cobalance.app.web.state import CurrentDataset
from cobalance.app.web.widgets import escape
from cobalance.base import PlannedQuery
from cobalance.generation import Plan
from cobalance.graph import read_image_files

SHOWN, _IMAGE_PX = 4, 72


def draw_examples(current: CurrentDataset, plan: Plan) -> None:
    """Draw a real image a class, with the class and concepts that are wanted in its place."""
    queries = _choose_queries(plan.queries)
    sources = [query.sources[0] for query in queries]
    contents = show_of_images(current, sources)
    uris = uris_of(read_image_files(current.store, current.name, sources))

    for query, source in zip(queries, sources, strict=True):
        class_name, concepts = contents[source]
        picture, text = st.columns([1, 5], vertical_alignment="center")
        thumbnail = image_files().thumbnail(uris.get(source), _IMAGE_PX)
        if thumbnail.problem is None:
            alt = f"{class_name}: {', '.join(sorted(concepts))}"
            picture.image(thumbnail.data, width=_IMAGE_PX, alt=alt)
        text.markdown(_change_text(query, class_name, concepts))


def _choose_queries(queries: Iterable[PlannedQuery]) -> list[PlannedQuery]:
    """`SHOWN` queries with a source: of each class its first, then its second, and so on."""
    n_before = Counter[str]()
    ranked: list[tuple[int, PlannedQuery]] = []
    for query in queries:
        if query.sources:
            ranked.append((n_before[query.class_name], query))
            n_before[query.class_name] += 1
    ranked.sort(key=itemgetter(0))
    return [query for _, query in ranked[:SHOWN]]


def _change_text(query: PlannedQuery, class_name: str, concepts: frozenset[str]) -> str:
    r"""The change of a real image into planned ones, as Markdown.

    Examples
    --------
    >>> query = PlannedQuery("urban", ("cow", "road"), 8, None, ("a",))
    >>> print(_change_text(query, "country", frozenset({"cow", "field"})))
    country\: cow, field \
    → **8 urban** \+ road − field
    """
    added = [f"+ {name}" for name in query.concepts if name not in concepts]
    dropped = [f"− {name}" for name in sorted(concepts.difference(query.concepts))]
    change = " ".join(added + dropped) or "with the same concepts"
    before = escape(f"{class_name}: {', '.join(sorted(concepts)) or 'no concept'}")
    return f"{before} \\\n→ **{query.n:,} {escape(query.class_name)}** {escape(change)}"
