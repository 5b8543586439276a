"""The command line."""

import argparse
import difflib
import os
import platform
import signal
import sys
from pathlib import Path

from . import loop_command, loops, pages, points, terminal
from .libraries import LIBRARIES, ROOT, Workshop
from .points import FORMS, PARTS
from .results import Results
from .running import Runner

NOT_COMPLETE = 3
POINT_MAX_BYTES = 1 << 30
DESCRIPTION = """\
Compares Motet with MPICH, Open MPI and Intel MPI on this machine.

  install   brings the peers by pip, builds Motet, compiles the programs
  run       measures, and adds what it measured to the file of results
  show      prints medians and ratios of the file of results
  report    makes tables, summary and plots of it, in docs/performance
  loop      measures the loop view beside disturbing programs, and makes its page of it

Without a word it does all of them but `show` and `loop`. A run that was interrupted, or ended by
--seconds (exit code 3), is continued by the same command.
"""


def parser():
    """All options; those of one step are accepted by all."""
    made = argparse.ArgumentParser(prog="bench/compare", description=DESCRIPTION,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("step", nargs="?", default="all",
                      choices=("all", "install", "run", "show", "report", "loop"))
    some = made.add_argument
    axis = {axis.name: axis for axis in loops.AXES}
    some("-p", dest="parts", action="append", choices=PARTS, metavar="PART",
         help=f"only this part: {', '.join(PARTS)}")
    some("-o", dest="operations", action="append", default=[], metavar="OPERATION",
         help="only this operation (`motet_bench -l` lists more than are measured by default); of the "
              f"loop view: {axis['operation'].values} (step)")
    some("-f", dest="forms", action="append", metavar="FORM",
         help=f"only this form: {axis['form'].values}")
    some("-b", dest="sizes", action="append", default=[], metavar="BYTES",
         help=f"only this size: {axis['size'].values} (of the loop view: 8)")
    some("-n", dest="ranks", action="append", metavar="RANKS",
         help="so many ranks (2, 4, 8 and 16; of the loop view: 2 and 4)")
    some("-r", dest="rounds", type=int, default=5, help="rounds (5)")
    some("-l", dest="libraries", action="append", choices=tuple(LIBRARIES), metavar="LIBRARY",
         help=f"only this library: {', '.join(LIBRARIES)}")
    some("--limit", type=float, default=20, metavar="SECONDS",
         help="a process group that takes longer has no figure (20; pending ones twice that)")
    some("--seconds", type=float, metavar="SECONDS", help="stop after so long")
    some("--results", type=Path, metavar="FILE",
         help="the file of results (comparison/results.tsv in the target directory; of the loop "
              "view comparison/loop.jsonl)")
    some("--fresh", action="store_true", help="begin a new file of results")
    some("--no-build", action="store_true", help="take Motet as it was built last")
    some("--strict", action="store_true",
         help="exit code 1 if a run gave no figure")
    some("--output", type=Path, default=ROOT / "docs" / "performance", metavar="FOLDER",
         help="where the report goes (docs/performance)")
    loop_options(made.add_argument_group("of the loop view").add_argument)
    return made


def loop_options(some):
    """Those of the loop view alone. Each axis takes several words, with commas between them."""
    for axis in loops.AXES:
        if axis.name not in loops.SHARED:
            some(axis.option, dest=axis.name, action="append", metavar=axis.metavar,
                 help=f"{axis.values} ({','.join(map(str, axis.usual))})")
    some("--time", type=float, default=0.3, metavar="SECONDS",
         help="how long each form is measured in each round (0.3)")
    some("--seed", type=int, default=1, help="of random spacing, for all libraries (1)")
    some("--defaults", action="store_true", help="only the default setting of each library")
    some("--setting", dest="setting_names", action="append", metavar="NAME",
         help="only settings with these names, as in 'default,shared heap'")


def options():
    """What was asked for."""
    made = parser()
    wanted = made.parse_args()
    try:
        (loops.read_all if wanted.step == "loop" else read_shared)(wanted)
    except loops.WrongWord as error:
        made.error(str(error))
    refuse_settings(made, wanted)
    if wanted.step != "loop":
        refuse_loop_options(made, wanted)
        refuse_operations(made, wanted.operations)
    wanted.parts = [part for part in PARTS if not wanted.parts or part in wanted.parts]
    wanted.libraries = tuple(wanted.libraries or LIBRARIES)
    return wanted


def refuse_settings(made, wanted):
    """Reads the names of settings; ends the program if no library has one of them."""
    wanted.setting_names = loops.words(wanted.setting_names or (), ())
    known = [setting.name for library in LIBRARIES.values() for setting in library.loop]
    for name in wanted.setting_names:
        if name not in known:
            made.error(f"'{name}' is no setting of the loop view: {', '.join(dict.fromkeys(known))}")


def read_shared(wanted):
    """Reads the words of the options that all steps have."""
    known = {axis.name: axis for axis in loops.AXES}
    wanted.operations = loops.words(wanted.operations, ())
    wanted.forms = known["form"].read(wanted.forms or FORMS)
    wanted.ranks = known["ranks"].read(wanted.ranks or (2, 4, 8, 16))
    wanted.sizes = [loops.size_bytes(word, 1, POINT_MAX_BYTES)
                    for word in loops.words(wanted.sizes, loops.ALL_SIZES)]


def refuse_loop_options(made, wanted):
    """Ends the program if it was asked for something that the loop view alone has."""
    own = [axis for axis in loops.AXES if axis.name not in loops.SHARED]
    if wanted.defaults or wanted.setting_names or any(getattr(wanted, axis.name) for axis in own):
        made.error(f"{', '.join(axis.option for axis in own)}, --defaults and --setting are options of "
                   "`bench/compare loop`")


def refuse_operations(made, operations):
    """Ends the program if there is no such operation."""
    for operation in operations:
        if operation not in points.known_operations():
            near = difflib.get_close_matches(operation, points.known_operations())
            made.error(f"no operation is called {operation}"
                       + (f": did you mean {' or '.join(near)}?" if near else "")
                       + " (`motet_bench -l` lists them)")


def machine():
    """The machine in words: nothing that names it."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"cores": str(len(os.sched_getaffinity(0))), "processor": model,
            "system": f"{platform.system()} {platform.release().split('-')[0]}"}


def facts(workshop, libraries):
    """What figures depend on."""
    found = machine()
    found |= {name: workshop.version(name) for name in libraries}
    return found


def warn_of_changes(then, now):
    """Says so if the file of results was begun with other versions or on another machine."""
    for name, fact in now.items():
        if then.get(name, fact) != fact:
            print(f"the file of results was begun with {name} {then[name]}, this is {fact}: "
                  "--fresh begins anew", file=sys.stderr)


def main():
    """Does the steps that were asked for."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    wanted = options()
    steps = ("install", "run", "report") if wanted.step == "all" else (wanted.step,)
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    workshop = Workshop(target, os.environ.get("MOTET_PEERS"))
    if wanted.step == "loop":
        loop_command.main(wanted, workshop, machine())
    path = wanted.results or workshop.work / "results.tsv"
    if wanted.fresh:
        path.unlink(missing_ok=True)
    if "install" in steps:
        workshop.install(wanted.libraries)
    if "install" in steps or "run" in steps:
        if not wanted.no_build:
            workshop.build_motet()
        workshop.take_motet()
        workshop.compile(wanted.libraries)
    results = Results(path)
    is_complete, failed = True, 0
    if "run" in steps:
        now = facts(workshop, wanted.libraries)
        results.begin(now)
        warn_of_changes(results.facts, now)
        jobs = points.jobs(wanted, os.cpu_count())
        runner = Runner(workshop, results, wanted.seconds)
        is_complete, failed = runner.run(jobs), runner.failed
    if wanted.step in ("show", "run") and (is_complete or wanted.step == "show"):
        terminal.show(results, wanted)
    if "report" in steps and is_complete:
        pages.write(results, wanted.output)
    if not is_complete:
        print("not complete: the same command goes on", file=sys.stderr)
    sys.exit(1 if wanted.strict and failed else 0 if is_complete else NOT_COMPLETE)
