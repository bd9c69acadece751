"""Cells: what is measured, and where its files are.

A cell is one combination of workload, backend, dtype and size. Each of the four is a folder of its
own, so that no name can be split wrongly. Paths are relative to Snakemake's working directory.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path("results")
END_TO_END = "end_to_end"  # the scope of a round trip with drawing, of the same round
DRAWN_BY = "raster"  # the way of drawing that there is at every size


@dataclass(frozen=True, order=True)
class Cell:
    """One workload, on one backend, in one dtype, at one size n: what one job measures in one
    round."""

    workload: str
    backend: str
    dtype: str
    size: int

    scope = "compute"  # what every cell has, and what is said of one that failed

    @property
    def folder(self) -> Path:
        return RESULTS / "cells" / self.workload / self.backend / self.dtype / str(self.size)

    def csv(self, round: int) -> Path:
        """The raw samples of one round."""
        return self.folder / f"{round}.csv"

    @property
    def array(self) -> Path:
        """The output of round 1, whole or an even sample of it."""
        return self.folder / "output.npy"

    def words(self, round: int, rounds: int) -> str:
        """How a person names one job: 'matmul, torch_cpu, float32, n=2048, round 2 of 3'."""
        name = f"{self.workload}, {self.backend}, {self.dtype}, n={self.size}"
        return f"{name}, round {round} of {rounds}"


class Picture(Cell):
    """Drawing the output of a workload: its "backend" is the method, and it has no other scope."""

    scope = "render"

    @property
    def folder(self) -> Path:
        return RESULTS / "render" / self.workload / self.dtype / str(self.size) / self.backend

    def words(self, round: int, rounds: int) -> str:
        return f"render {super().words(round, rounds)}"


@dataclass(frozen=True, order=True)
class Ceiling:
    """What a backend can do at best in one dtype: the roofs of its cells."""

    backend: str
    dtype: str

    def csv(self, round: int) -> Path:
        return RESULTS / "ceilings" / self.backend / self.dtype / f"{round}.csv"


def ceilings_of(cells: Iterable[Cell]) -> list[Ceiling]:
    """One for each backend and dtype that is measured."""
    return sorted({Ceiling(cell.backend, cell.dtype) for cell in cells if cell.scope == "compute"})


def itemsize(dtype: str) -> int:
    """Bytes of one element where it is computed; 'complex64' has two parts of 32 bits."""
    return int("".join(filter(str.isdigit, dtype))) // 8


def probe_json(backend: str) -> Path:
    """What was found out about a backend on this machine."""
    return RESULTS / "backends" / f"{backend}.json"


def output_folder(name: str) -> Path:
    """Where a config's own results are; cells and probes are shared by all configs."""
    return RESULTS / name if name else RESULTS
