"""The file of results: a line for each figure of each round, so that a run can be continued."""

import statistics
from collections import defaultdict
from pathlib import Path

HEADER = ("round", "library", "setting", "part", "operation", "form", "ranks", "bytes", "value")

DONE = "done"


class Results:
    """All figures of a file. A value that could not be measured is the reason why."""

    def __init__(self, path):
        self.path = Path(path)
        self.facts = {}
        self.values = defaultdict(dict)  # by point, then by round
        self.reasons = {}
        self.done = set()
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                self.read(line)

    def read(self, line):
        """A line of the file; the last one may have been cut off by an interruption."""
        fields = line.split("\t")
        if line.startswith("# ") and len(fields) == 2:
            self.facts[fields[0][2:]] = fields[1]
        elif fields[-1] == DONE and len(fields) == len(HEADER):
            self.done |= {(tuple(fields[:7]), size) for size in fields[7].split(",")}
        elif len(fields) == len(HEADER) and fields != list(HEADER):
            number, library, setting, part, operation, form, ranks, size, value = fields
            point = part, operation, form, int(ranks), int(size), library, setting
            try:
                self.values[point][int(number)] = float(value)
            except ValueError:
                self.values[point][int(number)] = None
                self.reasons[point] = value

    def begin(self, facts):
        """Makes the file if there is none: what the figures depend on, and the header."""
        if self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"# {name}\t{fact}" for name, fact in facts.items()] + ["\t".join(HEADER)]
        self.path.write_text("\n".join(lines) + "\n")
        self.facts = dict(facts)

    def add(self, job, operation, form, size, value):
        """One figure, or the reason why there is none."""
        fields = (job.round, job.implementation, job.setting, job.part, operation, form, job.ranks,
                  size, value)
        line = "\t".join(map(str, fields))
        with open(self.path, "a") as file:
            file.write(line + "\n")
        self.read(line)

    def rounds(self, point):
        """The figures of all rounds; empty if there is none, or if only some rounds have one."""
        values = list(self.values.get(point, {}).values())
        failed = sum(value is None for value in values)
        return [] if 2 * failed >= len(values) else [v for v in values if v is not None]

    def median(self, point):
        """The median of the rounds, or None."""
        values = self.rounds(point)
        return statistics.median(values) if values else None

    def points(self, part):
        """The different (operation, form, ranks, bytes) of a part, in the order of the file."""
        return list(dict.fromkeys(point[1:5] for point in self.values if point[0] == part))

    def settings(self, part, library, place):
        """The settings of a library that have a figure at a place, and their medians."""
        found = {}
        for point in self.values:
            if point[0] == part and point[5] == library and point[1:5] == place:
                median = self.median(point)
                if median is not None:
                    found[point[6]] = median
        return found

    def best(self, part, library, place):
        """The point of the setting with the smallest median, or None."""
        found = self.settings(part, library, place)
        if not found:
            return None
        return (part, *place, library, min(found, key=found.get))

    def missing(self, job):
        """The sizes at which a job has not been run."""
        return tuple(size for size in job.sizes if (self.name(job), str(size)) not in self.done)

    def finish(self, job, sizes):
        """A mark that a job has been run at these sizes, whatever it brought."""
        self.add(job, job.operation, job.form, ",".join(map(str, sizes)), DONE)

    @staticmethod
    def name(job):
        """What a mark is for, but for the sizes."""
        return (str(job.round), job.implementation, job.setting, job.part, job.operation, job.form,
                str(job.ranks))
