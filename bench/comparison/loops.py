"""The grid of the loop view: its axes, what may be asked for on each, and its rows.

`AXES` is the only list of the axes: the options of the command line, the rows, their order, the
columns of the page and its summary are made of it."""

import itertools
import re
from dataclasses import asdict, dataclass, field
from typing import Callable

from .points import FORMS

STEPS = ("step", "overlap", "mixed")
EVEN = ("bcast", "scatter", "gather", "reduce", "allreduce", "allgather", "alltoall", "scan",
        "reduce_scatter_block")
UNEVEN = ("scatterv", "gatherv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter")
NEIGHBOURS = ("neighbor_allgather", "neighbor_alltoall", "halo", "polled_halo")
BETWEEN_GROUPS = ("inter_bcast", "inter_allreduce")
WITH_TYPES = ("strided_bcast", "strided_alltoall", "indexed_allgather")
COLLECTIVES = (*EVEN, *UNEVEN, *NEIGHBOURS, *BETWEEN_GROUPS, *WITH_TYPES)
OPERATIONS = (*STEPS, *COLLECTIVES)
KINDS = ("none", "session", "other", "group", "pulse", "build")
ALL_DISTURBANCES = ("none", "session", "session:2", "other", "group", "pulse", "build")
ALL_SPACINGS = ("none", "barrier", "1us", "10us", "100us", "1ms", "10ms", "100ms", "random")
ALL_SIZES = ("8", "1K", "64K", "1M")
LAUNCHERS = ("own", "hydra")
RANDOM_MEAN = "100us"
UNITS_US = {"us": 1, "ms": 1000, "s": 1_000_000}
UNITS_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20}
MAX_COUNT = 1024
MAX_RANKS = 256
MAX_BYTES = 64 << 20
OPERAND_BYTES = 8
QUOTAS = (0.01, 1024)  # processors
NICE = (-20, 19)


class WrongWord(ValueError):
    """A word that names no value of an axis, and what would."""


@dataclass(frozen=True)
class Row:
    """A row of the grid: all libraries measure it in turns, at one time, in all forms."""

    operation: str
    ranks: int
    disturb: str
    spacing: str
    size: int = 8
    quota: str = "none"
    nice: int = 0
    launcher: str = "own"

    def title(self):
        """For people: the axes that every row names, and those with another value than usual."""
        return ", ".join([self.operation] + [
            axis.title(self.value(axis)) for axis in ROW_AXES
            if axis.name != "operation" and (axis.is_always_shown or axis.is_unusual(self))])

    def value(self, axis):
        """The place of the row on an axis."""
        return getattr(self, axis.name)

    def fields(self):
        """For the file of results."""
        return asdict(self)

    def why_not(self):
        """Why there is no such row, or nothing."""
        if self.operation in BETWEEN_GROUPS and self.ranks < 2:
            return "two groups need two ranks"
        return ""

    def kind_and_count(self):
        """The kind of the disturbing programs and how many there are."""
        return kind_and_count(self.disturb)

    def processors(self):
        """How many processors the quota leaves to the job, or none."""
        return None if self.quota == "none" else float(self.quota)

    def work_us(self):
        """Microseconds of computation in a turn; the mean if they are random."""
        return work_us(self.spacing)

    def spacing_word(self):
        """The spacing as the program wants it."""
        if self.spacing in ("none", "barrier"):
            return self.spacing
        return ("random:" if self.spacing.startswith("random") else "") + f"{self.work_us():g}"


def kind_and_count(disturbance):
    """The kind of disturbing programs and how many there are."""
    kind, _, count = disturbance.partition(":")
    return kind, 0 if kind == "none" else int(count or 1)


def work_us(spacing):
    """Microseconds of computation between the calls of a turn; the mean if they are random."""
    number, unit = re.fullmatch(r"(?:random:)?([\d.]+)(us|ms|s)", spacing).groups() \
        if spacing not in ("none", "barrier") else (0, "us")
    return float(number) * UNITS_US[unit]


def words(given, known):
    """The words of an option that may be given several times, with commas, or as `all`."""
    found = []
    for word in (word for option in given for word in str(option).split(",")):
        found += known if known and word == "all" else [word]
    return list(dict.fromkeys(found))


def each(known, read):
    """Makes a function of words: reads each of them once."""
    return lambda given: tuple(dict.fromkeys(read(word) for word in words(given, known)))


def one_of(what, known):
    """Makes a function of words that are in a list."""
    def read(word):
        if word not in known:
            raise WrongWord(f"no {what} is called {word}: there are {', '.join(known)} and all")
        return word
    return each(known, read)


def disturbance(word):
    """A disturbance that was asked for."""
    match = re.fullmatch(r"([a-z]+)(?::([1-9]\d{0,3}))?", word)
    if not match or match[1] not in KINDS or int(match[2] or 1) > MAX_COUNT \
            or match[1] == "none" and match[2]:
        raise WrongWord(f"no disturbance is called {word}: there are {', '.join(KINDS)} and "
                        "all; all but none may have a count, as in session:2")
    return match[1] + (f":{match[2]}" if match[2] not in (None, "1") else "")


def spacing(word):
    """A spacing that was asked for."""
    word = f"random:{RANDOM_MEAN}" if word == "random" else word
    if word not in ("none", "barrier") and (
            not re.fullmatch(r"(random:)?\d+(\.\d+)?(us|ms|s)", word) or work_us(word) <= 0):
        raise WrongWord(f"no spacing is called {word}: there are none, barrier, a time as in "
                        "100us or 10ms, random, random:TIME (the mean) and all")
    return word


def size_bytes(word, least, most):
    """A number of bytes, which must be a multiple of the least one."""
    match = re.fullmatch(r"(\d{1,9})([KM]?)", word)
    found = int(match[1]) * UNITS_BYTES[match[2]] if match else 0
    if not least <= found <= most or found % least:
        raise WrongWord(f"no size is {word}: a size is a multiple of {least} B up to {most} B, as "
                        f"in {least}, 64K or 1M; all is {', '.join(ALL_SIZES)}")
    return found


def quota(word):
    """A quota that was asked for, in processors."""
    if word == "none":
        return word
    least, most = QUOTAS
    if not re.fullmatch(r"\d+(\.\d+)?", word) or not least <= float(word) <= most:
        raise WrongWord(f"no quota is {word}: a quota is none or a number of processors from "
                        f"{least} to {most}, as in 1.5")
    return f"{float(word):g}"


def whole(what, least, most):
    """Makes a function of words that are whole numbers."""
    def read(word):
        if not re.fullmatch(r"-?\d{1,9}", word) or not least <= int(word) <= most:
            raise WrongWord(f"no {what} is {word}: it is a number from {least} to {most}")
        return int(word)
    return each((), read)


def size_words(size):
    """A size for people."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


@dataclass(frozen=True)
class Axis:
    """A direction of the grid: an option, a field of `Row`, and a column of the page.

    The form is an axis inside of rows: one process group measures all forms."""

    name: str
    option: str
    usual: tuple  # values without the option
    read: Callable  # the values that words ask for
    values: str  # for people: what it may be
    metavar: str = "WORD"
    heading: str = ""
    words: Callable = str  # a value for people
    key: Callable = field(default=lambda value: value)  # the order of values
    base: object = None  # the value of a plain row
    is_inside: bool = False
    is_always_shown: bool = False

    def title(self, value):
        """A value within a sentence."""
        heading = self.heading or self.name
        if self.name == "ranks":
            return f"{value} ranks"
        return f"{heading} {self.words(value)}"

    def is_unusual(self, row):
        """Whether a row has another value than a plain one."""
        return row.value(self) != self.base


disturbances = each(ALL_DISTURBANCES, disturbance)
spacings = each(ALL_SPACINGS, spacing)
sizes = each(ALL_SIZES, lambda word: size_bytes(word, OPERAND_BYTES, MAX_BYTES))
quotas = each((), quota)


def spacing_key(word):
    """None, a barrier, computation by its length, random computation."""
    special = ("none", "barrier")
    return special.index(word) if word in special else 2, word.startswith("random"), work_us(word)


def disturbance_key(word):
    """By kind and count."""
    kind, count = kind_and_count(word)
    return KINDS.index(kind), count


AXES = (
    Axis("operation", "-o", OPERATIONS[:1], one_of("operation", OPERATIONS),
         f"{', '.join(OPERATIONS)}, all", "OPERATION", key=OPERATIONS.index),
    Axis("ranks", "-n", (2, 4), whole("number of ranks", 1, MAX_RANKS), "a number", "RANKS",
         is_always_shown=True),
    Axis("size", "-b", (8,), sizes, "bytes, as in 8, 64K or 1M; all", "BYTES", words=size_words,
         base=8),
    Axis("disturb", "--disturb", ("none", "session"), disturbances,
         f"{', '.join(KINDS)}, all; with a count as in session:2", "KIND[:COUNT]", "disturbance",
         key=disturbance_key, is_always_shown=True),
    Axis("spacing", "--spacing", ("none", "100us"), spacings,
         "what is between the calls of a turn: none, barrier, a computation (1us to 100ms), "
         "random, random:TIME, all", "SPACING", key=spacing_key, is_always_shown=True),
    Axis("quota", "--quota", ("none",), quotas,
         "none, or how many processors a control group leaves to the job, as in 1.5", "CORES",
         base="none", key=lambda word: 0 if word == "none" else 1 / float(word)),
    Axis("nice", "--nice", (0,), whole("nice value", *NICE), "the nice value of the job, as in 10",
         "NICE", base=0),
    Axis("launcher", "--launcher", LAUNCHERS[:1], one_of("launcher", LAUNCHERS),
         "what starts Motet: own (motet run), hydra (the mpiexec of MPICH), all", "LAUNCHER",
         base="own", key=LAUNCHERS.index),
    Axis("form", "-f", FORMS, one_of("form", FORMS), f"{', '.join(FORMS)}, all", "FORM",
         is_inside=True, key=FORMS.index),
)
ROW_AXES = tuple(axis for axis in AXES if not axis.is_inside)
# Axes whose options other steps of the command line have, too: the attribute of each.
SHARED = {"operation": "operations", "ranks": "ranks", "size": "sizes", "form": "forms"}


def attribute(axis):
    """Where the command line keeps what was asked for on an axis."""
    return SHARED.get(axis.name, axis.name)


def read_all(wanted):
    """Replaces the words of each axis by its values."""
    for axis in AXES:
        given = getattr(wanted, attribute(axis))
        setattr(wanted, attribute(axis), axis.read(given) if given else axis.usual)


def rows(wanted):
    """All rows."""
    return [Row(**dict(zip([axis.name for axis in ROW_AXES], values)))
            for values in itertools.product(
                *(getattr(wanted, attribute(axis)) for axis in ROW_AXES))]


def order(row):
    """The key by which rows are in the order in which people look for them."""
    return tuple(axis.key(row.value(axis)) for axis in ROW_AXES)


def shown(found):
    """The axes that a table of these rows needs a column for."""
    return [axis for axis in ROW_AXES if axis.name != "operation" and (
        axis.is_always_shown or any(axis.is_unusual(row) for row in found))]


def is_plain(row, besides=()):
    """Whether a row is usual on all axes that not every row names, except for some."""
    return not any(axis.is_unusual(row) for axis in ROW_AXES
                   if axis.name not in ("operation", *besides) and not axis.is_always_shown)
