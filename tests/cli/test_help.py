# SPDX-License-Identifier: Apache-2.0
"""Help pages, the version and wrong command lines: what they say, where, and the exit status."""
import json
import unittest

from program import local_solvers, options, solvers, talus


class Help(unittest.TestCase):
    def page(self, *words):
        run = talus(*words)
        self.assertEqual((run.returncode, run.stderr), (0, ""), words)
        self.assertTrue(run.stdout.endswith("\n"))
        for line in run.stdout.splitlines():
            self.assertEqual(line, line.rstrip(), "a line ends in blanks")
            if words[0] != "--version" and words[-1] != "--version":
                self.assertLessEqual(len(line), 100, line)
        return run.stdout

    def test_without_arguments_the_usage_goes_to_stderr(self):
        run = talus()
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        for word in ("Usage:", "solve", "help", "Examples:"):
            self.assertIn(word, run.stderr)

    def test_overview(self):
        text = self.page("--help")
        self.assertEqual(text, self.page("help"))
        self.assertEqual(text, self.page("-h"))
        self.assertIn("talus solve", text)

    def test_verbs_that_the_overview_lists_exist(self):
        lines = self.page("--help").split("Verbs:\n")[1].split("\n\n")[0].splitlines()
        verbs = [line.split()[0] for line in lines]
        self.assertIn("solve", verbs)
        for verb in verbs:
            text = self.page("help", verb)
            self.assertIn(f"Usage: talus {verb}", text)
            self.assertIn("Examples:", text)
            self.assertEqual(text, self.page(verb, "--help"))


    def test_every_local_solver_has_help(self):
        names = local_solvers()
        for name in ("enum", "hybrid", "ac", "fb"):
            self.assertIn(name, names)
        for name in names:
            self.assertIn(name, self.page("help", name))

    def test_every_solver_and_option_has_help_and_is_accepted(self):
        """Setting each key to its own default must pass the checks of the table."""
        self.assertIn("nlgs", solvers())
        for solver in solvers():
            text = self.page("help", solver)
            words = []
            self.assertIn("tolerance", options(solver))
            for key in options(solver):
                # The key is followed by a default, a range and a text.
                row = next(l for l in text.splitlines() if l.startswith(f"  {key} "))
                self.assertGreaterEqual(len(row.split()), 4, row)
                words += ["--set", f"{key}={row.split()[1]}"]
            run = talus("solve", "absent.hdf5", "--solver", solver, *words)
            self.assertEqual(run.returncode, 1, f"{solver} {words}: {run.stderr}")

    def test_version(self):
        text = self.page("--version")
        self.assertTrue(text.startswith("talus "))
        facts = json.loads(self.page("--version", "--json"))
        self.assertEqual(facts, json.loads(self.page("--json", "--version")))
        for key in ("version", "commit", "compiler", "build", "simd", "features"):
            self.assertTrue(facts[key], key)
            self.assertIn(facts[key], text)
        self.assertIn("HDF5", facts["features"].upper())


class Wrong(unittest.TestCase):
    def refused(self, words, *expected):
        run = talus(*words)
        self.assertEqual(run.returncode, 2, (words, run.stderr))
        self.assertEqual(run.stdout, "", words)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertTrue(run.stderr.startswith("talus: "), run.stderr)
        for word in expected:
            self.assertIn(word, run.stderr, words)

    def test_nearest_names(self):
        self.refused(["sovle"], "'sovle'", "'solve'", "talus --help")
        self.refused(["SOLVE"], "'solve'")
        self.refused(["--versoin"], "--version", "talus --help")
        self.refused(["help", "solvrs"], "'solvers'")
        self.refused(["help", "hybird"], "'hybrid'")
        self.refused(["solve", "x", "--slover", "nlgs"], "--solver", "talus help solve")
        self.refused(["solve", "x", "--solver", "ngls"], "'nlgs'", "talus help solvers")
        self.refused(["solve", "x", "--set", "tolerence=1"], "'tolerance'", "talus help auto")
        self.refused(["solve", "x", "--nlgs.tolerence", "1"], "'tolerance'", "talus help nlgs")
        self.refused(["solve", "x", "--nlsg.tolerance", "1"], "'nlgs'", "talus help solvers")
        self.refused(["solve", "x", "--local", "hybird"], "hybird", "'hybrid'")
        self.refused(["solve", "x", "--law", "colomb"], "'coulomb'")
        self.refused(["solve", "x", "--start", "solutoin"], "'solution'")

    def test_nothing_near_is_suggested_for_nonsense(self):
        run = talus("qqqqqqqqqq")
        self.assertEqual(run.returncode, 2)
        self.assertNotIn("did you mean", run.stderr)
        self.assertIn("talus --help", run.stderr)

    def test_values(self):
        for value in ("nonsense", "", "-1", "0", "nan", "1e-8x", "1,5"):
            self.refused(["solve", "x", f"--tol={value}"], "--tol", "tolerance")
        for value in ("0.5", "-1", "many", "99999999999999999999"):
            self.refused(["solve", "x", f"--threads={value}"], "--threads", "threads")
        for value in ("-1", "soon", "nan"):
            self.refused(["solve", "x", f"--time-limit={value}"], "--time-limit", "time_limit")

    def test_shape(self):
        self.refused(["solve"], "FILE|DIR")
        self.refused(["solve", "--json"], "FILE|DIR")
        self.refused(["solve", "x", "--tol"], "--tol", "value")
        self.refused(["solve", "x", "--nlgs.tolerance"], "--nlgs.tolerance", "value")
        self.refused(["solve", "x", "--json=1"], "--json", "no value")
        self.refused(["solve", "x", "-x"], "-x")
        self.refused(["solve", "x", "--set", "tolerance"], "KEY=VALUE")
        self.refused(["solve", "x", "--set", "=1"], "KEY=VALUE")
        self.refused(["help", "solve", "solve"], "one topic")
        self.refused(["--json"], "--version")

    def test_option_of_another_solver(self):
        other = next(s for s in solvers() if s != "nlgs")
        self.refused(["solve", "x", "--solver", "nlgs", f"--{other}.tolerance", "1"], other, "--solver")


class Streams(unittest.TestCase):
    def test_full_disk(self):
        for words in (["--help"], ["--version"], ["help", "solvers"], ["help", "nlgs"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                run = talus(*words, stdout=full)
            self.assertEqual(run.returncode, 1, words)
            self.assertIn("standard output", run.stderr)


if __name__ == "__main__":
    unittest.main()
