from .colors import CLASS_COLORS as CLASS_COLORS
from .overview import ALL_OTHERS as ALL_OTHERS, Axis as Axis, of_overview as of_overview
from .svg import picture_svg as picture_svg, text as text
