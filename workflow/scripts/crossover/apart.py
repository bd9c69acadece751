"""Rounds of one cell that were measured on machines that differ: which belong together, which may
be compared, and what a row says of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from crossover.machines import DIVIDED, MACHINE, Rig, differing, rig
from crossover.outcomes import Outcome, Round, paired
from crossover.status import OK


def by_rig(outcome: Outcome) -> list[Outcome]:
    """The outcome of each rig that an ok cell was measured on, that with most rounds first."""
    rounds: dict[Rig, dict[int, Round]] = {}
    for number, round in outcome.rounds.items():
        rounds.setdefault(rig(round.facts), {})[number] = round
    if len(rounds) < 2 or outcome.status != OK:
        return [outcome]
    return [
        replace(outcome, rounds=part) for part in sorted(rounds.values(), key=len, reverse=True)
    ]


def partner(part: Outcome, baseline: Outcome) -> Outcome:
    """The rounds of the baseline that one rig's are compared with. They are of one rig too: that
    with the most pairs, else on the same machine, else with the most rounds."""
    if part.cell == baseline.cell:
        return part
    if not part.status == baseline.status == OK:
        return baseline  # a round that failed has no time to be near in

    def fits(candidate: Outcome) -> tuple[int, int, int]:
        both = part.rounds.keys() & candidate.rounds.keys()
        pairs = sum(paired(part.rounds[n], candidate.rounds[n]) for n in both)
        return pairs, int(same_machine(part, candidate)), len(candidate.rounds)

    return max(by_rig(baseline), key=fits)


def same_machine(*outcomes: Outcome) -> bool:
    """Whether all rounds of all of these were measured on one machine."""
    found = {round.facts["machine"] for one in outcomes for round in one.rounds.values()}
    return len(found) == 1


def where_else(parts: Sequence[Outcome]) -> str:
    """Of one cell's rigs: 'round 2 on CPU X, 8 cores; rounds 1, 3 on CPU Y, 4 cores'."""
    if len(parts) < 2:
        return ""
    facts = [next(iter(part.rounds.values())).facts for part in parts]
    words = []
    for part, own in zip(parts, facts, strict=True):
        numbers = ", ".join(map(str, part.rounds))
        noun = "rounds" if len(part.rounds) > 1 else "round"
        words.append(f"{noun} {numbers} on {differing(own, facts)}")
    return "not pooled: " + "; ".join(words)


def across(part: Outcome, baseline: Outcome) -> str:
    """What a ratio of times from two machines has to say of itself."""
    both = [next(iter(one.rounds.values())).facts for one in (part, baseline)]
    mine, other = (differing(one, both, MACHINE) for one in both)
    return f"{DIVIDED}: {mine}; {baseline.cell.backend} on {other}"


def not_as_asked(model: str, facts: Mapping[str, str]) -> str:
    """'' where the device is of the model that was asked for, as far as its name tells. A site's
    names for its GPUs, such as a100_80g, are not NVIDIA's: what is compared are their words."""
    device = re.sub("[^a-z0-9]", "", str(facts["device"]).lower())
    words = re.findall("[a-z]+[0-9]+[a-z]*|[a-z]+|[0-9]+", model.lower())
    if not model or not device or all(word in device for word in words):
        return ""
    return f"asked for a GPU {model}, measured on {facts['device']}"
