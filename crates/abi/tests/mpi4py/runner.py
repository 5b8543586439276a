"""Runs the test suite of mpi4py, which stays as it is, and writes down what came of each test.

    python runner.py SUITE RESULTS LIMIT_S [ARGUMENTS OF THE SUITE]...

SUITE is the folder of its tests. Each rank writes RESULTS/RANK.tsv, line by line: `begin`, the
test and the time since the start; then its outcome, the test, and the reason of a skip or the text
of a failure. A test that takes longer than LIMIT_S is a hang: all threads are shown, and the job
ends.
"""

import faulthandler
import os
import sys
import time
import unittest

RESULTS, LIMIT_S = "", 60.0
START = time.monotonic()


class Results(unittest.TextTestResult):
    """What came of each test, also as lines in a file."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        from mpi4py import MPI

        name = f"{MPI.COMM_WORLD.Get_rank()}.tsv"
        self.lines = open(os.path.join(RESULTS, name), "w", encoding="utf-8")

    def write(self, outcome, test, text=""):
        text = " ".join(text.split("\n")).replace("\t", " ")
        self.lines.write(f"{outcome}\t{test.id()}\t{text}\n")
        self.lines.flush()

    def startTest(self, test):
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        self.write("begin", test, f"{time.monotonic() - START:.3f}")
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        faulthandler.cancel_dump_traceback_later()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.write("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.write("skip", test, reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.write("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.write("fail", test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.write("error", test, self.errors[-1][1])

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.write("fail", test, "unexpected success")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.write("fail", test, f"{subtest}: {err[1]}")

    def stopTestRun(self):
        super().stopTestRun()
        self.lines.write(f"end\t{self.testsRun}\t{time.monotonic() - START:.3f}\n")
        self.lines.close()


class Runner(unittest.TextTestRunner):
    resultclass = Results


def main():
    global RESULTS, LIMIT_S
    suite_folder, RESULTS, LIMIT_S = sys.argv[1], sys.argv[2], float(sys.argv[3])
    faulthandler.enable()
    sys.dont_write_bytecode = True
    sys.path.insert(0, suite_folder)
    import main as suite

    suite.main(module=None, argv=["main.py", *sys.argv[4:]], testRunner=Runner)


if __name__ == "__main__":
    main()
