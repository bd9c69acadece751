"""What matplotlib's SVG lacks: values on hover, and ids that no other picture on a page has.

A point is `<g class="point" role="img">` with a `<title>` in front: browsers show it on hover, and
screen readers read it. A picture's ids start with a part of its own content's checksum, so that
several can stand in one HTML page, and the same picture is the same bytes.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
USE = f"{{{SVG}}}use"
TITLES = "titles:"  # how the id of an artist begins that has some, until `finished`
REFERENCE = re.compile(r"(?<=^#).+|(?<=url\(#)[^)]+")
REFERRING = {f"{{{XLINK}}}href", "clip-path", "style"}  # attributes

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


def titled(artist: Any, titles: Sequence[str]) -> Any:
    """The same artist with words for each of its points, or for a patch as a whole."""
    artist.set_gid(TITLES + json.dumps(list(titles)))
    return artist


def finished(text: bytes, label: str) -> bytes:
    """The SVG file that matplotlib wrote, with the titles in their places, and `label` as the name
    of the picture as a whole."""
    root = ElementTree.fromstring(text)
    root.set("role", "group")
    root.set("aria-label", label)
    root.set("style", "stroke-linejoin: round")
    root.set("pointer-events", "none")  # words lie over points, and must not hide what these say
    for parent in list(root.iter()):
        # Who made it, and a style that would hold for all of a page: the root's does the same.
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for group in [one for one in root.iter() if one.get("id", "").startswith(TITLES)]:
        _name_points(group, json.loads(group.attrib.pop("id").removeprefix(TITLES)))
    _make_ids_unique(root, hashlib.sha256(text).hexdigest()[:8])
    for element in root.iter():  # a tenth of the bytes
        element.text, element.tail = _stripped(element.text), _stripped(element.tail)
    return ElementTree.tostring(root, encoding="unicode").encode() + b"\n"


def _stripped(text: str | None) -> str | None:
    return text if text and not text.isspace() else None


def _name_points(group: Element, titles: Sequence[str]) -> None:
    """One title: the group is the point. Several: each has one mark, or two if half filled, in
    groups of marks that share their clipping."""
    parts = [part for part in group if part.find(USE) is not None]
    if not parts:
        (title,) = titles
        _name(group, title)
        group.set("pointer-events", "all")
        return
    marks = [part.findall(USE) for part in parts]
    if any(len(of_part) != len(titles) for of_part in marks):
        raise ValueError(f"{len(titles)} titles for {len(marks[0])} points")
    points = ElementTree.SubElement(group, f"{{{SVG}}}g", parts[0].attrib)
    points.set("pointer-events", "all")
    if len({mark.get("style") for of_part in marks for mark in of_part}) == 1:  # said once
        points.set("style", marks[0][0].get("style", ""))
        for mark in marks[0]:
            del mark.attrib["style"]
    for title, *ours in zip(titles, *marks, strict=True):
        point = ElementTree.SubElement(points, f"{{{SVG}}}g")
        point.extend(ours)
        _name(point, title)
    for part in parts:
        group.remove(part)


def _name(point: Element, title: str) -> None:
    point.set("class", "point")
    point.set("role", "img")
    named = Element(f"{{{SVG}}}title")
    named.text = title
    point.insert(0, named)


def _make_ids_unique(root: Element, prefix: str) -> None:
    """Only what is referred to keeps an id, a short one: there is one reference for each letter."""
    used = dict.fromkeys(name for element in root.iter() for name in _references(element))
    names = {name: f"p{prefix}-{number}" for number, name in enumerate(used)}
    for element in root.iter():
        if (name := element.attrib.pop("id", "")) in names:
            element.set("id", names[name])
        for key in REFERRING.intersection(element.keys()):
            new = REFERENCE.sub(lambda found: names[found[0]], element.attrib[key])
            element.set(key, new)


def _references(element: Element) -> Iterator[str]:
    for key in sorted(REFERRING.intersection(element.keys())):
        yield from REFERENCE.findall(element.attrib[key])
