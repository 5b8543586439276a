"""The report: summary, tables and plots, in the folder of the documents."""

import sys

from . import network, plots
from .goals import place_words, ratios, size_words, verdicts
from .libraries import LIBRARIES
from .points import ALLOCATED_RANKS, ALLOCATED_SIZES, FORMS, LARGE, SHARED_CORES, SMALL
from .ratios import OURS, PEERS, Ratio, best_peer, geometric_mean
from .terminal import order

BEGIN = "<!-- From here to the end mark this is made by `bench/compare report`. -->"
END = "<!-- The end of what is made. -->"
ROOTED = ("bcast", "reduce", "gather", "scatter", "scan")


def write(results, folder):
    """Writes all of what was measured; of the page only what is between the marks is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    made = network.page(results, markdown)
    if made:
        (folder / "network.md").write_text(made)
        print(f"written: {folder / 'network.md'}")
    if results.points("collectives"):
        write_page(results, folder)
    elif not made:
        print("nothing written: the file of results has neither collectives nor the network; "
              "`show` prints what it has", file=sys.stderr)


def write_page(results, folder):
    """The page itself, the table and the plots."""
    pictures = draw(results, folder)
    (folder / "table.md").write_text(table(results))
    page = folder / "README.md"
    text = page.read_text() if page.exists() else f"# Performance\n\n{BEGIN}\n{END}\n"
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    made = summary(results, pictures)
    page.write_text(f"{before}{BEGIN}\n\n{made}\n{END}{after}")
    print(f"written: {page}, {folder / 'table.md'}, {len(pictures)} plots")


def cores_of(results):
    """The cores of the machine on which the figures were measured."""
    return int(results.facts.get("cores", "1"))


def rounds_of(results):
    """How many rounds the collectives were measured."""
    return max((max(rounds) for point, rounds in results.values.items() if point[5] == OURS
                and point[0] == "collectives"), default=0)


def summary(results, pictures):
    """What is on the page."""
    facts = results.facts
    versions = ", ".join(f"{LIBRARIES[name].title} {facts[name]}" for name in PEERS
                         if name in facts)
    parts = [
        f"{facts.get('processor', 'unknown processor')}, {facts.get('cores')} cores, "
        f"{facts.get('system')}. Motet {facts.get(OURS)}; {versions}. "
        f"Rounds: {rounds_of(results)}.",
        "## Goals\n\n" + goals(results),
        "## Ratios by form and size\n\nBest peer / Motet; above 1, Motet is faster. "
        "Every point is in [the table](table.md).\n\n" + classes(results),
        "## Against the machine\n\n" + limits(results),
        *allocated(results),
        *hidden(results),
        *(["## Many pending operations, and inits\n\n" + many(results)]
          if results.points("pending") or results.points("init") else []),
        *(["## Instructions\n\nOf a persistent allreduce of 8 bytes, start and wait, with one "
           "rank, by callgrind.\n\n" + instructions(results)]
          if results.points("instructions") else []),
        "## Plots\n\n" + "\n\n".join(f"![{name}]({path})" for name, path in pictures),
    ]
    return "\n\n".join(parts) + "\n"


def markdown(header, rows):
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in lines)


def goals(results):
    """A row for each goal, and those of which nothing was measured."""
    found = verdicts(results, cores_of(results))
    rows = [(v.what, v.goal, v.measured, v.word()) for v in found if v.is_met is not None]
    missing = [v.what for v in found if v.is_met is None]
    made = markdown(("what", "goal", "measured", ""), rows)
    return made + (f"\n\nNot measured here: {'; '.join(missing)}." if missing else "")


def classes(results):
    """Geometric mean and worst point for each form and class of sizes."""
    cores, rows = cores_of(results), []
    kinds = [(f"{title}, {ranks} ranks", sizes, (ranks,)) for ranks in (2, 4, 8, 16)
             for title, sizes in (("8 B to 1 KiB", SMALL), ("16 KiB and more", LARGE))
             if ranks <= max(cores, 2)]
    kinds += [(f"8 B to 64 KiB, {ranks} ranks", SHARED_CORES, (ranks,))
              for ranks in (4, 8, 16) if ranks > cores]
    for title, sizes, ranks in kinds:
        for form in FORMS:
            found = ratios(results, "collectives", (form,), sizes, ranks)
            if found:
                worst = min(found, key=lambda ratio: ratio.median)
                mean = geometric_mean(ratio.median for ratio in found)
                ahead = sum(ratio.median >= 1 for ratio in found)
                rows.append((title, form, f"{mean:.2f}", f"{worst.median:.2f}",
                             place_words(worst.place), f"{ahead} of {len(found)}"))
    return markdown(("sizes and ranks", "form", "geometric mean", "worst", "where", "Motet ahead"),
                    rows)


def allocated(results):
    """What buffers of `MPI_Alloc_mem` give, of all libraries."""
    rows = []
    for ranks in ALLOCATED_RANKS:
        for size in ALLOCATED_SIZES:
            found = ratios(results, "allocated", FORMS, (size,), (ranks,))
            if found:
                worst = min(found, key=lambda ratio: ratio.median)
                mean = geometric_mean(ratio.median for ratio in found)
                ahead = sum(ratio.median >= 1 for ratio in found)
                rows.append((f"{size_words(size)}, {ranks} ranks", f"{mean:.2f}",
                             f"{worst.median:.2f}", place_words(worst.place),
                             f"{ahead} of {len(found)}"))
    if not rows:
        return []
    header = ("size and ranks", "geometric mean", "worst", "where", "Motet ahead")
    return ["## Buffers of `MPI_Alloc_mem`\n\nBest peer / Motet, all with such buffers, ten "
            "collectives in three forms.\n\n" + markdown(header, rows)]


def limit(results, name, size):
    """A limit of the machine in microseconds, or None."""
    return results.median(("limits", name, "limit", 2, size, "machine", "default"))


def limits(results):
    """The limits, and how far from them the libraries are."""
    rows = []
    for name, words in (("one_way", "a line, one way"),
                        ("two_way", "payload and number in one line, both ways at once")):
        value = limit(results, name, 8)
        rows.append((words, f"{value:.3f} µs" if value else "no figure"))
    if limit(results, "switch", 8):  # older files have none
        rows.append(("a core, from one process to another",
                     f"{limit(results, 'switch', 8):.3f} µs"))
    for size in (64 << 10, 1 << 20, 16 << 20):
        value = limit(results, "memcpy", size)
        words = f"{value:.1f} µs, {size / value / 1000:.1f} GB/s" if value else "no figure"
        rows.append((f"memcpy of {size_words(size)} into shared pages", words))
    distances = []
    for operation in ("barrier", "allreduce", "bcast", "alltoall"):
        for size in (8, 64 << 10, 1 << 20):
            distances += distance(results, operation, size)
    made = markdown(("limit", "measured"), rows)
    if not distances:
        return made
    return (made + "\n\nTimes over the limit (two ranks; up to 1 KiB the two-way exchange, else "
            "the copy):\n\n"
            + markdown(("operation", "size", "form", "Motet", "best peer"), distances))


def distance(results, operation, size):
    """Rows for an operation: how many times the limit it takes."""
    if operation == "barrier" and size != 8:
        return []
    least = limit(results, "two_way", 8) if size == 8 else limit(results, "memcpy", size)
    place_size = 0 if operation == "barrier" else size
    rows = []
    for form in FORMS:
        place = (operation, form, 2, place_size)
        ours, best = results.best("collectives", OURS, place), best_peer(results, "collectives",
                                                                          place)
        if least and ours and best:
            rows.append((operation, size_words(place_size) if place_size else "", form,
                         f"{results.median(ours) / least:.2f}",
                         f"{results.median(best) / least:.2f}"))
    return rows


def cells(results, part, place, digits):
    """The figures of all libraries at a place."""
    made = []
    for library in LIBRARIES:
        point = results.best(part, library, place)
        made.append(f"{results.median(point):.{digits}f}" if point else "no figure")
    return made


def titles():
    """The libraries as heads of columns."""
    return tuple(library.title for library in LIBRARIES.values())


def hidden(results):
    """The part about overlap, as far as it was measured."""
    parts = []
    if results.points("overlap"):
        parts = [overlap(results, "overlap"),
                 "Microseconds that are not hidden: what the program waits for.\n\n"
                 + visible(results)]
    if results.points("progress"):
        parts += ["With a thread of each rank that moves its operations, and a core for it, of "
                  "those libraries that have such a thread:", overlap(results, "progress")]
    if parts:
        parts = ["## Overlap", "Percent of an operation that are hidden behind a computation of "
                 "twice its time, which does not call the library.", *parts]
    return parts


def overlap(results, part):
    """The hidden shares."""
    rows = []
    for place in results.points(part):
        operation, form, ranks, size = place
        if operation.startswith("overlap"):
            rows.append((operation.split()[-1], form, ranks, size_words(size),
                         *cells(results, part, place, 0)))
    return markdown(("operation", "form", "ranks", "size", *titles()), rows)


def visible(results):
    """The time that is not hidden. One whose operation takes long has more to hide."""
    rows = []
    for place in results.points("overlap"):
        operation, form, ranks, size = place
        if not operation.startswith("overlap"):
            continue
        pure = (f"pure {operation.split()[-1]}", form, ranks, size)
        times = [time_left(results, library, place, pure) for library in LIBRARIES]
        ours, *theirs = times
        known = [time for time in theirs if time is not None]
        ratio = f"**{min(known) / ours:.2f}**" if ours and known else ""
        rows.append((operation.split()[-1], form, size_words(size),
                     *(f"{time:.1f}" if time is not None else "no figure" for time in times),
                     ratio))
    return markdown(("operation", "form", "size", *titles(), "best peer / Motet"), rows)


def time_left(results, library, place, pure):
    """What a library does not hide of an operation, in microseconds, at its best setting."""
    hidden = results.settings("overlap", library, place)
    return min((time * (1 - hidden[setting] / 100)
                for setting, time in results.settings("overlap", library, pure).items()
                if setting in hidden), default=None)


def many(results):
    """Pending operations and inits."""
    rows = []
    for part in ("pending", "init"):
        for place in results.points(part):
            operation, _, _, count = place
            if operation != "pending":  # that would be a reason why there is none
                unit = "" if "/" in operation or "bytes" in operation else ", µs"
                rows.append((operation + unit, count, *cells(results, part, place, 2)))
    return markdown(("what", "count", *titles()), rows)


def instructions(results):
    """One row."""
    return markdown(titles(), [cells(results, "instructions", ("instructions", "persistent", 1, 8),
                                     0)])


def table(results):
    """All points of the collectives and the messages."""
    lines = ["# All points", "", "Made by `bench/compare report`. Microseconds, medians of the "
             "rounds. With more ranks than cores a peer has its best setting, whose name is "
             "given unless it is the default, and its default in brackets. The ratio is that of "
             "the best peer to Motet: median of the rounds, least and most.", ""]
    for part in ("messages", "collectives", "allocated"):
        if not results.points(part):
            continue
        rows = []
        for place in sorted(results.points(part), key=order):
            operation, form, ranks, size = place
            ratio = Ratio.at(results, part, place)
            words = "-"
            if ratio:
                words = (f"**{ratio.median:.2f}** ({ratio.least:.2f} to {ratio.most:.2f}), "
                         f"{LIBRARIES[ratio.implementation].title}")
            rows.append((operation, ranks, size_words(size) if size else "", form,
                         *(cell(results, part, name, place) for name in LIBRARIES), words))
        header = ("operation", "ranks", "size", "form", *titles(), "best peer / Motet")
        title = "Buffers of `MPI_Alloc_mem`" if part == "allocated" else part.capitalize()
        lines += [f"## {title}", "", markdown(header, rows), ""]
    return "\n".join(lines)


def cell(results, part, library, place):
    """The best setting of a library, its name, and its default."""
    found = results.settings(part, library, place)
    if not found:
        return "no figure"
    best = min(found, key=found.get)
    words = f"{found[best]:.2f}"
    if best != "default":
        default = f"{found['default']:.2f}" if "default" in found else "no figure"
        words += f" {best} (default: {default})"
    return words


def draw(results, folder):
    """All plots; returns their names and paths."""
    made = []
    operations = list(dict.fromkeys(place[0] for place in results.points("collectives")))
    for operation in sorted(operations, key=lambda name: order((name, "", 0, 0))):
        for name, picture in ((operation, by_size(results, operation)),
                              (f"{operation}-ranks", by_ranks(results, operation))):
            if picture:
                (folder / f"{name}.svg").write_text(picture)
                made.append((name.replace("-ranks", " of 8 bytes by ranks"), f"{name}.svg"))
    return made


def series(results, operation, form, places):
    """The lines of a panel: for each library from x to microseconds."""
    lines = {}
    for library in LIBRARIES:
        points = {x: results.best("collectives", library, (operation, form, *place))
                  for x, place in places.items()}
        lines[library] = {x: results.median(point) for x, point in points.items() if point}
    return lines


def by_size(results, operation):
    """Two ranks, three forms, by the length of the data."""
    sizes = sorted({place[3] for place in results.points("collectives")
                    if place[0] == operation and place[2] == 2 and place[3]})
    if len(sizes) < 2:
        return None
    panels = []
    for form in FORMS:
        lines = series(results, operation, form, {size: (2, size) for size in sizes})
        least = limit(results, "one_way" if operation in ROOTED else "two_way", 8)
        copied = {size: limit(results, "memcpy", size) for size in sizes if size >= 4096}
        if least:
            lines["limit"] = {size: least + (copied.get(size) or 0) for size in sizes}
        panels.append((f"{operation}, {form}, 2 ranks", lines))
    return plots.figure(panels, "bytes", plots.short_size)


def by_ranks(results, operation):
    """The shortest data, three forms, by the number of ranks."""
    size = 0 if operation == "barrier" else 8
    counts = sorted({place[2] for place in results.points("collectives")
                     if place[0] == operation and place[3] == size})
    if len(counts) < 2:
        return None
    panels = [(f"{operation}{', 8 bytes' if size else ''}, {form}",
               series(results, operation, form, {ranks: (ranks, size) for ranks in counts}))
              for form in FORMS]
    return plots.figure(panels, f"ranks (on {cores_of(results)} cores)", str)
