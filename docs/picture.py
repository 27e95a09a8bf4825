"""The README's picture: UrbanCars' concepts by how they lean, before and after the plan."""

from collections.abc import Iterator
from html import escape

import numpy as np

from app.demo import urbancars
from generation.planners import plan
from generation.planning.plan import PlanOptions
from generation.planning.simulation import simulate
from graph.counting.cliques import Cliques, mine_cliques
from graph.counting.incidence import incidence_of
from graph.records import Annotations

WIDTH_PX, HEIGHT_PX = 900, 470
PANEL_PX, TOP_PX, BOTTOM_PX = 400, 96, 420
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6e7781"  # Okabe and Ito's colour-blind-safe palette


def concept_graph() -> str:
    """An SVG of two panels; x is the share of a concept's images that are of the second class."""
    before = mine_cliques(incidence_of(Annotations.from_records(urbancars())), max_size=2)
    made = plan(before, "conbias", PlanOptions(min_size=1, max_size=2))
    after = simulate(before, made.queries)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {HEIGHT_PX}" '
        'font-family="system-ui, sans-serif" font-size="13" role="img">',
        "<title>UrbanCars: concepts by the class that they lean to, before and after the "
        "plan</title>",
        f'<rect width="{WIDTH_PX}" height="{HEIGHT_PX}" fill="#ffffff"/>',
        *_panel(before, 30, "UrbanCars, 8,000 images"),
        *_panel(after, 30 + PANEL_PX + 40, f"with the plan&#8217;s {made.images:,} images"),
        f'<text x="30" y="{HEIGHT_PX - 14}" fill="{GREY}">Across: the share of a concept&#8217;s '
        "images that are of each class. Dot: its images. Line: images that show both.</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _panel(cliques: Cliques, left: int, title: str) -> Iterator[str]:
    country, urban = cliques.classes
    singles = np.flatnonzero(cliques.sizes() == 1)
    counts = cliques.counts[singles]
    share = counts[:, 1] / counts.sum(axis=1)
    order = np.argsort(cliques.members[singles, 0], kind="stable")
    rows = {int(cliques.members[singles[i], 0]): rank for rank, i in enumerate(order)}
    step = (BOTTOM_PX - TOP_PX) / len(rows)

    def place(concept: int) -> tuple[float, float]:
        rank = rows[concept]
        return left + 20 + share[order[rank]] * (PANEL_PX - 40), TOP_PX + (rank + 0.5) * step

    middle = left + PANEL_PX / 2
    yield f'<text x="{left}" y="28" font-size="15" font-weight="600">{title}</text>'
    yield f'<text x="{left + 20}" y="66" fill="{BLUE}">only {escape(country)}</text>'
    yield (
        f'<text x="{left + PANEL_PX - 20}" y="66" fill="{ORANGE}" text-anchor="end">'
        f"only {escape(urban)}</text>"
    )
    yield f'<text x="{middle}" y="66" fill="{GREY}" text-anchor="middle">half and half</text>'
    yield (
        f'<line x1="{middle}" y1="76" x2="{middle}" y2="{BOTTOM_PX}" stroke="{GREY}" '
        'stroke-dasharray="3 4"/>'
    )
    for row in np.flatnonzero(cliques.sizes() == 2):
        x1, y1 = place(int(cliques.members[row, 0]))
        x2, y2 = place(int(cliques.members[row, 1]))
        images = int(cliques.counts[row].sum())
        # Concepts of one column are joined by arcs that bend to the middle.
        inward = 1 if (x1 + x2) / 2 < middle - 1 else -1
        bend = inward * 0.45 * abs(y2 - y1) * max(0.0, 1 - abs(x2 - x1) / 60)
        yield (
            f'<path d="M{x1:.1f} {y1:.1f}Q{(x1 + x2) / 2 + bend:.1f} {(y1 + y2) / 2:.1f} '
            f'{x2:.1f} {y2:.1f}" fill="none" stroke="{GREY}" stroke-opacity="0.35" '
            f'stroke-width="{(images / 150) ** 0.5:.1f}"/>'
        )
    for concept in rows:
        x, y = place(concept)
        total = int(counts[order[rows[concept]]].sum())
        colour = GREY if abs(x - middle) < 1 else BLUE if x < middle else ORANGE
        radius = 3 + (total / 60) ** 0.5
        outward, anchor = (radius + 5, "start") if x < middle + 1 else (-radius - 5, "end")
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}"/>'
        yield (
            f'<text x="{x + outward:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}" '
            'paint-order="stroke" stroke="#ffffff" stroke-width="3">'
            f"{escape(cliques.concepts[concept].replace('_', ' '))}</text>"
        )
