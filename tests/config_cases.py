"""Configs for the tests of the configuration, and what `read` says about a bad one."""

from pathlib import Path

import pytest

from crossover import config

ROOT = Path(__file__).resolve().parents[1]


def raw(**changes):
    return {
        "workloads": {"add": {"sizes": [1000], "dtypes": ["float64"]}},
        "backends": {"numpy": {}},
        **changes,
    }


def add(**entry):
    return raw(workloads={"add": {"sizes": [1000], **entry}})


def mine(**entry):
    return raw(backends={"numpy": {}, "mine": entry})


def lines(values, base=ROOT):
    with pytest.raises(config.ConfigError) as caught:
        config.read(values, base)
    assert all("\n" not in line and line.startswith("config: ") for line in caught.value.lines)
    return [line.removeprefix("config: ") for line in caught.value.lines]
