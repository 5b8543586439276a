"""The goals that Motet has set itself, and whether these figures meet them."""

import statistics
from dataclasses import dataclass

from .points import FORMS, INITS, LARGE, MESSAGES, PENDING, SHARED_CORES, SMALL
from .ratios import OURS, Ratio, best_peer, geometric_mean

PERCENT_NOISE = 5.0  # that much is seen of libraries that hide nothing
PERCENT_WITH_THREAD = 80
LINEAR = 1.25  # the second half of the pending operations against the first


@dataclass(frozen=True)
class Verdict:
    """A goal, what was measured, and whether it is met; None if there is no figure."""

    what: str
    goal: str
    measured: str
    is_met: bool

    def word(self):
        """For a table."""
        return {True: "met", False: "**not met**", None: "no figure"}[self.is_met]


def ratios(results, part, forms, sizes, ranks, peer_form=None):
    """All ratios of a part with these forms, sizes and numbers of ranks; a barrier has no size."""
    found = []
    for place in results.points(part):
        operation, form, so_many, size = place
        if form in forms and so_many in ranks and (size in sizes or size == 0 and 8 in sizes):
            peer_place = (operation, peer_form or form, so_many, size)
            ratio = Ratio.at(results, part, place, peer_place)
            if ratio:
                found.append(ratio)
    return found


def words(found):
    """Geometric mean and worst point."""
    worst = min(found, key=lambda ratio: ratio.median)
    mean = geometric_mean(ratio.median for ratio in found)
    return f"{mean:.2f}; worst {worst.median:.2f} ({place_words(worst.place)}); {len(found)} points"


def place_words(place):
    """A place for people."""
    operation, form, ranks, size = place
    return ", ".join([operation, form] + ([size_words(size)] if size else []) + [f"{ranks} ranks"])


def size_words(size):
    """Bytes for people."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def by_ratio(what, found, mean, least, each=""):
    """A goal for the geometric mean (None: only for each point) and one for the worst point."""
    goal = (f"≥ {mean} geometric mean, no point < {least}" if mean else f"≥ {least} at each point")
    if not found:
        return Verdict(what, goal + each, "", None)
    is_met = min(ratio.median for ratio in found) >= least
    if mean:
        is_met &= geometric_mean(ratio.median for ratio in found) >= mean
    return Verdict(what, goal + each, words(found), is_met)


def at_most(what, goal, value, unit, most):
    """A goal for one value."""
    if value is None:
        return Verdict(what, goal, "", None)
    return Verdict(what, goal, f"{value:.2f} {unit}".strip(), value <= most)


def to_exchange(results):
    """Persistent allreduce of 8 bytes over the two-way exchange of a line, in the same rounds."""
    ours = results.values.get(("collectives", "allreduce", "persistent", 2, 8, OURS, "default"), {})
    theirs = results.values.get(("limits", "two_way", "limit", 2, 8, "machine", "default"), {})
    found = [ours[n] / theirs[n] for n in ours if ours[n] and theirs.get(n)]
    return statistics.median(found) if found else None


def collectives(results, cores):
    """The goals for collectives."""
    few, many = (2,), (4, 8, 16)

    def at(forms, sizes, ranks, peer_form=None):
        return ratios(results, "collectives", forms, sizes, ranks, peer_form)

    yield by_ratio("persistent, 8 B to 1 KiB, against the best persistent",
                   at(("persistent",), SMALL, few), None, 2.0)
    yield by_ratio("persistent, 8 B to 1 KiB, against the best *blocking*",
                   at(("persistent",), SMALL, few, "blocking"), None, 1.3)
    yield at_most("persistent allreduce of 8 B over the two-way exchange of a line", "≤ 1.6",
                  to_exchange(results), "", 1.6)
    yield by_ratio("nonblocking, 8 B to 1 KiB", at(("nonblocking",), SMALL, few), 1.5, 1.1)
    yield by_ratio("blocking, 8 B to 1 KiB", at(("blocking",), SMALL, few), 1.3, 1.0)
    yield by_ratio("all forms, 16 KiB to 4 MiB", at(FORMS, LARGE, few), 1.3, 1.0)
    for ranks in many:
        if ranks > cores:
            yield by_ratio(f"{ranks} ranks, 8 B to 64 KiB, all forms, peers at their best setting",
                           at(FORMS, SHARED_CORES, (ranks,)), 2, 1.0)
            continue
        for title, sizes in (("8 B to 1 KiB", SMALL), ("16 KiB and more", LARGE)):
            found = at(FORMS, sizes, (ranks,))
            if found:
                yield by_ratio(f"{ranks} ranks, each with a core, {title}, all forms", found, 1.3, 1.0)


def messages(results):
    """The goals for messages."""
    for name, size, least in zip(MESSAGES, (8, 1 << 20), (1.2, 1.0)):
        found = [ratio for ratio in ratios(results, "messages", FORMS, (size,), (2,))
                 if ratio.place[0] == name]
        yield by_ratio(f"{name} of messages of {size_words(size)}, three forms", found, None, least)


def overlap(results):
    """The share that is hidden, against the best of the others."""
    what, goal = "share hidden behind a computation", "that of the best peer or more, at each point"
    found = []
    for place, ours in hidden(results, "overlap"):
        theirs = [results.median(point) for point in hidden_by_peers(results, place)]
        if theirs:
            found.append((ours - max(theirs), ours, max(theirs), place))
    if not found:
        return Verdict(what, goal, "", None)
    less, ours, theirs, place = min(found)
    return Verdict(what, f"{goal} (noise: {PERCENT_NOISE:.0f} %)",
                   f"worst: {ours:.0f} % against {theirs:.0f} % ({hidden_words(place)}); Motet hides "
                   f"{statistics.mean(found_[1] for found_ in found):.0f} % on average, the best "
                   f"peer {statistics.mean(found_[2] for found_ in found):.0f} %",
                   less >= -PERCENT_NOISE)


def progress(results):
    """The share that is hidden with a thread for it, where it has a core."""
    found = [(ours, place) for place, ours in hidden(results, "progress")]
    what = "the same with a thread of each rank that moves operations, and a core for it"
    goal = f"≥ {PERCENT_WITH_THREAD} % at each point"
    if not found:
        return Verdict(what, goal, "", None)
    least, place = min(found)
    mean = statistics.mean(ours for ours, _ in found)
    return Verdict(what, goal, f"{mean:.0f} % on average; worst {least:.0f} % "
                   f"({hidden_words(place)}); {len(found)} points", least >= PERCENT_WITH_THREAD)


def hidden(results, part):
    """The places of a part where a share was measured, and what Motet hides there."""
    for place in results.points(part):
        point = results.best(part, OURS, place) if place[0].startswith("overlap") else None
        if point:
            yield place, results.median(point)


def hidden_words(place):
    """Such a place for people."""
    return place_words((place[0].split()[-1], *place[1:]))


def hidden_by_peers(results, place):
    """The points of the peers at a place."""
    return [point for point in results.values if point[0] == "overlap" and point[1:5] == place
            and point[5] != OURS and results.median(point) is not None]


def pending(results):
    """A million pending operations."""
    def place(name, count):
        return (name, "nonblocking", 2, count)

    def ours(name, count=PENDING[-1]):
        point = results.best("pending", OURS, place(name, count))
        return results.median(point) if point else None

    counts = [count for count in PENDING
              if best_peer(results, "pending", place("pending each", count))]
    if counts:
        ratio = Ratio.at(results, "pending", place("pending each", counts[-1]))
        yield Verdict(f"rate of pending allreduces, {counts[-1]} of them (the most that a peer "
                      "finished in time)", "≥ 2 × the best peer",
                      f"{ratio.median:.1f}" if ratio else "", ratio and ratio.median >= 2)
    each, before = ours("pending each"), ours("pending each", PENDING[-2])
    yield at_most(f"time of each of {PENDING[-1]} over that of each of {PENDING[-2]}",
                  f"linear: ≤ {LINEAR}", each / before if each and before else None, "", LINEAR)
    yield at_most("memory of each of them", "≤ 512 B", ours("pending bytes"), "B", 512)


def others(results):
    """The goals that have one value."""
    point = results.best("init", OURS, ("init", "persistent", 2, INITS))
    yield at_most("persistent init, allreduce of 8 B, after the first of its shape", "≤ 5 µs",
                  results.median(point) if point else None, "µs", 5)
    slower, count, worst = threads(results)
    yield Verdict("threads as ranks", "not slower than processes at any point",
                  f"processes / threads: {worst}; slower by more than the spread at {slower} of "
                  f"{count} points" if count else "", slower == 0 if count else None)
    point = results.best("instructions", OURS, ("instructions", "persistent", 1, 8))
    value = results.median(point) if point else None
    yield Verdict("instructions of a persistent allreduce of 8 B, start and wait, one rank",
                  "counted", f"{value:.0f}" if value else "", True if value else None)


def threads(results):
    """At how many points threads are slower beyond the spread of the rounds; mean and worst."""
    found, slower = [], 0
    for place in results.points("threads"):
        as_threads = results.rounds(("threads", *place, OURS, "threads"))
        as_processes = results.rounds(("threads", *place, OURS, "processes"))
        if as_threads and as_processes:
            ratio = statistics.median(as_processes) / statistics.median(as_threads)
            found.append(Ratio(place, ratio, ratio, ratio, OURS, "processes"))
            slower += ratio < 1 and min(as_threads) > max(as_processes)
    return slower, len(found), words(found) if found else ""


def verdicts(results, cores):
    """All goals."""
    return [*collectives(results, cores), *messages(results), overlap(results),
            progress(results), *pending(results), *others(results)]
