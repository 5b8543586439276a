"""The step `loop` of the command line."""

import sys
from pathlib import Path

from . import loop_page, loops
from .disturbances import why_no_nice, why_no_quota
from .libraries import LIBRARIES
from .loop_results import LoopResults
from .loop_runner import HYDRA, LoopRunner
from .ratios import OURS

NOT_COMPLETE = 3
INTERRUPTED = 130


def main(wanted, workshop, machine):
    """Measures what is missing, writes the page, and ends the program."""
    wanted.libraries = installed(wanted.libraries, workshop)
    if not wanted.libraries:
        sys.exit("bench/compare: none of these libraries is installed: bench/compare install")
    refuse_what_cannot_be(wanted, workshop)
    path = wanted.results or workshop.work / "loop.jsonl"
    if wanted.fresh:
        path.unlink(missing_ok=True)
    if not wanted.no_build:
        workshop.build_motet()
    workshop.take_motet()
    workshop.compile(wanted.libraries)
    results = LoopResults(path)
    runner = LoopRunner(workshop, results, wanted)
    note_facts(results, runner, workshop, wanted, machine)
    try:
        is_complete = runner.run()
    except KeyboardInterrupt:
        print("\nbench/compare: interrupted: the same command goes on", file=sys.stderr)
        sys.exit(INTERRUPTED)
    if not is_complete:
        print("not complete: the same command goes on", file=sys.stderr)
        sys.exit(NOT_COMPLETE)
    loop_page.write(results, wanted.output)
    sys.exit(1 if wanted.strict and runner.failed else 0)


def refuse_what_cannot_be(wanted, workshop):
    """Ends the program where a value of an axis cannot be had on this machine."""
    def why_no_launcher(launcher):
        is_there = launcher == "own" or workshop.launcher_of(HYDRA).exists()
        return "" if is_there else "MPICH is not installed (bench/compare install)"

    checks = {"quota": why_no_quota, "nice": why_no_nice, "launcher": why_no_launcher}
    for axis in loops.AXES:
        for value in getattr(wanted, loops.attribute(axis)) if axis.name in checks else ():
            why = checks[axis.name](value)
            if why:
                sys.exit(f"bench/compare: {axis.option} {value}: {why}; leave it out")


def installed(libraries, workshop):
    """Those of the libraries that are there, and a sentence for each other one."""
    found = tuple(name for name in libraries if name == OURS or workshop.is_installed(name))
    for name in libraries:
        if name not in found:
            print(f"skipped: {LIBRARIES[name].title} is not installed (bench/compare install)",
                  file=sys.stderr)
    return found


def note_facts(results, runner, workshop, wanted, machine):
    """What the figures depend on. A file that was begun with other facts is continued, except that
    the computation of a turn must stay the same."""
    if results.has_other_means():
        sys.exit(f"bench/compare: {results.path} has means that are counted in another way: "
                 "--fresh begins a new file, --results names another one")
    now = machine | {name: workshop.version(name) for name in wanted.libraries}
    now |= {"autogroup": autogroup(), "build": runner.disturber.build(), "seed": wanted.seed,
            "time": wanted.time}
    for name, fact in now.items():
        then = results.facts.get(name, fact)
        if then != fact:
            print(f"the file of results was begun with {name} {then}, this is {fact}: "
                  "--fresh begins a new file", file=sys.stderr)
    results.begin(now | {"steps_per_us": runner.tool("hop", "-c")})


def autogroup():
    """Whether Linux shares processors between sessions."""
    try:
        setting = Path("/proc/sys/kernel/sched_autogroup_enabled").read_text().strip()
    except OSError:
        return "not there"
    return {"0": "off", "1": "on"}.get(setting, setting)
