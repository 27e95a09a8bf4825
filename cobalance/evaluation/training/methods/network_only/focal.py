"""Focal loss: images that the network already predicts well count little."""

from dataclasses import dataclass

from pydantic import Field

from cobalance.base import Options, torch
from cobalance.evaluation.training.method import Batch, Method, MethodPlugin


class FocalOptions(Options):
    """Options of the method focal.

    Parameters
    ----------
    gamma : float
        The paper's γ; at 0 the loss is cross-entropy.
    """

    gamma: float = Field(default=2.0, ge=0, allow_inf_nan=False)


PLUGIN = MethodPlugin(
    "focal",
    "Weights the loss of each image by (1 - p)ᵞ, p the probability of its label.",
    extra="train",
    options=FocalOptions,
    network_only=True,
    reference='Lin et al., "Focal Loss for Dense Object Detection" (2017), section 3. Its α is 1.',
)


@dataclass(frozen=True)
class Focal(Method):
    """Focal loss; with several labels an image, that of each label, averaged."""

    options: FocalOptions

    def losses(self, batch: Batch) -> "torch.Tensor":
        """Loss of each image, shape (n_images,)."""
        if batch.labels.ndim == 1:
            return self._focal(
                torch.nn.functional.cross_entropy(batch.outputs, batch.labels, reduction="none")
            )
        labels = batch.labels.to(batch.outputs.dtype)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            batch.outputs, labels, reduction="none"
        )
        return self._focal(losses).mean(dim=1)

    def _focal(self, losses: "torch.Tensor") -> "torch.Tensor":
        """From losses -log p, by 1 - p without loss of digits where p is near 1."""
        return (-(-losses).expm1()) ** self.options.gamma * losses


open_method = Focal
