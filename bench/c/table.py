"""Medians of what bench/c/run has measured, and how many times longer than Motet the others take.

python3 table.py RESULTS.tsv
"""

import statistics
import sys
from collections import defaultdict

FORMS = ("blocking", "nonblocking", "persistent")


def read(path):
    """Microseconds of all rounds, by (operation, ranks, bytes), form and library."""
    found = defaultdict(list)
    with open(path) as lines:
        next(lines)
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 7:
                continue  # a process that ended in the middle of a line
            _, library, operation, ranks, size, form, microseconds = fields
            key = operation, int(ranks), int(size)
            found[key, form, library].append(float(microseconds))
    return {key: statistics.median(all_rounds) for key, all_rounds in found.items()}


def figure(median, ours):
    """Microseconds, and the ratio to Motet."""
    if median is None:
        return "no figure"
    if ours is None:
        return f"{median:.2f}"
    return f"{median:.2f} ({median / ours:.2f})"


def main():
    medians = read(sys.argv[1])
    libraries = list(dict.fromkeys(library for _, _, library in medians))
    others = [library for library in libraries if library != "motet"]
    rows = list(dict.fromkeys(key for key, _, _ in medians))
    print("microseconds; in brackets: how many times longer than Motet\n")
    print("| operation | ranks | bytes | form | motet |", " | ".join(others), "|")
    print("|---|---|---|---|---|" + "---|" * len(others))
    better = worse = 0
    for row in rows:
        for form in FORMS:
            ours = medians.get((row, form, "motet"))
            theirs = [medians.get((row, form, other)) for other in others]
            known = [median for median in theirs if median is not None]
            if ours is not None and known:
                better += ours <= min(known)
                worse += ours > min(known)
            cells = [figure(median, ours) for median in theirs]
            own = "no figure" if ours is None else f"{ours:.2f}"
            print("|", " | ".join([row[0], str(row[1]), str(row[2]), form, own] + cells), "|")
    print(f"\nMotet is at least as fast as the best of the others in {better} of {better + worse}.")


if __name__ == "__main__":
    main()
