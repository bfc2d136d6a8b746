# SPDX-License-Identifier: Apache-2.0
"""talus invert: natural curvatures with which rods rest, and the files that a scene reads them from."""
import pathlib
import tempfile
import unittest

from program import objects, talus

# Two strands out of a wall: one over a bar, the other across it, both soft enough to sag.
GROOM = """\
version: 1
materials: {{hair: {{friction: 0.5}}}}
bodies:
  - {{name: bar, shape: capsule, radius: 1 cm, height: 20 cm, at: [0.1, 0, 0.088], rotate: {{axis: [1, 0, 0], angle: 90 deg}}, fixed: yes,
     material: hair}}
rods:
  - {{name: over, line: {{from: [0, 0, 0.1], to: [0.2, 0, 0.1]}}, natural: {over}, {common}}}
  - {{name: across, line: {{from: [0, -0.03, 0.104], to: [0.188, 0.039, 0.104]}}, natural: {across}, {common}}}
step: {{length: 2 ms}}
solver: {{tolerance: 1e-7}}
run: {{until: 0.4 s}}
"""
COMMON = ("model: helix, nodes: 17, pieces: 8, start: clamped, radius: 2 mm, density: 1000, young: 50 MPa, "
          "damping: 10 ms, drag: 0.02, self_contact: no, material: hair")


def groom(over="{shape: straight}", across="{shape: straight}", common=COMMON):
    return GROOM.format(over=over, across=across, common=common)


class Invert(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        (self.room / "groom.yaml").write_text(groom())

    def invert(self, *words):
        run = talus("invert", "groom.yaml", *words, "--json", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        (result,) = objects(run.stdout)
        return result

    def refused(self, code, words, *arguments):
        run = talus("invert", *arguments, cwd=self.room)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(words, run.stderr)

    def test_it_does_not_sag(self):
        result = self.invert("--check", "0.4")
        self.assertEqual(result["rods"], 2)
        self.assertGreaterEqual(result["contacts"], 2)
        self.assertLess(result["balance"], 1e-10)
        self.assertLess(result["change"], 0.8 * result["alone"])
        self.assertGreater(result["drift_without"], 5e-3)
        self.assertLess(result["drift"], 1e-2 * result["drift_without"])

    def test_the_files_say_the_same(self):
        with_check = self.invert("--check", "0.2")
        rows = [line for line in (self.room / "groom-natural-over.txt").read_text().splitlines()
                if not line.startswith("#")]
        self.assertEqual(len(rows), 15 + 16)
        (self.room / "groom.yaml").write_text(
            groom("{file: groom-natural-over.txt}", "{file: groom-natural-across.txt}"))
        # with these files the scene itself stays where it is
        result = self.invert("--check", "0.2", "-o", "again.txt")
        self.assertAlmostEqual(result["drift_without"], with_check["drift"], delta=1e-7)

    def test_wishes(self):
        change = {}
        for wish in ("placed", "tip", "straight"):
            result = self.invert("--wish", wish)
            self.assertLess(result["balance"], 1e-10)
            change[wish] = result["change"]
        # the rods are straight: all wishes are one
        self.assertAlmostEqual(change["placed"], change["straight"], delta=1e-6)
        self.assertAlmostEqual(change["placed"], change["tip"], delta=1e-6)

    def test_text(self):
        run = talus("invert", "groom.yaml", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        for words in ("2 rods rest", "contacts", "balance"):
            self.assertIn(words, run.stdout)

    def test_refused(self):
        self.refused(2, "unknown wish 'placd': did you mean 'placed'?", "groom.yaml", "--wish", "placd")
        self.refused(2, "--reach 0: must be a number > 0", "groom.yaml", "--reach", "0")
        self.refused(2, "one scene at a time", "groom.yaml", "groom.yaml")
        self.refused(1, "none.yaml", "none.yaml")
        (self.room / "groom.yaml").write_text(groom(common=COMMON.replace("pieces: 8", "pieces: 16")))
        self.refused(1, "at most 8", "groom.yaml")
        (self.room / "groom.yaml").write_text(groom(common=COMMON.replace("helix, nodes: 17, pieces: 8", "discrete, nodes: 17")))
        self.refused(1, "must be of kind helix", "groom.yaml")
        (self.room / "rows.txt").write_text("0 0 0\n")
        (self.room / "groom.yaml").write_text(groom("{file: rows.txt}"))
        self.refused(1, "has 1 rows; the 1 rods of this entry have 15 inner nodes", "groom.yaml")


if __name__ == "__main__":
    unittest.main()
