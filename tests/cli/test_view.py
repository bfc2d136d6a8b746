# SPDX-License-Identifier: Apache-2.0
"""`talus view` and `talus run --view` as servers, seen from outside: what they hand out."""
import os
import struct
import subprocess
import sys
import time
import unittest

from program import SOURCE, TALUS, talus
from viewing import Case, frame_of

try:
    import h5py
except ImportError:
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system, *sys.argv])
    h5py = None


class Content(Case):
    def test_page_and_its_policy(self):
        server = self.serve("view", self.recording)
        for name, kind in (("", "text/html"), ("app.js", "text/javascript"), ("app.css", "text/css")):
            status, head, data = server.ask(name)
            self.assertEqual(status, 200)
            self.assertIn(kind, head["Content-Type"])
            self.assertIn("default-src 'none'", head["Content-Security-Policy"])
            self.assertEqual(head["X-Content-Type-Options"], "nosniff")
            self.assertEqual(head["Referrer-Policy"], "no-referrer")
            self.assertGreater(len(data), 300)
            # Nothing is fetched from elsewhere: the only addresses are names of XML and of licences.
            self.assertNotRegex(data.decode(), r"(src|href)=[\"']?https?:")
        self.assertEqual(server.url.hostname, "127.0.0.1")
        self.assertEqual(server.stop()[0], 0)

    @unittest.skipUnless(h5py, "h5py is absent (Debian package python3-h5py)")
    def test_frames_are_those_of_the_file(self):
        server = self.serve("view", self.recording)
        state = server.json("api/state")
        self.assertEqual(state["frames"], self.run_info["frames"])
        self.assertTrue(state["finished"])
        with h5py.File(self.recording) as f:
            for k in (0, 5, state["frames"] - 1):
                status, _, data = server.ask(f"api/frame/{k}?fields=3")
                self.assertEqual(status, 200)
                frame = frame_of(data)
                first, last = f["frames/offset"][k : k + 2]
                for name in ("position", "velocity", "spin", "orientation"):
                    want = f[f"frames/{name}"][first:last]
                    if name == "orientation":  # rounded in the file, of length 1 as it is read
                        want = want / (want**2).sum(axis=1, keepdims=True) ** 0.5
                    want = want.ravel()
                    self.assertEqual(len(frame[name]), len(want))
                    for got, x in zip(frame[name], want):
                        self.assertAlmostEqual(got, x, delta=2e-7 * (1 + abs(x)))
                first, last = f["contacts/offset"][k : k + 2]
                self.assertEqual(frame["contacts"], last - first)
                self.assertEqual(list(frame["a"]), list(f["contacts/a"][first:last]))
                self.assertEqual(list(frame["status"]), list(f["contacts/status"][first:last]))
                for got, x in zip(frame["impulse"], f["contacts/impulse"][first:last].ravel()):
                    self.assertAlmostEqual(got, x, delta=2e-7 * (1 + abs(x)))
                self.assertEqual(frame["time"], f["frames/time"][k])
                if frame["step"] > 0:
                    self.assertEqual(frame["h"], f["ledger/h"][int(frame["step"]) - 1])
            times = server.ask("api/times?first=3")[2]
            magic, count = struct.unpack_from("<2I", times)
            self.assertEqual(magic, 0x74444C54)
            self.assertEqual(list(struct.unpack_from(f"<{count}d", times, 8)), list(f["frames/time"][3:]))
            rows = struct.unpack_from("<4I", data := server.ask("api/ledger?names=kinetic,sum:loss_friction,nonsense")[2])
            self.assertEqual(rows[1:3], (state["steps"], 2))
            got = struct.unpack_from(f"<{2 * rows[1]}d", data, 16)
            self.assertEqual(list(got[: rows[1]]), list(f["ledger/kinetic"][:]))
            self.assertAlmostEqual(got[-1], sum(f["ledger/loss_friction"][:]), delta=1e-9)
            # Fewer points than steps: of each group the least and the largest.
            data = server.ask("api/ledger?names=kinetic&points=100")[2]
            _, rows, _, width = struct.unpack_from("<4I", data)
            kinetic = f["ledger/kinetic"][:]
            self.assertLessEqual(rows, 100)
            groups = [kinetic[i : i + width] for i in range(0, len(kinetic), width)]
            want = [x for g in groups for x in (min(g), max(g))]
            self.assertEqual(list(struct.unpack_from(f"<{rows}d", data, 16)), want)

    def test_info_names_what_there_is(self):
        info = self.serve("view", self.recording).json("api/info")
        self.assertEqual((info["name"], info["kind"], info["dim"]), ("boxes.h5", "recording", 2))
        self.assertEqual(info["title"], "Disks, and a box that falls on them")
        self.assertIn("fill: layers", info["scene"])
        info = self.serve("view", self.scene).json("api/info")
        self.assertIn("lid", info["names"].values())
        self.assertIn("grain", [m["name"] for m in info["materials"]])
        self.assertEqual(info["kinds"][0], "sphere")

    def test_scene_before_it_is_simulated(self):
        before = sorted(self.room.iterdir())
        server = self.serve("view", self.scene, "--json")
        self.assertEqual(server.json("api/info")["kind"], "scene")
        self.assertEqual(server.json("api/state")["frames"], 1)
        frame = frame_of(server.ask("api/frame/0?fields=3")[2])
        self.assertEqual((frame["bodies"], frame["contacts"]), (self.run_info["bodies"], 0))
        shapes = server.ask("api/shapes")[2]
        self.assertEqual(struct.unpack_from("<3I", shapes), (0x73444C54, 2, 2))  # container and box
        code, out, _ = server.stop()
        self.assertEqual(code, 0)
        self.assertEqual(out, "")
        self.assertEqual(sorted(self.room.iterdir()), before)

    def test_run_is_followed_and_obeys(self):
        out = self.room / "live.h5"
        server = self.serve("run", self.scene, "--view", "--until", "1000", "-o", out, "--quiet")
        live = server.json("api/state")["live"]
        self.assertTrue(live["running"])
        first = frame_of(server.ask("api/frame/live")[2])
        self.assertEqual(first["index"], -1)
        time.sleep(0.3)
        server.ask("api/frame/live")
        time.sleep(0.1)
        self.assertGreater(frame_of(server.ask("api/frame/live")[2])["step"], first["step"])
        server.json("api/control/pause", "POST")
        time.sleep(0.2)
        halted = server.json("api/state")["live"]
        self.assertTrue(halted["paused"])
        time.sleep(0.2)
        self.assertEqual(server.json("api/state")["live"]["step"], halted["step"])
        server.json("api/control/step", "POST")
        time.sleep(0.3)
        self.assertEqual(server.json("api/state")["live"]["step"], halted["step"] + 1)
        now = frame_of(server.ask("api/frame/live?fields=2")[2])
        self.assertEqual(now["step"], halted["step"] + 1)
        server.json("api/control/go", "POST")
        time.sleep(0.2)
        server.json("api/control/stop", "POST")
        end = time.monotonic() + 20
        while server.json("api/state")["live"]["running"] and time.monotonic() < end:
            time.sleep(0.05)
        state = server.json("api/state")
        self.assertEqual(state["live"]["end"], "interrupted")
        self.assertTrue(state["finished"])
        last = frame_of(server.ask(f"api/frame/{state['frames'] - 1}")[2])
        self.assertEqual(last["hash"], frame_of(server.ask("api/frame/live")[2])["hash"])
        self.assertEqual(server.ask("api/control/dance", "POST")[0], 404)
        code, text, _ = server.stop()
        self.assertEqual(code, 1)  # as every run that was interrupted
        self.assertIn(f"{last['hash']:016x}", text)

    def test_recording_that_grows(self):
        out = self.room / "grows.h5"
        run = subprocess.Popen([TALUS, "run", self.scene, "--until", "1000", "-o", out, "--quiet"],
                               stdout=subprocess.DEVNULL)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        end = time.monotonic() + 20
        while not out.exists() and time.monotonic() < end:
            time.sleep(0.02)
        server = self.serve("view", out)
        before = server.json("api/state")
        self.assertFalse(before["finished"])
        while time.monotonic() < end:
            after = server.json("api/state")
            if after["frames"] > before["frames"]:
                break
            time.sleep(0.1)
        self.assertGreater(after["frames"], before["frames"])
        self.assertEqual(server.ask(f"api/frame/{after['frames'] - 1}")[0], 200)

    def test_refusals_of_the_command_line(self):
        for words, code, says in (
            (("view", self.room / "absent.h5"), 1, "absent.h5"),
            (("view", self.scene, self.recording), 2, "one recording or scene"),
            (("view", self.recording, "--port", "99999"), 2, "0 (any that is free) to 65535"),
            (("view", self.recording, "--address", "localhost"), 1, "address in figures"),
            (("view", SOURCE / "README.md"), 1, "README.md"),
        ):
            with self.subTest(words=words):
                run = talus(*words)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn(says, run.stderr)
        taken = self.serve("view", self.recording)
        run = talus("view", self.recording, "--port", taken.url.port)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"port {taken.url.port}", run.stderr)


if __name__ == "__main__":
    unittest.main()
