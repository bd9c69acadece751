"""The entries of a small zip file that anybody may have made: read whole into memory, or refused.

Nothing is ever written to where an entry's name says. Names that lead out of a folder, links, files
that unpack to more than LARGEST, and lists of entries that are long by themselves are refused, so
that a file found on the internet can do no more than be refused in one line.
"""

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

LARGEST = 256 * 2**20  # bytes, of the file and of all its entries together
MOST_ENTRIES = 64
LONGEST_LIST = 64 * 2**10  # bytes of the list of entries at a zip file's end
END, END_BYTES = b"PK\x05\x06", 22  # of a zip file without a comment, as ours are
END_64, END_64_BYTES = b"PK\x06\x07", 20  # stands before it in larger ones


class Refused(ValueError):
    """A file that is not read; the message names it and says why, in one line."""


def entries(path: Path) -> dict[str, bytes]:
    """The content of each entry by its name; raises Refused."""
    _look_at_the_end(path)
    try:
        with zipfile.ZipFile(path) as file:
            found = file.infolist()
            _refuse_hostile(path, found)
            return {info.filename: _content(path, file, info) for info in found}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f"{path} is damaged: copy or make it again") from None


def _look_at_the_end(path: Path) -> None:
    """Where a zip file says how long its list of entries is, before anything reads that list."""
    if path.exists() and not path.is_file():
        raise Refused(f"{path} is no file")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(4)
            file.seek(max(0, size - END_BYTES - END_64_BYTES))
            end = file.read(END_BYTES + END_64_BYTES)
    except FileNotFoundError:
        raise Refused(f"{path} is not there") from None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None
    if size > LARGEST:
        raise Refused(f"{path} has {size:,} bytes; an archive has at most {LARGEST:,}")
    if start not in (b"PK\x03\x04", END):
        what = "is empty" if not size else "is no archive of 'make pack'"
        raise Refused(f"{path} {what}")
    last = end[-END_BYTES:]
    if not last.startswith(END):
        raise Refused(f"{path} was cut, or is another kind of zip file: copy or make it again")
    listed = int.from_bytes(last[12:16], "little")
    if end[:-END_BYTES][-END_64_BYTES:].startswith(END_64) or listed > LONGEST_LIST:
        raise Refused(f"{path} has too many entries to be an archive of 'make pack'")


def _refuse_hostile(path: Path, found: list[zipfile.ZipInfo]) -> None:
    names = [info.filename for info in found]
    if len(names) > MOST_ENTRIES or len(set(names)) < len(names):
        raise Refused(f"{path} has too many entries, or two of one name: it is no archive of ours")
    for info in found:
        if why := _why_not(info):
            raise Refused(f"{path} is refused: its entry {info.filename[:80]!r} {why}")
    if (size := sum(info.file_size for info in found)) > LARGEST:
        raise Refused(f"{path} unpacks to {size:,} bytes; an archive has at most {LARGEST:,}")


def _why_not(info: zipfile.ZipInfo) -> str:
    """What is wrong with an entry before it is read, '' where nothing is."""
    name = info.filename
    ways = PurePosixPath(name), PureWindowsPath(name)
    if any(way.is_absolute() or way.anchor or ".." in way.parts for way in ways):
        return "leads out of its folder"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    if info.flag_bits & 1:
        return "is encrypted"
    known = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    return "" if info.compress_type in known else "is compressed in a way that ours never are"


def _content(path: Path, file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Never more than the list says, whatever the data unpacks to; zipfile holds its checksum."""
    with file.open(info) as entry:
        content = entry.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise Refused(f"{path} is damaged: {info.filename!r} is not as long as it says")
    return content
