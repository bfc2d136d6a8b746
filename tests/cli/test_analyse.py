# SPDX-License-Identifier: Apache-2.0
"""`talus analyse` seen from outside: the three forms of its tables, what it refuses, and numbers put
down at every step."""
import csv
import io
import math
import os
import pathlib
import sys
import tempfile
import unittest

from program import objects, talus

try:
    import h5py
except ImportError:
    # The package of the system belongs to the system's Python, which need not be the first one.
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system, *sys.argv])
    h5py = None

# A pile of three disks of 1 kg and one beside it, at rest on a floor.
PILE = """\
version: 1
title: A pile
dimension: 2
gravity: [0, -10]
materials: {grain: {friction: 0.5}}
bodies:
  - {name: floor, shape: half-space, material: grain}
  - {shape: sphere, radius: 0.1, at: [0, 0.1], mass: 1, material: grain}
  - {shape: sphere, radius: 0.1, at: [0, 0.3], mass: 1, material: grain}
  - {shape: sphere, radius: 0.1, at: [0, 0.5], mass: 1, material: grain}
  - {shape: sphere, radius: 0.1, at: [1, 0.1], mass: 1, material: grain}
step: {length: 2 ms}
run: {until: 0.02}
output: {every: 2 ms, precision: double, observe: [pressure, coordination, wall_force_y]}
"""


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.room = pathlib.Path(room.name)
        (cls.room / "pile.yaml").write_text(PILE)
        run = talus("run", "pile.yaml", "--quiet", cwd=cls.room)
        assert run.returncode == 0, run.stderr

    def analyse(self, *words):
        run = talus("analyse", "pile.h5", *words, cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def tables(self, *words):
        (found,) = objects(self.analyse("--json", *words))
        self.assertEqual(found["recording"], "pile.h5")
        return {t["name"]: t for t in found["tables"]}

    def column(self, table, name):
        at = [c["name"] for c in table["columns"]].index(name)
        return [row[at] for row in table["rows"]]

    def refused(self, *words, code=2, says=""):
        run = talus("analyse", *words, cwd=self.room)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertIn(says, run.stderr)


class Tables(Case):
    def test_known_numbers(self):
        t = self.tables()
        # contacts carry 30, 20 and 10 N, and 10 N
        self.assertAlmostEqual(self.column(t["wall_floor"], "force_y")[-1], -40, places=3)
        self.assertAlmostEqual(self.column(t["forces"], "force_most")[-1], 30, places=3)
        self.assertAlmostEqual(self.column(t["forces"], "force_mean")[-1], 17.5, places=3)
        # three neighbours of pairs and two of the floor, for four grains
        self.assertAlmostEqual(self.column(t["coordination"], "coordination")[-1], 6 / 4)
        box = 1.2 * 0.6
        self.assertAlmostEqual(self.column(t["solid"], "solid_fraction")[-1],
                               4 * math.pi * 0.01 / box, places=6)
        # Σ l f: 0.1 30 + 0.2 20 + 0.2 10 + 0.1 10
        self.assertAlmostEqual(self.column(t["stress"], "stress_yy")[-1], 10 / box, places=3)
        self.assertEqual(len(t["stress"]["rows"]), 11)
        self.assertEqual(t["stress"]["columns"][1]["unit"], "N/m")
        self.assertNotIn("discharge", t)

    def test_subjects_and_times(self):
        t = self.tables("stress", "solid", "--from", "0.01", "--until", "0.0161", "--every", "2")
        self.assertEqual(set(t), {"stress", "stress_ratio", "solid", "solid_volume"})
        for got, want in zip(self.column(t["stress"], "time"), (0.012, 0.016)):
            self.assertAlmostEqual(got, want)
        t = self.tables("solid", "--region", "x=0:0.1,y=0:0.2")
        self.assertAlmostEqual(self.column(t["solid"], "solid_fraction")[-1], math.pi / 4, places=6)
        t = self.tables("discharge", "--plane", "y=5")
        self.assertEqual(self.column(t["discharge"], "grains")[-1], 0)

    def test_csv(self):
        text = self.analyse("stress", "--csv", "--table", "stress")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 11)
        self.assertEqual(list(rows[0])[0], "time")
        self.assertAlmostEqual(float(rows[-1]["stress_yy"]), 10 / 0.72, places=3)
        text = self.analyse("stress", "--csv")
        self.assertIn("# stress: Stress\ntime,", text)
        self.assertIn("\n\n# stress_ratio: ", text)
        self.assertIn("\n0,\n", text)  # what is not there is empty
        self.assertEqual(self.analyse("stress", "solid", "--out", "tables"), "")
        names = sorted(p.name for p in (self.room / "tables").iterdir())
        self.assertEqual(names, ["solid.csv", "solid_volume.csv", "stress.csv", "stress_ratio.csv"])
        self.assertEqual((self.room / "tables" / "stress.csv").read_text().splitlines()[0],
                         "time,stress_xx,stress_yy,stress_xy,pressure,deviator")

    def test_text(self):
        text = self.analyse("solid")
        for part in ("solid: Solid fraction", "time [s]", "solid_fraction", "region_volume [m2]"):
            self.assertIn(part, text)
        help_page = talus("help", "observables").stdout
        for part in ("solid", "stress", "pressure", "discharge", "coordination_backbone"):
            self.assertIn(part, help_page)

    def test_refusals(self):
        self.refused("pile.h5", "stres", says="did you mean 'stress'")
        self.refused("pile.h5", "--bins", "0", says="--bins 0")
        self.refused("pile.h5", "--region", "x=1", says="AXIS=FROM:TO")
        self.refused("pile.h5", "--region", "x=1:0", says="FROM below TO")
        self.refused("pile.h5", "--plane", "w=1", says="AXIS=LEVEL")
        self.refused("pile.h5", "--up", "q", says="must be x, y or z")
        self.refused("pile.h5", "--width", "-1", says="greater than 0")
        self.refused("pile.h5", "--json", "--csv", says="exclude")
        self.refused(code=2, says="needs an argument")
        self.refused("nothing.h5", code=1, says="nothing.h5")
        self.refused("pile.yaml", code=1, says="pile.yaml")
        self.refused("pile.h5", "discharge", code=1, says="plane")
        self.refused("pile.h5", "solid", "--from", "5", code=1, says="0 s to 0.02 s")
        self.refused("pile.h5", "solid", "--table", "sold", code=1, says="did you mean 'solid'")
        self.refused("pile.h5", "walls", "--wall", "roof", code=1, says="roof")


@unittest.skipUnless(h5py, "h5py is absent (Debian package python3-h5py)")
class Series(Case):
    def test_numbers_of_every_step(self):
        t = self.tables("stress", "coordination", "walls")
        with h5py.File(self.room / "pile.h5") as f:
            self.assertEqual(f["ledger/pressure"].attrs["unit"], b"N/m")
            series = {k: list(f["ledger"][k]) for k in
                      ("pressure", "coordination", "wall_force_y", "time")}
        # a frame was written after each step: the same numbers, without that before the first
        for name, table in (("pressure", "stress"), ("coordination", "coordination"),
                            ("wall_force_y", "walls")):
            want = self.column(t[table], name)[1:]
            self.assertEqual(len(series[name]), len(want))
            for a, b in zip(series[name], want):
                self.assertAlmostEqual(a, b, delta=1e-9 * abs(b) + 1e-12)

    def test_resume_goes_on_with_them(self):
        first = self.room / "half.h5"
        run = talus("run", "pile.yaml", "--quiet", "--until", "0.01", "-o", first, cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        run = talus("resume", first, "--until", "0.02", "--quiet", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(first) as f, h5py.File(self.room / "pile.h5") as g:
            self.assertEqual(list(f["ledger/pressure"]), list(g["ledger/pressure"]))

    def test_scene_errors(self):
        for value, says in (("[presure]", "did you mean 'pressure'"), ("[stress_zz]", "stress_zz")):
            run = talus("run", "pile.yaml", "-o", "no.h5", "--set", f"output.observe={value}",
                        cwd=self.room)
            self.assertEqual(run.returncode, 1)
            self.assertIn("observe", run.stderr)
            self.assertIn(says, run.stderr)
        run = talus("run", "pile.yaml", "-o", "no.h5", "--set", "output.ledger=no", cwd=self.room)
        self.assertIn("ledger", run.stderr)
        self.assertEqual(run.returncode, 1)
        self.assertFalse((self.room / "no.h5").exists())


if __name__ == "__main__":
    unittest.main()
