"""Tiny networks, trained in a second."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from cobalance.evaluation.training.method import Method, Run
from cobalance.evaluation.training.networks.learner import NetworkLearner
from cobalance.evaluation.training.networks.model import NetworkModel
from cobalance.evaluation.training.networks.options import NetworkOptions
from tests.tiny.labelled import tiny_examples

TINY: dict[str, Any] = {
    "model": "test_resnet",
    "pretrained": False,
    "image_px": 32,
    "epochs": 2,
    "batch_size": 8,
    "learning_rate": 0.003,
    "device": "cpu",
}

Train = Callable[..., NetworkModel]


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """The machine's cores are shared by tests that run side by side."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def train() -> Train:
    """Train a tiny network on tiny images."""

    def fit(
        method: Method | None = None,
        *,
        seed: int = 0,
        folder: Path | None = None,
        multi_label: bool = False,
        progress: Any = None,
        **options: Any,
    ) -> NetworkModel:
        learner = NetworkLearner(
            NetworkOptions(**{**TINY, **options}),
            Run(seed, folder, progress or (lambda *_: None)),
        )
        images = tiny_examples(multi_label=multi_label)
        validation = tiny_examples(10, seed=1, multi_label=multi_label)
        return learner.fit(images, validation, method or Method())

    return fit
