# SPDX-License-Identifier: Apache-2.0
"""Every block of the guide and the README marked `sh run` must run as it stands there."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from program import SOURCE, TALUS, problems

BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Guide(unittest.TestCase):
    def test_examples_run(self):
        problems()
        pages = sorted((SOURCE / "docs" / "guide").glob("*.md")) + [SOURCE / "README.md"]
        count = 0
        for page in pages:
            # One room per page: later blocks may use what earlier ones wrote.
            with tempfile.TemporaryDirectory() as name:
                room = pathlib.Path(name)
                (room / "examples").symlink_to(SOURCE / "examples")
                (room / "bin").mkdir()
                (room / "bin" / "talus").symlink_to(pathlib.Path(TALUS).resolve())
                path = f"{room / 'bin'}:{os.environ['PATH']}"
                for block in BLOCK.findall(page.read_text(encoding="utf-8")):
                    count += 1
                    run = subprocess.run(
                        ["sh", "-eu", "-c", block], cwd=room, env={**os.environ, "PATH": path},
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                        check=False)
                    with self.subTest(page=page.name, block=block):
                        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertGreaterEqual(count, 5, "the guide has lost its examples")

    def test_links_lead_somewhere(self):
        pages = [*(SOURCE / "docs").rglob("*.md"), SOURCE / "README.md",
                 SOURCE / "bench" / "README.md"]
        for page in pages:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
                with self.subTest(page=page.name, target=target):
                    self.assertTrue((page.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
