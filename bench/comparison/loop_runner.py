"""Measures the rows of the loop view: all libraries in turns, with the state of the machine."""

import os
import sys
import time
from collections import defaultdict
from dataclasses import replace

from . import least, running
from .disturbances import Disturber, why_skipped
from .host import Stolen
from .libraries import LIBRARIES, run
from .loop_results import SAME_HOP, judged
from .loops import rows
from .ratios import OURS

# A round of a row is measured again, so often at most, if the hop changes meanwhile.
ATTEMPTS = 2
TOOL_SECONDS = 20
START_SECONDS = 0.8  # of a process group, by rough experience
TURNS_AT_MOST = 100  # of a form whose turns take longer than the measurement
HYDRA = "mpich"  # the library whose launcher is hydra


class LoopRunner:
    """Runs the rows round by round."""

    def __init__(self, workshop, results, wanted):
        self.workshop, self.results, self.wanted = workshop, results, wanted
        self.disturber = Disturber(workshop)
        self.spent = defaultdict(list)  # seconds of a run, by row
        self.failed, self.again = 0, 0

    def configurations(self, number):
        """(library, setting) in the order of a round: another library is first in each."""
        first = (number - 1) % len(self.wanted.libraries)
        order = self.wanted.libraries[first:] + self.wanted.libraries[:first]
        return [(name, setting) for name in order for setting in self.settings(name)]

    def settings(self, library):
        """The settings of a library whose launcher is there."""
        found = [setting for setting in LIBRARIES[library].loop
                 if not setting.launcher or self.workshop.launcher_of(setting.launcher).exists()]
        if self.wanted.defaults:
            return found[:1]
        names = self.wanted.setting_names
        return [setting for setting in found if not names or setting.name in names]

    def preloaded(self, setting):
        """The environment of a setting under a launcher that does not load the shared heap."""
        if not setting.environment.get("MOTET_SHARED_HEAP"):
            return setting.environment
        return setting.environment | {"LD_PRELOAD": str(self.workshop.work / "libmotet_heap.so")}

    def say_what_is_missing(self):
        """A sentence for each setting without a launcher."""
        for name in self.wanted.libraries:
            for setting in LIBRARIES[name].loop:
                launcher = setting.launcher
                if launcher and not self.workshop.launcher_of(launcher).exists():
                    print(f"skipped: {LIBRARIES[name].title}, {setting.name}: the launcher of "
                          f"{LIBRARIES[launcher].title} is not installed", file=sys.stderr)

    def todo(self):
        """(round, row) of all that is missing."""
        return [(number, row) for number in range(1, self.wanted.rounds + 1)
                for row in rows(self.wanted)
                if self.missing(row, number)]

    def missing(self, row, number):
        """The forms that a round of a row has not been measured in, with all settings."""
        return self.results.missing_forms(row, number, self.wanted.forms, [
            (name, setting.name) for name, setting in self.configurations(number)])

    def run(self):
        """Measures what is missing; False if the time is over before the end."""
        todo, begun = self.todo(), time.monotonic()
        self.say_what_is_missing()
        if todo:
            self.note_limits()
        for at, (number, row) in enumerate(todo):
            seconds = time.monotonic() - begun
            if at and self.wanted.seconds and seconds + self.estimate(row) > self.wanted.seconds:
                return False
            left = sum(self.estimate(row) for _, row in todo[at:])
            print(f"[{at + 1}/{len(todo)}, about {left / 60:.0f} min left] round {number}: "
                  f"{row.title()}", file=sys.stderr, flush=True)
            self.measure_row(row, number)
        if self.again:
            print(f"rounds that were measured again, since the hop changed: {self.again}",
                  file=sys.stderr)
        return True

    def note_limits(self):
        """Measures what the memory system needs at least: once for each run, for the page. It has
        no sense on a single core, and may fail without harm to the rows."""
        if len(os.sched_getaffinity(0)) < 2:
            return
        output, _, why = run([str(self.workshop.work / "limits")], os.environ, TOOL_SECONDS)
        found = least.read_limits((name, size, us) for name, _, size, us in running.rows(output))
        if why or not found:
            print(f"the limits of the machine were not measured: {why or output}", file=sys.stderr)
            return
        self.results.write({"limits": found})

    def estimate(self, row):
        """Seconds of a round of a row."""
        known = self.spent[row]
        each = sum(known) / len(known) if known else START_SECONDS + len(self.wanted.forms) * max(
            1.3 * self.wanted.time, 11e-6 * row.work_us())
        return each * len(self.configurations(1))

    def limit(self, row):
        """Seconds after which a run is ended: `--limit`, and more where a turn computes for long
        and shares its processors."""
        _, count = row.kind_and_count()
        processors = min(len(os.sched_getaffinity(0)), row.processors() or float("inf"))
        share = (row.ranks + count) / processors
        turns = len(self.wanted.forms) * TURNS_AT_MOST
        return self.wanted.limit + turns * row.work_us() * 1e-6 * max(1, share)

    def hop(self):
        """Nanoseconds of a hop of a cache line, now, with no disturbing program."""
        return self.tool("hop")

    def tool(self, *words):
        """The first number that a tool prints."""
        name, *options = words
        output, errors, why = run([str(self.workshop.work / name), *options], os.environ,
                                  TOOL_SECONDS)
        if why:
            raise SystemExit(f"bench/compare: {name}: {why} {errors.strip()}")
        return float(output.split()[0])

    def measure_row(self, row, number):
        """A round of a row, again if the hop has changed, and keeps the last attempt."""
        record, forms = {"row": row.fields(), "round": number, "runs": []}, self.missing(row, number)
        why = row.why_not() or why_skipped(row)
        if why:
            print(f"  skipped: {why}", file=sys.stderr)
            self.results.write(record | {"skipped": why})
            return
        for attempt in range(1, ATTEMPTS + 1):
            record |= {"attempt": attempt, "runs": self.measure_all(row, number, forms)}
            hops = [hop for measured in record["runs"] for hop in measured["hops"]]
            if max(hops) <= SAME_HOP * min(hops) or attempt == ATTEMPTS:
                break
            self.again += 1
            print(f"  again: the hop took {min(hops):.0f} to {max(hops):.0f} ns", file=sys.stderr)
        self.results.write(record)
        self.say(record["runs"])

    def measure_all(self, row, number, forms):
        """All libraries and settings, one after the other."""
        runs, hop = [], self.hop()
        for library, setting in self.configurations(number):
            if sys.stderr.isatty():
                print(f"\r\033[K  {library}, {setting.name}", end="\r", file=sys.stderr, flush=True)
            measured = self.measure(row, library, setting, forms)
            before, hop = hop, self.hop()
            runs.append(measured | {"hops": [before, hop]})
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        return runs

    def measure(self, row, library, setting, forms):
        """One process group: its figures, or why it has none."""
        words = ["loop", "-o", row.operation, "-b", str(row.size), "-s", row.spacing_word(),
                 "-t", f"{self.wanted.time:g}", "-e", str(self.wanted.seed),
                 "-k", str(self.results.facts["steps_per_us"])]
        for form in forms:
            words += ["-f", form]
        if row.launcher == "hydra" and library == OURS:
            setting = replace(setting, launcher=HYDRA, environment=self.preloaded(setting))
        command, environment = self.workshop.start(library, setting, row.ranks, words)
        stolen, begun = Stolen(), time.monotonic()
        output, errors, why = self.disturber.run(row, command, environment, self.limit(row))
        seconds = time.monotonic() - begun
        self.spent[row].append(seconds)
        found, why = judged(output, errors, why, forms)
        missing = [form for form in forms if form not in found]
        if why or missing:
            self.failed += 1
            why = why or "no figure"
            last = (errors.strip().splitlines() or [""])[-1][:100]
            print(f"  {library}, {setting.name}: {why}, no figure of {', '.join(missing)} ({last})",
                  file=sys.stderr)
        return {"library": library, "setting": setting.name, "steal": round(stolen.share(), 4),
                "seconds": round(seconds, 2), "why": why, "asked": list(forms), "forms": found}

    def say(self, runs):
        """The least mean of each library, for who looks on."""
        form = runs[0]["asked"][0]
        means = {}
        for measured in runs:
            if form in measured["forms"]:
                mean = measured["forms"][form]["mean"]
                means[measured["library"]] = min(mean, means.get(measured["library"], mean))
        figures = ", ".join(f"{LIBRARIES[name].title} {mean:.2f}" for name, mean in means.items())
        hops = [hop for measured in runs for hop in measured["hops"]]
        print(f"  {form}, least mean of a turn in us: {figures or 'no figure'}; "
              f"hop {min(hops):.0f} to {max(hops):.0f} ns, "
              f"stolen {max(measured['steal'] for measured in runs):.0%}", file=sys.stderr)
