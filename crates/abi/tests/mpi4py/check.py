"""Says what came of the runs of mpi4py's test suite, and whether it is as it must be.

    python check.py RESULTS SKIPPED.tsv RANKS...

RESULTS has a folder for each number of ranks, with what each rank wrote down (see runner.py).
Nothing may fail, no rank may have stopped early, and only what is listed may be skipped: lines of
a pattern for tests, the numbers of ranks (`*` for all), and the reason, which is compared too.
"""

import fnmatch
import sys
from pathlib import Path

OUTCOMES = ("ok", "fail", "error", "skip")


def listed(path):
    """The rows of a list: without its comments and its heading."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return rows[1:]


class Rank:
    """What one rank wrote down."""

    def __init__(self, path):
        self.tests = {outcome: [] for outcome in OUTCOMES}
        self.seconds = None
        self.run = 0
        self.current = None
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            kind, test, text = line.split("\t")
            if kind == "begin":
                self.run += 1
                self.current = test
            elif kind == "end":
                self.seconds = float(text)
            else:
                self.tests[kind].append((test, text))


def faults(ranks, results, allowed):
    """What is wrong with a run, in words."""
    for number, rank in enumerate(results):
        if rank.seconds is None:
            where = f"in {rank.current}" if rank.current else "before the first test"
            yield f"rank {number} of {ranks} did not come to the end: it stopped {where}"
        for outcome in ("fail", "error"):
            for test, text in rank.tests[outcome]:
                yield f"rank {number} of {ranks}: {outcome}: {test}: {text}"
        for test, reason in rank.tests["skip"]:
            if not is_allowed(test, reason, ranks, allowed):
                yield f"rank {number} of {ranks}: skip that is not listed: {test}: {reason}"
    if len({rank.run for rank in results}) > 1:
        yield f"{ranks} ranks: not every rank ran as many tests as the others"
    if not results[0].tests["ok"]:
        yield f"{ranks} ranks: no test ran"


def is_allowed(test, reason, ranks, allowed):
    return any(
        fnmatch.fnmatchcase(test, pattern)
        and (numbers == "*" or str(ranks) in numbers.split(","))
        and reason == why
        for pattern, numbers, why in allowed
    )


def main():
    root, allowed = Path(sys.argv[1]), listed(Path(sys.argv[2]))
    wrong, totals = [], [0, 0, 0]
    print("  ranks   tests  failures  errors   skips   seconds")
    for ranks in map(int, sys.argv[3:]):
        results = [Rank(root / str(ranks) / f"{rank}.tsv") for rank in range(ranks)]
        wrong.extend(faults(ranks, results, allowed))
        # What fails on any rank has failed; what is skipped on any has not passed.
        passed, failures, errors, skips = (
            {test for rank in results for test, _ in rank.tests[outcome]}
            for outcome in OUTCOMES
        )
        passed -= failures | errors | skips
        seconds = [rank.seconds for rank in results if rank.seconds is not None]
        took = f"{max(seconds):.1f}" if len(seconds) == ranks else "-"
        counts = max(rank.run for rank in results), len(failures), len(errors), len(skips)
        print("{:7}{:8}{:10}{:8}{:8}{:>10}".format(ranks, *counts, took))
        counts = len(passed), len(failures | errors), len(skips)
        totals = [sum(pair) for pair in zip(totals, counts)]
    for text in wrong:
        print(text)
    print("mpi4py: {} passed, {} failed, {} skipped".format(*totals))
    sys.exit(bool(wrong))


main()
