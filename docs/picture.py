"""The README's picture: UrbanCars' concepts at two steps, as Compare draws them."""

import numpy as np
import pandas as pd

from cobalance.base.records import Annotations
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import incidence_of
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.graph.queries.overview import Overview
from cobalance.graph.queries.steps import with_images
from cobalance.statistics.imbalance import COUNT
from cobalance.workflows.concept_graph.elements import GraphPicture
from cobalance.workflows.concept_graph.overview import Axis, of_overviews
from cobalance.workflows.concept_graph.svg import picture_svg
from cobalance.workflows.demo.urbancars import urbancars

WIDTH_PX, HEIGHT_PX = 1240, 640
PANEL_PX, TOP_PX = 590, 60
GRAPH_PX = 560, 470
GREY = "#59636e"


def concept_graph() -> str:
    """An SVG of two panels: the dataset, and the same concepts with the plan's images."""
    cliques = mine_cliques(incidence_of(Annotations.from_records(urbancars())), max_size=2)
    made = plan(cliques, "conbias", PlanOptions(min_size=1, max_size=2))
    before = _overview(cliques)
    after = with_images(before, [(one.class_name, one.concepts, one.n) for one in made.queries])
    classes = cliques.classes
    steps = of_overviews([before, after], Axis.between(classes, *classes), *GRAPH_PX)
    title = "UrbanCars: concepts by the class that they lean to, before and after the plan"
    images = sum(before.class_sizes.values())
    named = f"UrbanCars, {images:,} images", f"with the plan&#8217;s {made.images:,} images"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {HEIGHT_PX}" '
        'font-family="system-ui, sans-serif" font-size="15" role="img">',
        f"<title>{title}</title>",
        "<style>.label{fill:#1f2328;stroke:#fff;stroke-width:3px;paint-order:stroke}"
        ".box{fill:#fff}</style>",
        f'<rect width="{WIDTH_PX}" height="{HEIGHT_PX}" fill="#ffffff"/>',
    ]
    for place, (name, picture) in enumerate(zip(named, steps, strict=True)):
        left = 20 + place * (PANEL_PX + 20)
        parts.append(f'<text x="{left}" y="34" font-size="19" font-weight="600">{name}</text>')
        parts.append(_panel(picture, left))
    parts.append(
        f'<text x="20" y="{HEIGHT_PX - 16}" fill="{GREY}">Across: the difference of a '
        "concept&#8217;s rates in the two classes, divided by their sum. Disc: its images. Line: "
        "images that show both.</text>"
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(picture: GraphPicture, left: float) -> str:
    place = f'<svg x="{left}" y="{TOP_PX}" width="{PANEL_PX}" height="{HEIGHT_PX - TOP_PX - 40}" '
    return picture_svg(picture, "").replace("<svg ", place, 1)


def _overview(cliques: Cliques) -> Overview:
    """Counts of all concepts and pairs, as the graph database would give them."""
    sizes = dict(zip(cliques.classes, cliques.class_sizes.tolist(), strict=True))

    def table(size: int, columns: list[str]) -> pd.DataFrame:
        some = cliques.take(np.flatnonzero(cliques.sizes() == size))
        names = pd.DataFrame([list(name) for name in some.names()], columns=columns)
        counts = {COUNT + name: some.counts[:, code] for code, name in enumerate(cliques.classes)}
        rows = names.assign(images=some.counts.sum(axis=1), **counts)
        return rows.sort_values("images", ascending=False, kind="stable", ignore_index=True)

    return Overview(
        class_sizes=sizes,
        pair_class_sizes=sizes,
        concepts=table(1, ["concept"]),
        edges=table(2, ["concept_1", "concept_2"]),
        hidden_concepts=0,
    )
