"""The learner network: trains a model of timm on images, and goes on where it was interrupted."""

import hashlib
import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from cobalance.base import DataError
from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.loop import History, Loop, check_digest, reproducible
from cobalance.evaluation.training.method import Learner, Method, Run
from cobalance.evaluation.training.networks.fitting import Fitting
from cobalance.evaluation.training.networks.model import NetworkModel, open_network
from cobalance.evaluation.training.networks.options import NetworkOptions
from cobalance.evaluation.training.selection import check_rule, describe_selection
from cobalance.vision import (
    MODEL_FILE,
    Network,
    choose_device,
    choose_dtype,
    open_backbone,
    width_of,
)


@dataclass(frozen=True)
class NetworkLearner(Learner):
    """Fits networks; see `cobalance.evaluation.training.method.Learner`.

    With a folder in its run, each fit keeps there its last epoch (model, optimiser, what the method
    counts), the selected one, and at the end the model. A fit that is called again with the same
    data and settings goes on after the last epoch, to the same weights as without interruption: bit
    by bit on a CPU with the same number of threads. All random choices follow from seed, stage and
    epoch.

    Parameters
    ----------
    options : NetworkOptions
        Model and optimisation.
    run : Run
        Seed, folder, progress.
    """

    options: NetworkOptions
    run: Run

    def open_kept(self, folder: Path) -> NetworkModel | None:
        """The model that was saved in a folder; None without one."""
        return self._open(folder) if (folder / MODEL_FILE).is_file() else None

    def fit(
        self,
        training: Examples,
        validation: Examples | None,
        method: Method,
        *,
        epochs: int | None = None,
        stage: str = "",
    ) -> NetworkModel:
        """Fit a model; see `cobalance.evaluation.training.method.Learner.fit`.

        Raises
        ------
        DataError
            The data do not suit the method or the rule of selection, the loss is not finite, or the
            folder has the checkpoint of another run.
        JobBlockedError
            The pretrained model is missing, incomplete or not one of timm.
        OutOfMemoryError
            The device has too little memory.
        """
        if len(training) < 2:
            raise DataError(
                f"A network needs at least two training images, and there are {len(training)}. "
                "Choose a dataset or split with more."
            )
        check_rule(self.options.select, validation)

        # No last layer and no weight of its own for a group or domain that no training image has.
        training = replace(
            training, groups=_ranks(training.groups), domains=_ranks(training.domains)
        )
        method = method.prepare(training)
        weights = method.weights(training)
        passes = method.epochs(epochs or self.options.epochs)

        digest = self._digest((training, validation), method, weights, passes, stage)
        folder = None
        if self.run.seed_folder is not None:
            folder = self.run.seed_folder / (stage or "model")
            if (folder / MODEL_FILE).is_file():
                saved = self._open(folder)
                check_digest(saved.describe().get("digest", ""), digest, folder)
                return saved

        patience = method.epochs(self.options.patience or passes)
        loop = Loop(passes, patience, digest, folder, self.run.progress)
        with reproducible():
            fitting = self._start(training, validation, method, weights, passes, stage)
            model = self._finish(fitting, loop.train(fitting), digest)
        if folder is not None:
            model.save(folder)
            loop.delete_checkpoints()
        return model

    def _start(
        self,
        training: Examples,
        validation: Examples | None,
        method: Method,
        weights: Floats,
        epochs: int,
        stage: str,
    ) -> Fitting:
        """The fit before its first epoch, with random weights that follow from seed and stage."""
        device = choose_device(self.options.device)
        dtype = choose_dtype(self.options.dtype, device)
        # "auto" without bfloat16 would be float16, in which gradients underflow.
        if dtype == torch.float16:
            dtype = torch.float32
        seed = (self.run.seed, zlib.crc32(stage.encode()))
        torch.manual_seed(int(np.random.default_rng(seed).integers(2**62)))

        # The order matters for random weights: the backbone, the auxiliary module, the last layer.
        backbone, settings = open_backbone(
            self.options, pretrained=self.options.pretrained, image_px=self.options.image_px
        )
        n_domains = max(int(training.domains.max(initial=-1)) + 1, 1)
        n_outputs = method.outputs(len(training.classes), n_domains)
        auxiliary = method.auxiliary(width_of(backbone), n_domains)
        network = Network(backbone, torch.nn.Linear(width_of(backbone), n_outputs))

        settings = replace(
            settings, classes=tuple(training.classes), multi_label=training.labels.ndim == 2
        )
        return Fitting(
            options=self.options,
            method=method,
            training=training,
            validation=validation,
            sample_weights=weights,
            network=network,
            auxiliary=auxiliary,
            settings=settings,
            device=device,
            dtype=dtype,
            seed=(*seed, 1),
            epochs=epochs,
        )

    def _finish(self, fitting: Fitting, history: History, digest: str) -> NetworkModel:
        """The model, with its provenance and selection."""
        value = history.values[history.epoch] if history.values else math.nan
        about = {
            **(fitting.settings.about or {}),
            "selection": describe_selection(self.options.select, history.epoch + 1, value),
            "values": history.values,
            "epochs": len(history.losses),
            "seed": self.run.seed,
            "digest": digest,
        }

        confidence = history.facts.get("confidence")
        fitting.settings = replace(fitting.settings, confidence=confidence)
        return fitting.model(about)

    def _open(self, folder: Path) -> NetworkModel:
        return open_network(
            folder,
            device=self.options.device,
            dtype=self.options.dtype,
            batch_size=self.options.batch_size,
        )

    def _digest(
        self, images: Iterable[Examples | None], method: Method, weights: Floats, *facts: object
    ) -> str:
        """SHA-256 of all that decides the result, but the pixels."""
        options = self.options.model_dump(mode="json", exclude={"device", "offline"})
        method_facts = [type(method).__qualname__, method.options.model_dump()]
        text = json.dumps(
            [options, method_facts, self.run.seed, *facts], sort_keys=True, default=str
        )
        digest = hashlib.sha256(text.encode())

        for examples in images:
            if examples is not None:
                digest.update(json.dumps([list(examples.ids), list(examples.classes)]).encode())
                for array in (examples.labels, _ranks(examples.groups), _ranks(examples.domains)):
                    digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(np.ascontiguousarray(weights).tobytes())
        return digest.hexdigest()


def _ranks(codes: IntArray) -> IntArray:
    """Codes without gaps: test images of further groups, which shift the others, change nothing."""
    _, ranks = np.unique(codes, return_inverse=True)
    return np.where(codes < 0, -1, ranks).astype(np.int64)
