# SPDX-License-Identifier: Apache-2.0
"""`talus help scene` and docs/guide/scenes.md come from the same tables; the scenes of the guide and
of examples/ are accepted, say what to expect, and how long they take."""
import json
import math
import re
import tempfile
import pathlib
import unittest

from program import SOURCE, talus

GUIDE = SOURCE / "docs" / "guide" / "scenes.md"
EXAMPLES = sorted((SOURCE / "examples" / "scenes").glob("*.yaml"))
WANTED = """heap silo drum column-2d column-3d avalanche cradle sedimentation packing hourglass
rain-box shear-cell mixer box-stack kapla arch wall-hit dominoes rocks hopper-silo mixer-blade
drum-lifters ellipses superellipsoids worms rings excavator""".split()


def help_scene(*words):
    run = talus("help", "scene", *words)
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    return run.stdout


class Scene(unittest.TestCase):
    def accepted(self, path, *words):
        """The library has read the scene, made its grains and found no overlap."""
        run = talus("run", path, "--dry-run", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_guide_has_the_keys_of_the_tables(self):
        text = GUIDE.read_text("utf-8")
        keys = text.split("<!-- keys: talus help scene --markdown -->\n")[1]
        self.assertEqual(keys.split("<!-- end of keys -->")[0], help_scene("--markdown"),
                         "run: python3 tools/scene-keys")

    def test_help_names_every_key_with_its_unit(self):
        page = help_scene()
        rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", help_scene("--markdown"), re.MULTILINE)
        self.assertGreater(len(rows), 100)
        words = page.split()
        for key, value in rows:
            self.assertIn(key, words)
            for part in value.split():
                self.assertIn(part, words)
        for line in page.splitlines():
            self.assertLessEqual(len(line), 100, line)
            self.assertEqual(line, line.rstrip())

    def test_one_section(self):
        page = help_scene("grains")
        self.assertIn("grains.N:", page)
        self.assertIn("jitter", page)
        self.assertNotIn("rest_energy", page)
        run = talus("help", "scene", "grians.N")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("did you mean 'grains.N'?", run.stderr)
        self.assertEqual(talus("help", "scene", "grains", "bodies").returncode, 2)

    def test_scenes_of_the_guide(self):
        blocks = re.findall(r"^```yaml\n(.*?)^```$", GUIDE.read_text("utf-8"),
                            re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 6)
        with tempfile.TemporaryDirectory() as room:
            for number, block in enumerate(blocks):
                if not block.startswith("version:"): # a part: put it into a scene
                    block = "version: 1\n" + block
                    if "\nrun:" not in block:
                        block += "run: {until: 1 s}\n"
                    if "\nbodies:" not in block and "\ngrains:" not in block:
                        block += "bodies: [{name: ball, radius: 1 cm}]\n"
                path = pathlib.Path(room) / f"block-{number}.yaml"
                path.write_text(block, "utf-8")
                with self.subTest(block=block):
                    self.accepted(path, "--steps", "1")

    def test_examples(self):
        self.assertLessEqual(set(WANTED), {p.stem for p in EXAMPLES})
        for path in EXAMPLES:
            with self.subTest(scene=path.name):
                head = path.read_text("utf-8").split("version:")[0]
                self.assertTrue(head.startswith("# "), "begins with what to expect")
                self.assertRegex(head, r"\d+(\.\d+)? s\b", "says how long it takes")
                self.accepted(path, "--steps", "1")

    def ran(self, path, *words):
        with tempfile.TemporaryDirectory() as room:
            run = talus("run", path, "--json", "--quiet", "-o", pathlib.Path(room) / "r.h5", *words)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return json.loads(run.stdout)

    def test_examples_that_stand(self):
        """Stacks that statics lets stand do, and fall where it does not."""
        def sinks(name, *words):
            o = self.ran(SOURCE / "examples" / "scenes" / f"{name}.yaml", *words)
            self.assertEqual(o["missed_steps"], 0)
            return o["extent_start"][1][2] - o["extent_end"][1][2]

        self.assertLess(abs(sinks("arch", "--until", "0.4")), 1e-7)
        self.assertGreater(sinks("arch", "--until", "0.4", "--set", "materials.stone.friction=0.2"),
                           0.02)
        leaning = "gravity=[{}, 0, -9.76]"
        self.assertLess(abs(sinks("box-stack", "--until", "0.4", "--set", leaning.format(0.96))),
                        1e-7)
        self.assertGreater(sinks("box-stack", "--set", leaning.format(1.0)), 0.5)

    def test_extent_of_a_superellipsoid(self):
        """Against points of its surface; turned about y by 0.5."""
        scene = ("version: 1\ngravity: [0, 0, 0]\nrun: {until: 1 ms}\nbodies:\n"
                 "  - {shape: superellipsoid, size: [2, 4, 6], exponents: [4, 3],"
                 " rotate: {axis: [0, 1, 0], angle: 0.5}}\n")
        with tempfile.TemporaryDirectory() as room:
            path = pathlib.Path(room) / "one.yaml"
            path.write_text(scene, "utf-8")
            low, high = self.ran(path)["extent_start"]
        best = [0.0, 0.0, 0.0]
        for i in range(201):
            for j in range(201):
                u, v = 0.5 * math.pi * i / 200, 0.5 * math.pi * j / 200 # an eighth; the rest by signs
                across = math.cos(u) ** (2 / 3)
                x, y = across * math.cos(v) ** 0.5, 2 * across * math.sin(v) ** 0.5
                z = 3 * math.sin(u) ** (2 / 3)
                c, s = math.cos(0.5), math.sin(0.5)
                for k, reach in enumerate((c * x + s * z, y, s * x + c * z)):
                    best[k] = max(best[k], reach)
        for k in range(3):
            self.assertAlmostEqual(high[k], best[k], delta=1e-3)
            self.assertAlmostEqual(low[k], -best[k], delta=1e-3)


if __name__ == "__main__":
    unittest.main()
