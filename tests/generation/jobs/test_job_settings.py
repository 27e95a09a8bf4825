"""Job settings: the usual filters of each backend, and what cannot be used is refused."""

import pytest

from generation.jobs.settings import DEFAULT_FILTERS, read_job_settings
from graph.errors import OptionError, UnknownNameError


@pytest.mark.parametrize("backend", DEFAULT_FILTERS)
def test_every_backend_s_usual_filters_are_known(backend):
    settings = read_job_settings({"backend": backend})
    assert tuple(settings.filter_options()) == DEFAULT_FILTERS[backend]


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ({"backend": "x"}, UnknownNameError, "unknown backend 'x'"),
        ({"filters": {"x": {}}}, UnknownNameError, "unknown filter 'x'"),
        ({"chunk_size": 0}, OptionError, "The setting chunk_size is 0"),
        ({"nonsense": 1}, UnknownNameError, "unknown setting 'nonsense'"),
        ({"masks": {"masks": "files"}}, OptionError, "mask_folder"),
        ({"segmenter_options": {"device": "cpu"}}, OptionError, "segmenter names none"),
        ({"making": {"width_px": 33}}, OptionError, "making.width_px is 33"),
    ],
)
def test_settings_that_cannot_be_used(values, error, said):
    with pytest.raises(error, match=said):
        read_job_settings(values)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prompt": "a photo"}, "no place for the concepts"),
        ({"segmenter": "sam2"}, "unknown segmenter"),
        ({"masks": {"masks": "segmenter"}}, "segmenter names none"),
        ({"filters": {"blank": {"threshold": 2}}}, "The filter blank: threshold is 2: input"),
        ({"filters": {"clip": {"text": "a photo"}}}, "no place for the concepts"),
        ({"segmenter": "sam", "segmenter_options": {"dtype": 1}}, "The segmenter sam: dtype is 1"),
    ],
)
def test_settings_that_no_worker_could_use_are_refused_when_ordered(settings, message):
    with pytest.raises(OptionError, match=message):
        read_job_settings(settings)
