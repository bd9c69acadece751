"""The files that the page is made of, read."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crossover import decided, record, table
from crossover.page import Results


def read(
    *,
    name: str,
    verdict: str,
    summary: str,
    break_even: str,
    reuse: str,
    article: str | None,
    regimes: str | None,
    pictures: Iterable[str],
    probes: Iterable[str],
    config: Mapping[str, Any],
) -> Results:
    """From paths. The pictures are below plots/ beside the summary; `article` is None or '' where
    the config has no figures of the article's, `regimes` where it is no survey.

    Raises FileNotFoundError, and ValueError where a file is not what was written there.
    """
    plots = Path(summary).parent / "plots"
    # A part of the config: no input, since with its sizes the summary changes anyway.
    added = Path(summary).parent / "refine.yaml"
    return Results(
        name=name,
        verdict=_text(verdict),
        summary=table.read(Path(summary)),
        break_even=decided.break_evens(break_even),
        reuse=decided.reuses(reuse),
        article=_text(article) if article else "",
        regimes=_text(regimes) if regimes else "",
        pictures={str(Path(path).relative_to(plots)): _text(path) for path in pictures},
        probes={Path(path).stem: record.read_json(Path(path)) for path in probes},
        added=_text(added) if added.exists() else "",
        config=json.loads(json.dumps(config, default=str)),  # plain values, whatever Snakemake has
    )


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text; remove it and run the sweep again") from None
