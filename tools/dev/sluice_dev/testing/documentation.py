"""Pages against programs: what exists is documented, and what is documented exists. And pages against the rules for prose."""

import re

from sluice_dev.base import prose
from sluice_dev.base.builds import BUILD, ROOT
from sluice_dev.base.processes import run
from sluice_dev.testing.checks import Checks

COMMAND = BUILD / "tools" / "sluice"
OF_EVERY_SUBCOMMAND = {"--help"}
MAX_LINES = {"docs/protocols.md": 100, "docs/shmem.md": 100, "docs/page-guard.md": 200, "docs/testing.md": 200}
UNRULY = frozenset()  # pages that need not keep the rules for prose


def documentation(_seconds):
    checks = Checks()
    _check_configuration(checks)
    names = _subcommands()
    checks.check("sluice --help lists subcommands", len(names) > 1)
    _check_command_page(checks, names)
    _check_manual(checks, names)
    _check_prose(checks)
    _check_links(checks)
    return checks.tally


def _check_configuration(checks):
    """docs/configuration.md shows the table that the library is built with."""
    outcome = run([COMMAND, "info", "--config", "--format", "markdown"], 20)
    page = ROOT / "docs" / "configuration.md"
    current = page.exists() and outcome.returncode == 0 and outcome.output in page.read_text()
    checks.check("docs/configuration.md is current", current,
                 f"It should contain what `sluice info --config --format markdown` prints:\n{outcome.output}")


def _subcommands():
    listed = run([COMMAND, "--help"], 20).output.partition("Subcommands:")[2]
    return re.findall(r"^  ([a-z]+)", listed, re.MULTILINE)


def _options_of(name):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", run([COMMAND, name, "--help"], 20).output, re.MULTILINE))


def _check_command_page(checks, names):
    """Each subcommand has a section in docs/command.md, whose options are those of the program. Those of `run` are the
    variables, which docs/configuration.md has; what the section names must exist all the same."""
    text = (ROOT / "docs" / "command.md").read_text()
    sections = dict(re.findall(r"^## sluice ([a-z]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    checks.check("docs/command.md has a section for each subcommand", set(sections) == set(names),
                 f"sections: {sorted(sections)}\nsubcommands: {sorted(names)}")
    for name in sorted(set(sections) & set(names)):
        options = _options_of(name)
        told = set(re.findall(r"`[^`\n]*?(--[a-z][a-z-]*)", sections[name]))
        missing = set() if name == "run" else options - told - OF_EVERY_SUBCOMMAND
        checks.check(f"docs/command.md tells the options of sluice {name}", not missing and not told - options,
                     f"not told: {sorted(missing)}\ntold, but do not exist: {sorted(told - options)}")


def _check_manual(checks, names):
    pages = {path.name: path for path in (BUILD / "tools").glob("*.1")}
    expected = {"sluice.1"} | {f"sluice-{name}.1" for name in names}
    checks.check("each subcommand has a manual page", set(pages) == expected, f"pages: {sorted(pages)}\nexpected: {sorted(expected)}")
    for name, path in sorted(pages.items()):
        outcome = run(["groff", "-man", "-Tutf8", "-ww", "-z", path], 20)
        checks.check(f"{name} renders without warnings", outcome.returncode == 0 and not outcome.output.strip(), outcome.output)
    overview = (pages["sluice.1"].read_text() if "sluice.1" in pages else "").replace("\\-", "-")
    missing = [name for name in names if f"sluice-{name}" not in overview]
    checks.check("sluice.1 names every subcommand", not missing, " ".join(missing))


def _pages():
    """By their names from the root on; none of build directories."""
    folders = [folder for folder in ROOT.iterdir() if folder.is_dir() and folder.name[0] != "." and not (folder / "meson-info").exists()]
    paths = [*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.md"))]
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(paths)}


def _check_prose(checks):
    """Lines, table cells and sentences are short enough, sentences have subjects, and pages that were once too long stay short."""
    pages = _pages()
    faults = [f"{name}:{line}: {fault}" for name, text in pages.items() if name not in UNRULY for line, fault in prose.faults(text)]
    limits = f"{prose.MAX_WORDS} words at most, lines {prose.WIDTH} and cells {prose.CELL_WIDTH} characters"
    checks.check(f"sentences have subjects and {limits}", not faults, "\n".join(faults))
    for name, most in MAX_LINES.items():
        lines = len(pages[name].splitlines())
        checks.check(f"{name} has {most} lines at most", lines <= most, f"{lines} lines")


def _anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _check_links(checks):
    """A link to a page, or to a section of one, leads somewhere."""
    dead = []
    for name, text in _pages().items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            page, _, anchor = target.partition("#")
            path = (ROOT / name).parent / page if page else ROOT / name
            is_dead = not path.exists() or (anchor and anchor not in _anchors(path.read_text()))
            if "://" not in target and is_dead:
                dead.append(f"{name}: {target}")
    checks.check("links between pages lead somewhere", not dead, "\n".join(dead))
