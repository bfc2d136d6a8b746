# SPDX-License-Identifier: Apache-2.0
"""`talus export` and the XDMF file: what VTK, csv and `talus solve` read is what was recorded."""
import csv
import os
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

from program import SOURCE, objects, talus

try:
    import h5py
    import numpy
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLUnstructuredGridReader
except ImportError:
    # Packages of the system belong to the system's Python, which need not be the first one.
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system, *sys.argv])
    raise

MIXED = """\
version: 1
title: A tetrahedron, a box and balls in a bin
materials: {stone: {friction: 0.5}}
bodies:
  - {name: bin, shape: container, size: [0.6, 0.6, 1], at: [0, 0, 0.5], open_top: yes, material: stone}
  - {name: tetrahedron, shape: polyhedron, points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]],
     at: [-0.25, -0.25, 0.01], material: stone}
  - {name: brick, shape: box, size: [0.1, 0.2, 0.05], at: [0.15, 0.1, 0.04], rotate: {angle: 30 deg},
     material: stone}
grains:
  - {name: balls, fill: lattice, region: {from: [-0.2, -0.2, 0.3], to: [0.2, 0.2, 0.4]}, counts: [3, 3, 1],
     radius: {law: uniform, low: 4 cm, high: 6 cm}, material: stone, velocity: [0, 0, -2]}
step: {length: 2 ms}
run: {until: 0.2}
output: {every: 40 ms, precision: double}
"""
FLAT = """\
version: 1
dimension: 2
period: [0.4, 0]
bodies:
  - {name: floor, shape: half-space}
  - {name: plank, shape: box, size: [0.1, 0.02], at: [0, 0.2]}
grains:
  - {name: disks, fill: layers, region: {from: [-0.2, 0], to: [0.2, 0.1]}, radius: 2 cm, spacing: 40 mm}
run: {until: 0.1}
output: {every: 20 ms}
"""


def read(reader, path):
    r = reader()
    r.SetFileName(str(path))
    r.Update()
    return r.GetOutput()


def array(data, name):
    return vtk_to_numpy(data.GetArray(name))


class Case(unittest.TestCase):
    text = MIXED

    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        scene = self.room / "mixed.yaml"
        scene.write_text(self.text)
        self.h5 = self.room / "mixed.h5"
        run = talus("run", scene, "--quiet", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)

    def export(self, *words, code=0):
        run = talus("export", self.h5, *words, cwd=self.room)
        self.assertEqual(run.returncode, code, run.stderr)
        return run


class Vtk(Case):
    def frame(self, f, k):
        rows = slice(*f["frames/offset"][k:k + 2])
        return {name: f["frames"][name][rows] for name in
                ("position", "velocity", "spin", "orientation")}

    def test_bodies(self):
        self.export("--vtk")
        series = tree.parse(self.room / "mixed-vtk" / "bodies.pvd").getroot()
        files = series.findall("Collection/DataSet")
        with h5py.File(self.h5) as f:
            self.assertEqual([float(d.get("timestep")) for d in files], list(f["frames/time"]))
            self.assertEqual(len(files), 6)
            bounded = f["bodies/radius"][:] > 0
            self.assertEqual(bounded.sum(), 11)
            for k, entry in enumerate(files):
                grid = read(vtkXMLUnstructuredGridReader, self.room / "mixed-vtk" / entry.get("file"))
                want = self.frame(f, k)
                self.assertEqual(grid.GetNumberOfCells(), 11)
                self.assertEqual(grid.GetCell(3).GetPointId(0), 3)
                self.assertTrue((vtk_to_numpy(grid.GetPoints().GetData())
                                 == want["position"][bounded]).all())
                for name in ("velocity", "spin", "orientation"):
                    self.assertTrue((array(grid.GetPointData(), name) == want[name][bounded]).all())
                for name in ("mass", "radius", "material", "shape"):
                    self.assertTrue((array(grid.GetPointData(), name)
                                     == f["bodies"][name][:][bounded]).all())
                self.assertEqual(list(array(grid.GetPointData(), "id")),
                                 list(numpy.flatnonzero(bounded)))

    def test_surfaces(self):
        """Closed, the right way round and where the bodies are: volume and centre come out."""
        self.export("--vtk", "--frames", "last")
        surface = read(vtkXMLPolyDataReader, self.room / "mixed-vtk" / "surfaces-000005.vtp")
        points = vtk_to_numpy(surface.GetPoints().GetData())
        polys = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        body = array(surface.GetCellData(), "body")
        self.assertEqual(set(body), {0, 1, 2})
        with h5py.File(self.h5) as f:
            now = self.frame(f, 5)
        a, b, c = (points[polys[:, k]] for k in range(3))
        volume = numpy.einsum("ij,ij->i", a, numpy.cross(b, c)) / 6
        centre = (a + b + c) / 4
        for index, size, middle in ((1, 0.2 ** 3 / 6, [0.05, 0.05, 0.05]), (2, 0.001, [0, 0, 0])):
            mine = body == index
            self.assertAlmostEqual(volume[mine].sum(), size, delta=1e-12)
            got = (centre[mine] * volume[mine, None]).sum(axis=0) / size
            w, x, y, z = now["orientation"][index]
            turn = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
            want = now["position"][index] + turn @ middle
            self.assertLess(abs(got - want).max(), 1e-9)
        # normals are unit vectors that agree with the order of the corners
        normal = array(surface.GetPointData(), "normal")
        self.assertLess(abs((normal ** 2).sum(axis=1) - 1).max(), 1e-9)
        facet = numpy.cross(b - a, c - a)
        self.assertGreater(numpy.einsum("ij,ij->i", facet, normal[polys[:, 0]]).min(), 0)

    def test_contacts(self):
        self.export("--vtk")
        found = 0
        with h5py.File(self.h5) as f:
            radius = f["bodies/radius"][:]
            for k in range(6):
                lines = read(vtkXMLPolyDataReader,
                             self.room / "mixed-vtk" / f"contacts-{k:06}.vtp")
                rows = slice(*f["contacts/offset"][k:k + 2])
                a, b = f["contacts/a"][rows], f["contacts/b"][rows]
                self.assertEqual(lines.GetNumberOfLines(), len(a))
                if len(a) == 0:
                    continue
                found += len(a)
                x = f["frames/position"][f["frames/offset"][k]:f["frames/offset"][k + 1]]
                point = f["contacts/point"][rows]
                impulse, normal = f["contacts/impulse"][rows], f["contacts/normal"][rows]
                ends = vtk_to_numpy(lines.GetPoints().GetData()).reshape(-1, 2, 3)
                for side, which in ((0, a), (1, b)):
                    free = (radius[which] > 0)[:, None]
                    self.assertTrue((ends[:, side] == numpy.where(free, x[which], point)).all())
                cells = lines.GetCellData()
                self.assertTrue(numpy.allclose(array(cells, "force"), impulse / 0.002, rtol=1e-15))
                self.assertTrue(numpy.allclose(array(cells, "force_size"),
                                               numpy.linalg.norm(impulse, axis=1) / 0.002))
                self.assertTrue(numpy.allclose(array(cells, "normal_force"),
                                               (impulse * normal).sum(axis=1) / 0.002))
                self.assertTrue((array(cells, "a") == a).all() and (array(cells, "b") == b).all())
                self.assertTrue((array(cells, "status") == f["contacts/status"][rows]).all())
                self.assertTrue((array(cells, "gap") == f["contacts/gap"][rows]).all())
        self.assertGreater(found, 10)

    def test_header(self):
        """Appended raw data behind lengths of 64 bits, as asked for."""
        self.export("--vtk", "--frames", "0")
        for name in ("bodies-000000.vtu", "surfaces-000000.vtp", "contacts-000000.vtp"):
            head = (self.room / "mixed-vtk" / name).read_bytes()[:4000].split(b"<AppendedData")[0]
            self.assertIn(b'header_type="UInt64"', head)
            self.assertIn(b'format="appended"', head)
            self.assertNotIn(b'format="ascii"', head)


class Flat(Case):
    text = FLAT

    def test_outlines_and_periods(self):
        self.export("--vtk", "--frames", "last")
        outline = read(vtkXMLPolyDataReader, self.room / "mixed-vtk" / "surfaces-000005.vtp")
        body = array(outline.GetCellData(), "body")
        points = vtk_to_numpy(outline.GetPoints().GetData())
        segments = vtk_to_numpy(outline.GetLines().GetConnectivityArray()).reshape(-1, 2)
        a, b = points[segments[:, 0]], points[segments[:, 1]]
        mine = body == 1
        # the area of the plank, free side on the left: clockwise is negative
        area = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])[mine].sum() / 2
        self.assertAlmostEqual(abs(area), 0.002, delta=1e-9)
        self.assertEqual(abs(points[:, 2]).max(), 0)
        # lines do not cross the cell: both ends are near the contact
        lines = read(vtkXMLPolyDataReader, self.room / "mixed-vtk" / "contacts-000005.vtp")
        ends = vtk_to_numpy(lines.GetPoints().GetData()).reshape(-1, 2, 3)
        length = numpy.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        with h5py.File(self.h5) as f:
            x = f["frames/position"][f["frames/offset"][5]:]
            last = slice(*f["contacts/offset"][5:7])
            far = numpy.linalg.norm(x[f["contacts/a"][last]] - x[f["contacts/b"][last]], axis=1)
        self.assertGreater(far[(array(lines.GetCellData(), "b") > 1)
                               & (array(lines.GetCellData(), "a") > 1)].max(), 0.3)
        self.assertLess(length.max(), 0.1)


class Xdmf(Case):
    def item(self, node):
        """What a data item stands for, by the rules of XDMF: a hyperslab (start, stride, count) of
        a dataset of a file beside this one."""
        self.assertEqual(node.get("ItemType"), "HyperSlab")
        where, what = node.findall("DataItem")
        rank = int(where.get("Dimensions").split()[1])
        start, stride, count = numpy.array(where.text.split(), int).reshape(3, rank)
        file, path = what.text.strip().split(":")
        with h5py.File(self.room / file) as f:
            data = f[path]
            self.assertEqual(tuple(map(int, what.get("Dimensions").split())), data.shape)
            self.assertEqual(int(what.get("Precision")), data.dtype.itemsize)
            self.assertEqual({"Float": "f", "Int": "i", "UChar": "u"}[what.get("NumberType")],
                             data.dtype.kind)
            value = data[tuple(slice(s, s + d * n, d) for s, d, n in zip(start, stride, count))]
        self.assertEqual(tuple(map(int, node.get("Dimensions").split())), value.shape)
        return value

    def series(self, name):
        """Time, points and attributes of each grid of a series."""
        root = tree.parse(self.room / "mixed.xdmf").getroot()
        (found,) = [g for g in root.findall("Domain/Grid") if g.get("Name") == name]
        self.assertEqual((found.get("GridType"), found.get("CollectionType")),
                         ("Collection", "Temporal"))
        for grid in found.findall("Grid"):
            points = self.item(grid.find("Geometry/DataItem"))
            self.assertEqual(grid.find("Geometry").get("GeometryType"), "XYZ")
            self.assertEqual(int(grid.find("Topology").get("NumberOfElements")), len(points))
            values = {}
            for a in grid.findall("Attribute"):
                values[a.get("Name")] = v = self.item(a.find("DataItem"))
                self.assertEqual(len(v), len(points))
                self.assertEqual({"Scalar": 1, "Vector": 3, "Matrix": 4}[a.get("AttributeType")],
                                 v.shape[1] if v.ndim > 1 else 1)
            yield float(grid.find("Time").get("Value")), points, values

    def test_it_describes_the_recording(self):
        with h5py.File(self.h5) as f:
            frames = list(self.series("bodies"))
            self.assertEqual([t for t, _, _ in frames], list(f["frames/time"]))
            for k, (_, points, values) in enumerate(frames):
                rows = slice(*f["frames/offset"][k:k + 2])
                self.assertTrue((points == f["frames/position"][rows]).all())
                for name in ("velocity", "spin", "orientation"):
                    self.assertTrue((values[name] == f["frames"][name][rows]).all(), name)
                for name in ("radius", "mass", "material", "shape", "motion"):
                    self.assertTrue((values[name] == f["bodies"][name][:]).all(), name)
            seen = list(self.series("contacts"))
            filled = [k for k in range(6)
                      if f["contacts/offset"][k + 1] > f["contacts/offset"][k]]
            self.assertGreater(len(seen), 2)
            self.assertEqual(len(seen), len(filled))
            for k, (t, points, values) in zip(filled, seen):
                rows = slice(*f["contacts/offset"][k:k + 2])
                self.assertEqual(t, f["frames/time"][k])
                self.assertTrue((points == f["contacts/point"][rows]).all())
                for name in ("impulse", "normal", "gap", "status", "a", "b"):
                    self.assertTrue((values[name] == f["contacts"][name][rows]).all(), name)

    def test_made_again(self):
        first = (self.room / "mixed.xdmf").read_bytes()
        (self.room / "mixed.xdmf").unlink()
        self.export("--xdmf")
        self.assertEqual((self.room / "mixed.xdmf").read_bytes(), first)
        # from elsewhere it names the whole path
        run = talus("export", self.h5, "--xdmf", cwd="/")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual((self.room / "mixed.xdmf").read_bytes(), first)


class Tables(Case):
    def rows(self, name):
        with open(self.room / "mixed-csv" / name, encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    def test_csv(self):
        self.export("--csv", "--frames", "1,3:5:2,last")
        bodies, contacts, ledger = (self.rows(f"{n}.csv") for n in ("bodies", "contacts", "ledger"))
        self.assertEqual(sorted({int(r["frame"]) for r in bodies}), [1, 3, 5])
        with h5py.File(self.h5) as f:
            at = 0
            for k in (1, 3, 5):
                first, last = f["frames/offset"][k:k + 2]
                for i in range(first, last):
                    r = bodies[at]
                    at += 1
                    self.assertEqual(int(r["body"]), i - first)
                    got = [float(r[c]) for c in ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy",
                                                 "vz", "spin_x", "spin_y", "spin_z")]
                    want = [*f["frames/position"][i], *f["frames/orientation"][i],
                            *f["frames/velocity"][i], *f["frames/spin"][i]]
                    self.assertEqual(got, want)
            self.assertEqual(at, len(bodies))
            self.assertEqual([r["name"] for r in bodies[:4]], ["bin", "tetrahedron", "brick", "balls"])
            first, last = f["contacts/offset"][5:7]
            mine = [r for r in contacts if r["frame"] == "5"]
            self.assertEqual(len(mine), last - first)
            self.assertEqual([float(r["impulse_z"]) for r in mine],
                             list(f["contacts/impulse"][first:last, 2]))
            self.assertEqual([float(r["kinetic"]) for r in ledger], list(f["ledger/kinetic"]))
            self.assertEqual({*ledger[0]}, {*f["ledger"]})

    def test_fclib(self):
        """The problems are those of the run: their solution carries the impulses of the recording."""
        with h5py.File(self.h5) as f:
            steps = f["frames/step"][:]
            counts = f["contacts/offset"][1:] - f["contacts/offset"][:-1]
        chosen = [int(s) for s, n in zip(steps, counts) if n > 0][-2:]
        self.assertEqual(len(chosen), 2)
        self.export("--fclib", "--steps", ",".join(map(str, chosen)))
        for step in chosen:
            path = self.room / "mixed-fclib" / f"step-{step:06}.hdf5"
            run = talus("solve", path, "--json", "--tol", "1e-9", "--out", "solved.hdf5",
                        cwd=self.room)
            self.assertEqual(run.returncode, 0, run.stderr)
            (o,) = objects(run.stdout)
            k = list(steps).index(step)
            self.assertEqual(o["contacts"], counts[k])
            with h5py.File(self.room / "solved.hdf5") as g, h5py.File(self.h5) as f:
                found = []
                g.visititems(lambda n, t: found.append(t[()]) if n.endswith("solution/r") else None)
                rows = slice(*f["contacts/offset"][k:k + 2])
                normal = f["contacts/normal"][rows]
                want = (f["contacts/impulse"][rows] * normal).sum()
                got = found[0].reshape(-1, 3)[:, 0].sum()
                self.assertAlmostEqual(got / want, 1, delta=1e-3)

    def test_refused(self):
        def refused(*words, says, code=2):
            self.assertIn(says, self.export(*words, code=code).stderr)

        refused(says="needs a format")
        refused("--vtk", "--frames", "9", says="there are 0 to 5")
        refused("--vtk", "--frames", "3:1", says="there are 0 to 5")
        refused("--vtk", "--frames", "a", says="write numbers")
        refused("--vtk", "--frames", "0:5:0", says="write numbers")
        refused("--fclib", "--steps", "0", says="there are 1 to 100")
        refused("--vtk", "-o", "no/where", says="cannot be made", code=1)
        run = talus("export", self.room / "mixed.yaml", "--vtk")
        self.assertEqual(run.returncode, 1)
        self.assertIn("not an HDF5 file", run.stderr)
        if os.path.exists("/dev/full"):
            (self.room / "full").mkdir()
            (self.room / "full" / "bodies.csv").symlink_to("/dev/full")
            refused("--csv", "-o", "full", says="No space left", code=1)


if __name__ == "__main__":
    unittest.main()
