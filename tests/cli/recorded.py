# SPDX-License-Identifier: Apache-2.0
"""What tests that read recordings begin with: h5py and numpy, and runs in a folder of their own."""
import os
import pathlib
import sys
import tempfile
import unittest

from program import objects, talus

try:
    import h5py
    import numpy as np
except ImportError:
    # The package of the system belongs to the system's Python, which need not be the first one.
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system, *sys.argv])
    raise

__all__ = ["Recorded", "h5py", "np"]


class Recorded(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def done(self, *words):
        """Run the program in the folder, to its end; its result."""
        run = talus(*words, "--json", cwd=self.room)
        self.assertEqual(run.returncode, 0, run.stderr)
        (result,) = objects(run.stdout)
        return result
