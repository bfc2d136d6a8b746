# SPDX-License-Identifier: Apache-2.0
"""`talus resume` and scenes that start from a recording, seen from outside.

TALUS_KILLS=200 kills as many runs (10 by default)."""
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from program import SOURCE, TALUS, objects, talus
from recorded import h5py

KILLS = int(os.environ.get("TALUS_KILLS", "10"))
EXAMPLES = SOURCE / "examples" / "scenes"

# Rain, a motion, an adaptive step and friction: all that a run may carry from step to step.
RAIN = """\
version: 1
title: Rain on a shaken floor
dimension: 2
materials: {grain: {friction: 0.4}}
bodies:
  - {name: box, shape: container, size: [0.4, 2], at: [0, 1], open_top: yes, material: grain}
  - {name: stirrer, shape: box, size: [0.1, 0.02], at: [0, 0.1], material: grain,
     motion: {kind: rotation, spin: 8}}
grains:
  - {name: sand, fill: rain, region: {from: [-0.18, 0.5], to: [0.18, 0.7]}, rate: 200, count: 40,
     radius: {law: uniform, low: 1 cm, high: 2 cm}, material: grain, velocity: [0, -1]}
step: {length: 2 ms, max_move: 3 mm}
run: {until: 0.25}
output: {every: 5 ms}
"""
# Nothing of these depends on the clock.
CLOCK = ("seconds", "commits", "scene", "set")


def contents(path):
    """Every dataset of a recording but what the clock or the command line changes."""
    found = {}

    def visit(name, thing):
        if isinstance(thing, h5py.Dataset) and not name.endswith(CLOCK):
            found[name] = thing[()].tobytes()

    with h5py.File(path) as f:
        f.visititems(visit)
    return found


class Case(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def write(self, name, text):
        (self.room / name).write_text(text)
        return self.room / name

    def done(self, *words, code=0, **more):
        """The object of a run or a resume that came to its end."""
        run = talus(*words, "--json", "--quiet", cwd=self.room, **more)
        self.assertEqual(run.returncode, code, run.stderr)
        return objects(run.stdout)[0] if run.stdout else None

    def same(self, one, other):
        a, b = contents(one), contents(other)
        self.assertEqual(a.keys(), b.keys())
        for name, value in a.items():
            self.assertEqual(value, b[name], name)

    def same_object(self, one, other):
        drop = {"seconds", "record_seconds", "recording", "scene", "bytes", "memory", "threads"}
        self.assertEqual({k: v for k, v in one.items() if k not in drop},
                         {k: v for k, v in other.items() if k not in drop})


class Resume(Case):
    def test_bit_for_bit(self):
        """Stopped at an odd moment and continued with another number of threads: the same file."""
        scene = self.write("rain.yaml", RAIN)
        whole = self.done("run", scene, "-o", "whole.h5")
        self.assertGreater(whole["steps"], 130)  # max_move has shortened some
        for stop in (97, whole["steps"] - 1):
            self.done("run", scene, "-o", "part.h5", "--steps", stop)
            part = self.done("resume", "part.h5", "--steps", 0, "--threads", 2)
            self.same_object(whole, part)
            self.same(self.room / "whole.h5", self.room / "part.h5")
        # its own text tells what was changed
        with h5py.File(self.room / "part.h5") as f:
            self.assertEqual(f["set"][()].decode().split("\n")[:-1],
                             [f"run.steps={whole['steps'] - 1}", "run.steps=0", "solver.threads=2"])

    def test_all_that_has_a_memory(self):
        """Joints with motors, meshes, clumps on keyframes, polyhedra, springs, impact laws."""
        cases = [("mixer", 12), ("excavator", 6), ("hopper-silo", 4), ("rocks", 6),
                 ("cradle", 30)]
        for name, steps in cases:
            with self.subTest(scene=name):
                scene = EXAMPLES / f"{name}.yaml"
                whole = self.done("run", scene, "-o", "whole.h5", "--steps", steps)
                self.done("run", scene, "-o", "part.h5", "--steps", steps // 2)
                part = self.done("resume", "part.h5", "--steps", steps, "--threads", 2)
                self.same_object(whole, part)
                self.same(self.room / "whole.h5", self.room / "part.h5")

    def test_springs(self):
        text = RAIN.replace("step: {length: 2 ms, max_move: 3 mm}",
                            "scheme: penalty\nstep: {length: 0.1 ms}\n"
                            "penalty: {integrator: predictor-corrector}").replace("0.25}", "0.05}")
        scene = self.write("springs.yaml", text)
        whole = self.done("run", scene, "-o", "whole.h5")
        self.done("run", scene, "-o", "part.h5", "--steps", 333)
        self.same_object(whole, self.done("resume", "part.h5", "--steps", 0))
        self.same(self.room / "whole.h5", self.room / "part.h5")

    def test_rest_is_remembered(self):
        scene = self.write("rest.yaml", """\
version: 1
dimension: 2
bodies:
  - {shape: half-space}
  - {shape: sphere, radius: 1 cm, at: [0, 2 cm]}
run: {until: 10, stop_at_rest: yes}
""")
        whole = self.done("run", scene, "-o", "whole.h5")
        self.assertEqual(whole["end"], "at rest")
        self.done("run", scene, "-o", "part.h5", "--steps", whole["steps"] - 50)
        self.same_object(whole, self.done("resume", "part.h5", "--steps", 0))
        # killed between the last flush and the end: only the end is missing
        with h5py.File(self.room / "part.h5", "r+") as f:
            f.attrs["finished"] = 0
        self.same_object(whole, self.done("resume", "part.h5"))
        self.same(self.room / "whole.h5", self.room / "part.h5")
        over = talus("resume", "part.h5", cwd=self.room)
        self.assertEqual(over.returncode, 0)
        self.assertIn("has come to its end", over.stderr)

    def test_longer(self):
        scene = self.write("rain.yaml", RAIN)
        whole = self.done("run", scene, "-o", "whole.h5")
        self.done("run", scene, "-o", "part.h5", "--until", "0.1031")
        part = self.done("resume", "part.h5", "--until", "0.25 s")
        # the step that was cut to end at 0.2031 is not, so that only the schedule is compared
        self.assertEqual((part["end"], part["frames"]), ("done", whole["frames"]))

    def test_back_to_a_kept_checkpoint(self):
        scene = self.write("rain.yaml", RAIN)
        self.done("run", scene, "-o", "whole.h5", "--set", "output.checkpoints=0.05")
        with h5py.File(self.room / "whole.h5") as f:
            steps, times = f["checkpoints/step"][:], f["checkpoints/time"][:]
            self.assertTrue(f["checkpoints/kept"][:].all())
        self.assertEqual(len(steps), 6)
        for k, t in enumerate(times):
            self.assertTrue(0.05 * k - 1e-8 < t < 0.05 * k + 2.1e-3)
        shutil.copy(self.room / "whole.h5", self.room / "part.h5")
        self.done("resume", "part.h5", "--step", steps[3] - 1)  # from number 2 on
        self.same(self.room / "whole.h5", self.room / "part.h5")

    def test_refused(self):
        scene = self.write("rain.yaml", RAIN)
        self.done("run", scene, "-o", "part.h5", "--steps", 20)
        before = (self.room / "part.h5").read_bytes()

        def refused(*words, says, code=1):
            run = talus("resume", *words, cwd=self.room)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn(says, run.stderr)

        refused("none.h5", says="No such file")
        refused("rain.yaml", says="not an HDF5 file")
        refused(says="needs an argument", code=2)
        refused("part.h5", "part.h5", says="one recording, not 2", code=2)
        refused("part.h5", "--threads", "many", says="threads")
        refused("part.h5", "--step", "x", says="number of a step", code=2)
        refused("part.h5", "--stpes", "3", says="did you mean '--step", code=2)
        self.assertEqual((self.room / "part.h5").read_bytes(), before)
        # a file the scene uses has changed
        mesh = self.room / "ramp.obj"
        mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        scene = self.write("mesh.yaml", """\
version: 1
bodies:
  - {shape: mesh, file: ramp.obj, fixed: yes}
  - {shape: sphere, radius: 1 cm, at: [3, 3, 3]}
run: {until: 1}
""")
        self.done("run", scene, "-o", "mesh.h5", "--steps", 3)
        mesh.write_text(mesh.read_text().replace("v 0 0 1", "v 0 0 2"))
        refused("mesh.h5", "--steps", "9", says="makes another world than the one that was recorded")

    def test_two_do_not_go_on_at_once(self):
        scene = self.write("rain.yaml", RAIN)
        self.done("run", scene, "-o", "part.h5", "--steps", 20)
        first = subprocess.Popen([TALUS, "resume", "part.h5", "--steps", "0", "--until", "1000"],
                                 cwd=self.room, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 60
            steps = 20
            while steps == 20:  # until it has written something
                with h5py.File(self.room / "part.h5") as f:
                    steps = f["frames/step"][-1]
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            run = talus("resume", "part.h5", cwd=self.room)
            self.assertEqual(run.returncode, 1)
            self.assertIn("being written by another run", run.stderr)
        finally:
            first.kill()
            first.wait()


class Killed(Case):
    def test_at_random_moments(self):
        """kill -9: the file opens, and goes on to the same end as if nothing had happened."""
        scene = self.write("rain.yaml", RAIN)
        more = ["--set", "output.checkpoints=10 ms"]
        begin = time.monotonic()
        whole = self.done("run", scene, "-o", "whole.h5", *more)
        usual = time.monotonic() - begin
        chance = random.Random(6)
        part = self.room / "part.h5"
        early = resumed = torn = twice = 0
        while early + resumed < KILLS:
            part.unlink(missing_ok=True)
            run = subprocess.Popen([TALUS, "run", scene, "-o", part, "--quiet", *more],
                                   cwd=self.room, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, usual))
            run.kill()
            run.wait()
            if not part.exists():  # before the first frame was there
                early += 1
                continue
            if chance.random() < 0.3:  # once more, while it goes on
                run = subprocess.Popen([TALUS, "resume", part, "--quiet"], cwd=self.room,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(chance.uniform(0, 0.5 * usual))
                twice += run.poll() is None
                run.kill()
                run.wait()
            finished = None
            try:
                with h5py.File(part) as f:
                    self.assertGreaterEqual(len(f["frames/step"]), 1)
                    self.assertGreaterEqual(len(f["checkpoints/step"]), 1)
                    finished = bool(f.attrs["finished"])
            except OSError:  # killed in the moment in which only our own reader helps
                torn += 1
            again = self.done("resume", part)
            if finished:
                self.assertIsNone(again)  # nothing was left to do
            if again:
                resumed += 1
                self.same_object(whole, again)
            else:
                usual *= 0.9  # it had come to its end: does not count
            self.same(self.room / "whole.h5", part)
        self.assertGreater(resumed, KILLS // 3)
        print(f"{KILLS} runs killed: {early} before their first frame; {resumed} resumed, {twice} of "
              f"them after a second kill; {torn} that h5py could not open before", file=sys.stderr)

    def test_full_disk(self):
        """No more room: the run ends with the reason, and goes on when there is."""
        scene = self.write("rain.yaml", RAIN)
        whole = self.done("run", scene, "-o", "whole.h5")
        limit = (self.room / "whole.h5").stat().st_size * 2 // 3

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        o = self.done("run", scene, "-o", "part.h5", "--set", "output.checkpoints=25 ms", code=1,
                      preexec_fn=small_files)
        self.assertEqual(o["end"], "failed")
        self.assertIn("part.h5: cannot be written: File too large", o["error"])
        self.assertLessEqual((self.room / "part.h5").stat().st_size, limit)
        run = talus("resume", "part.h5", cwd=self.room, preexec_fn=small_files)
        self.assertEqual(run.returncode, 1)  # still no room
        self.assertIn("File too large", run.stderr)
        part = self.done("resume", "part.h5")
        self.same_object(whole, part)

    def test_small_file_system(self):
        """The same on disks of which one is too small for the recording, and one, with room for it
        and for what it is made safe by, too small for the XDMF file beside it."""
        if os.getuid() != 0:
            self.skipTest("only root may mount")
        disk = self.room / "disk"
        disk.mkdir()
        scene = self.write("rain.yaml", RAIN)
        more = ["--set", "output.every=1 ms", "--set", "output.checkpoints=25 ms"]
        whole = self.done("run", scene, "-o", "whole.h5", *more)
        size = (self.room / "whole.h5").stat().st_size
        beside = (self.room / "whole.xdmf").stat().st_size
        self.assertGreater(beside, 3 * size)
        for room, full in ((3 * size // 4, "part.h5"), (3 * size, "part.xdmf")):
            mount = ["mount", "-t", "tmpfs", "-o", f"size={room}", "none", disk]
            if subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode:
                self.skipTest("mounting is not allowed here")
            try:
                o = self.done("run", scene, "-o", disk / "part.h5", *more, code=1)
                self.assertIn(f"{full}: cannot be written: No space left on device", o["error"])
                shutil.copy(disk / "part.h5", self.room / "part.h5")
            finally:
                subprocess.run(["umount", disk], check=True)
            if full == "part.h5":
                self.same_object(whole, self.done("resume", "part.h5"))
            self.same(self.room / "whole.h5", self.room / "part.h5")


FILL = """\
version: 1
title: Disks settle behind a gate
dimension: 2
materials: {sand: {friction: 0.5}, steel: {friction: 0.2}}
bodies:
  - {name: floor, shape: half-space, material: steel}
  - {name: wall, shape: box, size: [2 cm, 40 cm], at: [-11 cm, 20 cm], fixed: yes, material: steel}
  - {name: gate, shape: box, size: [2 cm, 40 cm], at: [11 cm, 20 cm], fixed: yes, material: steel}
  - {name: weight, shape: box, size: [6 cm, 2 cm], at: [0, 20 cm], material: steel}
grains:
  - {name: sand, fill: layers, region: {from: [-9.9 cm, 0.1 cm], to: [9.9 cm, 14 cm]}, radius: 1 cm,
     jitter: 0.2 mm, spacing: 2.1 cm, material: sand}
run: {until: 0.5, stop_at_rest: yes, rest_energy: 10 uJ}
"""
OPEN = """\
version: 1
title: The gate opens
dimension: 2
materials: {sand: {friction: 0.5}, steel: {friction: 0.2}}
start: {from: fill.h5}
bodies:
  - {name: floor, shape: half-space, material: steel}
  - {name: wall, shape: box, size: [2 cm, 40 cm], at: [-11 cm, 20 cm], fixed: yes, material: steel}
  - {name: gate, shape: box, size: [2 cm, 40 cm], at: [11 cm, 20 cm], material: steel,
     motion: {kind: velocity, velocity: [0, 1]}}
run: {until: 0.1}
"""


class Start(Case):
    def setUp(self):
        super().setUp()
        self.fill = self.write("fill.yaml", FILL)
        self.open = self.write("open.yaml", OPEN)

    def test_relax_then_open_the_gate(self):
        fill = self.done("run", self.fill)
        flow = self.done("run", self.open)
        self.assertEqual(flow["free_bodies"], fill["free_bodies"])
        self.assertEqual(flow["bodies"], fill["bodies"])
        with h5py.File(self.room / "fill.h5") as f, h5py.File(self.room / "open.h5") as g:
            free, taken = f["bodies/motion"][:] == 0, g["bodies/motion"][:] == 0
            for name in ("mass", "radius"):
                self.assertEqual(f["bodies"][name][:][free].tobytes(),
                                 g["bodies"][name][:][taken].tobytes())
            # exact: of the checkpoint, not of the rounded frames
            last = f["checkpoints/state"][f["checkpoints/offset"][-2]:]
            first = g["checkpoints/state"][:]
            n, m = len(free), len(taken)
            head = len(last) - 17 * n - 17 * int(f["contacts/offset"][-1]
                                                 - f["contacts/offset"][-2])
            self.assertGreater(head, 10)
            x = last[head:head + 3 * n].reshape(n, 3)[free]
            names = g["names/text"][:].tobytes().split(b"\0")
            self.assertIn(b"weight", names)
            self.assertEqual(g["frames/position"][:m][taken].shape, x.shape)
            unit = g.attrs["length_unit"]
            self.assertLess(abs(g["frames/position"][:m][taken] - x).max(), unit)
            self.assertGreater(len(first), 0)
        # the sand runs out; and with the gate as it was, it stays
        self.assertGreater(flow["front_end"][1][0], flow["front_start"][1][0] + 0.01)
        self.open.write_text(OPEN.replace("motion: {kind: velocity, velocity: [0, 1]}", "fixed: yes"))
        stay = self.done("run", self.open)
        self.assertLess(abs(stay["extent_end"][1][0] - stay["extent_start"][1][0]), 1e-4)
        self.assertLess(stay["loss_friction"], 1e-3 * flow["loss_friction"])

    def test_velocities(self):
        self.done("run", self.fill, "--set", "run.until=0.05")  # still falling
        with h5py.File(self.room / "fill.h5") as f:
            e = f["ledger/kinetic"][-1]
        self.done("run", self.open, "--steps", 1)
        with h5py.File(self.room / "open.h5") as f:
            v, m = f["frames/velocity"][:len(f["bodies/mass"])], f["bodies/mass"][:]
            w, r = f["frames/spin"][:len(m), 2], f["bodies/radius"][:]
            inertia = m * r ** 2 / 2  # of a disk
            inertia[(m > 0) & (r > 0.02)] = (0.06 ** 2 + 0.02 ** 2) / 12 * m[(m > 0) & (r > 0.02)]
            energy = (m * (v ** 2).sum(axis=1) / 2 + inertia * w ** 2 / 2)[m > 0].sum()
        self.assertLess(abs(energy / e - 1), 1e-3)  # the rounding of frames
        self.assertGreater(abs(w).max(), 0)
        self.done("run", self.open, "--steps", 1, "--set", "start.velocities=no")
        with h5py.File(self.room / "open.h5") as f:
            n = f["frames/offset"][1]
            moving = f["bodies/motion"][:] != 0
            self.assertEqual(abs(f["frames/velocity"][:n][~moving]).max(), 0)

    def test_resumed(self):
        """A run that starts from a recording goes on like any other."""
        self.done("run", self.fill)
        whole = self.done("run", self.open, "-o", "whole.h5")
        self.done("run", self.open, "-o", "part.h5", "--steps", 37)
        self.same_object(whole, self.done("resume", "part.h5", "--steps", 0, "--threads", 2))
        self.same(self.room / "whole.h5", self.room / "part.h5")
        # and is started from itself: three scenes in a row
        third = self.write("third.yaml", OPEN.replace("fill.h5", "whole.h5").replace(
            "at: [11 cm, 20 cm]", "at: [11 cm, 50 cm]"))
        last = self.done("run", third, "--steps", 5)
        self.assertEqual(last["free_bodies"], whole["free_bodies"])

    def test_refused(self):
        self.done("run", self.fill, "--steps", 5)

        def refused(text, says, *words, code=1):
            self.open.write_text(text)
            run = talus("run", self.open, *words, cwd=self.room)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn(says, run.stderr)

        refused(OPEN.replace("fill.h5", "fil.h5"), "open.yaml:5:9: ")
        refused(OPEN.replace("fill.h5", "fil.h5"), "No such file")
        refused(OPEN.replace("fill.h5", "fill.yaml"), "not an HDF5 file")
        refused(OPEN.replace("sand: {friction: 0.5}, ", ""), "not a material of this scene")
        refused(OPEN.replace("start: {from: fill.h5}", "start: {}"), "from")
        refused(OPEN.replace("at: [11 cm, 20 cm]", "at: [5 cm, 20 cm]"), "overlap")
        refused(OPEN, "would replace the recording that the scene starts from", "-o", "fill.h5",
                code=2)
        refused("version: 1\nstart: {from: fill.h5}\nrun: {until: 1}\n", "is in 2D")


if __name__ == "__main__":
    unittest.main()
