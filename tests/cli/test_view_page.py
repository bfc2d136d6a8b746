# SPDX-License-Identifier: Apache-2.0
"""The page of `talus view` in a headless Chromium (viewer/test/page.mjs). Its screenshots are kept in
viewer/shots of the build tree."""
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

from program import SOURCE, TALUS
from viewing import Case

try:
    import h5py
except ImportError:
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system, *sys.argv])
    h5py = None

BUILD = pathlib.Path(os.environ.get("TALUS_BUILD_DIR", SOURCE / "build" / "release"))
ROCKS = """\
version: 1
title: Rocks in a box
materials: {rock: {friction: 0.6}}
bodies:
  - {shape: container, size: [0.5, 0.5, 0.4], at: [0, 0, 0.2], open_top: yes, material: rock}
  - {shape: box, size: [8 cm, 5 cm, 4 cm], at: [0.1, 0.1, 0.1], material: rock}
  - {shape: cylinder, radius: 3 cm, height: 8 cm, at: [-0.1, 0.1, 0.1], material: rock}
  - {shape: polyhedron, points: [[0, 0, 0], [0.06, 0, 0], [0, 0.05, 0], [0, 0, 0.04], [0.03, 0.03, 0.04]],
     at: [0, 0, 0.25], material: rock}
  - {shape: sphere, radius: 5 cm, at: [-0.1, -0.1, 0.1], material: rock}
  - {shape: capsule, radius: 2 cm, height: 6 cm, at: [0.1, -0.12, 0.1], material: rock}
run: {until: 1}
"""


# Balls of several sizes, more than are drawn as squares, with periodic images.
MANY = """\
version: 1
title: Many balls
period: [1, 0, 0]
materials: {rock: {friction: 0.6}}
bodies: [{shape: half-space, material: rock}]
grains:
  - {fill: layers, region: {from: [0, 0, 1 mm], to: [1, 1, 1]}, spacing: 0.0277, radius: {law: uniform, low: 9 mm, high: 13.3 mm},
     jitter: 0.2 mm, material: rock}
run: {until: 1}
"""

UNEVEN = """\
version: 1
title: Small balls about a large one
materials: {rock: {friction: 0.6}}
bodies: [{shape: sphere, radius: 0.2, material: rock}]
grains:
  - {fill: random, count: 3000, region: {from: [-0.25, -0.25, -0.25], to: [0.25, 0.25, 0.25]}, radius: 7 mm, material: rock}
run: {until: 1}
"""


def chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


SAND = """\
version: 1
title: Sand in a box
dimension: 2
sand:
  cell: 0.1
  box: {from: [0, 0], to: [1.6, 0.8]}
  diameter: 5 mm
  flow_friction: 0.7
  fill: [{region: {from: [0, 0], to: [0.4, 0.6]}}]
bodies:
  - {name: stone, shape: sphere, radius: 0.1, at: [0.8, 0.1], density: 2000}
step: {length: 5 ms}
run: {until: 0.3 s}
output: {every: 50 ms}
"""


RODS = """\
version: 1
title: Ropes over a ball
materials: {felt: {friction: 0.4}}
bodies: [{name: ball, shape: sphere, radius: 5 cm, fixed: yes, material: felt}]
rods:
  - name: rope
    line: {from: [-0.12, 0, 0.06], to: [0.12, 0, 0.06]}
    nodes: 24
    radius: 4 mm
    young: 0.5 MPa
    damping: 5 ms
    material: felt
  - name: curl
    tress: {count: 5, at: [0, 0.12, 0.1], radius: 4 cm, length: 0.2}
    nodes: 40
    radius: 1 mm
    young: 20 MPa
    natural: {shape: curl, radius: 6 mm, pitch: 1 cm}
step: {length: 2 ms}
run: {until: 0.1 s}
output: {every: 20 ms}
"""


class Page(Case):
    def rods(self):
        """A recording of rods, and what the page must show of its last frame."""
        scene, recording = self.room / "rods.yaml", self.room / "rods.h5"
        scene.write_text(RODS)
        subprocess.run([TALUS, "run", scene, "-o", recording, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        with h5py.File(recording) as f:
            first, last = f["rod_nodes/offset"][-2:]
            x = f["rod_nodes/position"][first:last]
            a, b = (f["contacts/" + side][f["contacts/offset"][-2]:] for side in "ab")
            length = sum(float(((x[k + 1] - x[k]) ** 2).sum() ** 0.5) for k in range(23))
            return {"rods": str(recording),
                    "rope": {"rods": len(f["rods/nodes"]), "nodes": int(last - first),
                             "z": float(x[0, 2]), "length": length,
                             "speed": float((f["rod_nodes/velocity"][first + 2] ** 2).sum() ** 0.5),
                             "contacts": int(((1 <= a) & (a < 24) | (1 <= b) & (b < 24)).sum())}}

    def sand(self):
        """A recording of sand, and what the page must show of its last frame."""
        scene, recording = self.room / "sand.yaml", self.room / "sand.h5"
        scene.write_text(SAND)
        subprocess.run([TALUS, "run", scene, "-o", recording, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        with h5py.File(recording) as f:
            first, last = f["sand/offset"][-2:]
            return {"sand": str(recording), "grains": {"count": int(last - first),
                                                       "y": float(f["sand/position"][first, 1])}}

    def damaged(self):
        """A copy whose frames cannot be unpacked: bytes of all compressed chunks of positions are turned."""
        bad = self.room / "bad.h5"
        shutil.copy(self.recording, bad)
        with h5py.File(bad) as f:
            d = f["frames/position"].id
            chunks = [d.get_chunk_info(k) for k in range(d.get_num_chunks())]
        with open(bad, "r+b") as f:
            for c in chunks:
                f.seek(c.byte_offset)
                data = f.read(c.size)
                f.seek(c.byte_offset)
                f.write(bytes(x ^ 0x5A for x in data))
        return bad

    def truth(self):
        """What the page must show of the last frame, computed from the file by the definitions."""
        with h5py.File(self.recording) as f:
            first, last = f["frames/offset"][-2:]
            x, v = f["frames/position"][first:last], f["frames/velocity"][first:last]
            step = int(f["frames/step"][-1])
            h = f["ledger/h"][step - 1]
            begin, end = f["contacts/offset"][-2:]
            a, b = f["contacts/a"][begin:end], f["contacts/b"][begin:end]
            point, impulse = f["contacts/point"][begin:end], f["contacts/impulse"][begin:end]
            mass, shape = f["bodies/mass"][:], f["bodies/shape"][:]
            kind, radius = f["shapes/kind"][:], f["shapes/radius"][:]
            grains = [i for i in range(len(x)) if mass[i] > 0 and kind[shape[i]] == 0]
            body = max(grains, key=lambda i: (sum(a == i) + sum(b == i), -i))
            work = 0.0
            for k in range(len(a)):
                for i, sign in ((a[k], 1.0), (b[k], -1.0)):
                    if i == body:
                        work -= sign * sum(impulse[k] / h * (point[k] - x[i]))
            area = math.pi * radius[shape[body]] ** 2
            return {"frames": len(f["frames/time"]), "time2": f"{f['frames/time'][2]:.3f}",
                    "end": float(f["frames/time"][-1]), "body": int(body),
                    "position": [float(c) for c in x[body][:2]],
                    "speed": float((v[body] ** 2).sum() ** 0.5), "mass": float(mass[body]),
                    "contacts": int(sum(a == body) + sum(b == body)),
                    "pressure": float(work / (2 * area)), "friction": 0.4, "solid": 1}

    @unittest.skipUnless(h5py, "h5py is absent (Debian package python3-h5py)")
    @unittest.skipUnless(shutil.which("node"), "node is absent (Debian package nodejs)")
    @unittest.skipUnless(chromium(), "Chromium is absent (Debian package chromium)")
    def test_page(self):
        rocks = self.room / "rocks.yaml"
        rocks.write_text(ROCKS)
        many, uneven = self.room / "many.yaml", self.room / "uneven.yaml"
        many.write_text(MANY)
        uneven.write_text(UNEVEN)
        shots = BUILD / "viewer" / "shots"
        given = {"talus": TALUS, "chromium": chromium(), "recording": str(self.recording),
                 "scene": str(self.scene), "solids": str(rocks), "many": str(many), "uneven": str(uneven),
                 "bad": str(self.damaged()),
                 "live": str(self.room / "live.h5"), "shots": str(shots), "truth": self.truth(), **self.sand(),
                 **self.rods()}
        run = subprocess.run(
            ["node", SOURCE / "viewer" / "test" / "page.mjs", BUILD / "viewer", json.dumps(given)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240, check=False)
        print(run.stdout, file=sys.stderr)
        self.assertEqual(run.returncode, 0, run.stdout)
        for name in ("recording-first", "recording-picked", "scene-3d", "sand-pressure", "rods", "live-paused", "phone", "malformed"):
            head = (shots / f"{name}.png").read_bytes()[:24]
            self.assertEqual(head[1:4], b"PNG")
            self.assertGreater(struct.unpack(">2I", head[16:24]), (300, 300))


if __name__ == "__main__":
    unittest.main()
