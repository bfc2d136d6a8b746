# SPDX-License-Identifier: Apache-2.0
"""`talus bench` seen from outside: the table, the numbers behind the page, going on, comparing."""
import csv
import html
import io
import json
import math
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from program import PROBLEMS, TALUS, objects, problems, solvers, talus

COLUMNS = ("library solver problem kind dim contacts dof tolerance outcome iterations seconds natural "
           "residual penetration repeats threads time_limit").split()
SOLVERS = ["jacobi", "nlgs", "apgd-asr"]
QUICK = [PROBLEMS / f"{name}.hdf5" for name in ("cube-slides", "arch", "chain", "tensor-6")]


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page_data(path):
    """The numbers of a page, and the page itself."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return objects(block.replace("\n", ""))[0], text


def solved(row):
    return row["outcome"] == "solved" and (
        row["natural"] == "" or float(row["natural"]) <= float(row["tolerance"]))


class Case(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def bench(self, *words, status=0, **more):
        run = talus("bench", *words, cwd=self.room, **more)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def table(self, name="bench.csv"):
        return rows(self.room / name)

    def check_profiles(self, table, data):
        """Dolan and Moré's profiles from the table alone, against the numbers in the page."""
        own = [r for r in table if r["library"] == "talus"]
        tolerances = sorted({float(r["tolerance"]) for r in own}, reverse=True)
        names = list(dict.fromkeys(r["problem"] for r in own))
        times = {}
        for r in table:
            if r["problem"] in names and float(r["tolerance"]) in tolerances and solved(r):
                key = (r["library"], r["solver"], float(r["tolerance"]), r["problem"])
                times[key] = float(r["seconds"])
        least = {}
        for (_, _, t, p), seconds in times.items():
            least[t, p] = min(least.get((t, p), math.inf), seconds)
        self.assertEqual(data["tolerances"], tolerances)
        self.assertEqual(data["problems"], names)
        self.assertEqual({(s["library"], s["solver"]) for s in data["series"]},
                         {(r["library"], r["solver"]) for r in table if r["problem"] in names})
        for s in data["series"]:
            score = 0
            for k, t in enumerate(tolerances):
                ratios = sorted(times[key] / least[t, p] for p in names
                                if (key := (s["library"], s["solver"], t, p)) in times)
                self.assertEqual(s["solved"][k], len(ratios))
                self.assertEqual(len(s["profile"][k]), len(ratios))
                for i, (ratio, (tau, share)) in enumerate(zip(ratios, s["profile"][k])):
                    self.assertAlmostEqual(tau, ratio, delta=1e-12 * ratio)
                    self.assertAlmostEqual(share, (i + 1) / len(names), places=14)
                score += sum(max(0, 1 - math.log10(r) / 2) for r in ratios)
            self.assertAlmostEqual(s["score"], score / len(names) / len(tolerances), places=12)
        scores = [s["score"] for s in data["series"]]
        self.assertEqual(scores, sorted(scores, reverse=True))


class Run(Case):
    def test_table_page_and_summary_agree(self):
        run = self.bench(PROBLEMS, "--solvers", ",".join(SOLVERS), "--tol", "1e-2,1e-3",
                         "--repeats", "1", "--time-limit", "1", "--svg", "profile.svg")
        table = self.table()
        self.assertEqual(list(table[0]), COLUMNS)
        names = [p.stem for p in problems()]
        self.assertEqual([(r["problem"], r["solver"], float(r["tolerance"])) for r in table],
                         [(p, s, t) for p in names for s in SOLVERS for t in (1e-2, 1e-3)])
        for r in table:
            self.assertEqual((r["library"], r["threads"], r["time_limit"], r["repeats"]),
                             ("talus", "1", "1", "1"))
            self.assertEqual(r["kind"] == "local", r["dof"] == "")
            self.assertLessEqual(float(r["natural"]), float(r["tolerance"]))
            self.assertGreater(float(r["seconds"]), 0)
        data, text = page_data(self.room / "bench.html")
        self.check_profiles(table, data)
        self.assertEqual(data["columns"], COLUMNS)
        self.assertEqual([["" if v is None else str(v) for v in r[:3]] for r in data["rows"]],
                         [[r[c] for c in COLUMNS[:3]] for r in table])
        for j, c in enumerate(COLUMNS):
            if not data["text"][j]:
                self.assertEqual([r[j] for r in data["rows"]],
                                 [float(r[c]) if r[c] else None for r in table], c)
        # one curve per solver and tolerance, nothing from elsewhere
        for k in range(2):
            (plot,) = re.findall(r'<svg[^>]*class="plot profile"[^>]*"tolerance":%d.*?</svg>' % k, text,
                                 re.S)
            self.assertEqual(len(re.findall(r'<path class="line k\d"', plot)), len(SOLVERS))
        self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), r"https?:|src=|@import|url\(")
        alone = (self.room / "profile.svg").read_text("utf-8")
        self.assertIn("</svg>", alone)
        self.assertNotIn("var(", alone)  # which not every viewer knows
        for mark in set(re.findall(r'class="line (k\d)"', alone)):
            self.assertRegex(alone, r"\.line\.%s \{ fill: none; stroke: #[0-9a-f]{6};" % mark)
        # the summary: best first
        lines = run.stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]], [s["solver"] for s in data["series"]])
        self.assertIn(f"{len(names)} of {len(names)}", lines[1])
        # progress: a plain line per problem
        for name in names:
            self.assertIn(f"{name}: {2 * len(SOLVERS)} of {2 * len(SOLVERS)} solved", run.stderr)
        self.assertIn("left", run.stderr)
        self.assertNotIn("\r", run.stderr)

    def test_the_curve_is_the_profile(self):
        """Steps of the drawn path, scaled back, are those of the data."""
        self.bench(*QUICK, "--solvers", "nlgs,jacobi", "--tol", "1e-4")
        data, text = page_data(self.room / "bench.html")
        axes = json.loads(html.unescape(re.search(r"data-axes='(.*?)'", text).group(1)))
        for k, s in enumerate(data["series"]):
            path = re.search(r'<path class="line k\d" data-k="%d"[^>]* d="(M[^"]*)"><title>' % k, text)
            y = axes["bottom"]
            steps = []
            for x, v in re.findall(r"H([\d.]+)V([\d.]+)", path.group(1)):
                tau = axes["most"] ** ((float(x) - axes["left"]) / (axes["right"] - axes["left"]))
                share = (y - float(v)) / (axes["bottom"] - axes["top"])
                steps.append((tau, share))
            expected = {}
            for tau, share in s["profile"][0]:
                expected[tau] = share
            self.assertEqual(len(steps), len(expected))
            for got, (tau, share) in zip(steps, expected.items()):
                self.assertAlmostEqual(got[0] / tau, 1, delta=1e-3)
                self.assertAlmostEqual(got[1], share, delta=1e-3)

    def test_all_solvers_and_usual_tolerances(self):
        self.bench(PROBLEMS / "cube-slides.hdf5")
        self.assertEqual([(r["solver"], float(r["tolerance"])) for r in self.table()],
                         [(s, t) for s in solvers() for t in (1e-4, 1e-8)])
        # short solves are repeated until 20 ms or five times
        for r in self.table():
            if r["outcome"] == "not for this problem":
                self.assertEqual((r["solver"], r["repeats"]), ("lemke", ""))
                continue
            spent = int(r["repeats"]) * float(r["seconds"])
            self.assertTrue(r["repeats"] == "5" or spent > 1e-3, r)

    def test_options_behind_the_name(self):
        """They are set: one sweep does not solve, and each choice has rows of its own."""
        names = ["nlgs", "nlgs:local=enum", "nlgs:iterations=1:local=fb"]
        self.bench(PROBLEMS / "arch.hdf5", "--solvers", ",".join(names), "--tol", "1e-8")
        table = {r["solver"]: r for r in self.table()}
        self.assertEqual(list(table), names)
        self.assertEqual([solved(table[n]) for n in names], [True, True, False])
        self.assertEqual(table[names[2]]["iterations"], "1")
        self.bench(PROBLEMS / "arch.hdf5", "--solvers", ",".join(names), "--tol", "1e-8", "--resume")
        self.assertEqual(len(self.table()), 3)

    def test_unsolved_is_a_result(self):
        run = self.bench(PROBLEMS / "hard" / "squeezed.hdf5", QUICK[0], "--solvers", "nlgs,vi-eg",
                         "--tol", "1e-4", "--time-limit", "0.1")
        first = [r for r in self.table() if r["problem"] == "squeezed"]
        self.assertEqual(len(first), 2)
        for r in first:
            self.assertIn(r["outcome"], ("time limit", "stalled", "diverged"))
            self.assertEqual(r["repeats"], "1")
        self.assertIn("1 of 2", run.stdout)
        data, text = page_data(self.room / "bench.html")
        self.check_profiles(self.table(), data)
        self.assertIn("1 of 2 problems was solved by nobody", text)

    def test_unreadable_file_fails_and_the_rest_runs(self):
        (self.room / "bad.hdf5").write_text("no problem\n", encoding="ascii")
        run = self.bench("bad.hdf5", "absent.hdf5", QUICK[0], "--solvers", "nlgs", status=1)
        self.assertIn("bad.hdf5", run.stderr)
        self.assertIn("absent.hdf5: No such file", run.stderr)
        self.assertEqual({r["problem"] for r in self.table()}, {"cube-slides"})

    def test_odd_names(self):
        name = 'a,"b"<i>\n.hdf5'
        shutil.copy(QUICK[0], self.room / name)
        self.bench(name, "--solvers", "nlgs", "--tol", "1e-4")
        self.assertEqual([r["problem"] for r in self.table()], [name[:-5]])
        data, text = page_data(self.room / "bench.html")
        self.assertEqual(data["problems"], [name[:-5]])
        self.assertNotIn("<i>", text)
        self.bench(name, "--solvers", "nlgs", "--tol", "1e-4", "--resume")
        self.assertEqual(len(self.table()), 1)

    def test_progress_on_a_terminal(self):
        master, slave = pty.openpty()
        # What no machine is fast enough for: each solve takes all of its time.
        with subprocess.Popen([TALUS, "bench", PROBLEMS / "packing-2d.hdf5", "--solvers",
                               "pgd,vi-eg", "--tol", "1e-18", "--time-limit", "0.7"], cwd=self.room,
                              stdout=subprocess.DEVNULL, stderr=slave):
            os.close(slave)
            text = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
        os.close(master)
        self.assertRegex(text.decode(), r"\r\[\d+ %, about \d+ (s|min) left\] [a-z-]+ 1e-18, packing-2d: iteration \d")


class GoOn(Case):
    def test_resume_runs_only_what_is_missing(self):
        words = [*QUICK, "--tol", "1e-4"]
        self.bench(*words, "--solvers", "nlgs")
        before = (self.room / "bench.csv").read_bytes()
        run = self.bench(*words, "--solvers", "jacobi,nlgs", "--resume")
        after = (self.room / "bench.csv").read_bytes()
        self.assertTrue(after.startswith(before))
        self.assertEqual([r["solver"] for r in self.table()], ["nlgs"] * 4 + ["jacobi"] * 4)
        self.assertIn("4 of 4 solves done", run.stderr)
        data, _ = page_data(self.room / "bench.html")
        self.check_profiles(self.table(), data)
        self.bench(*words, "--solvers", "jacobi,nlgs", "--resume")
        self.assertEqual((self.room / "bench.csv").read_bytes(), after)

    def test_row_cut_off(self):
        words = [*QUICK, "--tol", "1e-4", "--solvers", "nlgs"]
        self.bench(*words)
        path = self.room / "bench.csv"
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        run = self.bench(*words, "--resume")
        self.assertIn("cut off", run.stderr)
        self.assertEqual([r["problem"] for r in self.table()], [p.stem for p in QUICK])
        self.assertEqual(path.read_bytes().count(b"\n"), whole.count(b"\n"))

    def test_old_results_are_kept_aside(self):
        words = [QUICK[0], "--tol", "1e-4", "--solvers", "nlgs"]
        self.bench(*words)
        before = (self.room / "bench.csv").read_bytes()
        run = self.bench(*words)
        self.assertEqual((self.room / "bench.csv.old").read_bytes(), before)
        self.assertIn("bench.csv.old", run.stderr)
        self.assertEqual(len(self.table()), 1)

    def test_interrupt(self):
        words = ["bench", QUICK[0], PROBLEMS / "hard" / "squeezed.hdf5", "--solvers", "nlgs,vi-eg",
                 "--tol", "1e-4"]
        with subprocess.Popen([TALUS, *words, "--time-limit", "60"], cwd=self.room, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            until = time.monotonic() + 20
            path = self.room / "bench.csv"
            while time.monotonic() < until:
                if path.exists() and path.read_text("utf-8").count("\n") == 4:
                    break
                time.sleep(0.01)
            time.sleep(0.1)
            begun = time.monotonic()
            run.send_signal(signal.SIGINT)
            _, errors = run.communicate(timeout=10)
            self.assertLess(time.monotonic() - begun, 2.0)
        self.assertEqual(run.returncode, 1, errors)
        self.assertIn("--resume", errors)
        self.assertEqual([r["solver"] for r in self.table()], ["nlgs", "vi-eg", "nlgs"])
        data, text = page_data(self.room / "bench.html")
        self.check_profiles(self.table(), data)
        self.assertIn("1 not run", text)
        self.bench(*words[1:], "--resume", "--time-limit", "0.05")
        self.assertEqual([r["solver"] for r in self.table()], ["nlgs", "vi-eg"] * 2)


class Compare(Case):
    HEAD = "problem,seconds,tolerance,outcome,library,solver,natural,note"

    def other(self, *lines, name="other.csv", head=HEAD):
        (self.room / name).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")

    def test_overlay(self):
        self.other("# measured elsewhere",
                   "arch,1e-7,1e-4,solved,lib,gs,1e-5,fast",
                   "chain,2e3,1e-4,solved,lib,gs,,slow",
                   "tensor-6,,1e-4,not for this problem,lib,gs,,",
                   'cube-slides,1e-9,1e-4,solved,lib,gs,1e-3,"not, in truth"',
                   "elsewhere,1,1e-4,solved,lib,gs,,", "arch,1,1e-7,solved,lib,gs,,")
        run = self.bench(*QUICK, "--tol", "1e-4", "--solvers", "nlgs", "--compare", "other.csv")
        self.assertIn("2 of 6 rows", run.stderr)
        data, text = page_data(self.room / "bench.html")
        keys = ("library", "solver", "problem", "tolerance", "outcome", "seconds", "natural")
        table = self.table()
        with open(self.room / "other.csv", encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("#")]
        table += [{k: r[k] for k in keys} for r in csv.DictReader(io.StringIO("".join(lines)))]
        self.check_profiles(table, data)
        theirs = next(s for s in data["series"] if s["library"] == "lib")
        self.assertEqual((theirs["label"], theirs["solved"], theirs["run"]), ("lib gs", [2], [4]))
        self.assertEqual(theirs["profile"][0][0], [1, 0.25])
        self.assertIn("lib gs", text)
        self.assertNotIn("lib,gs", (self.room / "bench.csv").read_text("utf-8"))

    def test_another_run_of_talus_goes_by_its_file(self):
        words = [*QUICK, "--tol", "1e-4", "--solvers", "nlgs"]
        self.bench(*words, "--csv", "before.csv")
        self.bench(*words, "--compare", "before.csv")
        data, _ = page_data(self.room / "bench.html")
        self.assertEqual({s["label"] for s in data["series"]}, {"nlgs", "before nlgs"})

    def refused(self, lines, *expected, head=HEAD):
        self.other(*lines, head=head)
        run = self.bench(QUICK[0], "--solvers", "nlgs", "--compare", "other.csv", status=1)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for word in ("other.csv", *expected):
            self.assertIn(word, run.stderr)
        self.assertFalse((self.room / "bench.csv").exists(), "something was run")

    def test_bad_files_are_named_by_line_and_column(self):
        good = "arch,1e-3,1e-4,solved,lib,gs,,"
        self.refused([good, "arch,soon,1e-8,solved,lib,gs,,"], ":3:", "'seconds'", "'soon'")
        self.refused([good, "arch,1,0,solved,lib,gs,,"], ":3:", "'tolerance'")
        self.refused(["#", "", "arch,,1e-4,solved,lib,gs,,"], ":4:", "'seconds'")
        self.refused(["arch,-1,1e-4,solved,lib,gs,,"], ":2:", "'seconds'")
        self.refused([",1,1e-4,solved,lib,gs,,"], ":2:", "'problem'")
        self.refused([good, "arch,1"], ":3:", "2 fields", "8 columns")
        self.refused([good, good], ":3:", "before")
        self.refused(['"arch\n,1'], ":2:", "quotation mark")
        self.refused([good], ":1:", "'seconds'", head=self.HEAD.replace("seconds", "time"))
        self.refused([good], ":1:", "'problem'", "twice", head=self.HEAD.replace("note", "problem"))
        (self.room / "other.csv").unlink()
        run = self.bench(QUICK[0], "--compare", "other.csv", status=1)
        self.assertIn("other.csv: No such file", run.stderr)


class Wrong(Case):
    def refused(self, words, *expected, status=2):
        run = talus("bench", *words, cwd=self.room)
        self.assertEqual((run.returncode, run.stdout), (status, ""), (words, run.stderr))
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for word in expected:
            self.assertIn(word, run.stderr, words)
        self.assertEqual([p.name for p in self.room.glob("bench.*")], [])

    def test_usage(self):
        file = QUICK[0]
        self.refused([], "FILE|DIR")
        self.refused([file, "--solvers", "ngls"], "'nlgs'", "talus help solvers")
        self.refused([file, "--solvers", "nlgs,"], "solver ''")
        self.refused([file, "--solvers", "nlgs,nlgs"], "twice")
        self.refused([file, "--solvers", "ngls:local=fb"], "'nlgs'")
        self.refused([file, "--solvers", "nlgs:lokal=fb"], "lokal", "'local'")
        self.refused([file, "--solvers", "nlgs:local=bf"], "bf", "did you mean")
        self.refused([file, "--solvers", "nlgs:local"], "NAME:KEY=VALUE")
        self.refused([file, "--tol", "1e-4,tiny"], "--tol", "tiny")
        self.refused([file, "--tol", "1e-4,0.0001"], "--tol", "twice")
        self.refused([file, "--tol", "0"], "--tol")
        self.refused([file, "--time-limit", "-1"], "--time-limit")
        self.refused([file, "--threads", "none"], "--threads")
        for value in ("0", "1.5", "many", "-1"):
            self.refused([file, "--repeats", value], "--repeats", "whole number")
        self.refused([file, "--resme"], "--resume")
        self.refused([file, file], "cube-slides", "rename")
        self.refused([file, "--csv", "x", "--html", "x"], "--csv", "--html")
        self.refused([file, "--csv", ""], "--csv")
        self.refused([file, "--csv", file], "--csv", "replace")
        self.refused([file, "--html", "absent/x.html"], "--html", "absent", status=1)

    def test_results_that_cannot_be_written(self):
        run = self.bench(QUICK[0], "--solvers", "nlgs", "--html", "/dev/full", status=2)
        self.assertIn("not a plain file", run.stderr)
        run = self.bench(QUICK[0], "--solvers", "nlgs", "--resume", "--csv", "wrong.csv")
        (self.room / "wrong.csv").write_text("a,b\n1,2\n", encoding="ascii")
        run = self.bench(QUICK[0], "--solvers", "nlgs", "--resume", "--csv", "wrong.csv", status=1)
        self.assertIn("wrong.csv:1:", run.stderr)
        self.assertEqual((self.room / "wrong.csv").read_text("ascii"), "a,b\n1,2\n")


if __name__ == "__main__":
    unittest.main()
