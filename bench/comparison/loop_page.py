"""The page of the loop view: tables, the worst points, plots, and the same in JSON."""

import json
import os
import statistics

from . import plots
from .libraries import LIBRARIES, ROOT
from .loop_reasons import reason
from .loop_results import FIELDS, RowFigures, letter
from .loops import AXES, is_plain, order, shown, size_words
from .pages import markdown
from .points import FORMS
from .ratios import OURS, PEERS

N_WORST = 12
README = ROOT / "bench" / "README.md"
HEAD = """\
# The loop view

Made by `bench/compare loop`. The wall time of one turn of a loop in microseconds: communication,
the spacing of the turn, and all delays, beside programs that disturb the job.
[The README of the comparison]({readme}) explains the rows and the settings.

{facts}

{least}The *mean* is the time of all turns, until all ranks have ended them, over their number, and counts
long stalls; *median*, 10th and 90th percentile are of windows of at least 20 µs. Medians of rates of
ranks that share cores have no ratio: they are of bursts, while others do their part of the work.
Over the rounds it is the mean of the means and the median of the percentiles. Each library has two
figures: with its default, and in brackets with its best setting, where that is another one. *Ratio*
is best peer at its best setting / Motet: of Motet's default, and of its best setting. A ratio above
1 means that Motet is faster. Every result was checked in the measured run; a form with wrong data
has no figures. The size is 8 B, the quota none, the nice value 0 and the launcher of Motet its own
where a row does not name them.

*State* is the time of a hop of a cache line between two processors, before and after each run, in
groups of similar times. All figures of a row are of one state. **Do not compare rows of different
states.** ≠ marks a row whose state is not the most frequent one, ~ a row during which the hop
changed, so that it has no ratio. *Stolen* is the largest share of the processors that the host took
during a run of the row.
"""
LEAST = """\
*Least* is the least time of a turn in microseconds by a model of what the machine needs: a cache line
that travels at the hop of the row, the bytes that must be copied, and the switches of a core between
its ranks. *Motet / least* is Motet's default over it. For rooted operations without a barrier, which
are rates, the line is the one pushed in a turn, not a round trip. Where rates share cores the turns
come in bursts, and only their mean has a least time. A row for which the model does not hold has
none. [`least.py`](../../bench/comparison/least.py) has the formulas. Measured for it: a switch of
{switch} µs; `memcpy` into shared pages at {rates}.

"""


def write(results, folder):
    """Writes `loop.md`, `loop.json` and the plots; returns the rows."""
    results.note_states()
    known = [RowFigures(results, row) for row in results.rounds]
    found = sorted((row for row in known if row.runs), key=lambda row: order(row.row))
    skipped = [row for row in known if row.why_skipped and not row.runs]
    folder.mkdir(parents=True, exist_ok=True)
    head = HEAD.format(readme=os.path.relpath(README, folder), facts=facts(results),
                       least=least(results, found))
    parts = [head, worst_points(found), by_axis(found), states(results, found)]
    for operation in dict.fromkeys(figures.row.operation for figures in found):
        of_operation = [figures for figures in found if figures.row.operation == operation]
        parts.append(tables(results, operation, of_operation))
        parts += draw(operation, of_operation, folder)
    parts.append(failures(found, skipped))
    (folder / "loop.md").write_text("\n\n".join(part.strip() for part in parts if part) + "\n")
    (folder / "loop.json").write_text(json.dumps(summary(results, found, skipped), indent=1) + "\n")
    print(f"written: {folder / 'loop.md'}, {folder / 'loop.json'}")
    return found


def facts(results):
    """What the figures depend on."""
    known = results.facts
    versions = ", ".join(f"{LIBRARIES[name].title} {known[name]}" for name in (OURS, *PEERS)
                         if name in known)
    rounds = max((len(rounds) for rounds in results.rounds.values()), default=0)
    return (f"{known.get('processor')}, {known.get('cores')} cores, {known.get('system')}, "
            f"autogroup {known.get('autogroup')}. {versions}. Rounds: {rounds}. `build` is "
            f"{known.get('build')}. Computation: {known.get('steps_per_us')} steps in a "
            f"microsecond; seed of `random`: {known.get('seed')}.")


def least(results, found):
    """What the columns of the least time mean, if there are any."""
    if not any(figures.least_us for figures in found):
        return ""
    copies = dict(results.machine(1).copies)
    rates = ", ".join(f"{size / us / 1000:.1f} GB/s of {size_words(size)}"
                      for size, us in copies.items())
    return LEAST.format(switch=number(results.machine(1).switch_us), rates=rates)


def forms_of(found):
    """The forms that have figures."""
    return [form for form in FORMS
            if any(form in run["forms"] for figures in found for _, run in figures.runs)]


def most_frequent_state(found):
    """The state of most rows."""
    known = [figures.state for figures in found if figures.is_comparable]
    return max(known, key=known.count, default=None)


def states(results, found):
    """How many rows are of which state."""
    known = list(dict.fromkeys(figures.state for figures in found))
    rows = [(results.state_words(state), sum(figures.state == state for figures in found))
            for state in sorted(known, key=str)]
    return "## States of the machine\n\n" + markdown(("hop between two processors", "rows"), rows)


def state_cell(figures, usual):
    """Letter, hop and mark."""
    if not figures.is_comparable:
        return f"~ {figures.hop:.0f} ns"
    mark = "" if figures.state == usual else " ≠"
    return f"{letter(figures.state[0])} {figures.hop:.0f} ns{mark}"


def ratios(figures, form, name):
    """Best peer over Motet's default and over its best setting, and the peer; or None."""
    peer = figures.best_peer(form, name, PEERS)
    best = figures.best(OURS, form, name)
    default = figures.figures(OURS, "default", form)
    if not figures.is_comparable or not peer or not best:
        return None
    if name == "median" and figures.in_bursts:
        return None
    return (peer[2][name] / default[name] if default else None, peer[2][name] / best[1][name], peer)


def number(value):
    """About four digits."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def cell(figures, library, form, name):
    """The default, and the best setting if it is another one."""
    best = figures.best(library, form, name)
    if not best:
        return "no figure"

    def words(one):
        spread = f" ({number(one['p10'])} to {number(one['p90'])})" if name == "median" else ""
        return number(one[name]) + spread

    default = figures.figures(library, "default", form)
    made = words(default) if default else "no figure"
    return made if best[0] == "default" else f"{made} [{words(best[1])} {best[0]}]"


def table(found, form, name, usual):
    """Rows of the grid, columns of libraries."""
    rows, axes = [], shown([figures.row for figures in found])
    names = [library for library in LIBRARIES
             if any(figures.settings(library) for figures in found)]
    has_least = any(figures.least_us for figures in found)
    for figures in found:
        ratio = ratios(figures, form, name)
        said = ("-", "-", "-")
        if ratio:
            said = (f"**{ratio[0]:.2f}**" if ratio[0] else "-", f"{ratio[1]:.2f}",
                    LIBRARIES[ratio[2][0]].title)
        rows.append((*(axis.words(figures.row.value(axis)) for axis in axes),
                     *(cell(figures, library, form, name) for library in names), *said,
                     *(least_cells(figures, form, name) if has_least else ()), state_cell(figures, usual), f"{figures.steal:.0%}"))
    return markdown((*(axis.heading or axis.name for axis in axes),
                     *(LIBRARIES[n].title for n in names),
                     "ratio", "ratio at best", "best peer",
                     *(("least", "Motet / least") if has_least else ()), "state", "stolen"), rows)


def least_cells(figures, form, name):
    """The least time of a row, and how many times as long Motet's default takes."""
    one = figures.figures(OURS, "default", form)
    least_us = figures.least_median_us if name == "median" else figures.least_us
    if not least_us:
        return "-", "-"
    return number(least_us), f"{one[name] / least_us:.1f}" if one else "-"


def tables(results, operation, found):
    """Means and medians of each form."""
    parts, usual = [f"## {operation.capitalize()}"], most_frequent_state(found)
    for form in forms_of(found):
        parts += [f"### {operation}, {form}: mean", table(found, form, "mean", usual),
                  f"### {operation}, {form}: median (10th to 90th percentile)",
                  table(found, form, "median", usual)]
    return "\n\n".join(parts)


def points(found):
    """(row, form, figure, ratios) of each figure of Motet's default that has a ratio."""
    for figures in found:
        for form in FORMS:
            for name in ("mean", "median"):
                ratio = ratios(figures, form, name)
                if ratio and ratio[0]:
                    yield figures.row, form, name, ratio


def worst_points(found):
    """The least ratios of Motet's default."""
    known = sorted(points(found), key=lambda point: point[-1][0])
    if not known:
        return ""
    means = {(row, form): ratio[0] for row, form, name, ratio in known if name == "mean"}
    rows = [(f"{ratio[0]:.2f}", row.title(), form, name, f"{ratio[1]:.2f}",
             f"{LIBRARIES[ratio[2][0]].title}, {ratio[2][1]}",
             reason(row, name, ratio[2][0], means[row, form]))
            for row, form, name, ratio in known[:N_WORST]]
    ahead = sum(ratio[0] >= 1 for *_, ratio in known)
    return ("## The worst points\n\n" + f"Motet's default is ahead at {ahead} of {len(known)} "
            "points (means and medians).\n\n" + markdown(
                ("ratio", "row", "form", "figure", "ratio at best", "best peer", "reason"), rows))


def by_axis(found):
    """What each value of each axis that varies does to the ratio of Motet's default."""
    known, rows = list(points(found)), []
    for axis in AXES:
        of_value = {}
        for row, form, _, ratio in known:
            of_value.setdefault(form if axis.is_inside else row.value(axis), []).append(ratio[0])
        for value in sorted(of_value, key=axis.key) if len(of_value) > 1 else ():
            ratio = of_value[value]
            rows.append((axis.heading or axis.name, axis.words(value), len(ratio),
                         sum(one >= 1 for one in ratio), f"{statistics.geometric_mean(ratio):.2f}",
                         f"{min(ratio):.2f}", f"{max(ratio):.2f}"))
    return ("## By axis\n\nThe ratios of Motet's default (means and medians) at each value of each "
            "axis that has more than one.\n\n" + markdown(
                ("axis", "value", "points", "Motet ahead", "geometric mean", "least", "most"),
                rows)) if rows else ""


def failures(found, skipped):
    """What has no figures, and why; and what was set aside."""
    lines = [f"* {figures.row.title()}: {why}" + (f" ({count} times)" if count > 1 else "")
             for figures in found for why, count in figures.reasons.items()]
    lines += [f"* {figures.row.title()}: skipped: {figures.why_skipped}" for figures in skipped]
    aside = sum(figures.other_states for figures in found)
    parts = ["## Without figures\n\n" + "\n".join(lines)] if lines else []
    if aside:
        parts.append(f"Runs that were set aside, since the machine was in another state: {aside}.")
    return "\n\n".join(parts)


def draw(operation, found, folder):
    """A plot for each number of ranks: what a turn takes beyond its computation, by the spacing.
    The plots show plain rows: those with other values of other axes are in the tables."""
    made, found = [], [figures for figures in found if is_plain(figures.row)]
    for ranks in dict.fromkeys(figures.row.ranks for figures in found):
        of_ranks = [figures for figures in found if figures.row.ranks == ranks
                    and figures.is_comparable and figures.row.spacing != "barrier"
                    and not figures.row.spacing.startswith("random")]
        disturbances = dict.fromkeys(figures.row.disturb for figures in of_ranks)
        panels = [(f"{ranks} ranks, {disturb}", lines(of_ranks, disturb))
                  for disturb in disturbances]
        picture = plots.figure(panels, "computation in a turn, µs", spacing_words)
        if picture:
            name = f"loop-{operation}-{ranks}.svg"
            (folder / name).write_text(picture)
            made.append(f"![{operation} of {ranks} ranks: mean of a blocking turn beyond its "
                        f"computation, Motet's default and the best settings of the "
                        f"peers]({name})")
    return made


NO_WORK_US = 0.1  # where a logarithmic axis shows a turn without computation


def spacing_words(value):
    """The name of a place on the axis."""
    return "none" if value == NO_WORK_US else f"{value:g}"


def lines(found, disturb):
    """For each library from the computation to the mean of a blocking turn beyond it."""
    made = {}
    for library in LIBRARIES:
        points = {}
        for figures in found:
            if figures.row.disturb != disturb:
                continue
            one = figures.figures(OURS, "default", FORMS[0]) if library == OURS else \
                (figures.best(library, FORMS[0], "mean") or (None, None))[1]
            work = figures.row.work_us()
            if one and one["mean"] > work:
                points[work or NO_WORK_US] = one["mean"] - work
        if points:
            made[library] = points
    return made


def summary(results, found, skipped):
    """All figures of the page."""
    rows = []
    for figures in found:
        of_row = {"row": figures.row.fields(), "state": results.state_words(figures.state),
                  "is_comparable": figures.is_comparable, "hop_ns": figures.hop,
                  "least_us": figures.least_us, "steal": figures.steal,
                  "runs_of_other_states": figures.other_states,
                  "without_figure": dict(figures.reasons), "figures": [], "ratios": []}
        for form in forms_of(found):
            for library in LIBRARIES:
                for setting in figures.settings(library):
                    one = figures.figures(library, setting, form)
                    if one:
                        kept = {name: one[name] for name in (*FIELDS[:6], "checked", "rounds")}
                        of_row["figures"].append(
                            {"library": library, "setting": setting, "form": form} | kept)
            for name in ("mean", "median"):
                ratio = ratios(figures, form, name)
                if ratio:
                    of_row["ratios"].append({
                        "form": form, "figure": name, "of_default": ratio[0],
                        "of_best": ratio[1], "peer": ratio[2][0], "peer_setting": ratio[2][1]})
        rows.append(of_row)
    return {"facts": results.facts, "limits": results.limits, "rows": rows,
            "skipped": [{"row": figures.row.fields(), "why": figures.why_skipped}
                        for figures in skipped]}
