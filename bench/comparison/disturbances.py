"""Programs that disturb a run, and how they are ended: `c/disturb.c` starts and ends them."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

TIMED_OUT = 124
GRACE_SECONDS = 15  # for `disturb` to end what it has started


PERIOD_US = 100_000  # within which a job may use its quota


class ControlGroup:
    """A control group of this process for the job, and for the loops if they share it; removed at
    the end. With a quota the processes of the group may use so many processors together.

    Nothing but the new group is changed. Where no group with the cpu controller can be made without
    changing others, `why_not` says so."""

    def __init__(self, quota=None):
        self.folder, self.why_not, self.quota = None, "", quota

    def __enter__(self):
        self.folder, self.why_not = None, "no cpu controller is mounted"
        for parent in parents():
            folder = parent / f"motet-comparison-{os.getpid()}"
            try:
                folder.mkdir()
            except OSError as error:
                self.why_not = f"a control group cannot be made: {error.strerror}"
                continue
            self.folder, self.why_not = folder, ""
            if self.quota and not self.set_quota():
                continue
            break
        return self

    def set_quota(self):
        """Whether the group has its quota now; if not, there is no group."""
        microseconds = str(round(self.quota * PERIOD_US))
        files = {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": microseconds} \
            if (self.folder / "cpu.cfs_quota_us").exists() \
            else {"cpu.max": f"{microseconds} {PERIOD_US}"}
        try:
            for name, words in files.items():
                (self.folder / name).write_text(words + "\n")
                if (self.folder / name).read_text().strip() != words:
                    raise OSError(0, f"{name} did not keep its value")
        except OSError as error:
            self.why_not = f"a control group cannot have this quota: {error.strerror}"
            self.__exit__()
            self.folder = None
            return False
        return True

    def __exit__(self, *_):
        for _ in range(50 if self.folder else 0):
            try:
                self.folder.rmdir()
                break
            except OSError:
                time.sleep(0.1)
        else:
            if self.folder:
                print(f"bench/compare: not removed: {self.folder}", file=sys.stderr)

    def procs(self):
        """The file by which a process enters the group, or None."""
        return self.folder / "cgroup.procs" if self.folder else None


def parents():
    """Folders in which a new control group has the cpu controller, the nearest first."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
        own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, where, kind, options, *_ in mounts:
        is_old = kind == "cgroup" and "cpu" in options.split(",")
        if not is_old and kind != "cgroup2":
            continue
        path = next((path for _, names, path in own
                     if names == "" and not is_old or is_old and "cpu" in names.split(",")), None)
        if path is None:
            continue
        folder = Path(where) / path.lstrip("/")
        for place in (folder, *folder.parents):
            if not place.is_relative_to(where):
                break
            if is_old or has_cpu(place):
                yield place


def has_cpu(folder):
    """Whether groups in a folder of the unified hierarchy have the cpu controller."""
    try:
        return "cpu" in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


class Disturber:
    """Runs commands beside disturbing programs."""

    def __init__(self, workshop):
        self.program = str(workshop.work / "disturb")
        self.source = workshop.work / "compiled.c"
        self.has_compiler = shutil.which("cc") is not None
        self.source.write_text(source_to_compile())

    def build(self):
        """What the kind `build` does, for people."""
        return "cc -O2" if self.has_compiler else "no compiler: processes that read and compute"

    def run(self, row, command, environment, limit):
        """What a command says beside the disturbing programs of a row, and why it failed, if so."""
        kind, count = row.kind_and_count()
        words = [self.program, "-t", f"{limit:g}"]
        if self.has_compiler:
            words += ["-b", str(self.source)]
        if row.nice:
            words += ["-n", str(row.nice)]
        with group_of(row) as group:
            if group.why_not:
                return "", "", group.why_not
            if group.procs():
                words += ["-g" if kind == "group" else "-q", str(group.procs())]
            return run([*words, kind, str(count), *command], environment, limit)


class NoGroup(ControlGroup):
    """No control group is needed."""

    def __enter__(self):
        return self


def group_of(row):
    """The control group that a row needs, not yet made."""
    is_needed = row.kind_and_count()[0] == "group" or row.processors()
    return ControlGroup(row.processors()) if is_needed else NoGroup()


def why_skipped(row):
    """Why a row cannot be measured here, or nothing."""
    with group_of(row) as group:
        return group.why_not


def why_no_quota(quota):
    """Why a job cannot have this quota here, or nothing."""
    with ControlGroup(float(quota)) if quota != "none" else NoGroup() as group:
        return group.why_not


def why_no_nice(nice):
    """Why a job cannot have this nice value here, or nothing. A process tries it that ends then."""
    child = os.fork()
    if not child:
        try:
            os.setpriority(os.PRIO_PROCESS, 0, nice)
            os._exit(0)
        except OSError:
            os._exit(1)
    is_allowed = os.waitpid(child, 0)[1] == 0
    return "" if is_allowed else "this user may not lower the nice value so far"


def run(command, environment, limit):
    """As `libraries.run`, of `disturb`: it has time to end what it has started."""
    process = subprocess.Popen(command, env=environment, text=True, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        output, errors = process.communicate(timeout=limit + GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        end(process)
        return "", "", f"longer than {limit:g} s, and then not ended by `disturb`"
    except BaseException:  # an interruption must leave nothing behind
        end(process)
        raise
    why = "" if process.returncode == 0 else f"exit code {process.returncode}"
    if process.returncode == TIMED_OUT:
        why = f"longer than {limit:g} s"
    return output, errors, why


def end(process):
    """Asks `disturb` to end all, and then ends it."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdout, process.stderr):
        pipe.close()


def source_to_compile():
    """A file that a compiler needs about a second for: functions with loops and branches."""
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>"]
    for number in range(150):
        lines.append(f"""
int work_{number}(int *values, int count, const char *text) {{
    int sum = {number}, other[64] = {{0}};
    for (int i = 0; i < count; i++) {{
        sum += values[i] * {number + 3} % (i + 1);
        other[i % 64] ^= sum;
        if (sum & 1) values[i] = other[(sum >> 3) & 63] + (int)strlen(text);
        switch (sum % 5) {{
        case 0: sum += values[(i * 7) % count]; break;
        case 1: sum -= other[i % 7]; break;
        case 2: sum ^= abs(values[i]) << 2; break;
        default: sum += i;
        }}
    }}
    return sum + other[sum & 63];
}}""")
    return "\n".join(lines) + "\n"
