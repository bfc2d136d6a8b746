# SPDX-License-Identifier: Apache-2.0
"""How the tests of the viewer start it, ask it and read its answers."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import tempfile
import unittest
import urllib.parse

from program import TALUS, objects, talus

SANITIZED = bool(os.environ.get("TALUS_SANITIZE"))
BOXES = """\
version: 1
title: Disks, and a box that falls on them
dimension: 2
materials: {grain: {friction: 0.4}}
bodies:
  - {shape: container, size: [0.4, 1], at: [0, 0.5], open_top: yes, material: grain}
  - {shape: box, size: [5 cm, 3 cm], at: [0, 0.6], material: grain, name: lid}
grains:
  - {fill: layers, region: {from: [-0.19, 0.01], to: [0.19, 0.3]}, radius: 2 cm, spacing: 5 cm,
     jitter: 4 mm, material: grain}
step: {length: 2 ms}
run: {until: 0.4}
output: {every: 20 ms}
"""


class Server:
    """A running `talus view`; stopped with Ctrl-C at the end, which must end it well."""

    def __init__(self, *words, **more):
        self.process = subprocess.Popen(
            [TALUS, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        line = (self.process.stdout if "--json" in words else self.process.stderr).readline()
        found = re.search(r"http://[^/]+:\d+/[0-9a-f]{32}/", line)
        if not found:
            self.process.kill()
            raise AssertionError(line + self.process.stderr.read())
        self.url = urllib.parse.urlsplit(found.group())
        self.token = self.url.path.strip("/")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err

    def connect(self, timeout=20):
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=timeout)

    def ask(self, path, method="GET", body=None, headers=None, token=None):
        """Status, headers, bytes of an answer."""
        c = self.connect()
        with contextlib.closing(c):
            c.request(method, f"/{self.token if token is None else token}/{path}", body, headers or {})
            answer = c.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def json(self, path, method="GET"):
        status, _, data = self.ask(path, method)
        if status != 200:
            raise AssertionError(f"{path}: {status} {data[:200]}")
        return json.loads(data)

    def raw(self, data, wait=1):
        """Send bytes as they are; what comes back until the other side hangs up or is silent for a second."""
        with socket.create_connection((self.url.hostname, self.url.port), timeout=wait) as s:
            got = b""
            with contextlib.suppress(OSError):
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                while part := s.recv(65536):
                    got += part
            return got

    def memory(self):
        """Resident bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def frame_of(data):
    """A packed frame, unpacked with code of the test's own."""
    magic, n, m, fields, low, high, serial, _, rods, nodes = struct.unpack_from("<10I", data)
    time_, h, step, index = struct.unpack_from("<4d", data, 40)
    at = 72

    def take(kind, count):
        nonlocal at
        values = struct.unpack_from(f"<{count}{kind}", data, at)
        at += struct.calcsize(f"<{count}{kind}")
        return values

    f = {"magic": magic, "fields": fields, "hash": high << 32 | low, "serial": serial, "time": time_,
         "h": h, "step": step, "index": index, "bodies": n, "contacts": m,
         "position": take("f", 3 * n), "velocity": take("f", 3 * n), "orientation": take("f", 4 * n)}
    if fields & 1:
        f["spin"] = take("f", 3 * n)
    if rods:
        f["start"], f["material"], f["radius"] = take("i", rods + 1), take("i", rods), take("f", rods)
        f["nodes"], f["node_velocity"], f["director"] = (take("f", 3 * nodes) for _ in range(3))
        f["strain"] = take("f", nodes)
    if fields & 2:
        f["a"], f["b"] = take("i", m), take("i", m)
        for name in ("point", "normal", "impulse", "slip"):
            f[name] = take("f", 3 * m)
        f["gap"], f["status"] = take("f", m), take("B", m)
        at = (at + 3) // 4 * 4
    if at != len(data):
        raise AssertionError(f"{len(data) - at} bytes are left over")
    return f


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "the page of the viewer is not in this program" in talus("view", os.devnull).stderr:
            raise unittest.SkipTest("talus was built without node and npm: there is no page")
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.room = pathlib.Path(room.name)
        cls.scene = cls.room / "boxes.yaml"
        cls.scene.write_text(BOXES)
        run = talus("run", cls.scene, "--quiet", "--json", cwd=cls.room)
        if run.returncode != 0:
            raise AssertionError(run.stderr)
        (cls.run_info,) = objects(run.stdout)
        cls.recording = cls.room / "boxes.h5"

    def serve(self, *words):
        server = Server(*words)

        def end():
            if server.process.poll() is None:
                server.process.kill()
            server.process.communicate()

        self.addCleanup(end)
        return server
