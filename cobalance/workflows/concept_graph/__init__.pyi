from .colors import CLASS_COLORS as CLASS_COLORS, NEUTRAL as NEUTRAL, class_colors as class_colors
from .elements import (
    GraphEdge as GraphEdge,
    GraphNode as GraphNode,
    GraphPicture as GraphPicture,
    GraphStep as GraphStep,
)
from .overview import (
    ALL_OTHERS as ALL_OTHERS,
    Axis as Axis,
    concepts_of as concepts_of,
    descriptions as descriptions,
    label_widths_px as label_widths_px,
    lay_out_steps as lay_out_steps,
    node_id as node_id,
    of_overview as of_overview,
)
from .radial import grow_layout as grow_layout, radial_layout as radial_layout
from .skew_layout import edge_widths_px as edge_widths_px, node_sizes_px as node_sizes_px
from .svg import picture_svg as picture_svg, text as text
