"""Runs the jobs one after the other, and keeps what they say."""

import itertools
import json
import operator
import os
import re
import shutil
import sys
import time
from collections import defaultdict

from .host import Stolen
from .libraries import LIBRARIES, run
from .points import PENDING
from .ratios import OURS, best_peer

# At more ranks than cores, where there are many settings: one that took longer than this times the
# best one of all peers in the first round, at all sizes, is not measured again. It cannot become
# the best.
HOPELESS = 1.4
CALLGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
STARTS = 1000, 11000
# Where cores belong to a virtual machine, they may be nearer to each other at one time than at
# another. The figures of a turn can be compared if the time of an exchange of two lines has not
# changed by more than this factor while they were taken. Otherwise they are taken again, so often
# at most.
STEADY = 1.6
ATTEMPTS = 4
# A library is measured again if the host of the virtual machine has taken more than this of the
# time of its cores meanwhile; kept are the figures of the attempt of which least was taken.
TAKEN = 0.1


class Runner:
    """What is running, how much has been done, and when to stop."""

    def __init__(self, workshop, results, seconds):
        self.workshop = workshop
        self.results = results
        self.end = time.monotonic() + seconds if seconds else None
        self.spent = defaultdict(list)  # seconds of the jobs of a kind
        self.failed = 0
        self.repeated = 0  # turns that were measured again
        self.unsteady = 0  # those that were not steady even then
        self.disturbed = 0  # figures of a time of which the host has taken some in each attempt

    def run(self, jobs):
        """Runs what has not been run; False if the time was over before the end."""
        todo = [job for job in jobs if self.results.missing(job)]
        print(f"{len(todo)} of {len(jobs)} runs to do, at most "
              f"{duration(sum(job.limit for job in todo))} if all hang", file=sys.stderr)
        number, has_run = 0, False
        for turn in turns(todo):
            seconds = sum(map(self.estimate, turn))
            if self.end and has_run and time.monotonic() + seconds > self.end:
                return False
            left = duration(sum(map(self.estimate, todo[number:])))
            print(f"[{number + 1}/{len(todo)}, about {left} left] round {turn[0].round}: "
                  f"{turn[0].turn()}", file=sys.stderr, flush=True)
            self.measure_turn(turn)
            number, has_run = number + len(turn), True
        if self.repeated:
            print("turns that were measured more than once, since the cores came nearer to each "
                  f"other or went apart: {self.repeated}; unsteady even then: {self.unsteady}",
                  file=sys.stderr)
        if self.disturbed:
            print("runs during which the host took time from the cores, and again when repeated: "
                  f"{self.disturbed}", file=sys.stderr)
        return True

    def measure_turn(self, turn):
        """The jobs of a turn, until the machine has stayed as it was, and keeps the last figures."""
        for attempt in range(1, ATTEMPTS + 1):
            found, lines = [], [self.line()]
            for job in turn:
                if self.is_worth_it(job):
                    begun = time.monotonic()
                    found.append(self.measure_undisturbed(job))
                    self.spent[kind(job)].append(time.monotonic() - begun)
                    lines.append(self.line())
            is_steady = len(turn) == 1 or max(lines) <= STEADY * min(lines)
            if is_steady or attempt == ATTEMPTS:
                break
            print(f"  again: an exchange of lines took {min(lines):.3f} to {max(lines):.3f} us",
                  file=sys.stderr, flush=True)
        self.repeated += attempt > 1
        self.unsteady += not is_steady
        for measured in found:
            self.keep(*measured)

    def line(self):
        """Microseconds of an exchange of two lines, now; always the same with a single core."""
        if len(os.sched_getaffinity(0)) == 1:
            return 1.0
        output, errors, why = run([str(self.workshop.work / "limits"), "-q"], os.environ, 20)
        if why:
            raise SystemExit(f"bench/compare: limits -q: {why} {errors.strip()}")
        return next(value for _, _, _, value in rows(output))

    def estimate(self, job):
        """Seconds that a job will take, from those of its kind."""
        spent = self.spent[kind(job)]
        if spent:
            return sum(spent) / len(spent)
        return job.limit if job.part == "pending" else 1.0 if job.ranks <= 2 else 2.0

    def is_worth_it(self, job):
        """Whether a job can still change the result."""
        if job.part == "pending":
            return all(self.may_end(job, size) for size in PENDING if size <= job.sizes[0])
        if job.part not in ("collectives", "network") or job.round == 1:
            return True
        return any(self.may_be_best(job, size) for size in job.sizes)

    def may_end(self, job, fewer):
        """Whether pending operations may end in time, after what fewer of them have taken."""
        place = ("nonblocking", job.ranks, fewer, job.implementation, job.setting)
        each = self.results.median((job.part, "pending each", *place))
        has_failed = (job.part, job.operation, *place) in self.results.reasons
        return not has_failed and (each or 0) * job.sizes[0] / 1e6 <= job.limit

    def may_be_best(self, job, size):
        """Whether a setting may become the best one of all peers, as far as is known."""
        if job.implementation == OURS or job.ranks <= os.cpu_count():
            return True
        place = job.operation, job.form, job.ranks, size
        point = (job.part, *place, job.implementation, job.setting)
        if point not in self.results.values:
            return True
        median, best = self.results.median(point), best_peer(self.results, job.part, place)
        return median is not None and median <= HOPELESS * self.results.median(best)

    def measure_undisturbed(self, job):
        """One job, until the host has left the cores alone, or as well as it ever did."""
        least = 1
        for _ in range(ATTEMPTS):
            stolen = Stolen()
            found = self.measure(job)
            share = stolen.share()
            if share <= least:
                least, best = share, found
            if least <= TAKEN:
                return best
        self.disturbed += 1
        return best

    def measure(self, job):
        """One job: what it says, and why that is not all."""
        sizes = self.results.missing(job)
        return job, sizes, *MEASURES[job.part](self, job, sizes)

    def keep(self, job, sizes, output, errors, why):
        """The rows of a job, and the reasons for those that did not come."""
        seen = set()
        for operation, form, size, value in rows(output):
            self.results.add(job, operation, form, size, value)
            seen.add(size)
        if why or not seen:
            last = (errors.strip().splitlines() or [""])[-1][:100].replace("\t", " ")
            self.failed += 1
            reason = f"no figure: {why or 'no output'}"
            print(f"  {job.title()}: {reason} ({last})", file=sys.stderr)
            for size in sizes:
                if size not in seen or job.part in ("init", "limits"):
                    self.results.add(job, job.operation, job.form, size, reason)
        self.results.finish(job, sizes)

    def start(self, job, words):
        """Starts a program with the library and the setting of a job."""
        setting = LIBRARIES[job.implementation].setting(job.setting)
        return run(*self.workshop.start(job.implementation, setting, job.ranks, words), job.limit)

    def motet_bench(self, job, sizes):
        """The collectives and messages."""
        is_crowded = job.ranks > os.cpu_count()
        # The more ranks, the longer until all memory between each two of them has been used.
        warm = "0.1" if is_crowded else "0.05" if job.ranks > 2 else "0.02"
        words = ["motet_bench", "-t", "-o", job.operation, "-f", job.form,
                 "-m", "0.3" if is_crowded else "1", "-s", warm]
        if job.part == "allocated":
            words.append("-a")
        # What has no data says so by 0 bytes, but wants to be asked for some.
        return self.start(job, words + each("-b", [size or 8 for size in sizes]))

    def network(self, job, sizes):
        """The same over the network, where times differ more, and are longer."""
        words = ["motet_bench", "-t", "-o", job.operation, "-f", job.form, "-m", "1", "-s", "0.1"]
        return self.start(job, words + each("-b", [size or 8 for size in sizes]))

    def overlap(self, job, sizes):
        """How much is hidden."""
        words = ["overlap", "-o", job.operation, "-f", job.form]
        return self.start(job, words + each("-b", sizes))

    def many(self, job, sizes):
        """Many pending operations, or many inits."""
        return self.start(job, ["many", "-o", job.operation, "-k", str(sizes[0])])

    def limits(self, job, sizes):
        """What the machine itself needs."""
        return run([str(self.workshop.work / "limits")], os.environ, job.limit)

    def instructions(self, job, sizes):
        """Instructions of a start and wait: the difference of two loops."""
        if not shutil.which("valgrind"):
            return "", "", "valgrind is not installed"
        counted = []
        for times in STARTS:
            command, environment = self.workshop.alone(job.implementation, [
                "many", "-o", "starts", "-k", str(times)])
            _, errors, why = run([*CALLGRIND, *command], environment, job.limit)
            found = re.search(r"Collected : (\d+)", errors)
            if why or not found:
                return "", errors, why or "no count"
            counted.append(int(found.group(1)))
        value = (counted[1] - counted[0]) / (STARTS[1] - STARTS[0])
        return f"instructions\t1\t8\tpersistent\t{value:.1f}\n", "", ""

    def threads(self, job, sizes):
        """Motet's own benchmark, with ranks as threads or as processes."""
        command = [str(self.workshop.work / "motet"), "bench", job.operation, "-n", str(job.ranks),
                   "--sizes", ",".join(map(str, sizes)), "--time", "0.1", "--json", "-"]
        if job.setting == "threads":
            command.append("--threads")
        output, errors, why = run(command, os.environ, job.limit)
        return "" if why else own_rows(json.loads(output)), errors, why


def own_rows(said):
    """The lines of what Motet's own benchmark says."""
    lines = []
    for point in said["points"]:
        for form in point["forms"]:
            lines.append("\t".join([point["collective"], "0", str(point["bytes"] or 0),
                                    form["form"], f"{form['median_ns'] / 1000:.4f}"]))
    return "\n".join(lines)


MEASURES = {"limits": Runner.limits, "collectives": Runner.motet_bench,
            "messages": Runner.motet_bench, "allocated": Runner.motet_bench, "overlap": Runner.overlap,
            "progress": Runner.overlap, "pending": Runner.many,
            "init": Runner.many, "threads": Runner.threads, "instructions": Runner.instructions,
            "network": Runner.network}


def turns(jobs):
    """The jobs one after the other that differ in nothing but library and setting."""
    point = operator.attrgetter("part", "operation", "form", "ranks", "sizes", "round")
    return [list(turn) for _, turn in itertools.groupby(jobs, point)]


def kind(job):
    """Jobs that take about as long as each other."""
    size = job.sizes[0] if job.part == "pending" else len(job.sizes)
    return job.part, job.implementation, job.setting, job.ranks, size


def each(option, values):
    """The option before each of the values."""
    return [word for value in values for word in (option, str(value))]


def rows(output):
    """(operation, form, bytes, value) of each line of a program that is complete."""
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) == 5:
            operation, _, size, form, value = fields
            yield operation, form, int(size), float(value)


def duration(seconds):
    """For people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
