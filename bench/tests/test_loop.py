"""Tests of the loop view without figures: words, states, ends of disturbing programs, checked data.

`python3 -m unittest discover -s bench/tests` needs a C compiler. With Motet in
$CARGO_TARGET_DIR/release it also measures a small grid of Motet alone."""

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

from comparison import loops  # noqa: E402
from comparison.loop_results import LoopResults, RowFigures  # noqa: E402
from comparison.loop_page import ratios  # noqa: E402

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

    def test_the_program_is_told_microseconds(self):
        said = {spacing: loops.Row("step", 2, "none", spacing).spacing_word()
                for spacing in ("none", "barrier", "10ms", "random:1.5ms")}
        self.assertEqual(said, {"none": "none", "barrier": "barrier", "10ms": "10000",
                                "random:1.5ms": "random:1500"})


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


class Ends(unittest.TestCase):
    """No disturbing program survives."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.disturb = str(Path(cls.folder.name) / "disturb")
        subprocess.run(["cc", "-std=c11", "-O2", BENCH / "c/disturb.c", "-o", cls.disturb],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

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

    def wrong_data_is_found(self):
        """With a wrong value that is planted the program says so."""
        work = TARGET / "comparison"
        command = [work / "motet", "run", "-n", "2", work / "loop", "-t", "0.02", "-p"]
        ended = subprocess.run(command, env=os.environ | {"LD_LIBRARY_PATH": str(work / "lib")},
                               capture_output=True, text=True, timeout=HANG_SECONDS)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("wrong data", ended.stderr)


if __name__ == "__main__":
    unittest.main()
