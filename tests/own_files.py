"""Workload files like users', good and hostile, for the tests of what becomes of them."""

import os
from pathlib import Path

KERNEL = """import numpy as np


def inputs(rng, size):
    return rng.random(size), rng.random(size)


def compute(a, b):
    return np.hypot(a, b)
"""

# What a config may name, in folders and under names that a shell, YAML or Snakemake could misread.
GOOD = ("mine.py", "it's mine.py", "a b/ünï.py", "no_suffix", "$(x);&#.py", "-x.py")
# And what is refused, with a part of the line.
BAD: dict[str, tuple[str | bytes, str]] = {
    "syntax.py": ("def inputs(:\n", "is not Python: line 1: "),
    "empty.py": ("", "has no function inputs, compute"),
    "half.py": ("def compute(a): pass\n", "has no function inputs"),
    "async.py": ("def inputs(): pass\nasync def compute(a): pass\n", "has no function compute"),
    "class.py": ("class inputs: pass\ndef compute(a): pass\n", "has no function inputs"),
    "zero.py": (b"\0", "is not Python: "),
    "binary.py": (bytes(range(256)), "is not Python: "),
    "latin.py": (b"x = '\xe9'\n", "is not Python: "),
    "deep.py": ("(" * 5000, "is not Python: "),
    "bomb.py": ("-" * 100_000 + "1", "is not Python: "),
    "asks.py": (
        KERNEL.replace("(rng, size)", "(rng, n)"),
        "line 4: inputs asks for n, but can have rng, size, dtype",
    ),
    "by_name.py": (
        KERNEL.replace("compute(a, b)", "compute(a, b, *, axis)"),
        "line 8: compute asks for axis, but can have size, dtype, device, random by name",
    ),
    "{size}.py": (KERNEL, "has { or } in its path, where Snakemake reads wildcards"),
    "large.py": (KERNEL + "# x\n" * 300_000, "has more than 1,000,000 bytes"),
}
ODD = {  # not files with a text in them
    "folder.py": "is a folder, not a Python file",
    "pipe.py": "cannot be read: it is no plain file",
    "loop.py": "cannot be read: ",
    "nowhere.py": "is not there",
    "../" * 40 + "dev/zero": "cannot be read: it is no plain file",
    "mine.py/x.py": "cannot be read: ",
    "x" * 5000: "cannot be read: ",
    "\0": "is not Python: ",
}


def write(folder: Path) -> None:
    for name in GOOD:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(KERNEL, encoding="utf-8")
    for name, (content, _) in BAD.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    (folder / "loop.py").symlink_to("loop.py")
