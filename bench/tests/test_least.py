"""Tests of the model of the least time of a turn, and of its place on the page of the loop view."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from comparison import least, loops  # noqa: E402
from comparison.loop_page import write  # noqa: E402
from comparison.loop_results import FIELDS, LoopResults  # noqa: E402


class Least(unittest.TestCase):
    """The model of the least time of a turn, by hand on a machine of round numbers."""

    MACHINE = least.Machine(cores=2, hop_us=0.5, switch_us=3, copies=((4096, 1), (65536, 31)))
    LIMITS = {"one_way": 0.1, "two_way": 0.1, "switch": 3, "memcpy": {"4096": 1, "65536": 31}}

    def us(self, operation, ranks=2, spacing="none", size=4096, disturb="none", **others):
        row = loops.Row(operation, ranks, disturb, spacing, size=size, **others)
        return least.least_us(row, self.MACHINE)

    def test_copies_lie_on_lines_between_those_that_were_measured(self):
        self.assertEqual([self.MACHINE.copy_us(size) for size in (0, 2048, 4096, 34816, 131072)],
                         [0, 0.5, 1, 16, 62])

    def test_two_ranks_with_a_core_each(self):
        # A hop, and the blocks of both ranks at two cores: half of them each.
        self.assertEqual(self.us("bcast"), 0.5 + 0.5)
        self.assertEqual(self.us("scatter"), 0.5 + 1)
        self.assertEqual(self.us("allreduce"), 0.5 + 1)
        self.assertEqual(self.us("allgather"), 0.5 + self.MACHINE.copy_us(8192))
        self.assertEqual(self.us("inter_bcast"), self.us("bcast"))
        self.assertEqual(self.us("inter_allreduce"), self.us("allreduce"))
        self.assertEqual(self.us("neighbor_alltoall"), self.us("alltoall"))

    def test_more_ranks_than_cores_divide_the_work_and_switch(self):
        copies = self.MACHINE.copy_us
        self.assertEqual(self.us("bcast", 4), 0.5 + copies(3 * 4096 / 2))
        self.assertEqual(self.us("alltoall", 4), 0.5 + copies(16 * 4096 / 2) + 3)
        self.assertEqual(self.us("allreduce", 3), 0.5 + copies(4 * 4096 / 2) + 1.5)
        self.assertEqual(self.us("neighbor_allgather", 4), 0.5 + copies(16 * 4096 / 2))
        self.assertEqual(self.us("inter_allreduce", 4), 0.5 + copies(4 * 4096 / 2))

    def test_a_barrier_and_a_computation_are_part_of_it(self):
        self.assertEqual(self.us("bcast", spacing="barrier"), 2 * 0.5 + 0.5)
        self.assertEqual(self.us("bcast", 4, "barrier") - self.us("bcast", 4), 0.5 + 3)
        self.assertEqual(self.us("allreduce", 4, "barrier") - self.us("allreduce", 4), 0.5 + 3)
        self.assertEqual(self.us("scan", spacing="100us") - self.us("scan"), 100)
        self.assertEqual(self.us("scan", 4, "100us") - self.us("scan", 4), 200)

    def test_one_rank_needs_no_line(self):
        self.assertEqual(self.us("allgather", 1), 1)
        self.assertEqual(self.us("bcast", 1), 0)

    def test_other_forms_need_as_much_and_types_with_gaps_twice(self):
        for ranks in (2, 3, 4):
            for operation in loops.UNEVEN:
                even = operation.rstrip("vw") if operation[-1] in "vw" else "reduce_scatter_block"
                self.assertEqual(self.us(operation, ranks), self.us(even, ranks), operation)
            for operation in loops.WITH_TYPES:
                self.assertEqual(self.us(operation, ranks),
                                 self.us(operation.split("_")[1], ranks, size=8192))

    def test_neighbours_are_those_of_the_grid(self):
        self.assertEqual([least.neighbours(ranks) for ranks in range(1, 10)],
                         [2, 2, 2, 4, 2, 4, 2, 4, 4])

    def test_there_is_none_where_the_model_does_not_hold(self):
        self.assertEqual([self.us(operation) is None for operation in loops.OPERATIONS],
                         [operation in loops.STEPS for operation in loops.OPERATIONS])
        for case in ({"disturb": "session"}, {"quota": "1.5"}, {"spacing": "random:100us"}):
            self.assertIsNone(self.us("bcast", **case))
        self.assertIsNone(self.us("inter_bcast", 1))
        row = loops.Row("bcast", 2, "none", "none")
        for limits, hop, cores in (([], 50, 2), ([self.LIMITS], 0, 2), ([self.LIMITS], 50, 1)):
            self.assertIsNone(least.least_us(row, least.machine(limits, hop, cores)))

    def test_rates_that_share_cores_have_no_least_median(self):
        def is_burst(*row):
            return least.comes_in_bursts(loops.Row(*row), self.MACHINE.cores)

        for operation in least.ROOTED:
            self.assertTrue(is_burst(operation, 4, "none", "none"))
            self.assertFalse(is_burst(operation, 2, "none", "none"))
            self.assertFalse(is_burst(operation, 4, "none", "barrier"))
        self.assertFalse(is_burst("allreduce", 4, "none", "none"))

    def test_the_medians_of_the_limits_count(self):
        records = [self.LIMITS | {"switch": switch} for switch in (2, 9, 4)]
        self.assertEqual(least.machine(records, 50, 2).switch_us, 4)
        self.assertEqual(least.machine(records, 50, 2).hop_us, 0.05)
        self.assertEqual(least.machine(records, 50, 2).copies, self.MACHINE.copies)

    def test_limits_that_are_not_complete_are_none(self):
        lines = [("two_way", 8, 0.1), ("switch", 8, 3.0), ("memcpy", 4096, 1.0)]
        self.assertEqual(least.read_limits(lines),
                         {"two_way": 0.1, "switch": 3.0, "memcpy": {"4096": 1.0}})
        self.assertIsNone(least.read_limits(lines[:2]))
        self.assertIsNone(least.read_limits(lines[::2]))

    def page(self, folder, *records):
        """The page and its summary of a file with these records and a row of Motet at 6 us."""
        path = Path(folder) / "loop.jsonl"
        run = {"library": "motet", "setting": "default", "hops": [500, 500], "steal": 0, "why": "",
               "forms": {"blocking": dict.fromkeys(FIELDS, 6)}}
        rows = [{"row": loops.Row("bcast", 2, disturb, "none", size=4096).fields(), "round": 1,
                 "runs": [run]} for disturb in ("none", "session")]
        path.write_text("\n".join(map(json.dumps, (*records, *rows))) + "\n")
        with contextlib.redirect_stdout(io.StringIO()):
            write(LoopResults(path), Path(folder))
        return (Path(folder) / "loop.md").read_text(), \
            json.loads((Path(folder) / "loop.json").read_text())

    def test_the_page_shows_it_if_the_file_has_limits(self):
        facts = {"facts": {"cores": "2"}}
        with tempfile.TemporaryDirectory() as folder:
            page, made = self.page(folder, facts, {"limits": self.LIMITS})
            self.assertIn("| least | Motet / least |", page)
            self.assertIn("| 1.000 | 6.0 | A 500 ns |", page)
            self.assertIn("| - | - | A 500 ns |", page)
            self.assertIn("a switch of\n3.000 µs", page)
            self.assertEqual([row["least_us"] for row in made["rows"]], [1, None])
            for older in ((facts,), ({"limits": self.LIMITS},)):
                page, made = self.page(folder, *older)
                self.assertNotIn("Motet / least", page)
                self.assertIsNone(made["rows"][0]["least_us"])


if __name__ == "__main__":
    unittest.main()
