# SPDX-License-Identifier: Apache-2.0
"""How the tests of the program start it and find problems; only what a user sees is used."""
import functools
import json
import os
import pathlib
import subprocess

SOURCE = pathlib.Path(
    os.environ.get("TALUS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2])
)
TALUS = os.environ.get("TALUS", str(SOURCE / "build" / "release" / "bin" / "talus"))
PROBLEMS = SOURCE / "examples" / "problems"


def problems():
    """The committed problem files; a checkout without them is broken, not a reason to skip."""
    files = sorted(p for p in PROBLEMS.glob("*") if p.suffix in (".hdf5", ".h5"))
    if not files:
        raise AssertionError(f"no problem files in {PROBLEMS}: the tests need them")
    return files


def talus(*words, **more):
    """Run the program to its end; stdout and stderr as text."""
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [TALUS, *map(str, words)], stderr=subprocess.PIPE, text=True, timeout=120, **more
    )


def objects(text):
    """The JSON objects of an output. NaN and Infinity, which Python would take, are refused."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


@functools.cache
def listed(topic, start):
    """First words of the table rows that follow the line beginning with `start` in a help page."""
    words, inside = [], False
    for line in talus("help", topic).stdout.splitlines():
        if line.startswith(start):
            inside = True
        elif inside and not line.strip():
            break
        elif inside and line.startswith("  ") and line[2] != " ":
            words.append(line.split()[0])
    return words


def solvers():
    return listed("solvers", "Solvers")


def local_solvers():
    return listed("solvers", "One-contact solvers")


def options(solver):
    return [w for w in listed(solver, "Options") if w != "KEY"]
