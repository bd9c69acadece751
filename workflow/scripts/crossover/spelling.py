"""How people spell numbers, and how a message spells their values back: always on one line."""

import math
import re
import reprlib
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

LARGEST = 10**15  # the largest whole number that is read from a text
NUMBER = re.compile(r"\+?(?:0|[1-9][0-9]*(?:_[0-9]+)*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,9})?")


def whole(value: Any) -> Any:
    """A whole number as an int, however it was spelt; anything else unchanged, to be refused.

    1000, 1000.0, '1000', '1e3', '1.0e3', '1_000' and '+1e3' are the same number. YAML 1.1 and
    `--config` deliver some of them as texts and some as floats.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    number = _decimal(value)
    # Compared before it is expanded: '1e999999999' has a billion digits.
    if number is None or number > LARGEST or number != number.to_integral_value():
        return value
    return int(number)


def number(value: Any) -> Any:
    """A number given as a text (`--config budget_s=...`) as a float; anything else unchanged."""
    found = _decimal(value)
    return value if found is None else float(found)


def _decimal(value: Any) -> Decimal | None:
    if not isinstance(value, str) or len(value) > 60 or not NUMBER.fullmatch(value.strip()):
        return None
    return Decimal(value.strip().replace("_", ""))


def is_finite(value: Any) -> bool:
    """Whether it is a number that can be counted with: no boolean, nan or infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 120
_short.maxlevel = 2
_short.maxlist = _short.maxdict = 4


def show(value: Any) -> str:
    """A value as a config would spell it, shortened, on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        return " ".join(_short.repr(value).split())
    except ValueError:  # Python refuses to print ints of more than 4,300 digits
        return "a number of thousands of digits"


def dotted(path: Iterable[Any]) -> str:
    """The keys that lead to a value as one word; a key that is no plain word is quoted."""
    plain = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+-]*")
    keys = (key if isinstance(key, str) and plain.fullmatch(key) else show(key) for key in path)
    return ".".join(keys)


def nearest(word: Any, known: Iterable[str]) -> str | None:
    """The known word that a mistyped one most likely means."""
    if not isinstance(word, str):
        return None
    import difflib

    # Long words are no typing mistakes, and comparing them takes long.
    by_folded = {name.casefold(): name for name in reversed(list(known))}
    found = difflib.get_close_matches(word[:100].casefold(), by_folded, n=1)
    return by_folded[found[0]] if found else None


def choices(word: Any, known: Iterable[str], where: str = "Known here") -> str:
    """'did you mean 'sizes'? Known here: sizes, dtypes', or without a guess where none is near."""
    known = list(known)
    guess = nearest(word, known)
    asked = f"did you mean {guess!r}? {where}" if guess else where[0].lower() + where[1:]
    return f"{asked}: {', '.join(known) or 'none'}"
