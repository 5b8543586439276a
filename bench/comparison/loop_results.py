"""The file of results of the loop view: a line of JSON for the facts, for the limits of the machine
in each run of `bench/compare loop`, and for each round of a row.

Figures depend on the state of the machine while they are taken. Each run has a note of it: the time
of a hop of a cache line between two processors before and after the run, and the share of the
processors that the host took meanwhile. Only figures of the same state are compared."""

import json
import statistics
from collections import Counter, defaultdict
from pathlib import Path

from .least import comes_in_bursts, least_us, machine
from .loops import Row
from .points import FORMS

# Two hops belong to one state if the longer one takes at most this many times as long.
SAME_HOP = 2.0
# Shares of the time of the processors above this make a state of their own.
STOLEN = 0.1
# What the mean of a turn is: the time from the first call of a window to the end of its last one on
# the last rank, over the turns.
MEANS = "until all ranks have ended"
WRONG = "wrong data"
FIELDS = ("median", "p10", "p90", "mean", "least", "most", "turns", "windows", "turns_per_window",
          "checked")
MOVED = "moved"


def read_forms(output):
    """The figures of each form that `loop` has printed."""
    forms = {}
    for line in output.splitlines():
        form, *values = line.split("\t")
        if len(values) == len(FIELDS):
            numbers = dict(zip(FIELDS, map(float, values)))
            forms[form] = {name: int(number) if name in FIELDS[6:] else number
                           for name, number in numbers.items()}
    return forms


def judged(output, errors, why, forms):
    """The figures that count, and why a form has none. A form prints its figures after the last
    check of its data, so wrong data of a later form takes none of them."""
    found = read_forms(output)
    if WRONG in errors:
        form = next((form for form in forms if form not in found), "")
        why = f"{WRONG} ({form})" if form else WRONG
    return found, why


def asked(run):
    """The forms that a run was to measure; all where a file does not say it."""
    return run.get("asked", FORMS)


def joined(before, record):
    """A round with what a later record has measured: other forms are added to those of before, but
    forms that were measured again replace them."""
    if not before or before.get("skipped") or record.get("skipped"):
        return record
    forms = {form for run in record["runs"] for form in asked(run)}
    kept = []
    for run in before["runs"]:
        rest = [form for form in asked(run) if form not in forms]
        if rest:
            kept.append(run | {"asked": rest, "forms": {
                form: figures for form, figures in run["forms"].items() if form in rest}})
    return record | {"runs": kept + record["runs"]}


class LoopResults:
    """All rounds of all rows of a file."""

    def __init__(self, path):
        self.path = Path(path)
        self.facts = {}
        self.limits = []  # records of what the memory system needs
        self.rounds = defaultdict(dict)  # by row, then by round
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                self.read(line)
        self.bounds = []

    def read(self, line):
        """A line of the file; the last one may have been cut off."""
        try:
            record = json.loads(line)
        except ValueError:
            return
        self.facts |= record.get("facts", {})
        if "limits" in record:
            self.limits.append(record["limits"])
        if "row" in record:
            rounds, number = self.rounds[Row(**record["row"])], record["round"]
            rounds[number] = joined(rounds.get(number), record)

    def write(self, record):
        """Adds a line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record)
        is_cut = self.path.exists() and not self.path.read_text().endswith("\n") \
            and self.path.stat().st_size > 0
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(("\n" if is_cut else "") + line + "\n")
        self.read(line)

    def begin(self, facts):
        """Notes what the figures depend on, in a new file."""
        if not self.facts:
            self.write({"facts": facts | {"means": MEANS}})

    def has_other_means(self):
        """Whether the file was begun when a mean was something else, so that its figures must not
        stand beside new ones."""
        return bool(self.facts) and self.facts.get("means") != MEANS

    def missing_forms(self, row, number, forms, configurations):
        """The forms in which a round of a row has not been measured with all of these libraries
        and settings."""
        record = self.rounds.get(row, {}).get(number)
        if record and record.get("skipped"):
            return ()
        known = defaultdict(set)
        for run in record["runs"] if record else ():
            for form in asked(run):
                known[form].add((run["library"], run["setting"]))
        return tuple(form for form in forms if not set(configurations) <= known[form])

    def note_states(self):
        """Sorts the hops of the file into groups, the bounds of which make the states."""
        hops = sorted(hop for rounds in self.rounds.values() for record in rounds.values()
                      for run in record["runs"] for hop in run["hops"])
        self.bounds = []
        for hop in hops:
            if not self.bounds or hop > SAME_HOP * self.bounds[-1][0]:
                self.bounds.append([hop, hop])
            self.bounds[-1][1] = hop

    def state(self, run):
        """The state of the machine during a run: the group of its hops, and whether the host took
        processors."""
        groups = {next(number for number, (low, high) in enumerate(self.bounds)
                       if low <= hop <= high) for hop in run["hops"]}
        return groups.pop() if len(groups) == 1 else MOVED, run["steal"] > STOLEN

    def cores(self):
        """The cores of the machine, or 0 if the file does not say it."""
        return int(self.facts.get("cores", 0))

    def machine(self, hop_ns):
        """The machine while a hop took so long, or None if the file has no limits."""
        return machine(self.limits, hop_ns, self.cores())

    def state_words(self, state):
        """A state for people."""
        group, is_stolen = state
        words = "hop moved" if group == MOVED else "one processor" if not self.bounds[group][1] \
            else f"{letter(group)}: {self.bounds[group][0]:.0f} to {self.bounds[group][1]:.0f} ns"
        return words + (f", over {STOLEN:.0%} stolen" if is_stolen else "")


def letter(group):
    """A short name of a group of hops: A is the fastest one."""
    return chr(ord("A") + group) if group < 26 else f"A{group}"


class RowFigures:
    """The figures of a row in one state of the machine: the one in which most of the libraries with
    their settings were measured."""

    def __init__(self, results, row):
        self.row = row
        runs = [(number, run) for number, record in sorted(results.rounds[row].items())
                for run in record["runs"]]
        self.why_skipped = next((record["skipped"] for record in results.rounds[row].values()
                                 if record.get("skipped")), "")
        states = defaultdict(list)
        for number, run in runs:
            states[results.state(run)].append((number, run))
        # `moved` is no state: two runs of it may have had different ones.
        self.state = max(states, default=None, key=lambda state: (
            state[0] != MOVED, len({(run["library"], run["setting"]) for _, run in states[state]}),
            len(states[state])))
        self.runs = states.get(self.state, [])
        self.other_states = len(runs) - len(self.runs)
        self.is_comparable = self.state is not None and self.state[0] != MOVED
        self.hop = statistics.median([hop for _, run in self.runs for hop in run["hops"]] or [0])
        self.steal = max((run["steal"] for _, run in runs), default=0)
        self.least_us = least_us(row, results.machine(self.hop)) if self.is_comparable else None
        self.in_bursts = comes_in_bursts(row, results.cores())
        self.least_median_us = None if self.in_bursts else self.least_us
        self.reasons = Counter(f"{run['library']}, {run['setting']}: {run['why']}"
                               for _, run in runs if run["why"])

    def figures(self, library, setting, form):
        """A figure of each kind over the rounds, or None: medians of percentiles, but the mean of
        means and the most of all, so that long stalls count."""
        found = {number: run["forms"][form] for number, run in self.runs
                 if (run["library"], run["setting"]) == (library, setting) and form in run["forms"]}
        if not found:
            return None
        values = {name: [figures[name] for figures in found.values()] for name in FIELDS}
        made = {name: statistics.median(values[name]) for name in ("median", "p10", "p90")}
        made["mean"] = statistics.mean(values["mean"])
        made["least"], made["most"] = min(values["least"]), max(values["most"])
        made["checked"], made["rounds"] = sum(values["checked"]), len(found)
        made["means"] = {number: figures["mean"] for number, figures in found.items()}
        return made

    def settings(self, library):
        """The settings of a library in this state, in the order in which they were measured."""
        return list(dict.fromkeys(run["setting"] for _, run in self.runs
                                  if run["library"] == library))

    def best(self, library, form, name):
        """(setting, figures) of the setting of a library whose figure is the least, or None."""
        known = [(setting, self.figures(library, setting, form))
                 for setting in self.settings(library)]
        return min(((setting, figures) for setting, figures in known if figures),
                   key=lambda pair: pair[1][name], default=None)

    def best_peer(self, form, name, peers):
        """(library, setting, figures) of the best setting of the best peer, or None."""
        known = [(peer, *best) for peer in peers if (best := self.best(peer, form, name))]
        return min(known, key=lambda found: found[2][name], default=None)
