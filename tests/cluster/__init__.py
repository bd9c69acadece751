"""Tests on a real Slurm: `make test-cluster`. A package, so that its conftest.py is its own."""
