"""How often do our 95 % intervals of a speedup hold the truth, and how wide are they?

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/interval_coverage.py

Exits non-zero where a figure is out of its bounds; the last model is reported only.
"""

import sys

from simulation import (
    COVERAGE,
    MODELS,
    REPLICATES,
    REPORTED,
    ROUNDS,
    SAMPLES,
    WIDEST,
    WIDTH_HELD,
    simulate,
)


def main() -> None:
    print(
        f"{REPLICATES:,} replicates, {SAMPLES} samples a round. Coverage, width over an oracle's:"
    )
    print(" " * 56 + "".join(f"{rounds:>8} rounds " for rounds in ROUNDS))
    failed = 0
    for name, noise in MODELS.items():
        line = f"{noise.words:56}"
        for rounds in ROUNDS:
            found = simulate(name, rounds)
            bad = name != REPORTED and not COVERAGE[0] <= found.coverage <= COVERAGE[1]
            bad |= name in WIDTH_HELD and found.width > WIDEST[rounds]
            failed += bad
            line += f"{found.coverage:8.1%} {found.width:4.2f}{'!' if bad else ' '} "
        print(line.rstrip())
    sys.exit(f"{failed} figures are out of bounds (!)" if failed else 0)


if __name__ == "__main__":
    main()
