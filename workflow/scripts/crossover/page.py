"""report.html: everything that a sweep found out, on one page that asks for nothing from anywhere.

The same results give the same bytes. The template escapes every value; its policy lets no script
run but the page's own, which it names by their checksums, and no request go out.
"""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from crossover import __version__, assumed, grades, inline_svg, page_costs, page_parts
from crossover.rows import cell
from crossover.status import OK

ASSETS = Path(__file__).resolve().parents[2] / "page"
# The PyPI package that carries DataTables and what it needs as one file.
BUNDLE = ("itables", "itables/html/dt_bundle.js")
EXPORT = re.compile(r"export\s*\{[^}]*?([\w$]+) as default[^}]*\};?")

# Bytes of SVG that are on the page from the start: a big sweep's charts have a quarter of a million
# elements, for which a browser takes seconds.
AT_ONCE = 1_000_000

# By a picture's file name: the question that it answers. The most telling comes first.
QUESTIONS = {
    "speedup": "How much faster, and from which size on?",
    "time": "How long does it take?",
    "parts": "Where does the time go?",
    "reuse": "How many calls pay for the transfer?",
    "curve": "What was computed?",
    "regimes": "What kind of work is worth moving?",
    "accuracy": "How accurate, and how fast?",
    "roofline": "How near to what the machine can do?",
}


@dataclass(frozen=True)
class Results:
    """What the page is made of, as the files of a sweep have it. Texts of tables are CSV's own."""

    name: str  # of the config, '' for the default
    verdict: str  # Markdown
    summary: Sequence[Mapping[str, str]]
    break_even: Sequence[Mapping[str, str]]
    reuse: Sequence[Mapping[str, str]]
    article: str  # Markdown, '' where the config has none of its sizes
    pictures: Mapping[str, str]  # SVG by path below plots/, as in 'add/float64/speedup.svg'
    probes: Mapping[str, Mapping[str, Any]]  # results/backends/*.json by backend
    config: Mapping[str, Any]
    added: str  # refine.yaml, '' where make refine added no size
    regimes: str = ""  # Markdown, '' where the config is no survey


@dataclass(frozen=True)
class Picture:
    """`later`: it becomes elements only when it is about to be seen."""

    label: str
    svg: Markup
    later: bool


@dataclass(frozen=True)
class Chapter:
    """The pictures of one workload and dtype, or of one workload, or of all."""

    title: str
    anchor: str
    pictures: list[Picture]


def render(results: Results) -> str:
    """The page. Raises ValueError where a picture is no SVG or DataTables is not as expected."""
    rows = results.summary
    costs = page_costs.costs(rows, results.break_even)
    scripts = [Markup(_script(text)) for text in (datatables(), _asset("page.js"))]
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        name: getattr(page_parts, name)
        for name in ("seconds", "count", "calls", "paid_once", "plain")
    }
    return environment.get_template("page.html.j2").render(
        name=results.name,
        version=__version__,
        policy=policy(scripts),
        style=Markup(_asset("page.css")),
        scripts=scripts,
        verdict=markdown(results.verdict),
        baseline=" or ".join(dict.fromkeys(row["baseline"] for row in rows if row["baseline"])),
        machine=page_parts.machine(rows),
        cells=len({cell(row) for row in rows}),
        ok=len({cell(row) for row in rows if row["status"] == OK}),
        rounds=max((int(row["rounds"]) for row in rows if row["rounds"]), default=0),
        chapters=chapters(results.pictures),
        crossings=page_parts.crossings(results.break_even),
        crossing_scopes=page_parts.scopes_of(results.break_even),
        reuses=page_parts.reuses(results.reuse),
        costs=costs,
        cost_scopes=page_costs.scopes(one.calls for one in costs),
        cheaper_scopes=page_costs.scopes(one.cheaper for one in costs),
        article=markdown(results.article),
        regimes=markdown(results.regimes),
        table=page_parts.columnar(rows),
        row_count=len(rows),
        failures=page_parts.failures(rows),
        doubts=page_parts.doubts(rows),
        backends=list(results.probes),
        facts=page_parts.facts(results.probes),
        scopes=[(name, page_parts.SCOPES.get(name, "")) for name in page_parts.scopes_of(rows)],
        grades=grades.MEANING,
        assumed=assumed.of(rows),
        units=assumed.units(rows),
        added=results.added,
        config=yaml.safe_dump(
            dict(results.config), sort_keys=True, allow_unicode=True, default_flow_style=None
        ),
    )


def policy(scripts: Sequence[str]) -> str:
    """The content security policy: nothing but what is on the page."""
    known = " ".join(
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; script-src {known}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def markdown(text: str) -> Markup:
    """As HTML, without what could bring in anything: no HTML of its own, images or links."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.disable(["image", "link", "autolink", "reference"])
    return Markup(reader.render(text))


def chapters(pictures: Mapping[str, str]) -> list[Chapter]:
    """The pictures under the folders that they are in: a workload's dtypes, the workload, all."""
    found: dict[tuple[str, ...], list[tuple[int, str, str, str]]] = {}
    order = list(QUESTIONS)
    for path, text in pictures.items():
        *folder, file = path.split("/")
        kind, _, rest = file.removesuffix(".svg").partition("_")
        question = QUESTIONS.get(kind, page_parts.plain(kind))
        label = " ".join([question, ", ".join([*folder, *([rest] if rest else [])])])
        svg = inline_svg.inline(text, label)
        place = order.index(kind) if kind in order else len(order)
        found.setdefault(tuple(folder), []).append((place, file, question, svg))
    made, total = [], 0
    for number, (where, group) in enumerate(_in_order(found), 1):
        shown = []
        for _, _, question, svg in sorted(group):
            total += len(svg)
            shown.append(Picture(question, Markup(svg), later=total > AT_ONCE))
        made.append(Chapter(_title(where), f"charts-{number}", shown))
    return made


def _title(folder: tuple[str, ...]) -> str:
    if not folder:
        return "All workloads"
    return ", ".join(folder) if len(folder) > 1 else f"{folder[0]}, all dtypes"


def _in_order(found: Mapping[tuple[str, ...], Any]) -> list[tuple[tuple[str, ...], Any]]:
    """By workload in the order given; a workload's dtypes before what is of all of them, and what
    is of all workloads last."""
    workloads = list(dict.fromkeys(folder[0] for folder in found if folder))
    return sorted(
        found.items(),
        key=lambda item: (
            (workloads.index(item[0][0]), -len(item[0])) if item[0] else (len(found), 0)
        ),
    )


def datatables() -> str:
    """DataTables as a module that leaves itself in `globalThis.DataTable`."""
    package, path = BUNDLE
    try:
        file = Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError:
        raise ValueError(f"{package} is not installed: see requirements.txt") from None
    text, count = EXPORT.subn(r"globalThis.DataTable=\1;", file.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{file} is not the bundle that this version of Crossover knows")
    return text


def _script(text: str) -> str:
    """Text that may stand inside a <script> element: nothing in it may end it, or seem to begin
    another one. In JavaScript's strings and patterns \\x3C is <."""
    return re.sub(r"<(?=!--|/?script)", r"\\x3C", text.replace("\r\n", "\n"), flags=re.IGNORECASE)


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
