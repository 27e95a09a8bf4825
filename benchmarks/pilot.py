"""How well a pilot foretells a job: coverage of its intervals, and the estimate of candidates.

    python -m benchmarks.pilot [--runs 100] [--seed 0]

Candidates are drawn with known acceptance: 30%, 60% and 95% in turns, query by query. Rounds are
those that a worker begins, by `next_spans`. Nothing is painted, and no database is read.

The first table has, for each acceptance, in how many of all runs the 95% interval of a query has it
after the pilot, and once the query has ended; the worst query counts. The second one has the error
of the estimated number of candidates after the pilot, after half of them, and before the last
round: the mean, and what 95 of 100 runs are within. `rounds` and `in vain` (candidates that the
filters accept and the query no longer needs) are means, beside those of a job without a pilot.
"""

import argparse
from dataclasses import dataclass, field, replace
from itertools import cycle, islice

import numpy as np

from cobalance.base import BoolArray, IntArray
from cobalance.generation.jobs.pilot import schedule
from cobalance.generation.jobs.rounds import next_spans
from cobalance.generation.planning.acceptance import estimate_acceptance
from cobalance.graph.jobs.rounds import QueryProgress

RATES = (0.3, 0.6, 0.95)
CANDIDATES_PER_IMAGE = 4


@dataclass
class SimulatedRun:
    """What one simulated job was like.

    Parameters
    ----------
    total, rounds, in_vain : int
        All candidates, the rounds that they took, and accepted candidates beyond those wanted.
    estimates : list of (int, int, int, int)
        At the beginning of each round after the first: candidates so far, the estimate of all, and
        the limits of its interval.
    covered_by_pilot, covered_at_end : bool arrays, shape (queries,)
        Whether the interval of the acceptance has the true one.
    """

    total: int = 0
    rounds: int = 0
    in_vain: int = 0
    estimates: list[tuple[int, int, int, int]] = field(default_factory=list)
    covered_by_pilot: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))
    covered_at_end: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))

    def error(self, number: int) -> float:
        """Relative error of an estimate."""
        return self.estimates[number][1] / self.total - 1

    @property
    def halfway(self) -> int:
        """Number of the first estimate from half of the candidates."""
        made = np.array([estimate[0] for estimate in self.estimates])
        return int(np.argmax(made >= self.total / 2))


def simulate(
    rates: IntArray | np.ndarray, wanted: int, rng: np.random.Generator, *, pilot: bool = True
) -> SimulatedRun:
    """Run a job whose candidates are accepted with known probabilities.

    Parameters
    ----------
    rates : float array, shape (queries,)
        The acceptance of each query.
    wanted : int
        Images of each.
    pilot : bool
        Whether there is a pilot.
    """
    run = SimulatedRun()
    queries = [
        QueryProgress(position, "class", ("concept",), wanted, "running", 0, 0)
        for position in range(len(rates))
    ]

    while True:
        plan = schedule(queries, CANDIDATES_PER_IMAGE)
        counts = plan.counts if pilot else None
        given_up = dict.fromkeys(plan.hopeless if pilot else (), "hopeless")
        if run.rounds == 1:
            run.covered_by_pilot = _covers(queries, rates)

        spans, ended = next_spans(queries, CANDIDATES_PER_IMAGE, counts=counts, given_up=given_up)
        queries = [
            replace(query, state="done") if query.position in ended else query for query in queries
        ]
        if not spans:
            break
        if pilot and plan.expected is not None:
            run.estimates.append((run.total, *plan.expected))

        run.rounds += 1
        for span in spans:
            query = queries[span.query]
            accepted = int(rng.binomial(span.count, rates[span.query]))
            surplus = max(0, query.accepted + accepted - query.n)
            run.total += span.count
            run.in_vain += surplus
            queries[span.query] = replace(
                query,
                accepted=query.accepted + accepted - surplus,
                surplus=query.surplus + surplus,
                made=query.made + span.count,
            )

    run.covered_at_end = _covers(queries, rates)
    return run


def _covers(queries: list[QueryProgress], rates: np.ndarray) -> BoolArray:
    """Whether the interval of each query has its true acceptance."""
    rows = [(query.n, query.accepted, query.made, query.surplus) for query in queries]
    n, accepted, made, surplus = np.array(rows).T
    estimate = estimate_acceptance(n, accepted, made, CANDIDATES_PER_IMAGE * n, surplus)
    covers: BoolArray = ((estimate["low"] <= rates) & (rates <= estimate["high"])).to_numpy()
    return covers


def main() -> None:
    """Simulate the jobs, and print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    print(f"{arguments.runs} runs, seed {arguments.seed}")
    print(f"{'queries x images':>18} | acceptance | pilot covers | covers at the end")
    tables = []
    for n_queries, wanted in ((21, 50), (75, 95), (21, 1000), (201, 4)):
        rng = np.random.default_rng(arguments.seed)
        rates = np.array(list(islice(cycle(RATES), n_queries)))
        runs = [simulate(rates, wanted, rng) for _ in range(arguments.runs)]
        plain = [simulate(rates, wanted, rng, pilot=False) for _ in range(arguments.runs)]
        size = f"{n_queries:,} x {wanted:,}"

        for rate in RATES:
            columns = rates == rate
            by_pilot = np.mean([run.covered_by_pilot[columns] for run in runs], axis=0)
            at_end = np.mean([run.covered_at_end[columns] for run in runs], axis=0)
            print(
                f"{size:>18} | {rate:>10.0%} | {by_pilot.mean():.1%}, worst {by_pilot.min():.0%}"
                f" | {at_end.mean():.1%}, worst {at_end.min():.0%}"
            )
        tables.append((size, runs, plain))

    print(
        f"\n{'queries x images':>18} | error after the pilot | after half | before the last round"
        " | intervals cover | rounds | candidates | in vain | without: rounds | candidates"
    )
    for size, runs, plain in tables:
        errors = [
            _error_text([run.error(place(run)) for run in runs])
            for place in (lambda _: 0, lambda run: run.halfway, lambda _: -1)
        ]
        covered = np.mean([run.estimates[0][2] <= run.total <= run.estimates[0][3] for run in runs])
        means = [
            np.mean([run.rounds for run in runs]),
            np.mean([run.total for run in runs]),
            np.mean([run.in_vain for run in runs]),
            np.mean([run.rounds for run in plain]),
            np.mean([run.total for run in plain]),
        ]
        numbers = " | ".join(f"{mean:,.1f}" for mean in means)
        print(f"{size:>18} | {' | '.join(errors)} | {covered:.0%} | {numbers}")


def _error_text(errors: list[float]) -> str:
    within = np.quantile(np.abs(errors), 0.95)
    return f"{np.mean(errors):+.1%}, within {within:.1%}"


if __name__ == "__main__":
    main()
