"""A table for the terminal."""

from .libraries import LIBRARIES
from .points import COLLECTIVES, FORMS
from .ratios import Ratio


def show(results, wanted):
    """Medians, and how many times longer than Motet the best of the others takes."""
    for part in wanted.parts:
        if part == "threads":
            continue  # one library: nothing to compare in a row
        places = [place for place in results.points(part) if is_wanted(wanted, place)]
        if not places:
            continue
        libraries = [name for name in (*LIBRARIES, "machine")
                     if any(results.best(part, name, place) for place in places)]
        titles = [LIBRARIES[name].title if name in LIBRARIES else name for name in libraries]
        print(f"\n{part}{'' if part in OTHER_UNITS else ', µs'}: median (least to most)")
        print(f"{'operation':24} {'form':12} {'ranks':>5} {'bytes':>8}"
              + "".join(f" {title:>26}" for title in titles) + "   best peer/Motet")
        for place in sorted(places, key=order):
            operation, form, ranks, size = place
            cells = "".join(f" {cell(results, part, name, place):>26}" for name in libraries)
            ratio = Ratio.at(results, part, place)
            print(f"{operation:24} {form:12} {ranks:>5} {size:>8}{cells}   {ratio or ''}")


OTHER_UNITS = ("overlap", "pending", "instructions")


def is_wanted(wanted, place):
    """Whether it was asked for."""
    operation, form, ranks, size = place
    operation = operation.split()[-1] if operation.startswith("overlap ") else operation
    return ((not wanted.operations or operation in wanted.operations)
            and (form in wanted.forms or form in ("all", "limit"))
            and (not wanted.sizes or size in wanted.sizes or size == 0)
            and (ranks in wanted.ranks or ranks < 2))


def order(place):
    """Operations as they are listed, then ranks, sizes and forms."""
    operation, form, ranks, size = place
    known = COLLECTIVES.index(operation) if operation in COLLECTIVES else len(COLLECTIVES)
    return known, operation, ranks, size, FORMS.index(form) if form in FORMS else -1


def cell(results, part, library, place):
    """Median, least and most; a star where the best setting is not the default."""
    point = results.best(part, library, place)
    if not point:
        return "no figure"
    values = results.rounds(point)
    usual = LIBRARIES[library].network[0].name if part == "network" else "default"
    star = "" if point[-1] in ("default", usual) else "*"
    return f"{results.median(point):.3f} ({min(values):.2f} to {max(values):.2f}){star}"
