"""The report on the network: a page of its own, since its figures are of another kind."""

from .goals import place_words, ratios, size_words
from .libraries import LIBRARIES
from .points import FORMS, NETWORK_RANKS, NETWORK_SIZES
from .ratios import OURS, PEERS, Ratio, geometric_mean
from .terminal import order

# What the geometric mean of the ratios at two ranks should be.
GOALS = {"blocking": 1.0, "persistent": 1.2}
HEAD = """\
# Over the network

Made by `bench/compare report`, of `bench/compare run -p network`. Ranks of one machine talk by TCP
alone, over its loopback: nothing of this is about a network card, but all of it about what a library
adds to what the system needs. Microseconds, medians of {rounds} rounds in turns; ratios are best
peer / Motet, taken within rounds. Settings are listed in `bench/comparison/libraries.py`; with more
ranks than cores each peer has its best one, whose name is given.

{versions}
"""


def page(results, markdown):
    """The page, or nothing if nothing of this was measured."""
    places = sorted(results.points("network"), key=order)
    if not places:
        return None
    facts = results.facts
    names = ", ".join(f"{LIBRARIES[name].title} {facts[name]}" for name in PEERS if name in facts)
    versions = (f"{facts.get('processor', 'unknown processor')}, {facts.get('cores')} cores, "
                f"{facts.get('system')}. Motet {facts.get(OURS)}; {names}.")
    rounds = max(max(rounds) for point, rounds in results.values.items()
                 if point[0] == "network")
    rows = [row(results, place) for place in places]
    header = ("operation", "ranks", "size", "form",
              *(library.title for library in LIBRARIES.values()), "best peer / Motet")
    return "\n".join([HEAD.format(rounds=rounds, versions=versions), "## Ratios", "",
                      summary(results, markdown), "", "## All points", "",
                      markdown(header, rows), ""])


def summary(results, markdown):
    """Geometric mean and worst point for each number of ranks, form and kind of sizes."""
    rows = []
    short = tuple(size for size in NETWORK_SIZES if size < 16 << 10)
    long = tuple(size for size in NETWORK_SIZES if size >= 16 << 10)
    for ranks in NETWORK_RANKS:
        for form in FORMS:
            for title, sizes in (("all", NETWORK_SIZES), (words(short), short),
                                 (words(long), long)):
                found = ratios(results, "network", (form,), sizes, (ranks,))
                if found:
                    goal = GOALS.get(form, "") if ranks == 2 and title == "all" else ""
                    rows.append((ranks, form, title, *figures(found), goal))
    return markdown(("ranks", "form", "sizes", "geometric mean", "worst", "where", "Motet ahead",
                     "goal"), rows)


def words(sizes):
    """Sizes for people."""
    return " and ".join(map(size_words, sizes))


def figures(found):
    """What is said of some ratios."""
    worst = min(found, key=lambda ratio: ratio.median)
    mean = geometric_mean(ratio.median for ratio in found)
    ahead = sum(ratio.median >= 1 for ratio in found)
    return (f"{mean:.2f}", f"{worst.median:.2f}", place_words(worst.place),
            f"{ahead} of {len(found)}")


def row(results, place):
    """All libraries at a place."""
    operation, form, ranks, size = place
    ratio = Ratio.at(results, "network", place)
    said = "-"
    if ratio:
        said = (f"**{ratio.median:.2f}** ({ratio.least:.2f} to {ratio.most:.2f}), "
                f"{LIBRARIES[ratio.implementation].title}")
    return (operation, ranks, size_words(size) if size else "", form,
            *(cell(results, name, place) for name in LIBRARIES), said)


def cell(results, library, place):
    """The best setting of a library, with its name if it is not the usual one."""
    found = results.settings("network", library, place)
    if not found:
        return "no figure"
    best = min(found, key=found.get)
    usual = LIBRARIES[library].network[0].name
    return f"{found[best]:.2f}" + ("" if best == usual else f" ({best})")
