"""Crossover: from which array size on is a GPU worth it, and how much do transfers and plots eat?

The library behind the workflow: scripts, rules, tests and the command line import it. It never
imports Snakemake, and nothing in it imports NumPy or torch outside the process that measures them.
"""

__version__ = "0.1.0"
