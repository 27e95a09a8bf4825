"""Job settings: recipe, backend and filters, and what cannot be used is refused."""

import pytest

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.generation.jobs.settings import read_job_settings


@pytest.mark.parametrize(
    "values", [{}, {"recipe": "procedural"}, {"backend": "procedural"}, {"recipe": None}]
)
def test_the_default_recipe(values):
    settings = read_job_settings(values)
    assert (settings.recipe, settings.backend) == ("procedural", "procedural")
    assert settings.prompt_template == "a photo of {concepts}"
    assert settings.extras == ["worker"]


def test_a_backend_alone_chooses_the_recipe_of_its_name():
    settings = read_job_settings({"backend": "instruct"})
    assert settings.recipe == "instruct"
    assert settings.prompt_template == "add {concepts} to the background"
    assert settings.filter_options()["clip"] == {"text": "concepts"}
    assert (settings.extra, settings.extras) == ("models", ["worker", "models"])


def test_a_backend_in_place_of_the_recipe_s_own():
    settings = read_job_settings({"recipe": "instruct", "backend": "procedural", "prompt": None})
    assert (settings.recipe, settings.backend) == ("instruct", "procedural")
    assert settings.prompt_template == "add {concepts} to the background"


def test_a_job_overrides_what_its_recipe_has():
    values = {"recipe": "paste", "prompt": "{names}", "filters": {"blank": {}}}
    settings = read_job_settings(values)
    assert settings.prompt_template == "{names}"
    assert settings.filter_options() == {"blank": {}}


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ({"recipe": "x"}, UnknownNameError, "unknown recipe 'x'"),
        ({"backend": "x"}, UnknownNameError, "unknown backend 'x'"),
        ({"recipe": 3}, OptionError, "The setting recipe is 3"),
        ({"making": 3}, OptionError, "The setting making is 3"),
        ({"making": {"steps": 3}}, OptionError, "The backend procedural has no option 'steps'"),
        ({"filters": {"x": {}}}, UnknownNameError, "unknown filter 'x'"),
        ({"chunk_size": 0}, OptionError, "The setting chunk_size is 0"),
        ({"nonsense": 1}, UnknownNameError, "unknown setting 'nonsense'"),
        ({"masks": {"masks": "files"}}, OptionError, "mask_folder"),
        ({"segmenter_options": {"device": "cpu"}}, OptionError, "segmenter names none"),
        ({"making": {"width_px": 33}}, OptionError, "The backend procedural: width_px is 33"),
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


def test_options_are_of_the_segmenter_that_they_were_given_for():
    usual = read_job_settings({"recipe": "pinpoint"})
    assert (usual.parts, list(usual.parts_options)) == ("parsing", ["labels"])
    other = read_job_settings({"recipe": "pinpoint", "parts": "clipseg"})
    assert (other.parts, other.parts_options) == ("clipseg", {})
    given = {"recipe": "pinpoint", "parts": "clipseg", "parts_options": {"texts": ["skin"]}}
    assert read_job_settings(given).parts_options == {"texts": ["skin"]}


def test_a_recipe_ranks_by_the_scores_of_the_filters_that_a_job_runs():
    settings = read_job_settings({"recipe": "resampled", "filters": {"clip": {}, "sanity": {}}})
    assert settings.rank_by == {"clip cosine": 1.0}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"recipe": "resampled", "rank_by": {"clip": float("nan")}}, "finite weight"),
        ({"recipe": "resampled", "rank_by": {"same_colors": 1}}, "none of the job's filters"),
        ({"recipe": "resampled", "filters": {"sanity": {}}}, "names no score to choose by"),
        ({"recipe": "gensynth", "best_of": 1}, "embedding judges all images .* Set best_of to 2"),
    ],
)
def test_candidates_that_nothing_would_choose_between_are_refused(settings, message):
    with pytest.raises(OptionError, match=message):
        read_job_settings(settings)


def test_a_segmenter_that_no_mask_comes_from_is_not_needed():
    values = {"recipe": "resampled", "backend": "procedural", "filters": {}, "best_of": 1}
    assert read_job_settings(values).object_segmenter == "sam"
    assert "models" in read_job_settings(values).extras
    settings = read_job_settings(values | {"masks": {"masks": "regions"}})
    assert (settings.segmenter, settings.object_segmenter) == ("sam", None)
    assert settings.extras == ["worker"]
