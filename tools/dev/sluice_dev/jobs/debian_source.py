"""Sources of Debian packages, for the test suites that other projects have written.

They are fetched with apt's own tools and kept below the build directory. Mirror and keys are those that the machine's /etc/apt names
for its release; the lists of sources and apt's state are of our own, so that nothing of the machine's changes.
"""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import subprocess

MACHINE = pathlib.Path("/etc/apt")
FETCH_SECONDS = 300


class NoSource(Exception):
    """The source of a package is not to be had here, and why."""


def source_of(package, kept, members):
    """Directory and version of the unpacked source. `members`: what is wanted of it, as paths below its root."""
    kept.mkdir(parents=True, exist_ok=True)
    with _locked(kept / "lock"):
        if not (kept / "version").exists():
            _fetch(package, kept, members)
        return kept / "source", (kept / "version").read_text()


def deb822_sources(text, codename):
    """The stanzas of a .sources file that belong to the release, as stanzas of sources."""
    stanzas = []
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if not line.startswith("#")]
        suites = next((line.split(":", 1)[1].split() for line in lines if line.startswith("Suites:")), [])
        suites = [suite for suite in suites if suite.startswith(codename)]
        kept = [line for line in lines if not line.startswith(("Types:", "Suites:", "Enabled:"))]
        if suites and "Enabled: no" not in lines:
            stanzas.append("\n".join(["Types: deb-src", f"Suites: {' '.join(suites)}", *kept]))
    return stanzas


def one_line_sources(text, codename):
    """The lines of a .list file that belong to the release, as stanzas of sources."""
    stanzas = []
    for options, uri, suite, components in re.findall(r"^deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s+(.*)$", text, re.MULTILINE):
        if suite.startswith(codename):
            signed = re.findall(r"signed-by=(\S+)", options)
            stanzas.append("\n".join(["Types: deb-src", f"URIs: {uri}", f"Suites: {suite}", f"Components: {components}",
                                      *(f"Signed-By: {key}" for key in signed)]))
    return stanzas


def _fetch(package, kept, members):
    """The version is written last: an interrupted attempt is repeated."""
    for tool in ("apt-get", "tar"):
        if shutil.which(tool) is None:
            raise NoSource(f"{package} comes as a Debian source package, and there is no {tool}")
    apt = _own_apt(kept / "apt")
    _run([*apt, "update", "-qq"], kept, check=False)  # lists that are missing show when the package is not found
    download = kept / "download"
    shutil.rmtree(download, ignore_errors=True)
    download.mkdir()
    _run([*apt, "source", "-qq", "--download-only", package], download)
    description = next(download.glob("*.dsc")).read_text(errors="replace")
    archive = next(path for path in download.iterdir() if ".orig.tar." in path.name and not path.name.endswith(".asc"))
    source = kept / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    _run(["tar", "-x", "-C", source, "--strip-components=1", "--wildcards", "-f", archive, *(f"*/{member}" for member in members)], kept)
    shutil.rmtree(download)
    (kept / "version").write_text(re.search(r"^Version: (\S+)", description, re.MULTILINE)[1])


def _own_apt(directory):
    for name in ("lists/partial", "archives/partial"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    codename = _codename()
    stanzas = []
    for path in sorted([MACHINE / "sources.list", *(MACHINE / "sources.list.d").glob("*")]):
        if path.is_file():
            read = deb822_sources if path.suffix == ".sources" else one_line_sources
            stanzas += read(path.read_text(errors="replace"), codename)
    if not stanzas:
        raise NoSource(f"{MACHINE} names no mirror of {codename or 'this release'}")
    sources = directory / "own.sources"
    sources.write_text("\n\n".join(stanzas) + "\n")
    settings = {"Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "/dev/null", "Dir::State::lists": directory / "lists",
                "Dir::Cache": directory, "APT::Sandbox::User": "root"}  # _apt has no access to our directories
    return ["apt-get", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]


def _codename():
    text = pathlib.Path("/etc/os-release").read_text(errors="replace")
    found = re.search(r'^VERSION_CODENAME="?(\w+)', text, re.MULTILINE)
    return found[1] if found else ""


def _run(command, directory, check=True):
    try:
        run = subprocess.run([str(word) for word in command], cwd=directory, capture_output=True, text=True, errors="replace",
                             timeout=FETCH_SECONDS, env={**os.environ, "LC_ALL": "C"}, check=False)
    except subprocess.TimeoutExpired:
        raise NoSource(f"{command[0]} did not end within {FETCH_SECONDS} s") from None
    if check and run.returncode != 0:
        complaints = [line for line in run.stderr.splitlines() if line.startswith("E:")] or run.stderr.splitlines()
        raise NoSource("; ".join(complaints[:2]) or f"{command[0]} ended with code {run.returncode}")


@contextlib.contextmanager
def _locked(path):
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
