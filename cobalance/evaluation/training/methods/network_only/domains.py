"""Methods with outputs for each domain: domain-independent and domain-discriminative training."""

from dataclasses import dataclass, replace

import numpy as np

from cobalance.base import torch
from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.evaluation.training.method import Batch, Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import count_domains


@dataclass(frozen=True)
class DomainIndependent(Method):
    """Softmax, or a sigmoid for each label, among the outputs of the image's own domain."""

    def prepare(self, training: Examples) -> Method:
        """The method, with the sizes of domains."""
        sizes = count_domains(training, "Domain-independent training")
        return replace(self, state={"sizes": sizes})

    def outputs(self, n_classes: int, n_domains: int) -> int:
        """As many as classes, for each domain."""
        return n_classes * n_domains

    def losses(self, batch: Batch) -> "torch.Tensor":
        """Loss of each image by the outputs of its domain, shape (n_images,)."""
        shape = len(batch.outputs), len(self.state["sizes"]), -1
        rows = torch.arange(len(batch.outputs), device=batch.outputs.device)
        outputs = batch.outputs.reshape(shape)[rows, batch.domains]
        return super().losses(replace(batch, outputs=outputs))

    def finish(self, weight: Floats, bias: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """The sum of the domains' last layers."""
        return (
            weight.reshape(-1, n_classes, weight.shape[1]).sum(axis=0),
            bias.reshape(-1, n_classes).sum(axis=0),
        )


@dataclass(frozen=True)
class DomainDiscriminative(Method):
    """One output for each pair of class and domain."""

    def prepare(self, training: Examples) -> Method:
        """The method, with the prior's logarithm but for a constant: (n_domains, n_classes)."""
        n_domains = len(count_domains(training, "Domain-discriminative training"))
        counts = np.ones((n_domains, len(training.classes)))
        if not training.several_labels:
            counts[:] = 0
            np.add.at(counts, (training.domains, training.labels), 1)
            counts = np.maximum(counts, 1)
        return replace(self, state={"log_prior": np.log(counts / counts.max())})

    def outputs(self, n_classes: int, n_domains: int) -> int:
        """As many as pairs, domain by domain."""
        return n_classes * n_domains

    def losses(self, batch: Batch) -> "torch.Tensor":
        """Loss of each image's pair, shape (n_images,); of all its pairs with several labels."""
        n_domains, n_classes = self.state["log_prior"].shape
        if batch.labels.ndim == 1:
            pairs = batch.labels + n_classes * batch.domains
        else:
            domains = torch.nn.functional.one_hot(batch.domains, n_domains)
            pairs = (domains[:, :, None] * batch.labels[:, None, :]).flatten(start_dim=1)
        return super().losses(replace(batch, labels=pairs))

    def finish(self, weight: Floats, bias: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """The last layer without the prior: its softmax is over p(class, domain) / prior."""
        del n_classes
        return weight, bias - self.state["log_prior"].ravel()


PLUGINS = (
    MethodPlugin(
        "domain-independent",
        "Trains a last layer for each domain, and sums their outputs to predict.",
        extra="train",
        open=DomainIndependent,
        needs_groups=True,
        network_only=True,
        reference='Wang et al., "Towards Fairness in Visual Recognition" (2020), section 4.4: '
        "softmax within the image's domain, outputs summed without knowing the domain.",
    ),
    MethodPlugin(
        "domain-discriminative",
        "Predicts class and domain together, and corrects for how often they go together.",
        extra="train",
        open=DomainDiscriminative,
        needs_groups=True,
        network_only=True,
        reference='Wang et al., "Towards Fairness in Visual Recognition" (2020), section 4.3: a '
        "softmax over classes and domains, divided by the prior of the training images and summed "
        "over domains. Pairs that no image shows count as of one image. With several labels an "
        "image, sigmoids are summed without a prior, as in the authors' code.",
    ),
)
