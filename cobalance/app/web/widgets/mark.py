"""The mark: two discs of unequal size, level on a beam; alone as an icon, and beside the name."""

from base64 import b64encode

from cobalance.workflows.concept_graph.colors import CLASS_COLORS

_DRAWN = f"""
<circle cx="10.5" cy="12.5" r="7.5" fill="{CLASS_COLORS[0]}"/>
<circle cx="25.5" cy="15.5" r="4.5" fill="{CLASS_COLORS[1]}"/>
<path class="ink" d="M2 21.5h28v2.6H2zM17.5 24.1l4.2 5.9h-8.4z"/>
"""
# In a picture this is the scheme of the page's element that shows it.
_INK = """
<style>
  .ink { fill: #1D2126 } @media (prefers-color-scheme: dark) { .ink { fill: #E6E8EB } }
  text { font: 600 20px "Source Sans", "Source Sans 3", system-ui, sans-serif }
</style>
"""


def logo() -> str:
    """The mark and the name as a data URL."""
    name = '<text class="ink" x="40" y="23" textLength="100">cobalance</text>'
    return _data_url(f'<svg xmlns="{_SVG}" viewBox="0 0 144 32">{_INK}{_DRAWN}{name}</svg>')


def icon() -> str:
    """The mark as a data URL: no file of the server's, which a browser may ask for too late."""
    return _data_url(f'<svg xmlns="{_SVG}" viewBox="0 0 32 32">{_INK}{_DRAWN}</svg>')


_SVG = "http://www.w3.org/2000/svg"


def _data_url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
