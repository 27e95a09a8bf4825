"""Frequencies of attributes in real and in generated images, as a table and as bars."""

from html import escape

import numpy as np
import pandas as pd

from cobalance.evaluation.metrics.attributes import COUNTS
from cobalance.graph.diagnosis.intervals import newcombe
from cobalance.graph.safe_text import safe_text

COLUMNS = (
    *("category", "attribute", "real", "generated", "difference", "low", "high"),
    *("n_real", "n_generated"),
)


def shift_table(counts: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """How often each attribute is in real and in generated images (GELDA, figure 7).

    Parameters
    ----------
    counts : pandas.DataFrame
        As `cobalance.evaluation.metrics.attributes.attribute_shift` takes them; a category and
        attribute once.

    Returns
    -------
    pandas.DataFrame
        By category, and within it by descending frequency among real images: ``category``,
        ``attribute``; ``real`` and ``generated``, percentages; ``difference``, real less
        generated in percentage points, with Newcombe's interval ``low`` to ``high``; ``n_real``
        and ``n_generated``, images.

    Examples
    --------
    >>> counts = pd.DataFrame({"category": "hair", "attribute": ["fair", "dark"],
    ...                        "real": [400, 600], "generated": [250, 750],
    ...                        "n_real": 1000, "n_generated": 1000})
    >>> shift_table(counts)[["attribute", "real", "generated", "difference"]].to_numpy().tolist()
    [['dark', 60.0, 75.0, -15.0], ['fair', 40.0, 25.0, 15.0]]
    """
    if counts.empty:
        return pd.DataFrame({name: [] for name in COLUMNS})
    numbers = counts[list(COUNTS)].to_numpy(np.float64).T
    hits, n = numbers[:2], numbers[2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = 100 * hits / n
    low, high = newcombe(hits[0], n[0], hits[1], n[1], confidence)
    found = counts[["category", "attribute", "n_real", "n_generated"]].assign(
        real=shares[0],
        generated=shares[1],
        difference=shares[0] - shares[1],
        low=100 * low,
        high=100 * high,
        place=pd.factorize(counts["category"])[0],
    )
    ordered = found.sort_values(["place", "real", "attribute"], ascending=[True, False, True])
    return ordered[list(COLUMNS)].reset_index(drop=True)


_ROW_PX, _BAR_PX, _LABEL_PX, _WIDTH_PX = 22, 12, 260, 760
_NAME = 24  # characters that fit before the bars, with the shares
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.category{font-weight:600}"
    ".more{fill:#c0504d}.fewer{fill:#4f81bd}.limits{stroke:#222}.zero{stroke:#999}"
)


def shift_chart(table: pd.DataFrame, title: str) -> str:
    """The differences as bars with their intervals, as an SVG image.

    Parameters
    ----------
    table : pandas.DataFrame
        From `shift_table`. A bar to the left: the generator makes an attribute more frequent.
    title : str
        Above the bars.
    """
    limits = table[["difference", "low", "high"]].abs().to_numpy(np.float64)
    most = max(1.0, float(np.nanmax(limits, initial=0.0)))
    middle = _LABEL_PX + (_WIDTH_PX - _LABEL_PX) / 2
    scale = (_WIDTH_PX - _LABEL_PX) / 2 / most * 0.95
    drawn = [f'<text x="8" y="18" class="category">{_text(title)}</text>']
    y, category = 30, None
    for row in table.to_dict("records"):
        if row["category"] != category:
            category = row["category"]
            drawn.append(f'<text x="8" y="{y + 15}" class="category">{_text(category)}</text>')
            y += _ROW_PX
        shares = f"({row['real']:.1f}% / {row['generated']:.1f}%)"
        name = safe_text(str(row["attribute"]))
        name = f"{name if len(name) <= _NAME else f'{name[: _NAME - 1]}…'} {shares}"
        whole = f"<title>{_text(row['attribute'])}</title>"
        drawn.append(f'<text x="20" y="{y + 15}">{_text(name)}{whole}</text>')
        if np.isfinite(value := row["difference"]):
            x, width = middle + min(value, 0) * scale, abs(value) * scale
            side = "more" if value < 0 else "fewer"
            ends = [middle + row[end] * scale for end in ("low", "high")]
            at = y + _ROW_PX / 2
            drawn.append(
                f'<rect class="{side}" x="{x:.1f}" y="{at - _BAR_PX / 2}" width="{width:.1f}" '
                f'height="{_BAR_PX}"><title>{value:+.1f} points</title></rect>'
                f'<line class="limits" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{at}" y2="{at}"/>'
            )
        y += _ROW_PX
    drawn.append(f'<line class="zero" x1="{middle}" x2="{middle}" y1="30" y2="{y}"/>')
    below = "left: more frequent in generated images; right: in real ones (percentage points)"
    drawn.append(f'<text x="8" y="{y + 18}">{below}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH_PX}" height="{y + 30}" '
        f'viewBox="0 0 {_WIDTH_PX} {y + 30}"><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{chr(10).join(drawn)}\n</svg>\n'
    )


def _text(value: object) -> str:
    return escape(safe_text(str(value)))
