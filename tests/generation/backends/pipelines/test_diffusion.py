import pytest

from cobalance.generation.backends.paste import PasteOptions, open_backend as open_paste
from cobalance.graph.errors import JobBlockedError
from tests.generation.backends.suite import Find


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("controlnet", "StableDiffusionControlNetPipeline needs a picture that guides it"),
        ("deepfloyd", "IFPipeline paints small pictures pixel by pixel, without latents"),
    ],
)
def test_pipelines_for_other_tasks(others: Find, name: str, problem: str) -> None:
    with pytest.raises(JobBlockedError, match=f"{problem}.*Give a text-to-image model"):
        open_paste(PasteOptions(model=others(name)))
