"""Domain-independent training: a last layer for each domain, whose outputs are summed."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.evaluation.training.method import Batch, Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import count_domains

if TYPE_CHECKING:
    import torch

PLUGIN = MethodPlugin(
    "domain-independent",
    "Trains a last layer for each domain, and sums their outputs to predict.",
    extra="train",
    needs_groups=True,
    network_only=True,
    reference='Wang et al., "Towards Fairness in Visual Recognition" (2020), section 4.4: softmax '
    "within the image's domain, outputs summed without knowing the domain.",
)


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
        import torch

        shape = len(batch.outputs), len(self.state["sizes"]), -1
        rows = torch.arange(len(batch.outputs), device=batch.outputs.device)
        own = batch.outputs.reshape(shape)[rows, batch.domains]
        return super().losses(replace(batch, outputs=own))

    def finish(self, weight: Floats, bias: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """The sum of the domains' last layers."""
        return (
            weight.reshape(-1, n_classes, weight.shape[1]).sum(axis=0),
            bias.reshape(-1, n_classes).sum(axis=0),
        )


open_method = DomainIndependent
