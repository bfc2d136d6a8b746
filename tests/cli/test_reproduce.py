# SPDX-License-Identifier: Apache-2.0
"""`talus reproduce` seen from outside: names, verdicts, the page. The experiments that take seconds
are run; the others are behind the command itself."""
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

from program import talus

SHORT = ["b-table1", "d-slide"]


class Reproduce(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def run_names(self, *words, status=0):
        run = talus("reproduce", *words, cwd=self.room)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def test_list(self):
        names = [line.split()[0] for line in self.run_names("--list").stdout.splitlines()]
        for source, least in (("b-", 5), ("d-", 3), ("a-", 4), ("v-", 4)):
            self.assertGreaterEqual(sum(n.startswith(source) for n in names), least)
        self.assertEqual(len(names), len(set(names)))

    def test_short_ones_pass(self):
        out = self.run_names(*SHORT, "--quick").stdout
        for name in SHORT:
            self.assertIn(f"\n{name}: ", out)
        counted = re.search(r"(\d+) rows pass, (\d+) differ, (\d+) fail; page: reproduce.html", out)
        self.assertGreaterEqual(int(counted[1]), 20)
        self.assertEqual((counted[2], counted[3]), ("0", "0"))
        for figure in ("2926", "2029", "160", "100", "0.71429"): # measured, as published
            self.assertIn(figure, out)

    def test_page(self):
        self.run_names("d-slide", "--html", "one.html")
        page = (self.room / "one.html").read_text(encoding="utf-8")
        self.assertEqual(page.count("<section>"), 1)
        self.assertNotIn("http://", page.replace("http://www.w3.org/2000/svg", ""))
        self.assertNotIn("https://", page)
        self.assertEqual(page.count("<tr>"), page.count("</tr>"))
        for svg in re.findall(r"<svg.*?</svg>", page, re.S):
            xml.etree.ElementTree.fromstring(svg)

    def test_wrong_usage(self):
        for words, text in ((["d-slid"], "did you mean 'd-slide'"),
                            (["--threads", "0"], "from 1 to 256"),
                            (["--quik"], "--quick")):
            with self.subTest(words=words):
                self.assertIn(text, self.run_names(*words, status=2).stderr)
        self.assertIn("No such file", self.run_names("b-table1", "--html", "no/where.html",
                                                     status=1).stderr)


if __name__ == "__main__":
    unittest.main()
