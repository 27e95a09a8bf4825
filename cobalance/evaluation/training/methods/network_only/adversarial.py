"""Adversarial training: features from which a classifier cannot tell the domain."""

from dataclasses import dataclass, replace

from pydantic import Field

from cobalance.base import Options, torch
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Batch, Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import count_domains


class AdversarialOptions(Options):
    """Options of the method adversarial.

    Parameters
    ----------
    alpha : float
        Weight of the confusion loss.
    every : int
        One pass in so many trains the network, the others train the classifier of domains alone;
        passes are multiplied by it, so that the network has its epochs.
    """

    alpha: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    every: int = Field(default=3, ge=2)


PLUGIN = MethodPlugin(
    "adversarial",
    "Trains features from which a classifier cannot tell the domain: uniform confusion.",
    extra="train",
    options=AdversarialOptions,
    needs_groups=True,
    network_only=True,
    reference='Wang et al., "Towards Fairness in Visual Recognition" (2020), section 4.2, with α 1 '
    "and one epoch in three for the network, as in the authors' code. The loss is that of Tzeng et "
    'al., "Simultaneous Deep Transfer Across Domains and Tasks" (2015), section 3.1.',
)


@dataclass(frozen=True)
class Adversarial(Method):
    """Epochs of the network, with a confusion loss, and of the classifier of domains."""

    options: AdversarialOptions

    def prepare(self, training: Examples) -> Method:
        """The method, with the sizes of domains."""
        return replace(self, state={"sizes": count_domains(training, "Adversarial training")})

    def epochs(self, wanted: int) -> int:
        """Passes in which the network is trained as often as wanted."""
        return wanted * self.options.every

    def auxiliary(self, n_features: int, n_domains: int) -> "torch.nn.Module":
        """The classifier of domains."""
        return torch.nn.Linear(n_features, n_domains)

    def losses(self, batch: Batch) -> "torch.Tensor":
        """Loss of each image, shape (n_images,), with gradients for this epoch's half alone.

        The network's is that of the labels and α times the confusion loss: cross-entropy of the
        predicted domains with equal probabilities.
        """
        if not isinstance(batch.auxiliary, torch.nn.Linear):
            raise TypeError("Adversarial training has no classifier of domains.")

        # Epochs of the classifier: the network stays as it is.
        if batch.epoch % self.options.every:
            outputs = batch.auxiliary(batch.features.detach())
            return torch.nn.functional.cross_entropy(outputs, batch.domains, reduction="none")

        # Epochs of the network: the classifier stays as it is.
        weight, bias = batch.auxiliary.weight.detach(), batch.auxiliary.bias.detach()
        domains = torch.nn.functional.linear(batch.features, weight, bias)
        confusion = -domains.log_softmax(dim=1).mean(dim=1)
        return super().losses(batch) + self.options.alpha * confusion


open_method = Adversarial
