# SPDX-License-Identifier: Apache-2.0
"""`talus picture` and `talus report` seen from outside: files that are what they claim to be, pages
that hold everything and fetch nothing, and what is refused."""
import base64
import html.parser
import pathlib
import re
import struct
import tempfile
import unittest
import zlib

from program import talus

DROP = """\
version: 1
title: Three <balls> & a box
dimension: %d
materials: {grain: {friction: %s}}
bodies:
  - {name: floor, shape: half-space, material: grain}
  - {shape: sphere, radius: 0.1, at: [0, %s], material: grain, velocity: [1, 0%s]}
  - {shape: sphere, radius: 0.1, at: [0.05, %s], material: grain}
  - {shape: box, size: [0.3, 0.2%s], at: [0.4, %s], material: grain}
step: {length: 5 ms}
run: {until: 0.3}
output: {every: 50 ms}
"""


def scene(dim, friction="0.5"):
    if dim == 2:
        return DROP % (2, friction, "0.2", "", "0.5", "", "0.3")
    return DROP % (3, friction, "0, 0.2", ", 0", "0, 0.5", ", 0.2", "0, 0.3")


def png(data):
    """Width, height and rows of pixels of a PNG file; every chunk is checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, head = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        (check,) = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert check == zlib.crc32(kind + body)
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height, depth, colour = head[:4]
    assert depth == 8 and colour in (2, 6)
    each = 3 if colour == 2 else 4
    raw = zlib.decompress(packed)
    assert len(raw) == height * (1 + width * each)
    return width, height, colour, raw


class Page(html.parser.HTMLParser):
    """What a page is made of; tags that are not closed are an error."""
    EMPTY = {"meta", "img", "br", "line", "path", "circle", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.links = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.words.append(data)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.room = pathlib.Path(room.name)
        for dim in (2, 3):
            (cls.room / f"drop{dim}.yaml").write_text(scene(dim))
            run = talus("run", f"drop{dim}.yaml", "--quiet", cwd=cls.room)
            assert run.returncode == 0, run.stderr
        (cls.room / "smooth.yaml").write_text(scene(3, "0.1"))
        run = talus("run", "smooth.yaml", "--quiet", cwd=cls.room)
        assert run.returncode == 0, run.stderr

    def good(self, *words):
        run = talus(*words, cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def bad(self, code, said, *words):
        run = talus(*words, cwd=self.room)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertIn(said, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def read(self, name):
        return (self.room / name).read_bytes()


class Pictures(Case):
    def test_a_picture_has_the_size_and_moment_asked_for(self):
        for dim in (2, 3):
            said = self.good("picture", f"drop{dim}.h5", "--size", "120x80", "--time", "0.11")
            self.assertIn("frame 2, t = 0.1 s", said)
            self.assertIn("colour: speed from 0 to", said)
            width, height, colour, raw = png(self.read(f"drop{dim}.png"))
            self.assertEqual((width, height, colour), (120, 80, 2))
            self.assertGreater(len(set(raw)), 20)

    def test_options_change_what_is_seen(self):
        seen = set()
        words = ((), ("--forces",), ("--dark",), ("--colour", "id"), ("--colour", "size"),
                 ("--view", "0,0,-1"), ("--frame", "0"), ("--clear",), ("--range", "0:9"))
        for more in words:
            self.good("picture", "drop3.h5", "--size", "90x60", "-o", "one.png", *more)
            png(self.read("one.png"))
            seen.add(self.read("one.png"))
        self.assertEqual(len(seen), len(words))

    def test_threads_and_repeats_make_no_difference(self):
        for threads in (1, 2, 5):
            self.good("picture", "drop3.h5", "--size", "90x60", "-o", f"t{threads}.png",
                      "--threads", threads)
        self.assertEqual(self.read("t1.png"), self.read("t2.png"))
        self.assertEqual(self.read("t1.png"), self.read("t5.png"))

    def test_a_film_has_every_frame(self):
        said = self.good("picture", "drop2.h5", "--size", "60x40", "--every", "2", "-o", "film.png")
        names = sorted(p.name for p in self.room.glob("film-*.png"))
        self.assertEqual(names, [f"film-000{k}.png" for k in range(4)])  # 7 frames
        self.assertIn("4 pictures", said)
        self.assertNotEqual(self.read(names[0]), self.read(names[3]))

    def test_wrong_wishes_are_refused(self):
        self.bad(2, "did you mean 'speed'?", "picture", "drop3.h5", "--colour", "sped")
        self.bad(2, "--size 12", "picture", "drop3.h5", "--size", "12")
        self.bad(2, "--view 0,0,0", "picture", "drop3.h5", "--view", "0,0,0")
        self.bad(2, "--range 2:1", "picture", "drop3.h5", "--range", "2:1")
        self.bad(2, "ends in .png", "picture", "drop3.h5", "-o", "drop3.jpg")
        self.bad(2, "one recording", "picture", "drop2.h5", "drop3.h5")
        self.bad(1, "there is no frame 7; it has 7", "picture", "drop3.h5", "--frame", "7")
        self.bad(1, "nowhere.h5", "picture", "nowhere.h5")
        self.bad(1, "drop3.yaml", "picture", "drop3.yaml", "-o", "x.png")
        self.bad(1, "none/x.png", "picture", "drop3.h5", "--size", "8x8", "-o", "none/x.png")


class Reports(Case):
    def page(self, *words):
        self.good("report", *words, "--width", "96")
        name = words[words.index("-o") + 1] if "-o" in words else words[0][:-3] + ".html"
        return self.read(name).decode("utf-8")

    def test_a_page_holds_everything_and_fetches_nothing(self):
        for dim in (2, 3):
            text = self.page(f"drop{dim}.h5")
            page = Page(text)
            self.assertGreaterEqual(page.tags.count("svg"), 10)
            pictures = re.findall(r'src="data:image/png;base64,([^"]*)"', text)
            self.assertEqual(len(pictures), 4)  # first, middle, last, forces
            for one in pictures:
                png(base64.b64decode(one, validate=True))
            for link in page.links:
                self.assertTrue(link.startswith("data:"), link[:40])
            self.assertNotIn("<script", text)
            self.assertNotRegex(text, r"url\(|@import")
            outside = set(re.findall(r"https?://[^\"' <]*", text))
            self.assertEqual(outside, {"http://www.w3.org/2000/svg"})
            words = "".join(page.words)
            for part in ("Three <balls> & a box", "What was run", "Energy", "Contacts by status",
                         "Iterations", "Residual of the certificate", "Observables", "machine",
                         "wall time", "friction: 0.5", "first frame, t = 0 s",
                         "last frame, t = 0.3 s", "3 grains and 1 obstacle", "met by all steps"):
                self.assertIn(part, words)

    def test_two_runs_are_compared(self):
        page = Page(self.page("drop3.h5", "smooth.h5", "-o", "both.html"))
        words = "".join(page.words)
        self.assertIn("drop3 and smooth", words)
        self.assertEqual(page.tags.count("img"), 8)
        self.assertEqual(page.tags.count("mark"), 2)  # the line with the friction, in each scene
        self.assertIn("friction: 0.1", words)

    def test_a_recording_of_little_more_than_places(self):
        (self.room / "bare.yaml").write_text(scene(3).replace(
            "every: 50 ms", "every: 50 ms, fields: [], ledger: no, contacts: no"))
        run = talus("run", "bare.yaml", "--quiet", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.good("picture", "bare.h5", "--forces", "--size", "90x60")
        png(self.read("bare.png"))
        page = Page(self.page("bare.h5"))
        self.assertEqual(page.tags.count("img"), 3)
        self.assertIn("no step was certified", "".join(page.words))

    def test_a_page_is_the_same_each_time(self):
        first = self.page("drop2.h5", "-o", "a.html", "--threads", "1")
        self.assertEqual(first, self.page("drop2.h5", "-o", "b.html", "--threads", "3"))

    def test_wrong_wishes_are_refused(self):
        self.bad(1, "nowhere.h5", "report", "nowhere.h5")
        self.bad(2, "at most 8", "report", *["drop2.h5"] * 9)
        self.bad(2, "is the recording itself", "report", "drop2.h5", "-o", "drop2.h5")
        self.bad(1, "none/x.html", "report", "drop2.h5", "-o", "none/x.html")
        self.assertEqual(talus("report").returncode, 2)
        self.assertEqual(list(self.room.glob("*.part")), [])


if __name__ == "__main__":
    unittest.main()
