# SPDX-License-Identifier: Apache-2.0
"""`talus run` seen from outside: what it simulates, what it leaves, and how it stops."""
import csv
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from program import SOURCE, TALUS, objects, talus

try:
    import h5py
except ImportError:
    # The package of the system belongs to the system's Python, which need not be the first one.
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system, *sys.argv])
    h5py = None

FEW = """\
version: 1
title: Few disks in a box
dimension: 2
materials: {grain: {friction: 0.4}}
bodies:
  - {shape: container, size: [0.4, 1], at: [0, 0.5], open_top: yes, material: grain}
grains:
  - {fill: layers, region: {from: [-0.19, 0.01], to: [0.19, 0.3]}, radius: 2 cm, spacing: 5 cm,
     jitter: 4 mm, material: grain}
step: {length: 2 ms}
run: {until: 0.4}
output: {every: 20 ms}
"""
needs_h5py = unittest.skipUnless(h5py, "h5py is absent (Debian package python3-h5py)")


class Case(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        self.scene = self.room / "few.yaml"
        self.scene.write_text(FEW)
        self.out = self.room / "few.h5"

    def run_json(self, *words, code=0, **more):
        run = talus("run", self.scene, "--json", *words, cwd=self.room, **more)
        self.assertEqual(run.returncode, code, run.stderr)
        (found,) = objects(run.stdout)
        return found

    def refused(self, *words, code=2, says=(), **more):
        """Fails with a reason and leaves nothing behind."""
        before = sorted(self.room.iterdir())
        run = talus("run", *words, cwd=self.room, **more)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(run.stdout, "")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, run.stderr)
        self.assertEqual(sorted(self.room.iterdir()), before)

    def start(self, *words, **more):
        """A run that would take minutes."""
        run = subprocess.Popen(
            [TALUS, "run", self.scene, "--until", "1000", *words], cwd=self.room, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        end = time.monotonic() + 30
        while not self.out.exists():
            self.assertIsNone(run.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)
        return run

    def readable(self):
        """Frames and steps of the recording, as our own reader finds them: a recording may be
        replaced only by who can read it."""
        with tempfile.TemporaryDirectory() as name:
            copy = pathlib.Path(name) / "copy.h5"
            shutil.copy(self.out, copy)
            again = talus("run", self.scene, "--steps", "1", "--out", copy)
            self.assertEqual(again.returncode, 0, again.stderr)


class Run(Case):
    def test_summary_and_recording(self):
        run = talus("run", self.scene, cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ("few: done after 200 steps, t = 0.4 s", "Few disks in a box", "met by all steps",
                     "few.h5, 21 frames", "height", "run-out x", "energy"):
            self.assertIn(text, run.stdout)
        self.assertTrue(self.out.exists())
        self.assertEqual(sorted(p.name for p in self.room.iterdir()), ["few.h5", "few.xdmf", "few.yaml"])

    def test_json_holds_what_happened(self):
        o = self.run_json()
        self.assertEqual((o["steps"], o["frames"], o["end"]), (200, 21, "done"))
        self.assertAlmostEqual(o["time"], 0.4)
        self.assertEqual(o["missed_steps"], 0)
        self.assertLessEqual(o["residual"], o["tolerance"])
        self.assertGreater(o["contacts_most"], 0)
        self.assertEqual(o["bytes"], self.out.stat().st_size)
        # the books close
        end = (o["energy_start"] + o["energy_added"] + o["work_obstacles"] + o["work_forces"]
               - o["loss_impact"] - o["loss_friction"] - o["loss_numerical"])
        self.assertAlmostEqual(end, o["energy_end"], delta=1e-9 * abs(o["energy_start"]))
        self.assertAlmostEqual(o["energy_added"], 0, delta=1e-9 * abs(o["energy_start"]))
        # disks fall inside the box, and do not leave it
        (low, high), (low0, high0) = o["extent_end"], o["extent_start"]
        self.assertLess(high[1], high0[1])
        for k, (a, b) in enumerate(((-0.2, 0.2), (0, 1))):
            self.assertGreater(low[k], a - 1e-3)
            self.assertLess(high[k], b + 1e-3)
            self.assertLessEqual(low0[k], o["front_start"][0][k])

    def test_same_bits_for_any_number_of_threads(self):
        one, two = (self.run_json("--threads", n) for n in (1, 2))
        self.assertEqual((one["threads"], two["threads"]), (1, 2))
        self.assertEqual(one["hash"], two["hash"])
        self.assertNotEqual(one["hash"], self.run_json("--seed", 5)["hash"])
        self.assertNotEqual(one["hash"], self.run_json("--set", "materials.grain.friction=0.1")["hash"])

    def test_steps_until_and_set(self):
        self.assertEqual(self.run_json("--steps", 7)["steps"], 7)
        self.assertEqual(self.run_json("--until", "10 ms")["steps"], 5)
        o = self.run_json("--set", "step.length=1 ms", "--set", "run.until=5 ms", "-o", "b.h5")
        self.assertEqual((o["steps"], o["recording"]), (5, "b.h5"))
        self.assertEqual(o["frames"], 2)  # at 0 and at the end
        self.assertTrue((self.room / "b.h5").exists())

    def test_stops_at_rest(self):
        o = self.run_json("--until", 100, "--set", "run.stop_at_rest=yes",
                          "--set", "run.rest_energy=1e-4")
        self.assertEqual(o["end"], "at rest")
        self.assertLess(o["time"], 10)

    def test_ledger_table(self):
        self.run_json("--ledger", "few.csv", "--steps", 20)
        with open(self.room / "few.csv", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual([int(row["step"]) for row in rows], list(range(1, 21)))
        for row in rows:
            self.assertAlmostEqual(float(row["time"]), 0.002 * int(row["step"]))
            self.assertNotIn(None, row)

    def test_missed_steps_are_told(self):
        words = ["--set", "solver.iterations=1", "--set", "solver.name=nlgs",
                 "--set", "solver.tolerance=1e-12"]
        o = self.run_json(*words, code=1)
        self.assertEqual((o["steps"], o["end"]), (200, "done"))
        self.assertGreater(o["missed_steps"], 10)
        self.assertGreater(o["residual"], 1e-12)
        run = talus("run", self.scene, *words, cwd=self.room)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"{o['missed_steps']} of 200 steps missed it", run.stdout)

    def test_dry_run_writes_nothing(self):
        run = talus("run", self.scene, "--dry-run", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ("would be simulated", "about 200 steps", "about 21 frames", "time", "memory"):
            self.assertIn(text, run.stdout)
        o = self.run_json("--dry-run")
        self.assertEqual((o["steps"], o["frames"], o["dry_run"]), (200, 21, True))
        self.assertGreater(o["measured_steps"], 0)
        self.assertGreater(o["memory"], 1e6)
        self.assertGreater(o["bytes"], 0)
        self.assertEqual([p.name for p in self.room.iterdir()], ["few.yaml"])
        whole = self.run_json()
        self.assertEqual(o["free_bodies"], whole["free_bodies"])
        self.assertLess(whole["bytes"], o["bytes"] + 1e5)  # an upper bound, but for small files

    @unittest.skipIf(os.environ.get("TALUS_SANITIZE"), "a sanitizer keeps what was freed")
    def test_memory_does_not_grow_with_the_run(self):
        def peak(steps):
            self.out.unlink(missing_ok=True)
            code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True,"
                    " stdout=subprocess.DEVNULL);"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            run = subprocess.run(
                [sys.executable, "-c", code, TALUS, "run", self.scene, "--quiet", "--until", "100",
                 "--steps", str(steps), "--set", "output.every=2 ms", "--set", "solver.tolerance=1"],
                cwd=self.room, check=True, timeout=120, stdout=subprocess.PIPE, text=True)
            return int(run.stdout)

        # The longer run puts 40 MB more into its file (before compression). The heap stays as large
        # as it was, but for holes in it.
        short, long = peak(200), peak(2000)
        self.assertLess(long, short + 6000, "kB")

    def test_progress(self):
        self.assertEqual(talus("run", self.scene, cwd=self.room).stderr, "")  # too short for a line
        run = talus("run", self.scene, "--verbose", "--steps", 3, cwd=self.room)
        self.assertEqual(len(run.stderr.splitlines()), 3)
        self.assertRegex(run.stderr, r"few: step 3, t = 0.006 s: \d+ contacts")
        # on a terminal: one line, again and again
        master, slave = pty.openpty()
        child = subprocess.Popen(
            [TALUS, "run", self.scene, "--until", "1000"], cwd=self.room, stderr=slave,
            stdout=subprocess.DEVNULL)
        os.close(slave)
        seen = b""
        end = time.monotonic() + 30
        while seen.count(b"\r") < 12 and time.monotonic() < end:
            seen += os.read(master, 4096)
        child.send_signal(signal.SIGINT)
        child.wait(timeout=30)
        os.close(master)
        line = seen.decode().split("\r")[-2]
        self.assertRegex(line, r"few: t = [\d.e-]+ s, \d+ %, step \d+, [\d.e+]+ steps/s, \d+ contacts, "
                               r"\d+ iterations, residual \d\S+, [\d.]+ (s|min|h) left")
        self.assertNotIn("\n", seen.decode())


class Stopping(Case):
    def test_ctrl_c_ends_after_the_step(self):
        run = self.start("--json")
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        text, _ = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 1)
        (o,) = objects(text)
        self.assertEqual(o["end"], "interrupted")
        self.assertGreater(o["steps"], 0)
        self.assertEqual(o["missed_steps"], 0)  # no step was cut short
        self.readable()
        if h5py:
            with h5py.File(self.out) as f:
                self.assertEqual(f["frames/step"][-1], o["steps"])
                self.assertEqual(len(f["ledger/step"]), o["steps"])
                self.assertEqual(f.attrs["finished"], 1)

    def test_second_ctrl_c_ends_at_once(self):
        run = self.start()
        run.send_signal(signal.SIGSTOP)  # both arrive before it can come to the end of a step
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGTERM)
        run.send_signal(signal.SIGCONT)
        run.communicate(timeout=30)
        self.assertIn(run.returncode, (-signal.SIGINT, -signal.SIGTERM, 1))
        self.readable()

    def test_kill_leaves_a_file_that_opens(self):
        for delay in (0.0, 0.1, 1.2):
            self.out.unlink(missing_ok=True)
            run = self.start("--set", "output.every=2 ms")
            time.sleep(delay)
            run.kill()
            run.wait()
            self.readable()

    def test_full_disk(self):
        limit = 150_000

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        o = self.run_json("--until", 1000, code=1, preexec_fn=small_files)
        self.assertEqual(o["end"], "failed")
        self.assertIn("few.h5: cannot be written: File too large", o["error"])
        self.assertGreater(o["frames"], 1)
        self.assertLessEqual(self.out.stat().st_size, limit)
        self.readable()
        self.assertEqual(sorted(p.name for p in self.room.iterdir()),
                         ["few.h5", "few.xdmf", "few.yaml"])
        # so full that there is no room for the first frame: the old recording stays
        old = self.out.read_bytes()
        limit = 4096
        self.refused(self.scene, code=1, preexec_fn=small_files, says="File too large")
        self.assertEqual(self.out.read_bytes(), old)

    def test_step_that_cannot_be_made(self):
        self.scene.write_text("""\
version: 1
bodies:
  - {shape: half-space}
  - {shape: sphere, radius: 1 cm, at: [0, 0, 2 cm]}
solver: {name: lemke}
run: {until: 1}
""")
        o = self.run_json(code=1)  # no solver for contacts in 3D: fails when the ball has come down
        self.assertEqual(o["end"], "failed")
        self.assertIn("lemke", o["error"])
        self.assertAlmostEqual(o["time"], (2 * 0.01 / 9.81) ** 0.5, delta=0.005)
        self.assertGreaterEqual(o["frames"], 2)
        self.readable()
        if h5py:
            with h5py.File(self.out) as f:
                self.assertEqual(f["frames/step"][-1], o["steps"])

    def test_full_disk_under_the_table(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        self.refused(self.scene, "--ledger", "/dev/full", says="not a plain file")


class Wrong(Case):
    def test_usage(self):
        self.refused(says="run needs an argument: 'talus run SCENE.yaml")
        self.refused(self.scene, self.scene, says="needs one scene, not 2")
        self.refused(self.scene, "--stepps", 3, says="did you mean '--steps'?")
        self.refused(self.scene, "-x", says="unknown option '-x'")
        self.refused(self.scene, "-o", says="-o needs a value")
        self.refused(self.scene, "--set", "x", says="PATH=VALUE")
        self.refused(self.scene, "--quiet=1", says="takes no value")

    def test_scene(self):
        self.refused(self.room / "none.yaml", code=1, says=("none.yaml", "No such file"))
        self.refused(self.scene, "--set", "run.untill=3", code=1, says=("run.untill", "until"))
        self.refused(self.scene, "--threads", "none", code=1, says="threads")
        self.refused(self.scene, "--steps", "-4", code=1, says="steps")
        self.scene.write_text(FEW.replace("dimension", "dimensoin"))
        self.refused(self.scene, code=1, says=("few.yaml:3", "dimension"))
        self.refused(self.scene, "--dry-run", code=1, says="few.yaml:3")

    def test_output(self):
        self.refused(self.scene, "-o", "no/run.h5", code=1, says="there is no directory no/")
        self.refused(self.scene, "-o", self.room, says="is not a plain file")
        self.refused(self.scene, "-o", self.scene, says="would replace the input")
        self.refused(self.scene, "--ledger", self.scene, says="would replace the input")
        precious = self.room / "precious.h5"
        precious.write_text("not to be lost")
        self.refused(self.scene, "-o", precious, code=1, says=("precious.h5", "not replaced"))
        self.assertEqual(precious.read_text(), "not to be lost")
        if os.getuid() != 0:
            closed = self.room / "closed"
            closed.mkdir(mode=0o500)
            self.refused(self.scene, "-o", closed / "run.h5", code=1, says="Permission denied")
        sealed = pathlib.Path("/proc/run.h5")  # no file can be made there, not even by root
        self.refused(self.scene, "-o", sealed, code=1, says="/proc/run.h5")

        self.refused(self.scene, "-o", "x", "--ledger", "x", says="the same file")

    def test_two_runs_do_not_share_a_file(self):
        self.start()
        self.refused(self.scene, "--json", code=1, says="being written by another run")


@needs_h5py
class Recording(Case):
    """What docs/guide/run.md says of the file."""

    def test_layout(self):
        o = self.run_json("--ledger", "few.csv", "--until", "0.4")
        with open(self.room / "few.csv", encoding="utf-8") as stream:
            table = list(csv.DictReader(stream))
        with h5py.File(self.out) as f:
            self.assertEqual(f.attrs["format"].decode() if isinstance(f.attrs["format"], bytes)
                             else f.attrs["format"], "talus-recording")
            self.assertEqual((f.attrs["format_version"], f.attrs["dim"]), (3, 2))
            self.assertEqual(f["scene"][()].decode().splitlines()[:len(FEW.splitlines())],
                             FEW.splitlines())
            offset, contact = f["frames/offset"][:], f["contacts/offset"][:]
            self.assertEqual((len(offset), offset[0]), (o["frames"] + 1, 0))
            self.assertEqual(len(contact), o["frames"] + 1)
            self.assertEqual(offset[-1], len(f["frames/position"]))
            self.assertEqual(contact[-1], len(f["contacts/impulse"]))
            self.assertEqual(f["frames/position"].shape[1], 3)
            self.assertEqual(f["frames/orientation"].shape[1], 4)
            self.assertEqual(len(f["bodies/mass"]), o["bodies"])
            self.assertEqual(f"{f['frames/hash'][-1]:016x}", o["hash"])
            free = f["bodies/motion"][:] == 0
            self.assertEqual(free.sum(), o["free_bodies"])
            # frames are at the multiples of the interval
            for k, t in enumerate(f["frames/time"]):
                self.assertAlmostEqual(t, 0.02 * k)
            # the ledger is the table
            for name, column in f["ledger"].items():
                self.assertEqual(column.shape, (o["steps"],), name)
                for i in (0, 57, o["steps"] - 1):
                    self.assertEqual(float(column[i]), float(table[i][name]), name)
            self.assertEqual({*f["ledger"]}, {*table[0]})
            # the highest point of the last frame is what the summary says
            rows = slice(offset[-2], offset[-1])
            y = f["frames/position"][rows][:, 1][free]
            self.assertAlmostEqual(y.max() + 0.02, o["extent_end"][1][1], delta=1e-4 * 0.02)

    def test_impulses_carry_the_weight(self):
        o = self.run_json("--until", 1.5)
        with h5py.File(self.out) as f:
            first, last = f["contacts/offset"][-2:]
            box = 0  # the container, the first body
            a, b = f["contacts/a"][first:last], f["contacts/b"][first:last]
            r = f["contacts/impulse"][first:last]
            up = r[b == box].sum(axis=0) - r[a == box].sum(axis=0)  # on the disks, by the box
            weight = f["bodies/mass"][:].sum() * 9.81 * 0.002
            self.assertEqual(o["missed_steps"], 0)
            self.assertAlmostEqual(up[1] / weight, 1, delta=0.02)  # all but at rest by then
            self.assertAlmostEqual(up[0] / weight, 0, delta=0.02)

    def test_single_precision_and_no_contacts(self):
        self.run_json("--set", "output.precision=single", "--set", "output.contacts=no",
                      "--set", "output.ledger=no", "--steps", 20)
        with h5py.File(self.out) as f:
            self.assertEqual(f["frames/position"].dtype.itemsize, 4)
            self.assertNotIn("contacts", f)
            self.assertEqual(len(f["ledger/step"]), 0)

    def test_rain(self):
        self.scene.write_text(FEW.replace("fill: layers", "fill: rain, rate: 100, count: 12").replace(
            "spacing: 5 cm,", "").replace("jitter: 4 mm,", ""))
        o = self.run_json()
        with h5py.File(self.out) as f:
            counts = f["frames/offset"][1:] - f["frames/offset"][:-1]
            self.assertEqual(counts[0], 1)  # or one more, that enters at once
            self.assertEqual(counts[-1], o["bodies"])
            self.assertEqual(o["bodies"], 13)
            self.assertTrue((counts[1:] >= counts[:-1]).all())
            self.assertEqual(len(f["bodies/shape"]), 13)


class Demo(unittest.TestCase):
    def test_scene_of_the_demo(self):
        make = (SOURCE / "Makefile").read_text(encoding="utf-8")
        (scene,) = re.findall(r"run (examples/scenes/\S+\.yaml)", make)
        run = talus("run", SOURCE / scene, "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
