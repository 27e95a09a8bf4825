"""Streamlit theme options, light and dark, and CSS for what they do not cover.

Neutral greys with one accent, a violet that no class colour (`app.views.widgets.theme`) comes
near. The fonts are those that Streamlit carries with it, so that no page asks another host for
anything.
"""

from typing import Any

_EVERYWHERE: dict[str, Any] = {
    "baseFontSize": 15,
    "headingFontSizes": ["1.6rem", "1.3rem", "1.1rem", "1rem", "1rem", "1rem"],
    "headingFontWeights": [600, 600, 600, 600, 600, 600],
    "metricValueFontSize": "1.6rem",
    "baseRadius": "0.4rem",
    "buttonRadius": "0.4rem",
    "paddingTop": "1rem",
    "paddingBottom": "3rem",
    "showWidgetBorder": True,
    "linkUnderline": False,
}
_LIGHT = {
    "primaryColor": "#5753C6",
    "linkColor": "#4B47B3",
    "backgroundColor": "#FFFFFF",
    "secondaryBackgroundColor": "#F4F5F6",
    "textColor": "#1D2126",
    "borderColor": "#DADDE1",
    "codeTextColor": "#1D2126",
    "codeBackgroundColor": "#F4F5F6",
    "dataframeBorderColor": "#E4E6E9",
    "dataframeHeaderBackgroundColor": "#F4F5F6",
    "dataframeHeaderTextColor": "#545B64",
}
_DARK = {
    "primaryColor": "#7672E4",
    "linkColor": "#B1A9FF",
    "backgroundColor": "#15171B",
    "secondaryBackgroundColor": "#202329",
    "textColor": "#E6E8EB",
    "borderColor": "#3A3F47",
    "codeTextColor": "#E6E8EB",
    "codeBackgroundColor": "#202329",
    "dataframeBorderColor": "#30343B",
    "dataframeHeaderBackgroundColor": "#202329",
    "dataframeHeaderTextColor": "#A9B0B9",
}


STYLES = """
/* Controls side by side are of one height, and so their names are on one line. */
[data-testid="stButtonGroup"] button[data-variant="segmented_control"] { min-height: 2.5rem; }
/* The page's name stands level with the choice of the dataset. */
[data-testid="stHeading"]:has(h1) [data-testid="stMarkdownContainer"] { margin-bottom: 0; }
[data-testid="stHeading"] [data-testid="stMarkdownContainer"] h1 { padding: 0; }
"""
"""CSS for what theme options do not cover."""


def theme_options() -> dict[str, Any]:
    """The options by their full names, such as ``theme.dark.textColor``."""
    return {
        **{f"theme.{name}": value for name, value in _EVERYWHERE.items()},
        **{f"theme.light.{name}": value for name, value in _LIGHT.items()},
        **{f"theme.dark.{name}": value for name, value in _DARK.items()},
    }
