"""Tests of the loop view without figures: words, states, ends of disturbing programs, checked data.

`python3 -m unittest discover -s bench/tests` needs a C compiler. With Motet in
$CARGO_TARGET_DIR/release it also measures a small grid of Motet alone."""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", BENCH.parent / "target"))
sys.path.insert(0, str(BENCH))
sys.dont_write_bytecode = True

from comparison import loops, points  # noqa: E402
from comparison.loop_results import FIELDS, LoopResults, RowFigures, judged  # noqa: E402
from comparison.disturbances import ControlGroup, group_of  # noqa: E402
from comparison.loop_page import by_axis, ratios, table, worst_points  # noqa: E402
from comparison.loop_reasons import POLLING, UNKNOWN, reason  # noqa: E402

HANG_SECONDS = 60


class Words(unittest.TestCase):
    """What may be asked for."""

    def test_several_words_make_rows(self):
        self.assertEqual(loops.disturbances(["none,session:2", "session:2", "build:1"]),
                         ("none", "session:2", "build"))
        self.assertEqual(loops.spacings(["none", "100us,random", "random:2ms"]),
                         ("none", "100us", "random:100us", "random:2ms"))
        self.assertEqual(loops.disturbances(["all"]), loops.ALL_DISTURBANCES)
        self.assertEqual(len(loops.spacings(["all"])), len(loops.ALL_SPACINGS))

    def test_other_words_are_refused(self):
        for word in ("none:2", "sessions", "session:0", "session:", "session:9999", ""):
            self.assertRaises(loops.WrongWord, loops.disturbances, [word])
        for word in ("100", "0us", "-1us", "random:", "us", "1.2.3us", ""):
            self.assertRaises(loops.WrongWord, loops.spacings, [word])

    def test_each_collective_is_a_row_of_the_programs(self):
        self.assertLessEqual(set(loops.COLLECTIVES), set(points.known_operations()))
        self.assertEqual(loops.OPERATIONS, (*loops.STEPS, *loops.COLLECTIVES))

    def test_two_groups_need_two_ranks(self):
        for operation in loops.OPERATIONS:
            row = loops.Row(operation, 1, "none", "none")
            self.assertEqual(bool(row.why_not()), operation.startswith("inter_"), operation)
            self.assertFalse(loops.Row(operation, 2, "none", "none").why_not())

    def test_the_program_is_told_microseconds(self):
        said = {spacing: loops.Row("step", 2, "none", spacing).spacing_word()
                for spacing in ("none", "barrier", "10ms", "random:1.5ms")}
        self.assertEqual(said, {"none": "none", "barrier": "barrier", "10ms": "10000",
                                "random:1.5ms": "random:1500"})


class Axes(unittest.TestCase):
    """One list of axes makes options, rows, order, columns and summary."""

    def wanted(self, **given):
        wanted = argparse.Namespace(**{loops.attribute(axis): given.get(axis.name)
                                       for axis in loops.AXES})
        loops.read_all(wanted)
        return wanted

    def test_each_axis_reads_words(self):
        wanted = self.wanted(size=["8,64K", "65536", "all"], quota=["none,1.50", "1.5"],
                             nice=["-5,10"], launcher=["all"], form=["persistent"], ranks=["2", "4"],
                             operation=["step,bcast"])
        self.assertEqual(wanted.sizes, (8, 65536, 1024, 1 << 20))
        self.assertEqual(wanted.quota, ("none", "1.5"))
        self.assertEqual((wanted.nice, wanted.launcher), ((-5, 10), ("own", "hydra")))
        self.assertEqual((wanted.forms, wanted.ranks), (("persistent",), (2, 4)))
        self.assertEqual(wanted.operations, ("step", "bcast"))

    def test_other_words_are_refused(self):
        for name, refused in {
                "operation": ("steps", "", "barrier"), "ranks": ("0", "two", "all", ""),
                "size": ("0", "12", "8B", "-8", "1G", "128M", ""), "form": ("waiting", ""),
                "quota": ("0", "0.001", "-1", "all", "1e3", ""), "nice": ("20", "-21", "all", ""),
                "launcher": ("slurm", "")}.items():
            for word in refused:
                self.assertRaises(loops.WrongWord, self.wanted, **{name: [word]})

    def test_rows_are_all_combinations(self):
        self.assertEqual([row.title() for row in loops.rows(self.wanted())], [
            f"step, {ranks} ranks, disturbance {disturb}, spacing {spacing}"
            for ranks in (2, 4) for disturb in ("none", "session") for spacing in ("none", "100us")])
        rows = loops.rows(self.wanted(
            operation=["scan"], ranks=["2"], size=["1K,8"], disturb=["none"], spacing=["none"],
            quota=["0.5,1.5,none"], nice=["0,10"], launcher=["all"]))
        self.assertEqual(len(set(rows)), 2 * 3 * 2 * 2)
        found = sorted(rows, key=loops.order)
        self.assertEqual(found[0], loops.Row("scan", 2, "none", "none"))
        self.assertEqual(found[-1].title(), "scan, 2 ranks, size 1 KiB, disturbance none, "
                         "spacing none, quota 0.5, nice 10, launcher hydra")

    def test_rows_of_older_files_are_plain(self):
        row = loops.Row(operation="step", ranks=2, disturb="none", spacing="none")
        self.assertTrue(loops.is_plain(row))
        self.assertFalse(loops.is_plain(loops.Row("step", 2, "none", "none", quota="1.5")))

    def test_a_table_has_the_columns_that_vary(self):
        plain, other = (loops.Row("step", 2, "none", "none", nice=nice) for nice in (0, 10))
        names = [[axis.name for axis in loops.shown(rows)] for rows in ([plain], [plain, other])]
        self.assertEqual(names, [["ranks", "disturb", "spacing"],
                                 ["ranks", "disturb", "spacing", "nice"]])


class Aggregation(unittest.TestCase):
    """Rounds, forms and axes are put together as the page says."""

    FORMS = ("blocking", "nonblocking")

    def run_of(self, library, mean, forms=FORMS):
        figures = dict.fromkeys(FIELDS, mean)
        return {"library": library, "setting": "default", "hops": [50, 50], "steal": 0, "why": "",
                "asked": list(forms), "forms": {form: figures for form in forms}}

    def results(self, *rows):
        """Results with Motet at 2 us and Open MPI at the stated time in each row."""
        results = LoopResults("/nonexistent")
        results.read(json.dumps({"facts": {"cores": "2"}}))
        for row, theirs in rows:
            results.read(json.dumps({"row": row.fields(), "round": 1, "runs": [
                self.run_of("motet", 2), self.run_of("ompi", theirs)]}))
        results.note_states()
        return results, [RowFigures(results, row) for row, _ in rows]

    def test_a_file_with_other_means_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "loop.jsonl"
            LoopResults(path).begin({"cores": "2"})
            self.assertFalse(LoopResults(path).has_other_means())
            path.write_text(json.dumps({"facts": {"cores": "2"}}) + "\n")
            self.assertTrue(LoopResults(path).has_other_means())
            path.unlink()
            self.assertFalse(LoopResults(path).has_other_means())

    def test_by_axis(self):
        _, found = self.results((loops.Row("step", 2, "none", "none"), 4),
                                (loops.Row("step", 2, "none", "none", size=65536), 1))
        lines = by_axis(found).splitlines()
        # Two forms, mean and median: four points for each size.
        self.assertIn("| size | 8 B | 4 | 4 | 2.00 | 2.00 | 2.00 |", lines)
        self.assertIn("| size | 64 KiB | 4 | 0 | 0.50 | 0.50 | 0.50 |", lines)
        self.assertIn("| form | blocking | 4 | 2 | 1.00 | 0.50 | 2.00 |", lines)
        self.assertFalse([line for line in lines if line.startswith("| ranks")])

    def test_the_worst_point_is_first(self):
        _, found = self.results((loops.Row("step", 2, "none", "none"), 4),
                                (loops.Row("bcast", 2, "none", "none", quota="1.5"), 1))
        lines = worst_points(found).splitlines()
        self.assertIn("ahead at 4 of 8 points", lines[2])
        self.assertTrue(lines[6].startswith("| 0.50 | bcast, 2 ranks, disturbance none, spacing "
                                            "none, quota 1.5 | blocking"), lines[6])
        self.assertIn("| 64 KiB |", table(self.results(
            (loops.Row("step", 2, "none", "none", size=65536), 4))[1], "blocking", "mean", None))

    def test_medians_of_bursts_are_not_compared(self):
        for spacing, points in (("none", 2), ("barrier", 4)):
            _, found = self.results((loops.Row("bcast", 4, "none", spacing), 4))
            self.assertIn(f"ahead at {points} of {points} points", worst_points(found))

    def test_a_reason_is_only_for_points_that_have_it(self):
        row = loops.Row("step", 4, "other", "none")
        self.assertEqual(reason(row, "median", "impi", 1.5), POLLING)
        for case in ((row, "mean", "impi", 0.9), (row, "median", "impi", 0.9),
                     (row, "median", "ompi", 1.5),
                     (loops.Row("step", 4, "session", "none"), "median", "impi", 1.5)):
            self.assertEqual(reason(*case), UNKNOWN)

    def test_wrong_data_takes_the_figures_of_its_form(self):
        output = "blocking" + "\t1" * len(FIELDS) + "\n"
        found, why = judged(output, "wrong data: rank 1: scatter", "exit code 1", self.FORMS)
        self.assertEqual((list(found), why), (["blocking"], "wrong data (nonblocking)"))
        self.assertEqual(judged("", "", "exit code 1", self.FORMS), ({}, "exit code 1"))

    def test_a_form_that_was_not_measured_is_missing(self):
        row, known = loops.Row("step", 2, "none", "none"), [("motet", "default")]
        results = LoopResults("/nonexistent")

        def measured(mean, *forms):
            results.read(json.dumps({"row": row.fields(), "round": 1,
                                     "runs": [self.run_of("motet", mean, forms)]}))

        measured(2, "blocking")
        self.assertEqual(results.missing_forms(row, 1, self.FORMS, known), ("nonblocking",))
        self.assertEqual(results.missing_forms(row, 1, ("blocking",), known + [("ompi", "default")]),
                         ("blocking",))
        measured(3, "nonblocking")
        self.assertEqual(results.missing_forms(row, 1, self.FORMS, known), ())
        measured(5, "blocking")
        results.note_states()
        found = RowFigures(results, row)
        self.assertEqual([found.figures("motet", "default", form)["mean"] for form in self.FORMS],
                         [5, 3])
        self.assertEqual(len(found.runs), 2)


class Disturbing(unittest.TestCase):
    """Tests that need the disturbing program."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.disturb = str(Path(cls.folder.name) / "disturb")
        subprocess.run(["cc", "-std=c11", "-O2", BENCH / "c/disturb.c", "-o", cls.disturb],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class Limits(Disturbing):
    """The quota and the nice value are those of the job, not of the disturbing programs."""

    def said(self, *options, program):
        ended = subprocess.run([self.disturb, *options, "none", "0", sys.executable, "-c", program],
                               capture_output=True, text=True, timeout=HANG_SECONDS, check=True)
        return float(ended.stdout)

    def test_nice(self):
        program = "import os; print(os.nice(0))"
        nice = os.nice(0)
        self.assertEqual(self.said(program=program), nice)
        if nice < 19:
            self.assertEqual(self.said("-n", "19", program=program), 19)

    def test_quota(self):
        program = ("import time; end = time.monotonic() + 1\n"
                   "while time.monotonic() < end: pass\nprint(time.process_time())")
        row = loops.Row("step", 2, "none", "none", quota="0.1")
        with group_of(row) as group:
            if group.why_not:
                self.skipTest(group.why_not)
            self.assertLess(self.said("-q", str(group.procs()), program=program), 0.3)
            folder = group.folder
        self.assertFalse(folder.exists())

    def test_a_quota_that_is_refused_leaves_no_group(self):
        with ControlGroup(quota=1e-9) as group:
            self.assertTrue(group.why_not)
            self.assertIsNone(group.procs())


class States(unittest.TestCase):
    """Figures of different states of the machine are not compared."""

    ROW = loops.Row("step", 2, "none", "none")

    def figures(self, *runs):
        results = LoopResults("/nonexistent")
        made = [{"library": library, "setting": "default", "hops": hops, "steal": steal, "why": "",
                 "forms": {"blocking": dict.fromkeys(
                     ("median", "p10", "p90", "mean", "least", "most", "turns", "windows",
                      "turns_per_window", "checked"), mean)}}
                for library, hops, steal, mean in runs]
        results.rounds[self.ROW][1] = {"runs": made}
        results.note_states()
        return RowFigures(results, self.ROW)

    def test_the_same_state_has_a_ratio(self):
        found = self.figures(("motet", [50, 60], 0, 2), ("mpich", [55, 52], 0, 3))
        self.assertEqual(ratios(found, "blocking", "mean")[:2], (1.5, 1.5))

    def test_other_hops_and_stolen_time_have_none(self):
        for hops, steal in (([245, 240], 0), ([50, 245], 0), ([50, 50], 0.5)):
            found = self.figures(("motet", [50, 60], 0, 2), ("mpich", hops, steal, 3))
            self.assertIsNone(ratios(found, "blocking", "mean"))
            self.assertEqual(found.other_states, 1)

    def test_a_hop_that_moved_is_no_state(self):
        found = self.figures(("motet", [50, 245], 0, 2), ("mpich", [245, 50], 0, 3))
        self.assertIsNone(ratios(found, "blocking", "mean"))


class Ends(Disturbing):
    """No disturbing program survives."""

    def survivors(self):
        """Processes of the program that are not zombies."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(folder / "exe") == self.disturb:
                    found.append(int(folder.name))
            except OSError:
                pass
        return found

    def await_survivors(self, wanted):
        """Until there are so many, or the watchdog ends it."""
        end = time.monotonic() + HANG_SECONDS
        while len(self.survivors()) != wanted:
            self.assertLess(time.monotonic(), end, f"processes: {self.survivors()}")
            time.sleep(0.01)

    def start(self, kind, *options):
        return subprocess.Popen([self.disturb, *options, kind, "2", "sleep", "1000"],
                                start_new_session=True)

    def test_after_the_command(self):
        for kind in ("none", "session", "other", "pulse"):
            ended = subprocess.run([self.disturb, kind, "2", "sh", "-c", "exit 7"],
                                   timeout=HANG_SECONDS)
            self.assertEqual(ended.returncode, 7)
            self.assertEqual(self.survivors(), [])

    def test_after_the_time(self):
        self.assertEqual(self.start("other", "-t", "0.2").wait(HANG_SECONDS), 124)
        self.assertEqual(self.survivors(), [])

    def test_after_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            process = self.start("other")
            self.await_survivors(3)
            process.send_signal(number)
            process.wait(HANG_SECONDS)
            self.await_survivors(0)

    def test_orphans_of_the_command_end_too(self):
        # The orphan is the program itself in another session, since its name is known.
        orphan = f"setsid {self.disturb} none 0 sleep 1000 >/dev/null 2>&1 & exit 0"
        subprocess.run([self.disturb, "none", "0", "sh", "-c", orphan], timeout=HANG_SECONDS)
        self.assertEqual(self.survivors(), [])


@unittest.skipUnless((TARGET / "release/motet").exists(), "Motet is not built")
class Grid(unittest.TestCase):
    """A small grid of Motet alone has all figures, of data that were checked."""

    def test_a_small_grid(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [BENCH / "compare", "loop", "--no-build", "--strict", "-l", "motet", "--defaults",
                 "-r", "1", "-n", "2", "--disturb", "none,session", "--spacing", "none,100us",
                 "--time", "0.02", "--limit", str(HANG_SECONDS), "--results",
                 f"{folder}/loop.jsonl", "--output", folder], check=True)
            made = json.loads((Path(folder) / "loop.json").read_text())
            self.assertEqual(len(made["rows"]), 4)
            for row in made["rows"]:
                self.assertEqual({figure["form"] for figure in row["figures"]},
                                 {"blocking", "nonblocking", "persistent"})
                for figure in row["figures"]:
                    self.assertGreater(figure["mean"], 0)
                    self.assertLessEqual(figure["p10"], figure["median"])
                    self.assertLessEqual(figure["median"], figure["p90"])
                    self.assertGreaterEqual(figure["checked"], 8)
            page = (Path(folder) / "loop.md").read_text()
            self.assertIn("session", page)
        self.wrong_data_is_found()

    def test_all_operations(self):
        """Each operation has each form, with two ranks and an odd number of them."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [BENCH / "compare", "loop", "--no-build", "--strict", "-l", "motet", "--defaults",
                 "-r", "1", "-n", "2,3", "-o", "all", "-b", "8,1K", "--disturb", "none",
                 "--spacing", "none", "--nice", str(max(1, os.nice(0))), "--time", "0.005",
                 "--limit", str(HANG_SECONDS), "--results", f"{folder}/loop.jsonl",
                 "--output", folder], check=True, stderr=subprocess.DEVNULL)
            made = json.loads((Path(folder) / "loop.json").read_text())
        self.assertEqual(len(made["rows"]), 2 * 2 * len(loops.OPERATIONS))
        for row in made["rows"]:
            if made["limits"] and row["is_comparable"]:
                self.assertEqual(bool(row["least_us"]), row["row"]["operation"] not in loops.STEPS)
            self.assertEqual({figure["form"] for figure in row["figures"]},
                             {"blocking", "nonblocking", "persistent"}, row["row"])

    def wrong_data_is_found(self):
        """With a wrong value that is planted the program says so."""
        work = TARGET / "comparison"
        for operation in loops.OPERATIONS:
            for form in ("blocking", "nonblocking", "persistent"):
                command = [work / "motet", "run", "-n", "2", work / "loop", "-t", "0.02", "-p",
                           "-o", operation, "-b", "1024", "-f", form]
                ended = subprocess.run(
                    command, env=os.environ | {"LD_LIBRARY_PATH": str(work / "lib")},
                    capture_output=True, text=True, timeout=HANG_SECONDS)
                self.assertNotEqual(ended.returncode, 0, operation)
                self.assertIn("wrong data", ended.stderr, operation)


if __name__ == "__main__":
    unittest.main()
