"""Frequencies of attributes in real and in generated images, as bars."""

from collections.abc import Hashable, Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base.safe_text import safe_text

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
        From `cobalance.evaluation.metrics.attributes.shift_table`. A bar to the left: the generator
        makes an attribute more frequent.
    title : str
        Above the bars.
    """
    limits = table[["difference", "low", "high"]].abs().to_numpy(np.float64)
    most = max(1.0, float(np.nanmax(limits, initial=0.0)))
    middle = _LABEL_PX + (_WIDTH_PX - _LABEL_PX) / 2
    scale = (_WIDTH_PX - _LABEL_PX) / 2 / most * 0.95

    parts = [f'<text x="8" y="18" class="category">{_text(title)}</text>']
    y, category = 30, None
    for row in table.to_dict("records"):
        if row["category"] != category:
            category = row["category"]
            parts.append(f'<text x="8" y="{y + 15}" class="category">{_text(category)}</text>')
            y += _ROW_PX

        name = safe_text(str(row["attribute"]))
        if len(name) > _NAME:
            name = f"{name[: _NAME - 1]}…"
        label = f"{name} ({row['real']:.1f}% / {row['generated']:.1f}%)"
        whole = f"<title>{_text(row['attribute'])}</title>"
        parts.append(f'<text x="20" y="{y + 15}">{_text(label)}{whole}</text>')

        # Without images on one side, there is no difference to draw.
        if np.isfinite(row["difference"]):
            parts.append(_draw_bar(row, middle, scale, y + _ROW_PX / 2))
        y += _ROW_PX

    below = "left: more frequent in generated images; right: in real ones (percentage points)"
    parts.append(f'<line class="zero" x1="{middle}" x2="{middle}" y1="30" y2="{y}"/>')
    parts.append(f'<text x="8" y="{y + 18}">{below}</text>')
    drawing = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH_PX}" height="{y + 30}" '
        f'viewBox="0 0 {_WIDTH_PX} {y + 30}"><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{drawing}\n</svg>\n'
    )


def _draw_bar(row: Mapping[Hashable, Any], middle: float, scale: float, y: float) -> str:
    """A row's bar and its interval; `middle` is where a difference of 0 is, in pixels."""
    value = row["difference"]
    x, width = middle + min(value, 0) * scale, abs(value) * scale
    low, high = middle + row["low"] * scale, middle + row["high"] * scale
    side = "more" if value < 0 else "fewer"
    return (
        f'<rect class="{side}" x="{x:.1f}" y="{y - _BAR_PX / 2}" width="{width:.1f}" '
        f'height="{_BAR_PX}"><title>{value:+.1f} points</title></rect>'
        f'<line class="limits" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
    )


def _text(value: object) -> str:
    return escape(safe_text(str(value)))
