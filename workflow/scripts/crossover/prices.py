"""What a call costs, where the config says what the machine costs.

A price is that of one hour of the machine with all that a backend needs there, in any currency,
the same for all. A call costs its share of the hour: what else the machine is paid for, idle or
starting, is not in it. Prices have no part in measuring.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from crossover.cells import END_TO_END
from crossover.status import OK

SCOPES = ("compute", "round_trip", END_TO_END)  # what one pays for again and again
SECONDS, CALLS = 3600, 1_000_000


def annotate(
    rows: Iterable[Mapping[str, Any]], prices: Mapping[str, float], currency: str
) -> list[dict[str, Any]]:
    """The summary's rows, with price and cost where there are such; `prices` by backend."""
    found = []
    for row in rows:
        own: dict[str, Any] = {}
        price = prices.get(row["backend"])
        if price is not None and row["status"] == OK and row["scope"] in SCOPES:
            cost = float(row["median_s"]) * price / SECONDS * CALLS
            own = {"cost_per_million_calls": cost, "price_per_hour": price, "currency": currency}
        found.append({**row, **own})
    return found


def known(rows: Iterable[Mapping[str, str]]) -> dict[str, float]:
    """By backend, from the rows of a summary."""
    return {r["backend"]: float(r["price_per_hour"]) for r in rows if r["price_per_hour"]}
