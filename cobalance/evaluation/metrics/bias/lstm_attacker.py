"""The attacker that reads captions word by word: an LSTM."""

from collections.abc import Callable, Sequence
from copy import deepcopy

import numpy as np
import torch
from sklearn.model_selection import StratifiedShuffleSplit
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from cobalance.base import FloatArray, IntArray

Tokens = Sequence[str]
Encoded = list[torch.Tensor]

WORD_SIZE, STATE_SIZE, LAYERS, DROPOUT = 100, 64, 2, 0.5
BATCH, EPOCHS, PATIENCE, LEARNING_RATE = 64, 40, 4, 5e-3
PADDING, UNSEEN = 0, 1


def fit_lstm(
    captions: Sequence[Tokens], groups: IntArray, seed: int
) -> Callable[[Sequence[Tokens]], FloatArray]:
    """Train an LSTM and return its probabilities as a function of captions.

    A bidirectional LSTM of two layers on learned word vectors with dropout, trained by Adam, as
    that of LIC's authors [1]_. Theirs has states of 256, a learning rate of 5e-5 and 20 epochs on
    tens of thousands of captions; here states are smaller and steps larger, and a held-out fifth of
    the captions selects the epoch, the untrained network included. Where captions tell nothing,
    its probabilities thus stay near chance.

    Parameters
    ----------
    captions : sequence of sequences of str
        The words of each caption.
    groups : int array, shape (n_captions,)
        Group codes from 0, all of which occur at least twice.
    seed : int
        Of the split, the weights, the batches and the dropout. It computes on the processor, so
        that the same seed gives the same probabilities; torch's own generator stays as it was.

    References
    ----------
    .. [1] Hirota, Y., Nakashima, Y. and Garcia, N., *Quantifying societal bias amplification in
       image captioning* (CVPR 2022), section 4.
    """
    n_groups = int(groups.max()) + 1
    words = sorted(set().union(*captions))
    codes = dict(zip(words, range(UNSEEN + 1, UNSEEN + 1 + len(words)), strict=True))
    encoded, labels = _encode(captions, codes), torch.from_numpy(groups)

    # A fifth tells when to stop, with a caption of each group at least.
    share = max(n_groups, len(captions) // 5)
    split = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
    ((training, held_out),) = split.split(np.zeros(len(captions)), groups)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _Attacker(len(codes) + UNSEEN + 1, n_groups)
        _train(network, encoded, labels, torch.from_numpy(training), torch.from_numpy(held_out))

    def probabilities(others: Sequence[Tokens]) -> FloatArray:
        scores = [torch.empty((0, n_groups))]
        with torch.inference_mode():
            scores += map(network, _batches(_encode(others, codes)))
        return torch.cat(scores).double().softmax(1).numpy()

    return probabilities


class _Attacker(nn.Module):
    """Scores of groups from the last states in both directions."""

    def __init__(self, n_words: int, n_groups: int) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, WORD_SIZE, padding_idx=PADDING)
        self.reader = nn.LSTM(
            WORD_SIZE, STATE_SIZE, LAYERS, batch_first=True, bidirectional=True, dropout=DROPOUT
        )
        self.dropout = nn.Dropout(DROPOUT)
        self.scores = nn.Linear(2 * STATE_SIZE, n_groups)

        # The weight of unseen words stays 0: no training caption has one.
        with torch.no_grad():
            self.words.weight[UNSEEN] = 0

    def forward(self, captions: Encoded) -> torch.Tensor:
        lengths = torch.tensor(list(map(len, captions)))
        padded = pad_sequence(captions, batch_first=True, padding_value=PADDING)
        words = self.dropout(self.words(padded))
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)

        # The last two states are those of the upper layer, forwards and backwards.
        _, (states, _) = self.reader(packed)
        return self.scores(self.dropout(torch.cat([states[-2], states[-1]], 1)))


def _train(
    network: _Attacker,
    captions: Encoded,
    labels: torch.Tensor,
    training: torch.Tensor,
    held_out: torch.Tensor,
) -> None:
    """Train until the loss on held-out captions no longer falls; keep its best weights."""
    optimiser = torch.optim.Adam(network.parameters(), LEARNING_RATE)

    least, worse = _held_loss(network, captions, labels, held_out), 0
    best = deepcopy(network.state_dict())

    for _ in range(EPOCHS):
        network.train()
        order = training[torch.randperm(len(training))]
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            scores = network([captions[row] for row in rows.tolist()])
            optimiser.zero_grad(set_to_none=True)
            torch.autograd.backward(nn.functional.cross_entropy(scores, labels[rows]))
            optimiser.step()

        loss = _held_loss(network, captions, labels, held_out)
        worse += 1
        if loss < least:
            least, worse, best = loss, 0, deepcopy(network.state_dict())
        if worse == PATIENCE:
            break

    network.load_state_dict(best)


def _held_loss(
    network: _Attacker, captions: Encoded, labels: torch.Tensor, held_out: torch.Tensor
) -> float:
    network.eval()
    with torch.inference_mode():
        batches = _batches([captions[row] for row in held_out.tolist()])
        scores = torch.cat(list(map(network, batches)))
    return float(nn.functional.cross_entropy(scores, labels[held_out]))


def _encode(captions: Sequence[Tokens], codes: dict[str, int]) -> Encoded:
    """The words' numbers; a caption without words is one unknown word."""
    encoded = []
    for caption in captions:
        numbers = [codes.get(word, UNSEEN) for word in caption]
        encoded.append(torch.tensor(numbers or [UNSEEN]))
    return encoded


def _batches(captions: Encoded) -> list[Encoded]:
    return [captions[start : start + 1024] for start in range(0, len(captions), 1024)]
