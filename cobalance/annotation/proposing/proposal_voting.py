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
        # A name counts once a round, and an empty one not at all.
        plain = filter(None, map(plain_name, names))
        for rank, name in enumerate(dict.fromkeys(plain)):
            ranks.setdefault(name, []).append(rank)

    candidates = [
        Voted(name, votes=len(name_ranks), mean_rank=sum(name_ranks) / len(name_ranks))
        for name, name_ranks in ranks.items()
        if len(name_ranks) >= min_votes
    ]
    # The sort is stable: of equal names, the one that appeared first comes first.
    candidates.sort(key=lambda candidate: (-candidate.votes, candidate.mean_rank))
    return candidates[:n]
