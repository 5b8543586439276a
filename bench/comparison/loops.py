"""The grid of the loop view: operations, ranks, disturbances and spacings."""

import re
from dataclasses import asdict, dataclass

OPERATIONS = ("step", "overlap", "allreduce")
KINDS = ("none", "session", "other", "group", "pulse", "build")
ALL_DISTURBANCES = ("none", "session", "session:2", "other", "group", "pulse", "build")
ALL_SPACINGS = ("none", "barrier", "1us", "10us", "100us", "1ms", "10ms", "100ms", "random")
RANDOM_MEAN = "100us"
UNITS_US = {"us": 1, "ms": 1000, "s": 1_000_000}
MAX_COUNT = 1024


class WrongWord(ValueError):
    """A word that names no disturbance or no spacing, and what would."""


@dataclass(frozen=True)
class Row:
    """A row of the grid: all libraries measure it in turns, at one time."""

    operation: str
    ranks: int
    disturb: str
    spacing: str

    def title(self):
        """For people."""
        return (f"{self.operation}, {self.ranks} ranks, disturbance {self.disturb}, "
                f"spacing {self.spacing}")

    def fields(self):
        """For the file of results."""
        return asdict(self)

    def kind_and_count(self):
        """The kind of the disturbing programs and how many there are."""
        kind, _, count = self.disturb.partition(":")
        return kind, 0 if kind == "none" else int(count or 1)

    def work_us(self):
        """Microseconds of computation in a turn; the mean if they are random."""
        return work_us(self.spacing)

    def spacing_word(self):
        """The spacing as the program wants it."""
        if self.spacing in ("none", "barrier"):
            return self.spacing
        return ("random:" if self.spacing.startswith("random") else "") + f"{self.work_us():g}"


def work_us(spacing):
    """Microseconds of computation between the calls of a turn; the mean if they are random."""
    number, unit = re.fullmatch(r"(?:random:)?([\d.]+)(us|ms|s)", spacing).groups() \
        if spacing not in ("none", "barrier") else (0, "us")
    return float(number) * UNITS_US[unit]


def words(given, known):
    """The words of an option that may be given several times, with commas, or as `all`."""
    found = []
    for word in (word for option in given for word in option.split(",")):
        found += known if word == "all" else [word]
    return list(dict.fromkeys(found))


def disturbances(given):
    """The disturbances that were asked for."""
    found = []
    for word in words(given, ALL_DISTURBANCES):
        match = re.fullmatch(r"([a-z]+)(?::([1-9]\d{0,3}))?", word)
        if not match or match[1] not in KINDS or int(match[2] or 1) > MAX_COUNT \
                or match[1] == "none" and match[2]:
            raise WrongWord(f"no disturbance is called {word}: there are {', '.join(KINDS)} and "
                            "all; all but none may have a count, as in session:2")
        found.append(match[1] + (f":{match[2]}" if match[2] not in (None, "1") else ""))
    return tuple(dict.fromkeys(found))


def spacings(given):
    """The spacings that were asked for."""
    found = []
    for word in words(given, ALL_SPACINGS):
        word = f"random:{RANDOM_MEAN}" if word == "random" else word
        if word not in ("none", "barrier") and (
                not re.fullmatch(r"(random:)?\d+(\.\d+)?(us|ms|s)", word) or work_us(word) <= 0):
            raise WrongWord(f"no spacing is called {word}: there are none, barrier, a time as in "
                            "100us or 10ms, random, random:TIME (the mean) and all")
        found.append(word)
    return tuple(dict.fromkeys(found))


def rows(wanted):
    """All rows."""
    return [Row(operation, ranks, disturb, spacing)
            for operation in wanted.operations for ranks in wanted.ranks
            for disturb in wanted.disturb for spacing in wanted.spacing]
