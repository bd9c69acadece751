"""What is read off a figure, and off the SVG file that it becomes."""

import itertools
from xml.etree import ElementTree

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from crossover import style

SVG = "{http://www.w3.org/2000/svg}"


def texts(figure):
    """All words on a figure, as one line."""
    found = [text.get_text() for text in figure.texts]
    for axes in figure.axes:
        found += [axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel()]
        found += [text.get_text() for text in axes.texts]
    return " ".join(" ".join(found).split())


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def legend(figure):
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    (only,) = [legend for legend in legends if legend]
    return [text.get_text() for text in only.get_texts()]


def misplaced(figure):
    """Words that leave the page, and pairs of words that overlap."""
    FigureCanvasAgg(figure).draw()
    page = figure.bbox.padded(1)
    words = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    places = [(text.get_text(), text.get_window_extent()) for text in words]
    outside = [words for words, box in places if not (page.x0 <= box.x0 and box.x1 <= page.x1)]
    outside += [words for words, box in places if not (page.y0 <= box.y0 and box.y1 <= page.y1)]
    pairs = itertools.combinations(places, 2)
    return outside + [(a, b) for (a, first), (b, other) in pairs if first.overlaps(other)]


def titles(figure, path):
    """The words of each point, in the figure's SVG file."""
    style.save(figure, path)
    points = [one for one in ElementTree.parse(path).iter() if one.get("class") == "point"]
    return [point.find(f"{SVG}title").text for point in points]
