"""Draw a concept graph as inline SVG, for pages without scripts."""

from collections.abc import Iterator
from html import escape
from math import hypot

from cobalance.base.safe_text import safe_text
from cobalance.workflows.concept_graph.colors import NEUTRAL
from cobalance.workflows.concept_graph.elements import GraphNode, GraphPicture

_MARGIN_PX = 12.0
_MOST_CHARACTERS = 24
_CHARACTER_PX = 8.0  # at most
_LETTER_PX = 7.0  # on average
_TICKS = {-1: "", -0.5: "3 times the rate", 0: "equal rates", 0.5: "3 times the rate", 1: ""}


def picture_svg(picture: GraphPicture, label: str) -> str:
    """A picture as an `svg` element, for a page whose style sheet has colours.

    Texts have the class ``label`` and the discs' tooltips are ``title`` elements; there is no
    style, script or address in it.

    Parameters
    ----------
    label : str
        The picture's name for screen readers.

    Examples
    --------
    >>> node = GraphNode("c", "<cow>", "concept", 10, 10, 20, skew=1)
    >>> print(picture_svg(GraphPicture([node], [], "#0072B2", "#D55E00"), "Concepts"))
    <svg viewBox="-22 -8 64 56" role="img" aria-label="Concepts">
    <circle cx="10.0" cy="10.0" r="10.0" fill="#d55e00"><title>&lt;cow&gt;</title></circle>
    <text class="label" x="10.0" y="34.0" text-anchor="middle">&lt;cow&gt;</text>
    </svg>
    """
    strip = max((size for size, _ in picture.sizes), default=-16.0) + 16
    ends = [_CHARACTER_PX * len(_short(node.label)) / 2 + _MARGIN_PX for node in picture.nodes]
    nodes = [*zip(picture.nodes, ends, strict=True)]
    left = min((node.x_px - end for node, end in nodes), default=0.0)
    right = max((node.x_px + end for node, end in nodes), default=0.0)
    first = min((node.y_px - node.size_px / 2 for node in picture.nodes), default=0.0) - 8
    top = first - strip
    end = max((node.y_px + node.size_px / 2 for node in picture.nodes), default=0.0) + 28
    box = f"{left:.0f} {top:.0f} {right - left:.0f} {end - top:.0f}"
    return "\n".join(
        [
            f'<svg viewBox="{box}" role="img" aria-label="{text(label)}">',
            *_axis(picture, first),
            *_key(picture, left, first - strip / 2),
            *_edges(picture),
            *(line for node in picture.nodes for line in _node(picture, node)),
            *_labels(picture, left, right),
            "</svg>",
        ]
    )


def text(value: str) -> str:
    """Escape a text for HTML and SVG."""
    return escape(safe_text(value))


def blend(skew: float, left_color: str, right_color: str) -> str:
    """Blend a skew's colour: grey in the middle, the side's own at its end.

    Examples
    --------
    >>> blend(-1, "#0072B2", "#D55E00"), blend(0, "#0072B2", "#D55E00")
    ('#0072b2', '#8a8f98')
    """
    end = right_color if skew > 0 else left_color
    parts = zip(_channels(NEUTRAL), _channels(end), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * abs(skew)):02x}" for a, b in parts)


def _channels(color: str) -> list[int]:
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    return [int(digits[at : at + 2], 16) for at in (0, 2, 4)]


def _axis(picture: GraphPicture, top: float) -> Iterator[str]:
    """Lines at some skews, named in one row with the classes at both ends."""
    if picture.axis_px is None:
        return
    foot = max((node.y_px for node in picture.nodes), default=top)  # where the classes stand
    first, last = picture.axis_px
    for skew, said in _TICKS.items():
        x = first + (skew + 1) / 2 * (last - first)
        dashes = ' stroke-dasharray="2 5"' if skew else ""
        yield (
            f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{foot - 26:.1f}" '
            f'stroke="{NEUTRAL}"{dashes}/>'
        )
        if said:
            yield (
                f'<text class="label" x="{x:.1f}" y="{foot + 5:.1f}" text-anchor="middle">'
                f"{said}</text>"
            )


def _key(picture: GraphPicture, left: float, middle: float) -> Iterator[str]:
    """Circles with the images that they stand for, from the left."""
    for place, (size, images) in enumerate(picture.sizes):
        said = images if place else f"{images} images"
        yield (
            f'<circle cx="{left + size / 2 + 2:.1f}" cy="{middle:.1f}" r="{size / 2:.1f}" '
            f'fill="none" stroke="{NEUTRAL}"/>'
        )
        yield f'<text class="label" x="{left + size + 8:.1f}" y="{middle + 5:.1f}">{said}</text>'
        left += size + 24 + _CHARACTER_PX * len(said)


def _edges(picture: GraphPicture) -> Iterator[str]:
    nodes = {node.id: node for node in picture.nodes}
    heights = [node.y_px for node in picture.nodes if node.kind == "concept"]
    middle = (min(heights, default=0.0) + max(heights, default=0.0)) / 2
    for edge in picture.edges:
        one, other = nodes[edge.source], nodes[edge.target]
        color = edge.color or blend(edge.skew, picture.left_color, picture.right_color)
        x, y = (one.x_px + other.x_px) / 2, (one.y_px + other.y_px) / 2
        across, down = other.x_px - one.x_px, other.y_px - one.y_px
        length = hypot(across, down) or 1.0
        # Arcs away from the middle, so that links along one line do not cover each other.
        bend = min(70.0, 0.14 * length) / length
        if (y <= middle) == (across >= 0):
            bend = -bend
        yield (
            f'<path d="M{one.x_px:.1f} {one.y_px:.1f}Q{x - bend * down:.1f} '
            f'{y + bend * across:.1f} {other.x_px:.1f} {other.y_px:.1f}" fill="none" '
            f'stroke="{color}" stroke-opacity="0.35" stroke-width="{edge.width_px:.1f}"/>'
        )


def _short(label: str) -> str:
    most = _MOST_CHARACTERS
    return label if len(label) <= most else label[: most - 1] + "…"


def _node(picture: GraphPicture, node: GraphNode) -> Iterator[str]:
    color = node.color or blend(node.skew, picture.left_color, picture.right_color)
    name = _short(node.label)
    tooltip = "\n".join(filter(None, (node.label, node.description)))
    middle = f'class="label" x="{node.x_px:.1f}" text-anchor="middle"'
    if node.kind == "class":
        width = _CHARACTER_PX * len(name) + 20
        yield (
            f'<rect class="box" x="{node.x_px - width / 2:.1f}" y="{node.y_px - 18:.1f}" '
            f'width="{width:.1f}" height="36" rx="8" stroke="{color}" stroke-width="4">'
            f"<title>{text(tooltip)}</title></rect>"
        )
        yield f'<text {middle} y="{node.y_px + 5:.1f}">{text(name)}</text>'
        return
    radius = node.size_px / 2
    yield (
        f'<circle cx="{node.x_px:.1f}" cy="{node.y_px:.1f}" r="{radius:.1f}" fill="{color}">'
        f"<title>{text(tooltip)}</title></circle>"
    )


Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def _labels(picture: GraphPicture, left: float, right: float) -> Iterator[str]:
    """Names of concepts, each on the first side of its disc where it covers nothing."""
    taken: list[tuple[str | None, Box]] = []
    for node in picture.nodes:
        across = down = node.size_px / 2
        if node.kind == "class":
            across, down = _CHARACTER_PX * len(_short(node.label)) / 2 + 12, 20.0
        box = (node.x_px - across, node.y_px - down, node.x_px + across, node.y_px + down)
        taken.append((node.id, box))
    concepts = [node for node in picture.nodes if node.kind == "concept"]
    for node in sorted(concepts, key=lambda node: -node.size_px):
        name = _short(node.label)
        sides = [*_sides(node, _LETTER_PX * len(name))]
        free = [
            side
            for side in sides
            if left <= side[-1][0]
            and side[-1][2] <= right
            and not any(id_ != node.id and _overlap(side[-1], box) for id_, box in taken)
        ]
        x, y, anchor, box = (free or sides)[0]
        taken.append((None, box))
        yield (
            f'<text class="label" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text(name)}'
            "</text>"
        )


def _sides(node: GraphNode, width: float) -> Iterator[tuple[float, float, str, Box]]:
    """Candidate places of a label: x and y of its baseline, its anchor, and its box."""
    x, y, radius = node.x_px, node.y_px, node.size_px / 2
    for side, baseline, anchor, left in (
        (x, y + radius + 14, "middle", x - width / 2),
        (x + radius + 4, y + 5, "start", x + radius + 4),
        (x - radius - 4, y + 5, "end", x - radius - 4 - width),
        (x, y - radius - 4, "middle", x - width / 2),
    ):
        yield side, baseline, anchor, (left, baseline - 11, left + width, baseline + 3)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
