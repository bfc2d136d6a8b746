# SPDX-License-Identifier: Apache-2.0
"""What the server of `talus view` refuses, and what it withstands."""
import concurrent.futures
import contextlib
import json
import resource
import socket
import time
import unittest
import urllib.parse

from viewing import SANITIZED, Case


class Security(Case):
    def test_nothing_but_the_recording(self):
        server = self.serve("view", self.recording)
        secret = self.room / "secret.txt"
        secret.write_text("what nobody may read")
        names = ["../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "....//secret.txt", str(secret),
                 "/" + str(secret), "api/../../secret.txt", "api/frame/../../boxes.h5", "boxes.h5",
                 "secret.txt", "api/frame/%00", "api/frame/-1", "api/frame/1e9", "api/frame/99999999999999999999",
                 "api/frame/0x1", "api/frame/live", "file:///etc/passwd", "app.js/", "api/", "api/frame/"]
        for name in names:
            with self.subTest(name=name):
                status, _, data = server.ask(urllib.parse.quote(name, safe="/%.:"))
                self.assertEqual(status, 404, data[:100])
                self.assertNotIn(b"nobody", data)
                self.assertIn("error", json.loads(data))
        for line in (b"GET /../../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET http://elsewhere/ HTTP/1.1\r\nHost: elsewhere\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                     b"GET\r\n\r\n", b"\r\n" * 50, b"\0" * 2000, b"GET / HTTP/9.9\r\n\r\n"):
            self.assertNotIn(b"root:", server.raw(line))
        self.assertEqual(server.json("api/state")["frames"], self.run_info["frames"])
        self.assertEqual(server.stop()[0], 0)

    def test_token_is_needed(self):
        server = self.serve("view", self.recording)
        other = "0" * 32 if server.token != "0" * 32 else "1" * 32
        for token in ("", "x", other, server.token[:-1], server.token + "0", server.token.upper() + "x",
                      server.token[:-1] + ("0" if server.token[-1] != "0" else "1")):
            for path in ("", "app.js", "api/info", "api/frame/0"):
                self.assertEqual(server.ask(path, token=token)[0], 403, token)
        again = self.serve("view", self.recording)
        self.assertNotEqual(again.token, server.token)

    def test_requests_that_are_too_large(self):
        server = self.serve("view", self.recording)
        before = server.memory()
        self.assertIn(server.ask("api/" + "a" * 100000)[0], (400, 414, 431))
        self.assertIn(server.ask("api/state", headers={"X-Long": "b" * 100000})[0], (400, 413, 431))
        got = server.raw(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20000)
        self.assertRegex(got[:20], rb"^$|^HTTP/1\.1 4")
        for head in (b"Content-Length: 100000000000", b"Content-Length: 5", b"Transfer-Encoding: chunked",
                     b"Content-Length: -7", b"Content-Length: 99999999999999999999999"):
            ask = f"POST /{server.token}/api/control/stop HTTP/1.1\r\nHost: x\r\n".encode() + head
            got = server.raw(ask + b"\r\n\r\n" + b"z" * 100000)
            self.assertRegex(got[:20], rb"^$|^HTTP/1\.1 4", head)
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
            self.assertEqual(server.ask("api/state", method)[0], 405)
        self.assertEqual(server.ask("api/control/stop", "POST")[0], 404)  # no run goes on
        if not SANITIZED:
            self.assertLess(server.memory() - before, 16 << 20)
        self.assertEqual(server.json("api/state")["finished"], True)

    def test_slow_clients_are_hung_up_on_and_disturb_nobody(self):
        server = self.serve("view", self.recording)
        slow = [socket.create_connection((server.url.hostname, server.url.port), timeout=20) for _ in range(20)]
        begin = time.monotonic()
        for s in slow:
            self.addCleanup(s.close)
            s.sendall(b"GET /")
        # Bytes that trickle in do not keep the connection open.
        gone = 0
        while gone < len(slow) and time.monotonic() - begin < 15:
            gone = 0
            for s in slow:
                try:
                    s.sendall(b"a")
                except OSError:
                    gone += 1
            self.assertEqual(server.json("api/state")["finished"], True)
            time.sleep(0.3)
        self.assertEqual(gone, len(slow))
        self.assertGreater(time.monotonic() - begin, 2)

    def test_thousand_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        server = self.serve("view", self.recording)
        for _ in range(3):
            server.ask("api/frame/3?fields=3")
        memory, files = server.memory(), server.files()

        def once(k):
            try:
                return server.ask(f"api/frame/{k % 20}?fields=3")[0]
            except OSError:
                return 0  # refused

        idle = []
        for _ in range(300):  # more than the server takes; they say nothing
            with contextlib.suppress(OSError):
                s = socket.create_connection((server.url.hostname, server.url.port), timeout=20)
                idle.append(s)
        with concurrent.futures.ThreadPoolExecutor(1000) as pool:
            answers = list(pool.map(once, range(1000)))
        for s in idle:
            s.close()
        self.assertTrue(set(answers) <= {0, 200, 503}, set(answers))
        self.assertGreater(answers.count(200), 900)
        end = time.monotonic() + 10
        while server.files() > files + 2 and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLessEqual(server.files(), files + 2)
        if not SANITIZED:
            self.assertLess(server.memory() - memory, 48 << 20)
        self.assertEqual(server.ask("api/frame/3")[0], 200)
        self.assertEqual(server.stop()[0], 0)


if __name__ == "__main__":
    unittest.main()
