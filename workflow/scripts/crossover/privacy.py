"""Texts without who and where: what `make pack` takes out of everything that it hands on.

Free texts (reasons, notes, variables, the probe's words) may hold paths, and with them the names of
users and of projects. A file's own name stays, since an error without it says little.
"""

import getpass
import hashlib
import hmac
import os
import platform
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crossover.machine import read

PATH = "<path>"
USER = "<user>"
MAIL = "<mail>"
# Of POSIX, below a home, of Windows; a URL's and the / of GB/s begin behind a letter or a slash.
ABSOLUTE = re.compile(
    r"""(?<![\w/.)\]}])(?:file://)?(?:~\w*/|/(?=[^/\s]))[^\s"'`,;:()\[\]{}<>]*"""
    r"""|\b[A-Za-z]:\\[^\s"'`,;:()\[\]{}<>]*"""
)
FILE = re.compile(r"[^/\\]+\.(?:py|pyx|so[\d.]*|pyd|dll|dylib|c|cc|cpp|cu|h|npy|csv|json|ya?ml)$")
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# Nobody's names: a word of mathematics, and what images of these systems call everybody.
NOBODY = ("root", "ubuntu", "debian", "fedora", "centos", "rocky")
# In columns and in what a probe wrote: a machine's own name or number.
HIDDEN = ("host", "node", "boot", "device_uuid", "uuid")
MACHINE_ID = Path("/etc/machine-id")  # a random number that systemd made and tells nobody else


@dataclass(frozen=True)
class Private:
    """What must not be in an archive: places and users as they are here, and host names, which
    become their hash with the secret `key`; `show_hosts` leaves these as they are."""

    places: tuple[str, ...]
    users: tuple[str, ...]
    hosts: tuple[str, ...]
    show_hosts: bool = False
    key: str = ""

    def text(self, text: str) -> str:
        """A free text without paths, addresses of e-mail, user's and host's names."""
        for place in self.places:
            text = text.replace(place, "/_")  # one word, even where its name has a space
        text = ABSOLUTE.sub(_own_name, ADDRESS.sub(MAIL, text))
        text = _without(self.users, USER, text)
        for host in () if self.show_hosts else self.hosts:
            text = _without([host], self.hashed(host), text, r"(?:\.[^\W_][\w-]*)*")  # its domain
        return text

    def fact(self, name: str, value: str) -> str:
        """A fact of one word, by its name: a machine's own name or number as a hash."""
        if name not in HIDDEN or not value or (self.show_hosts and name in ("host", "node")):
            return value
        return self.hashed(value)

    def hashed(self, text: str) -> str:
        """Ten digits: the same for the same text here, so that two archives of one machine are told
        from those of two. Who guesses a name cannot try it without the key; where there is none,
        the hash hides it from readers alone."""
        return hmac.digest(self.key.encode(), text.encode(), hashlib.sha256).hex()[:10]

    def anything(self, value: Any, name: str = "") -> Any:
        """The same structure of JSON with every text in it treated, but for keys: they are ours,
        or names of workloads and backends."""
        if isinstance(value, str):
            return self.fact(name, value) if name in HIDDEN else self.text(value)
        if isinstance(value, Mapping):
            return {key: self.anything(one, str(key)) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.anything(one, name) for one in value]
        return value


def here(show_hosts: bool = False, hosts: Iterable[str] = ()) -> Private:
    """Of this process: its user by every name that it goes by, its home, where it is, its host;
    `hosts` are others that were measured on."""
    names = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")}
    with suppress(Exception):  # a user without an entry, as in a container
        names.add(getpass.getuser())
    home = str(Path.home())
    names.add(Path(home).name)
    nodes = {platform.node(), *hosts}
    nodes |= {node.partition(".")[0] for node in nodes}
    return Private(
        places=tuple(_longest_first({str(Path.cwd()), str(Path.cwd().resolve()), home} - {"/"})),
        users=tuple(_longest_first(name for name in names if name not in NOBODY)),
        hosts=tuple(_longest_first(nodes - {"localhost"})),
        show_hosts=show_hosts,
        key=read(MACHINE_ID),
    )


def _without(words: Iterable[str], instead: str, text: str, behind: str = "") -> str:
    """No word is a part of a longer one, but ada is one of ada_kernel; what is `behind` it goes
    with it."""
    for word in filter(None, words):
        pattern = rf"(?<![^\W_]){re.escape(word)}(?![^\W_]){behind}"
        text = re.sub(pattern, lambda _: instead, text, flags=re.IGNORECASE)
    return text


def _own_name(found: re.Match[str]) -> str:
    name = FILE.search(found[0])
    return name[0] if name else PATH


def _longest_first(words: Iterable[str]) -> list[str]:
    return sorted(filter(None, words), key=lambda word: (-len(word), word))
