"""What is measured: jobs, each a process group of its own, and the order in which they run."""

import re
from dataclasses import dataclass

from .libraries import LIBRARIES, SOURCES, settings

FORMS = ("blocking", "nonblocking", "persistent")
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "allgather", "gather", "scatter",
               "alltoall", "alltoallv", "reduce_scatter_block", "scan")
MESSAGES = ("latency", "bandwidth")
OVERLAPS = ("iallreduce", "ibcast", "ialltoall")

SMALL = (8, 64, 1024)
LARGE = (16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
SHARED_CORES = (8, 1024, 64 << 10)
OVERLAP_SIZES = (64 << 10, 256 << 10, 1 << 20, 4 << 20)
MESSAGE_SIZES = (8, 1024, 64 << 10, 1 << 20)
ALLOCATED_SIZES = (64 << 10, 256 << 10, 1 << 20)
ALLOCATED_RANKS = (2, 4)
THREAD_SIZES = (8, 1024, 64 << 10, 1 << 20)
NETWORK_SIZES = (8, 1024, 64 << 10, 1 << 20)
NETWORK_RANKS = (2, 4)
PENDING = (10_000, 100_000, 1_000_000)
INITS = 1000

PARTS = ("limits", "collectives", "messages", "allocated", "overlap", "progress", "pending", "init",
         "threads", "instructions", "network")


@dataclass(frozen=True)
class Job:
    """One process group: the rows that it brings are those of all its sizes."""

    part: str
    implementation: str
    setting: str
    operation: str
    form: str
    ranks: int
    sizes: tuple
    round: int
    limit: float

    def turn(self):
        """What is being measured, of all libraries in turns; for people."""
        words = [self.operation, self.form, f"{self.ranks} ranks"]
        return ", ".join(words + ([str(self.sizes[0])] if self.part == "pending" else []))

    def title(self):
        """The same of one library."""
        setting = [] if self.setting == "default" else [self.setting]
        return ", ".join([self.turn(), self.implementation, *setting])


def jobs(wanted, cores):
    """All jobs, round by round; within a round the libraries take turns at each point."""
    found = []
    for number in range(1, wanted.rounds + 1):
        for part in wanted.parts:
            found += PART_JOBS[part](wanted, cores, number)
    return found


def in_turns(wanted, number, part, operation, form, ranks, sizes, limit):
    """One job for each library and setting; another library is first in each round."""
    first = (number - 1) % len(wanted.libraries)
    for library in wanted.libraries[first:] + wanted.libraries[:first]:
        for setting in settings(library, ranks, part):
            yield Job(part, library, setting.name, operation, form, ranks, sizes, number, limit)


def known_operations():
    """All that may be asked for: more than is measured unless it is."""
    rows = (SOURCES / "collectives.h").read_text()
    listed = re.findall(r"^    (?:ROW|MESSAGES)\((\w+)", rows, re.MULTILINE)
    return sorted({*listed, *COLLECTIVES, *MESSAGES, *OVERLAPS})


def wanted_of(known, given):
    """Those of `known` that were asked for; all if none were."""
    return [name for name in known if not given or name in given]


def collectives(wanted, cores, number):
    """The collectives in three forms."""
    known = COLLECTIVES + tuple(o for o in wanted.operations if o not in MESSAGES + OVERLAPS
                                and o not in COLLECTIVES)
    for ranks in wanted.ranks:
        sizes = tuple(wanted.sizes) or (SMALL + LARGE if ranks <= cores else SHARED_CORES)
        for operation in wanted_of(known, wanted.operations):
            of_operation = (0,) if operation == "barrier" else sizes
            for form in wanted.forms:
                yield from in_turns(wanted, number, "collectives", operation, form, ranks,
                                    of_operation, wanted.limit)


def messages(wanted, cores, number):
    """Latency and bandwidth between two ranks."""
    for operation in wanted_of(MESSAGES, wanted.operations):
        for form in wanted.forms:
            yield from in_turns(wanted, number, "messages", operation, form, 2,
                                tuple(wanted.sizes) or MESSAGE_SIZES, wanted.limit)


def allocated(wanted, cores, number):
    """Large data in buffers of `MPI_Alloc_mem`."""
    known = [name for name in COLLECTIVES if name != "barrier"]
    for ranks in (ranks for ranks in wanted.ranks if ranks in ALLOCATED_RANKS):
        for operation in wanted_of(known, wanted.operations):
            for form in wanted.forms:
                yield from in_turns(wanted, number, "allocated", operation, form, ranks,
                                    tuple(wanted.sizes) or ALLOCATED_SIZES, wanted.limit)


def overlap(wanted, cores, number):
    """How much is hidden behind a computation."""
    for operation in wanted_of(OVERLAPS, wanted.operations):
        for form in wanted.forms:
            if form != "blocking":
                yield from in_turns(wanted, number, "overlap", operation, form, 2,
                                    tuple(wanted.sizes) or OVERLAP_SIZES, wanted.limit)


def progress(wanted, cores, number):
    """The same with a thread of each rank that moves operations, where each has a core, too."""
    for ranks in (ranks for ranks in wanted.ranks if 2 * ranks <= cores):
        for operation in wanted_of(OVERLAPS, wanted.operations):
            for form in wanted.forms:
                if form != "blocking":
                    yield from in_turns(wanted, number, "progress", operation, form, ranks,
                                        tuple(wanted.sizes) or OVERLAP_SIZES, wanted.limit)


def pending(wanted, cores, number):
    """Many pending reductions; who cannot finish fewer is not asked for more (see `running`)."""
    for count in PENDING:
        yield from in_turns(wanted, number, "pending", "pending", "nonblocking", 2, (count,),
                            2 * wanted.limit)


def init(wanted, cores, number):
    """Inits of a persistent allreduce."""
    yield from in_turns(wanted, number, "init", "init", "persistent", 2, (INITS,), wanted.limit)


def threads(wanted, cores, number):
    """Motet alone: ranks as threads and as processes, by its own benchmark."""
    if "motet" not in wanted.libraries:
        return
    sizes = tuple(wanted.sizes) or THREAD_SIZES
    for operation in wanted_of(COLLECTIVES, wanted.operations):
        for ranks in (ranks for ranks in wanted.ranks if ranks <= cores):
            for layout in ("processes", "threads"):
                yield Job("threads", "motet", layout, operation, "all", ranks, sizes, number,
                          wanted.limit)


def network(wanted, cores, number):
    """Messages and collectives of ranks that talk by TCP alone."""
    sizes = tuple(wanted.sizes) or NETWORK_SIZES
    for ranks in (ranks for ranks in wanted.ranks if ranks in NETWORK_RANKS):
        known = MESSAGES + COLLECTIVES if ranks == 2 else COLLECTIVES
        for operation in wanted_of(known, wanted.operations):
            of_operation = (0,) if operation == "barrier" else sizes
            for form in wanted.forms:
                yield from in_turns(wanted, number, "network", operation, form, ranks,
                                    of_operation, wanted.limit)


def instructions(wanted, cores, number):
    """Counted, so once is enough."""
    if number > 1:
        return
    for library in wanted.libraries:
        yield Job("instructions", library, "default", "instructions", "persistent", 1, (8,), 1,
                  4 * wanted.limit)


def limits(wanted, cores, number):
    """The machine by itself."""
    yield Job("limits", "machine", "default", "limits", "limit", 2, (8,), number, wanted.limit)


PART_JOBS = {"limits": limits, "collectives": collectives, "messages": messages,
             "allocated": allocated, "overlap": overlap, "progress": progress,
             "pending": pending, "init": init, "threads": threads,
             "instructions": instructions, "network": network}
assert tuple(PART_JOBS) == PARTS and "motet" in LIBRARIES
