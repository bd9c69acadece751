"""What keeps two times of one cell from being compared: other code, or other settings.

Code is the sources that measured (raw column `code`) and the versions of what they ran on; settings
are what the config says. The machine is neither: it is what is compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SOURCES = ("the workload's file", "the backend's file", "the harness")  # in the column `code`
UNKNOWN = "unknown"
NONE = "none"
SETTINGS = {
    "budget_s": "budget_s",
    "seed": "seed",
    "threads_requested": "threads",
    "memory": "memory",
    "precision": "precision",
    "environment": "variables",
}
OF_BACKEND = ("device", "options")  # in the config

Facts = Mapping[str, str]


def of_code(ours: Sequence[Facts], theirs: Sequence[Facts]) -> list[str]:
    """What differs, in words; the facts are those of a cell's rounds on either side."""
    found = []
    codes = [_sources(facts) for facts in (ours, theirs)]
    for name, mine, other in zip(SOURCES, *codes, strict=True):
        if UNKNOWN in (mine, other):
            found.append(f"{name} ({UNKNOWN} which)")
        elif mine != other:
            found.append(name)
    mine_on, other_on = _versions(ours), _versions(theirs)
    for name in dict.fromkeys([*mine_on, *other_on]):
        found += _other(name, mine_on.get(name, ""), other_on.get(name, ""), UNKNOWN)
    return found


def of_settings(
    ours: Sequence[Facts], theirs: Sequence[Facts], config: Mapping[str, Any],
    their_config: Mapping[str, Any], backend: str
) -> list[str]:  # fmt: skip
    """The same of the settings; the configs are those of the archives."""
    found = []
    for column, name in SETTINGS.items():
        found += _other(name, _all(ours, column), _all(theirs, column), NONE)
    entry, their_entry = _entry(config, backend), _entry(their_config, backend)
    for name in OF_BACKEND:
        found += _other(name, _words(entry.get(name)), _words(their_entry.get(name)), NONE)
    return found


def _sources(facts: Sequence[Facts]) -> list[str]:
    """The checksums of SOURCES, of all rounds; unknown where an archive does not say."""
    codes = [(fact.get("code", "").split() + [UNKNOWN] * 3)[:3] for fact in facts]
    return [" + ".join(dict.fromkeys(of_one)) for of_one in zip(*codes, strict=True)]


def _versions(facts: Sequence[Facts]) -> dict[str, str]:
    """Of the library, and of what the harness runs on, which may be the same."""
    harness = {name: _all(facts, f"{name}_version") for name in ("numpy", "python")}
    return harness | {_all(facts, "library") or UNKNOWN: _all(facts, "version")}


def _all(facts: Iterable[Facts], name: str) -> str:
    """The rounds' value, or all of them where they differ."""
    return " + ".join(dict.fromkeys(fact.get(name, "") for fact in facts))


def _other(name: str, ours: str, theirs: str, empty: str) -> list[str]:
    return [f"{name} {ours or empty} against {theirs or empty}"] if ours != theirs else []


def _entry(config: Mapping[str, Any], backend: str) -> Mapping[str, Any]:
    backends = config.get("backends")
    entry = backends.get(backend) if isinstance(backends, dict) else None
    return entry if isinstance(entry, dict) else {}


def _words(value: Any) -> str:
    """One that is missing is the same as one that is empty."""
    return str(value) if value else ""
