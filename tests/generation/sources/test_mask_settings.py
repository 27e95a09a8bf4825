import pytest
from pydantic import ValidationError

from cobalance.generation.sources.mask_settings import MaskSettings


@pytest.mark.parametrize(
    "settings",
    [
        {"masks": "magic"},
        {"mask": "boxes"},
        {"masks": "files"},
        {"mask_pattern": "mask.png"},
        {"min_share": 0.5, "max_share": 0.2},
        {"min_share": -1},
    ],
)
def test_settings_that_cannot_be_used(settings):
    with pytest.raises(ValidationError):
        MaskSettings(**settings)


def test_settings_as_json():
    settings = MaskSettings(masks="files", mask_folder="masks", object="cat")
    assert settings.object == ("cat",)
    assert MaskSettings.model_validate_json(settings.model_dump_json()) == settings
