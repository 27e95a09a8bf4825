"""Draw a concept graph as inline SVG, for pages without scripts."""

from collections.abc import Iterator, Sequence
from html import escape
from math import hypot

from cobalance.base import text_if
from cobalance.base.safe_text import safe_text
from cobalance.workflows.concept_graph.colors import NEUTRAL
from cobalance.workflows.concept_graph.elements import GraphNode, GraphPicture

_MARGIN_PX = 12.0
_MOST_CHARACTERS = 24
# Widths of a character: at most, and on average.
_CHARACTER_PX = 8.0
_LETTER_PX = 7.0
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
    nodes = picture.nodes
    lefts, rights = [], []
    for node in nodes:
        half_width = _CHARACTER_PX * len(_short(node.label)) / 2 + _MARGIN_PX
        lefts.append(node.x_px - half_width)
        rights.append(node.x_px + half_width)
    left, right = min(lefts, default=0.0), max(rights, default=0.0)

    # The key of sizes has a strip of its own above the graph.
    strip = max((size for size, _ in picture.sizes), default=-16.0) + 16
    first = min((node.y_px - node.size_px / 2 for node in nodes), default=0.0) - 8
    top = first - strip
    bottom = max((node.y_px + node.size_px / 2 for node in nodes), default=0.0) + 28
    box = f"{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}"

    lines = [
        f'<svg viewBox="{box}" role="img" aria-label="{text(label)}">',
        *_axis(picture, first),
        *_key(picture, left, first - strip / 2),
        *_edges(picture),
    ]
    for node in nodes:
        lines += _node(picture, node)
    return "\n".join([*lines, *_labels(picture, left, right), "</svg>"])


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
    color = "#"
    for grey, channel in zip(_channels(NEUTRAL), _channels(end), strict=True):
        color += f"{round(grey + (channel - grey) * abs(skew)):02x}"
    return color


def _channels(color: str) -> list[int]:
    digits = color.removeprefix("#")
    # Three digits are short for six.
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return list(bytes.fromhex(digits))


def _axis(picture: GraphPicture, top: float) -> Iterator[str]:
    """Lines at some skews, named in one row with the classes at both ends."""
    if picture.axis_px is None:
        return
    # The classes stand below all concepts.
    foot = max((node.y_px for node in picture.nodes), default=top)
    first, last = picture.axis_px

    for skew, label in _TICKS.items():
        x = first + (skew + 1) / 2 * (last - first)
        dashes = text_if(skew, ' stroke-dasharray="2 5"')
        yield (
            f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{foot - 26:.1f}" '
            f'stroke="{NEUTRAL}"{dashes}/>'
        )
        if label:
            yield (
                f'<text class="label" x="{x:.1f}" y="{foot + 5:.1f}" text-anchor="middle">'
                f"{label}</text>"
            )


def _key(picture: GraphPicture, left: float, middle: float) -> Iterator[str]:
    """Circles with the images that they stand for, from the left."""
    for position, (size, images) in enumerate(picture.sizes):
        label = f"{images}{text_if(position == 0, ' images')}"
        yield (
            f'<circle cx="{left + size / 2 + 2:.1f}" cy="{middle:.1f}" r="{size / 2:.1f}" '
            f'fill="none" stroke="{NEUTRAL}"/>'
        )
        yield f'<text class="label" x="{left + size + 8:.1f}" y="{middle + 5:.1f}">{label}</text>'
        left += size + 24 + _CHARACTER_PX * len(label)


def _edges(picture: GraphPicture) -> Iterator[str]:
    nodes = {node.id: node for node in picture.nodes}
    heights = [node.y_px for node in picture.nodes if node.kind == "concept"]
    middle = (min(heights, default=0.0) + max(heights, default=0.0)) / 2
    for edge in picture.edges:
        source, target = nodes[edge.source], nodes[edge.target]
        color = edge.color or blend(edge.skew, picture.left_color, picture.right_color)
        x, y = (source.x_px + target.x_px) / 2, (source.y_px + target.y_px) / 2
        across, down = target.x_px - source.x_px, target.y_px - source.y_px

        # Arcs away from the middle, so that links along one line do not cover each other.
        length = hypot(across, down) or 1.0
        bend = min(70.0, 0.14 * length) / length
        if (y <= middle) == (across >= 0):
            bend = -bend
        yield (
            f'<path d="M{source.x_px:.1f} {source.y_px:.1f}Q{x - bend * down:.1f} '
            f'{y + bend * across:.1f} {target.x_px:.1f} {target.y_px:.1f}" fill="none" '
            f'stroke="{color}" stroke-opacity="0.35" stroke-width="{edge.width_px:.1f}"/>'
        )


def _short(label: str) -> str:
    if len(label) <= _MOST_CHARACTERS:
        return label
    return label[: _MOST_CHARACTERS - 1] + "…"


def _node(picture: GraphPicture, node: GraphNode) -> Iterator[str]:
    color = node.color or blend(node.skew, picture.left_color, picture.right_color)
    name = _short(node.label)
    tooltip = "\n".join(filter(None, (node.label, node.description)))
    if node.kind == "concept":
        radius = node.size_px / 2
        yield (
            f'<circle cx="{node.x_px:.1f}" cy="{node.y_px:.1f}" r="{radius:.1f}" fill="{color}">'
            f"<title>{text(tooltip)}</title></circle>"
        )
    else:
        width = _CHARACTER_PX * len(name) + 20
        yield (
            f'<rect class="box" x="{node.x_px - width / 2:.1f}" y="{node.y_px - 18:.1f}" '
            f'width="{width:.1f}" height="36" rx="8" stroke="{color}" stroke-width="4">'
            f"<title>{text(tooltip)}</title></rect>"
        )
        yield (
            f'<text class="label" x="{node.x_px:.1f}" text-anchor="middle" '
            f'y="{node.y_px + 5:.1f}">{text(name)}</text>'
        )


Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def _labels(picture: GraphPicture, left: float, right: float) -> Iterator[str]:
    """Names of concepts, each on the first side of its disc where it covers nothing."""
    # Labels may cover no disc but their own, no class and no other label.
    boxes: list[tuple[str | None, Box]] = []
    for node in picture.nodes:
        across = down = node.size_px / 2
        if node.kind == "class":
            across, down = _CHARACTER_PX * len(_short(node.label)) / 2 + 12, 20.0
        box = (node.x_px - across, node.y_px - down, node.x_px + across, node.y_px + down)
        boxes.append((node.id, box))

    concepts = [node for node in picture.nodes if node.kind == "concept"]
    for node in sorted(concepts, key=lambda node: -node.size_px):
        name = _short(node.label)
        others = [box for id_, box in boxes if id_ != node.id]
        sides = list(_sides(node, _LETTER_PX * len(name)))
        x, y, anchor, box = next(
            (side for side in sides if _is_free(side[-1], left, right, others)), sides[0]
        )
        boxes.append((None, box))
        yield (
            f'<text class="label" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text(name)}'
            "</text>"
        )


def _is_free(box: Box, left: float, right: float, others: Sequence[Box]) -> bool:
    is_inside = left <= box[0] and box[2] <= right
    return is_inside and not any(_overlap(box, other) for other in others)


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
