"""How many times longer than Motet the best of the others takes."""

import math
import statistics
from dataclasses import dataclass

from .libraries import LIBRARIES

OURS = "motet"
NO_TIMES = ("overlap", "progress")  # of which more is better
PEERS = tuple(name for name in LIBRARIES if name != OURS)


@dataclass(frozen=True)
class Ratio:
    """The ratio at one place: the median of those of the rounds, the least and the most."""

    place: tuple
    median: float
    least: float
    most: float
    implementation: str
    setting: str

    def __str__(self):
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f}) {self.implementation}"

    @staticmethod
    def at(results, part, place, peer_place=None):
        """The ratio at a place, or None; the others may be taken at another one."""
        ours = results.best(part, OURS, place)
        best = best_peer(results, part, peer_place or place)
        if not ours or not best or part in NO_TIMES:
            return None
        own, theirs = results.values[ours], results.values[best]
        pairs = [theirs[number] / own[number] for number in own
                 if own[number] and theirs.get(number)]
        if not pairs and results.median(ours):
            pairs = [results.median(best) / results.median(ours)]
        if not pairs:
            return None
        return Ratio(place, statistics.median(pairs), min(pairs), max(pairs), *best[-2:])


def best_peer(results, part, place):
    """The point of the fastest peer with its fastest setting, or None."""
    found = [point for point in (results.best(part, peer, place) for peer in PEERS) if point]
    return min(found, key=results.median, default=None)


def geometric_mean(values):
    """The geometric mean, or None."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
