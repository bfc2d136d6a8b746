# SPDX-License-Identifier: Apache-2.0
"""`talus solve` seen from outside, by someone who does not believe it."""
import contextlib
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from program import PROBLEMS, TALUS, objects, options, problems, solvers, talus

# Dimensions that a solver is not for.
REFUSED = {"lemke": (3, 6)}
STRINGS = ("problem", "file", "solver", "law", "outcome")
COUNTS = ("contacts", "dim", "iterations", "local_solves", "local_failures")
COUNTS += ("open", "stick", "slip")
FIGURES = ("seconds", "natural", "residual", "penetration", "tolerance", "energy", "cone", "motion")


class Case(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def check(self, o):
        """The shape of one JSON object of a problem that could be read."""
        for key in STRINGS:
            self.assertIsInstance(o[key], str, key)
        for key in COUNTS:
            self.assertIsInstance(o[key], int, key)
            self.assertGreaterEqual(o[key], 0, key)
        for key in FIGURES:
            self.assertIsInstance(o[key], (int, float), key)
        self.assertGreaterEqual(o["seconds"], 0)
        self.assertIn(o["dim"], (2, 3, 6))
        self.assertEqual(o["open"] + o["stick"] + o["slip"], o["contacts"])
        self.assertRegex(o["hash"], "^[0-9a-f]{16}$")
        if o["dof"] is None:
            self.assertIsNone(o["contacts_per_dof"])
        elif o["dof"] > 0:
            self.assertAlmostEqual(o["contacts_per_dof"], o["dim"] * o["contacts"] / o["dof"])


class Solve(Case):
    def test_all_examples_are_solved_to_the_tolerance_asked_for(self):
        for tolerance in (1e-3, 1e-8):
            run = talus("solve", PROBLEMS, "--json", "--tol", tolerance)
            self.assertEqual(run.returncode, 0, run.stderr)
            found = objects(run.stdout)
            self.assertEqual([o["problem"] for o in found], [p.stem for p in problems()])
            self.assertEqual([o["file"] for o in found], [str(p) for p in problems()])
            for o in found:
                self.check(o)
                self.assertEqual(o["outcome"], "solved")
                self.assertEqual(o["tolerance"], tolerance)
                self.assertLessEqual(o["natural"], tolerance)
            self.assertIn(f"{len(found)} of {len(found)} solved", run.stderr)

    def test_table_and_json_agree(self):
        run = talus("solve", *problems())
        rows = run.stdout.splitlines()
        found = objects(talus("solve", *problems(), "--json").stdout)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(rows), len(found) + 1)
        self.assertEqual(len({len(row) for row in rows}), 1, "columns are not aligned")
        for word in ("problem", "contacts", "outcome", "natural", "residual", "penetration"):
            self.assertIn(word, rows[0])
        for row, o in zip(rows[1:], found):
            cells = row.split()
            self.assertEqual(cells[:3], [o["problem"], str(o["dim"]), str(o["contacts"])])
            self.assertEqual(cells[3], "-" if o["dof"] is None else str(o["dof"]))
            self.assertEqual(cells[5:7], [o["solver"], o["outcome"]])
            self.assertEqual(cells[7], str(o["iterations"]))
            self.assertEqual(cells[-3], f"{o['natural']:.2e}")
            self.assertEqual(cells[-1], f"{o['penetration']:.2e}")

    def test_every_solver_runs_and_is_judged_alike(self):
        files = [PROBLEMS / f"{name}.hdf5" for name in ("arch", "chain-links", "sand-6", "stack")]
        for solver in solvers():
            run = talus("solve", *files, "--json", "--solver", solver, "--tol", "1e-3",
                        "--time-limit", "20")
            for o in objects(run.stdout):
                self.assertEqual(o["solver"], solver)
                if o["dim"] in REFUSED.get(solver, ()):
                    self.assertRegex(o["outcome"], f"^error: {solver}: .*nlgs")
                    continue
                self.check(o)
                if o["outcome"] == "solved":
                    self.assertLessEqual(o["natural"], 1e-3)
            solved = all(o["outcome"] == "solved" for o in objects(run.stdout))
            self.assertEqual(run.returncode, 0 if solved else 1)

    def test_options_reach_the_solver_and_the_last_one_counts(self):
        file = problems()[0]
        for words, expected in (
            (["--set", "tolerance=1e-2"], 1e-2),
            (["--nlgs.tolerance", "1e-2"], 1e-2),
            (["--nlgs.tolerance=1e-2"], 1e-2),
            (["--tol", "1e-9", "--nlgs.tolerance", "1e-2"], 1e-2),
            (["--nlgs.tolerance", "1e-2", "--tol", "1e-9"], 1e-9),
        ):
            run = talus("solve", *words, file, "--json")
            self.assertEqual(objects(run.stdout)[0]["tolerance"], expected, words)

    def test_same_bits_for_any_thread_count(self):
        hashes = set()
        for threads in (1, 2, 3, 8, 1):
            run = talus("solve", PROBLEMS, "--json", "--threads", threads)
            found = objects(run.stdout)
            self.assertEqual({o["threads"] for o in found}, {threads})
            hashes.add(tuple(o["hash"] for o in found))
        self.assertEqual(len(hashes), 1)

    def test_law(self):
        """The relaxation differs from true friction as soon as something slides."""
        true = objects(talus("solve", PROBLEMS, "--json", "--law", "coulomb").stdout)
        plain = objects(talus("solve", PROBLEMS, "--json").stdout)
        convex = objects(talus("solve", PROBLEMS, "--json", "--law", "associated").stdout)
        self.assertEqual([o["hash"] for o in true], [o["hash"] for o in plain])
        self.assertEqual({o["law"] for o in convex}, {"associated"})
        self.assertEqual({o["outcome"] for o in convex}, {"solved"})
        sliding = [i for i, o in enumerate(true) if o["slip"] > 0]
        self.assertTrue(sliding, "the examples should hold a sliding contact")
        self.assertTrue(any(true[i]["hash"] != convex[i]["hash"] for i in sliding))

    def test_not_solved_is_told_and_fails(self):
        """No double reaches 1e-300 unless by luck: what is not solved must not be called so."""
        run = talus("solve", PROBLEMS, "--json", "--tol", "1e-300", "--time-limit", "0.02")
        found = objects(run.stdout)
        bad = [o for o in found if o["outcome"] != "solved"]
        self.assertTrue(bad)
        for o in found:
            self.check(o)
            self.assertTrue(o["outcome"] != "solved" or o["natural"] <= 1e-300)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"{len(found) - len(bad)} of {len(found)} solved", run.stderr)

    def test_verbose_goes_to_stderr(self):
        quiet = talus("solve", problems()[0])
        loud = talus("solve", problems()[0], "--verbose")
        self.assertIn("iteration", loud.stderr)
        self.assertNotIn("iteration", quiet.stderr)
        self.assertEqual(len(loud.stdout.splitlines()), len(quiet.stdout.splitlines()))


class Input(Case):
    def failed(self, path, *expected):
        """A path that cannot be solved is one object among the others, and the others still run."""
        good = problems()[0]
        run = talus("solve", "--json", path, good)
        self.assertEqual(run.returncode, 1, run.stderr)
        bad, fine = objects(run.stdout)
        self.assertEqual(fine["outcome"], "solved")
        self.assertTrue(bad["outcome"].startswith("error: "), bad["outcome"])
        self.assertEqual(set(bad), set(fine))
        self.assertIsNone(bad["natural"])
        self.assertIn("1 of 2 solved", run.stderr)
        for word in (str(path), *expected):
            self.assertIn(word, bad["outcome"])
            self.assertIn(word, run.stderr)
        row = talus("solve", path).stdout.splitlines()[1]
        self.assertIn("error: ", row)

    def test_missing(self):
        self.failed(self.room / "absent.hdf5", "No such file")

    def test_text(self):
        path = self.room / "text.hdf5"
        path.write_text("not a problem\n" * 100, encoding="ascii")
        self.failed(path)

    def test_empty(self):
        path = self.room / "empty.hdf5"
        path.touch()
        self.failed(path)

    def test_cut_off(self):
        data = problems()[0].read_bytes()
        for part in (9, len(data) // 2, len(data) - 1):
            path = self.room / "cut.hdf5"
            path.write_bytes(data[:part])
            self.failed(path)

    def test_damaged_anywhere_never_kills(self):
        data = problems()[0].read_bytes()
        path = self.room / "damaged.hdf5"
        step = max(1, len(data) // 30)
        for at in range(0, len(data), step):
            path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
            run = talus("solve", "--json", path, "--time-limit", "1")
            self.assertIn(run.returncode, (0, 1), f"byte {at}: {run.stderr}")
            self.assertEqual(len(objects(run.stdout)), 1)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_unreadable(self):
        path = self.room / "secret.hdf5"
        shutil.copy(problems()[0], path)
        path.chmod(0)
        self.failed(path)

    def test_directory_without_problems(self):
        self.failed(self.room, "*.hdf5")

    def test_directory_is_sorted_and_not_searched_below(self):
        for name in ("b.hdf5", "a.h5", "C.hdf5", ".hidden.hdf5", "note.txt", "below/d.hdf5"):
            (self.room / name).parent.mkdir(exist_ok=True)
            shutil.copy(problems()[0], self.room / name)
        for path in (self.room, f"{self.room}/"):
            found = objects(talus("solve", "--json", path).stdout)
            self.assertEqual([o["problem"] for o in found], ["C", "a", "b"])

    def test_names_that_are_hard_to_print(self):
        for name in ('quote".hdf5', "back\\slash.hdf5", "line\nfeed.hdf5", "größe.hdf5"):
            shutil.copy(problems()[0], self.room / name)
            found = objects(talus("solve", "--json", self.room / name).stdout)
            self.assertEqual(found[0]["file"], str(self.room / name))
        name = os.fsencode(self.room) + b"/bytes\xff\xc3.hdf5"
        shutil.copy(problems()[0], name)
        run = subprocess.run([TALUS, "solve", "--json", name], stdout=subprocess.PIPE, check=True,
                             stderr=subprocess.DEVNULL, timeout=60)
        self.assertEqual(objects(run.stdout.decode("utf-8"))[0]["problem"], "bytes\ufffd\ufffd")

    def test_name_like_an_option(self):
        shutil.copy(problems()[0], self.room / "--json.hdf5")
        run = talus("solve", "--json", "--", "--json.hdf5", cwd=self.room)
        self.assertEqual((run.returncode, objects(run.stdout)[0]["problem"]), (0, "--json"))


class Output(Case):
    def test_full_disk(self):
        for words in ([], ["--json"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                run = talus("solve", problems()[0], *words, stdout=full)
            self.assertEqual(run.returncode, 1)
            self.assertIn("standard output", run.stderr)

    def test_closed_pipe(self):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as pipe:
            run = talus("solve", problems()[0], stdout=pipe)
        self.assertEqual(run.returncode, 1)
        self.assertIn("standard output", run.stderr)

    def test_closed_stdout_does_not_reach_a_file(self):
        copy, out = self.room / "copy.hdf5", self.room / "out.hdf5"
        shutil.copy(problems()[0], copy)
        run = subprocess.run(["sh", "-c", '"$0" solve "$1" --out "$2" >&-', TALUS, copy, out],
                             stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("standard output", run.stderr)
        self.assertEqual(copy.read_bytes(), problems()[0].read_bytes())
        self.assertEqual(talus("solve", out).returncode, 0)

    def test_solution_goes_round(self):
        out = f"{self.room}/solved/"
        first = talus("solve", PROBLEMS, "--json", "--out", out)
        self.assertEqual(first.returncode, 0, first.stderr)
        again = talus("solve", out, "--json")
        warm = talus("solve", out, "--json", "--start", "solution")
        self.assertNotIn("starting from zero", warm.stderr)
        runs = [objects(run.stdout) for run in (first, again, warm)]
        self.assertEqual({len(run) for run in runs}, {len(problems())})
        for a, b, c in zip(*runs):
            self.assertEqual(b["hash"], a["hash"], "problem has changed")
            self.assertEqual(c["outcome"], "solved")
            self.assertLessEqual(c["iterations"], 2)
            self.assertEqual([c[k] for k in ("problem", "dim", "contacts", "dof")],
                             [a[k] for k in ("problem", "dim", "contacts", "dof")])

    def test_start_that_is_missing_is_told(self):
        out = self.room / "solved.hdf5"
        talus("solve", problems()[0], "--out", out)
        run = talus("solve", out, "--json", "--start", "guess")
        if "starting from zero" in run.stderr:
            plain = talus("solve", out, "--json", "--start", "zero")
            self.assertEqual(objects(run.stdout)[0]["hash"], objects(plain.stdout)[0]["hash"])
        self.assertEqual(run.returncode, 0)

    def test_directory(self):
        out = self.room / "new"
        run = talus("solve", PROBLEMS, "--out", f"{out}/", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(p.name for p in out.iterdir()),
                         [p.stem + ".hdf5" for p in problems()])
        self.assertEqual(talus("solve", PROBLEMS, "--out", out).returncode, 0, "existing one")

    def refused(self, status, *words):
        run = talus("solve", *words)
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        self.assertIn("--out", run.stderr)

    def test_refused_before_anything_is_solved(self):
        copy = self.room / "copy.hdf5"
        shutil.copy(problems()[0], copy)
        self.refused(2, copy, "--out", copy)
        self.refused(2, self.room, "--out", self.room)
        (self.room / "link.hdf5").symlink_to(copy)
        self.refused(2, copy, "--out", self.room / "link.hdf5")
        os.link(copy, self.room / "hard.hdf5")
        self.refused(2, copy, "--out", self.room / "hard.hdf5")
        self.refused(2, copy, problems()[0], "--out", self.room / "one.hdf5")
        self.refused(2, copy, copy, "--out", f"{self.room}/twice/")
        self.refused(2, copy, "--out", "")
        self.refused(1, copy, "--out", self.room / "absent" / "out.hdf5")
        self.assertEqual(copy.read_bytes(), problems()[0].read_bytes())

    def test_a_device_is_not_replaced(self):
        fifo = self.room / "fifo"
        os.mkfifo(fifo)
        self.refused(2, problems()[0], "--out", fifo)
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_unwritable_directory(self):
        self.room.chmod(0o500)
        run = talus("solve", problems()[0], "--json", "--out", self.room / "out.hdf5")
        self.room.chmod(0o700)
        self.assertEqual(run.returncode, 1)
        self.assertTrue(objects(run.stdout)[0]["outcome"].startswith("error: "))


class Interrupt(Case):
    def endless(self):
        """Words that keep nlgs busy: a tolerance out of reach, no limit on the iterations."""
        words = ["--solver", "nlgs", "--tol", "1e-300"]
        for key in options("nlgs"):
            if key == "iterations":
                words += ["--set", f"{key}=2000000000"]
            if key == "patience":
                words += ["--set", f"{key}=0"]
        return words

    @contextlib.contextmanager
    def busy(self, *more):
        """A run that has been solving one problem for a quarter of a second."""
        for file in problems():
            run = subprocess.Popen(
                [TALUS, "solve", file, problems()[0], "--json", *self.endless(), *more],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                run.wait(0.25)
                run.communicate()
            except subprocess.TimeoutExpired:
                try:
                    yield run, file
                finally:
                    run.kill()
                    run.communicate()
                return
        self.fail("no example keeps the solver busy for a quarter of a second")

    def test_the_first_signal_keeps_the_best_iterate(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            out = self.room / f"out{number}"
            with self.busy("--out", f"{out}/") as (run, file):
                begun = time.monotonic()
                run.send_signal(number)
                text, errors = run.communicate(timeout=10)
                self.assertLess(time.monotonic() - begun, 2.0)
            self.assertEqual(run.returncode, 1)
            (o,) = objects(text)
            self.check(o)
            self.assertEqual(o["outcome"], "cancelled")
            self.assertLess(o["natural"], 1e-2, "the best iterate was not kept")
            self.assertIn("1 not begun", errors)
            self.assertEqual([p.stem for p in out.iterdir()], [file.stem])

    def test_later_problems_are_not_begun(self):
        files = [problems()[0].name] * 5000
        with subprocess.Popen([os.path.abspath(TALUS), "solve", "--json", *files], cwd=PROBLEMS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            run.stdout.readline()
            run.send_signal(signal.SIGINT)
            text, errors = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 1)
        self.assertLess(len(text.splitlines()), len(files) - 1)
        self.assertIn("not begun", errors)


if __name__ == "__main__":
    unittest.main()
