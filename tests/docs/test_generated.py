"""The generated pages are those that the program would generate now."""

import pytest

from cobalance.generation.backends import BACKENDS
from cobalance.generation.filters import FILTERS
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.vision.models.options import ModelOptions
from docs.generate import DOCS, PAGES, job_settings


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_every_setting_of_a_job_is_there_with_type_default_and_meaning():
    page = job_settings()
    for row in (
        "| `making.steps` | int, at least 1, at most 1000 |  | Denoising steps; ",
        "| `masks.min_share` | float, at least 0, at most 1 | `0.01` | How much of the image ",
        "| `keep_rejected` | bool | `true` | Keep the files of rejected candidates; ",
        "| `filters.clip.threshold` | float, at least 0, at most 2.5 | `0.6` | The least CLIPSc",
        "| `segmenter_options.labels` | tuple of str |  | Names of the model's labels",
    ):
        assert row in page
    for plugins, prefix in (
        (BACKENDS, "making."),
        (FILTERS, "filters.{}."),
        (SEGMENTERS, "segmenter_options."),
    ):
        for name, plugin in plugins.items():
            for option in plugin.options.model_fields:
                known = f"| `{prefix.format(name)}{option}` |" in page
                assert known or option in ModelOptions.model_fields, option
