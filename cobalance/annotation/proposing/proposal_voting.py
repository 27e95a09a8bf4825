"""The most frequent of the names that a model gave in several rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize


@dataclass(frozen=True)
class Voted:
    """A name with the number of rounds that gave it, and its mean rank in these, from 0."""

    name: str
    votes: int
    mean_rank: float


def plain_name(name: str) -> str:
    """A name as votes compare it: lower case, single spaces, NFC, no quotes, bold or full stop.

    Examples
    --------
    >>> plain_name('  "Wing_shape". '), plain_name("**levi's logo**")
    ('wing shape', "levi's logo")
    """
    words = " ".join(normalize("NFC", name).replace("_", " ").split())
    return words.strip('"`*.;: ').strip("' ").casefold()


def vote(rounds: Sequence[Sequence[str]], n: int | None = None, min_votes: int = 1) -> list[Voted]:
    """Rank names by the rounds that gave them, and keep the first ones.

    Equal numbers of votes go by the mean rank in the rounds that gave the name, then by first
    appearance. GELDA (section 3.1) keeps "the N and M most frequently labeled" and says nothing of
    ties; its authors' code breaks them by the hash seed of the process.

    Parameters
    ----------
    rounds : sequence of sequence of str
        The names that each round gave, in its order; one that a round repeats counts once.
    n : int or None
        How many to keep; None for all.
    min_votes : int
        The fewest rounds that must have given a name.
    """
    ranks: dict[str, list[int]] = {}
    for names in rounds:
        plain = [name for name in map(plain_name, names) if name]
        for rank, name in enumerate(dict.fromkeys(plain)):
            ranks.setdefault(name, []).append(rank)
    voted = [Voted(name, len(at), sum(at) / len(at)) for name, at in ranks.items()]
    kept = [each for each in voted if each.votes >= min_votes]
    kept.sort(key=lambda each: (-each.votes, each.mean_rank))  # stable: first appearance
    return kept[:n]
