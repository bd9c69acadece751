"""A picture's SVG file (svg.py) as an element of an HTML page."""

from xml.etree import ElementTree

from crossover.svg import SVG


def inline(text: str, label: str) -> str:
    """Without what only a file needs: declaration, comments, and its own size, since the page says
    how wide. `label` is for a picture that does not say what it is called. Raises ValueError where
    it is no SVG."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"{label}: no SVG: {error}") from None
    if root.tag != f"{{{SVG}}}svg":
        raise ValueError(f"{label}: no SVG: its outermost element is {root.tag!r}")
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.attrib.setdefault("role", "group")
    root.attrib.setdefault("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode")
