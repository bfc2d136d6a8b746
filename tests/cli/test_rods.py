# SPDX-License-Identifier: Apache-2.0
"""Elastic rods, from the scene to the recording and what is made of it."""
import re
import struct
import unittest

from program import SOURCE, objects, talus
from recorded import Recorded, h5py, np

EXAMPLES = SOURCE / "examples" / "rods"

# Two ropes fall across each other and over a ball that turns; a cork lies on them. Another hangs on the ball.
DRAPE = """\
version: 1
materials: {felt: {friction: 0.4}}
bodies:
  - name: ball
    shape: sphere
    radius: 5 cm
    material: felt
    motion: {kind: rotation, axis: [0, 0, 1], spin: 2}
  - {name: cork, shape: sphere, radius: 1 cm, at: [0, 0, 0.09], density: 300, material: felt}
rods:
  - name: rope
    line: {from: [-0.12, 0, 0.06], to: [0.12, 0, 0.06]}
    nodes: 16
    radius: 4 mm
    young: 0.5 MPa
    damping: 5 ms
    material: felt
  - name: rope
    line: {from: [0, -0.1, 0.069], to: [0, 0.1, 0.069]}
    nodes: 12
    radius: 4 mm
    young: 0.5 MPa
    damping: 5 ms
    material: felt
  - name: tail
    line: {from: [0.055, 0, 0], to: [0.055, 0, -0.2]}
    nodes: 9
    radius: 2 mm
    young: 1 MPa
    start: clamped
    start_body: ball
step: {length: 2 ms}
run: {until: 0.12 s}
output: {every: 10 ms, precision: double}
"""


class Rods(Recorded):
    def drape(self, *words):
        (self.room / "drape.yaml").write_text(DRAPE)
        return self.done("run", "drape.yaml", *words)

    def test_what_a_recording_holds(self):
        result = self.drape("-o", "drape.h5")
        self.assertEqual(result["missed_steps"], 0)
        self.assertEqual((result["rods"], result["rod_nodes"]), (3, 37))
        with h5py.File(self.room / "drape.h5") as file:
            self.assertEqual(file.attrs["format_version"], 4)
            self.assertEqual(list(file["rods/nodes"]), [16, 12, 9])
            self.assertEqual(list(file["rods/radius"]), [0.004, 0.004, 0.002])
            names = bytes(file["names/text"][:]).decode().split("\0")
            self.assertEqual([names[k] for k in file["rods/name"]], ["rope", "rope", "tail"])
            nodes, offset = file["rod_nodes"], file["rod_nodes/offset"][:]
            frames = len(file["frames/time"])
            self.assertEqual(list(offset), [37 * k for k in range(frames + 1)])
            at, velocity = nodes["position"][:].reshape(-1, 37, 3), nodes["velocity"][:].reshape(-1, 37, 3)
            # Free fall at first: the middle of the rope is g t²/2 lower, as symplectic steps have it.
            self.assertTrue(np.allclose(velocity[1, 16:28:11, 2], -9.81 * file["frames/time"][1], rtol=1e-3))
            # The first two nodes of what hangs on the ball turn with it.
            turn = 2 * file["frames/time"][-1]
            self.assertTrue(np.allclose(at[-1, 28], [0.055 * np.cos(turn), 0.055 * np.sin(turn), 0], atol=1e-9))
            # Strains are those of the lengths; directors are units across the segments.
            segment = np.diff(at[-1, :16], axis=0)
            length = np.linalg.norm(segment, axis=1)
            strain = nodes["strain"][:].reshape(-1, 37)
            self.assertTrue(np.allclose(strain[-1, :15], length / 0.016 - 1, atol=1e-9))
            director = nodes["director"][:].reshape(-1, 37, 3)[-1, :15]
            self.assertTrue(np.allclose(np.linalg.norm(director, axis=1), 1, atol=1e-9))
            self.assertTrue(np.allclose((director * segment).sum(1), 0, atol=1e-9))
            # Contacts name segments behind the bodies, and lie on them: as far from the line as it is thick.
            a, b = file["contacts/a"][:], file["contacts/b"][:]
            self.assertTrue(((a < 2 + 34) & (b < 2 + 34)).all() and (b >= 2).any())
            last = slice(*file["contacts/offset"][-2:])
            owner = np.repeat([0, 1, 2], [15, 11, 8])
            begin = [at[-1, k] for k in range(37) if k not in (15, 27, 36)]
            end = [at[-1, k + 1] for k in range(37) if k not in (15, 27, 36)]
            status = file["contacts/status"][last]
            seen = 0
            for item, point, state in zip(b[last], file["contacts/point"][last], status):
                if item < 2 or state == 0:
                    continue
                p, q = begin[item - 2], end[item - 2]
                t = np.clip(np.dot(point - p, q - p) / np.dot(q - p, q - p), 0, 1)
                away = np.linalg.norm(point - p - t * (q - p))
                # Contacts are found where the step begins, and rods move by less than a millimetre in it.
                self.assertAlmostEqual(away, [0.004, 0.004, 0.002][owner[item - 2]], delta=1e-3)
                seen += 1
            self.assertGreater(seen, 3)

    def test_fields_and_precision(self):
        self.drape("-o", "all.h5")
        self.drape("-o", "some.h5", "--set", "output.precision=compact", "--set", "output.fields=[velocity]")
        with h5py.File(self.room / "all.h5") as whole, h5py.File(self.room / "some.h5") as part:
            self.assertEqual(set(part["rod_nodes"]), {"position", "velocity", "offset"})
            error = np.abs(whole["rod_nodes/position"][:] - part["rod_nodes/position"][:]).max()
            self.assertTrue(0 < error < 1e-4 * 0.002)
        for name in ("all.h5", "some.h5"):  # what is missing is made up for
            self.assertEqual(talus("picture", name, "-o", "p.png", cwd=self.room).returncode, 0)
        compact = self.drape("-o", "compact.h5", "--set", "output.precision=compact")
        self.assertEqual(compact["rods"], 3)
        with h5py.File(self.room / "all.h5") as whole, h5py.File(self.room / "compact.h5") as part:
            error = np.abs(whole["rod_nodes/director"][:] - part["rod_nodes/director"][:]).max()
            self.assertTrue(0 < error < 2.5e-4)

    def test_resumed_bit_for_bit(self):
        whole = self.drape("-o", "whole.h5")
        self.drape("-o", "part.h5", "--set", "run.steps=23")
        part = self.done("resume", "part.h5", "--steps", 0, "--threads", 2)
        self.assertEqual(whole["hash"], part["hash"])
        with h5py.File(self.room / "whole.h5") as a, h5py.File(self.room / "part.h5") as b:
            for group in ("rods", "rod_nodes", "contacts"):
                for name in a[group]:
                    self.assertEqual(a[group][name][:].tobytes(), b[group][name][:].tobytes(), name)

    def test_analysis(self):
        self.drape("-o", "drape.h5")
        run = talus("analyse", "drape.h5", "rods", "--json", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        (tables,) = objects(run.stdout)
        table = {t["name"]: t for t in tables["tables"]}

        def last(name, column):
            columns = [c["name"] for c in table[name]["columns"]]
            return table[name]["rows"][-1][columns.index(column)]

        with h5py.File(self.room / "drape.h5") as file:
            at = file["rod_nodes/position"][-37:]
            first, end = file["contacts/offset"][-2:]
            a, b = file["contacts/a"][first:end], file["contacts/b"][first:end]
            status = file["contacts/status"][first:end]
        lengths = [np.linalg.norm(np.diff(at[i:j], axis=0), axis=1).sum() for i, j in ((0, 16), (16, 28), (28, 37))]
        self.assertAlmostEqual(last("rods_length", "mean"), np.mean(lengths), 12)
        self.assertAlmostEqual(last("rods_length", "longest"), max(lengths), 12)
        self.assertAlmostEqual(last("rods_tip", "z"), at[[15, 27, 36], 2].mean(), 12)
        self.assertAlmostEqual(last("rods_extent", "low_z"), at[:, 2].min(), 12)
        rods = (a >= 2).astype(int) + (b >= 2)
        self.assertEqual(last("rods_contacts", "contacts"), (rods > 0).sum())
        self.assertEqual(last("rods_contacts", "between_rods"), (rods == 2).sum())
        self.assertAlmostEqual(last("rods_contacts", "per_rod"), rods.sum() / 3, 12)
        self.assertAlmostEqual(last("rods_status", "sliding"), (status[rods > 0] == 2).mean(), 12)
        # Rod by rod: the tail is the last.
        tail = table["rods_last"]["rows"][2]
        self.assertAlmostEqual(tail[1], lengths[2], 12)
        self.assertEqual(tail[6], ((a - 2) >= 26).sum() + ((b - 2) >= 26).sum())
        # Grains see rods as obstacles: nothing goes wrong with all subjects.
        self.assertEqual(talus("analyse", "drape.h5", cwd=self.room).returncode, 0)
        (self.room / "bare.yaml").write_text("version: 1\nbodies: [{radius: 1}]\nrun: {until: 0.01}\n")
        self.done("run", "bare.yaml", "-o", "bare.h5")
        refused = talus("analyse", "bare.h5", "rods", cwd=self.room)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("has no rods", refused.stderr)

    def test_room(self):
        # Two straight rods of 8 segments of 2 cm, along x and along y, in cells of 1 cm, none on a border: 16 cells
        # each. In the second scene they share the cell where they cross, in the third they lie in the same cells.
        rod = "  - {line: {from: %s, to: %s}, nodes: 9, radius: 1 mm, young: 1 MPa}\n"
        along = ([0.001, 0.005, 0.005], [0.161, 0.005, 0.005])
        for other, cells in (
            (([0.005, 0.001, 0.105], [0.005, 0.161, 0.105]), 32),
            (([0.005, 0.001, 0.0075], [0.005, 0.161, 0.0075]), 31),
            (([0.001, 0.005, 0.0075], [0.161, 0.005, 0.0075]), 16),
        ):
            (self.room / "two.yaml").write_text(
                "version: 1\ngravity: [0, 0, 0]\nrods:\n" + rod % along + rod % other
                + "run: {until: 1 ms}\noutput: {precision: double}\n"
            )
            self.done("run", "two.yaml", "-o", "two.h5")
            run = talus("analyse", "two.h5", "rods", "--json", cwd=self.room)
            (tables,) = objects(run.stdout)
            (table,) = [t for t in tables["tables"] if t["name"] == "rods_room"]
            _, volume, filled, spread = table["rows"][0]
            self.assertAlmostEqual(volume, cells * 1e-6, delta=1e-12)
            self.assertAlmostEqual(filled, np.pi * 1e-6 * 0.32 / (cells * 1e-6), delta=1e-9)
            nodes = np.concatenate([np.linspace(*along, 9), np.linspace(*other, 9)])
            expected = np.sqrt(((nodes - nodes.mean(axis=0)) ** 2).sum(axis=1).mean())
            self.assertAlmostEqual(spread, expected, delta=1e-9)

    def test_exports(self):
        self.drape("-o", "drape.h5")
        run = talus("export", "drape.h5", "--csv", "--vtk", "-o", "out", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = (self.room / "out" / "rods.csv").read_text().splitlines()
        with h5py.File(self.room / "drape.h5") as file:
            position = file["rod_nodes/position"][:]
            self.assertEqual(len(rows) - 1, len(position))
            last = dict(zip(rows[0].split(","), rows[-1].split(",")))
            self.assertEqual([float(last[k]) for k in "xyz"], list(position[-1]))
            self.assertEqual((last["rod"], last["node"], last["name"]), ("2", "8", '"tail"'))
            self.assertEqual(float(last["radius"]), 0.002)
        xdmf = (self.room / "drape.xdmf").read_text()
        for name in ("/rod_nodes/position", "/rod_nodes/velocity"):
            self.assertIn("drape.h5:" + name, xdmf)
        # A line through the nodes of each rod, read back by the announced offsets.
        data = sorted((self.room / "out").glob("rods-*.vtp"))[-1].read_bytes()
        head, raw = data.split(b'encoding="raw">\n_', 1)
        arrays = {m[1].decode(): (m[0].decode(), int(m[2])) for m in
                  re.findall(rb'type="(\w+)" Name="(\w+)" NumberOfComponents="\d" format="appended" offset="(\d+)"', head)}

        def array(name):
            kind, offset = arrays[name]
            (size,) = struct.unpack_from("<Q", raw, offset)
            return np.frombuffer(raw, {"Float64": "<f8", "Int64": "<i8"}[kind], size // 8, offset + 8)

        self.assertEqual(list(array("offsets")), [16, 28, 37])
        self.assertEqual(list(array("connectivity")), list(range(37)))
        self.assertTrue((array("points").reshape(-1, 3) == position[-37:]).all())
        self.assertEqual(set(array("radius")[28:]), {0.002})
        self.assertIn("rods-000012.vtp", (self.room / "out" / "rods.pvd").read_text())

    def test_problems_of_steps(self):
        self.drape("-o", "drape.h5")
        run = talus("export", "drape.h5", "--fclib", "--steps", "50", "-o", "steps", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        (problem,) = (self.room / "steps").glob("*.hdf5")
        solved = talus("solve", problem, "--json", cwd=self.room)
        self.assertEqual(solved.returncode, 0, solved.stderr)

    def test_estimate_and_page(self):
        (self.room / "drape.yaml").write_text(DRAPE)
        estimate = self.done("run", "drape.yaml", "--dry-run")
        self.assertEqual((estimate["rods"], estimate["rod_nodes"]), (3, 37))
        self.drape("-o", "drape.h5")
        report = talus("report", "drape.h5", "-o", "drape.html", cwd=self.room)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("3 rods, 1 grain and 1 obstacle", (self.room / "drape.html").read_text())
        shown = {}
        for colour in ("speed", "id", "strain", "material", "size", "pressure"):
            run = talus("picture", "drape.h5", "-o", f"{colour}.png", "--size", "300x200", "--colour", colour,
                        cwd=self.room)
            self.assertEqual(run.returncode, 0, run.stderr)
            shown[colour] = (self.room / f"{colour}.png").read_bytes()
        self.assertEqual(len(set(shown.values())), 6)
        again = talus("picture", "drape.h5", "-o", "again.png", "--size", "300x200", "--colour", "strain",
                      "--threads", "3", cwd=self.room)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.room / "again.png").read_bytes(), shown["strain"])

    def test_examples_are_read(self):
        scenes = sorted(EXAMPLES.glob("*.yaml"))
        self.assertGreaterEqual(len(scenes), 11)
        for scene in scenes:
            with self.subTest(scene.name):
                text = scene.read_text()
                steps = 1 if "count: 2000" in text else 2
                result = self.done("run", scene, "-o", self.room / "s.h5", "--set", f"run.steps={steps}")
                self.assertEqual(result["missed_steps"], 0)
                self.assertGreater(result["rod_nodes"], 10)


if __name__ == "__main__":
    unittest.main()
