"""Colours of classes."""

from collections.abc import Sequence
from itertools import cycle

# Okabe and Ito's palette for colour vision deficiency (2008), without black and yellow, which
# vanish on one of the two backgrounds; then the muted scheme of Paul Tol (2021).
CLASS_COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#882255",
    "#999933",
    "#332288",
    "#AA4499",
    "#117733",
    "#88CCEE",
)
NEUTRAL = "#8A8F98"


def class_colors(classes: Sequence[str]) -> dict[str, str]:
    """Colours of classes, as CSS hex, by their position among all classes of the dataset.

    With more classes than colours they repeat: a name always stands beside a colour.

    Examples
    --------
    >>> class_colors(["country", "urban"])
    {'country': '#0072B2', 'urban': '#D55E00'}
    """
    return dict(zip(sorted(classes), cycle(CLASS_COLORS), strict=False))
