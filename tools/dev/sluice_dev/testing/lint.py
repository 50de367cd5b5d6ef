"""Formatting and clang-tidy over every source in the tree; for Python: flake8, isort and pyupgrade (setup.cfg, docs/adr/0007)."""

import os
import pathlib
import re
import shutil
import tempfile

from sluice_dev.base.builds import BUILD, ROOT
from sluice_dev.base.processes import run
from sluice_dev.testing.checks import Checks
from sluice_dev.testing.report import Tally

SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
# Not tests: they repeat idioms of their own, and GoogleTest's headers are slow.
TIDIED = ["apps", "interpose", "net", "runtime", "shmem", "tcp", "tools", "verbs"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


PYTHON_VERSION = "--py311-plus"
NOT_OURS = ROOT / "tests" / "mpi" / "real" / "inputs"  # as short as inputs can be


def sources(suffixes=SUFFIXES):
    outcome = run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"], 60)
    if outcome.returncode == 0:
        paths = [ROOT / line for line in outcome.output.splitlines()]
    else:  # an exported tree
        paths = [path for path in ROOT.rglob("*") if not path.relative_to(ROOT).parts[0].startswith("build")]
    return sorted(path for path in paths if path.suffix in suffixes and path.exists())


def formatting(seconds):
    checks = Checks()
    outcome = run(["clang-format", "--dry-run", "-Werror", *sources()], seconds)
    offenders = sorted({line.split(":")[0] for line in outcome.output.splitlines() if ": error:" in line})
    checks.check("formatting; run clang-format -i on:", outcome.returncode == 0, "\n".join(offenders))
    modules = [path for path in sources({".py"}) if not path.is_relative_to(NOT_OURS)]
    for name, command in (("flake8", ["flake8", *modules]), ("isort; run isort on:", ["isort", "--check-only", *modules])):
        outcome = run(command, seconds, cwd=ROOT)
        checks.check(name, outcome.returncode == 0, outcome.output)
    old = _in_old_words(modules, seconds)
    checks.check(f"pyupgrade; run pyupgrade {PYTHON_VERSION} on:", not old, old)
    return checks.tally


def _in_old_words(modules, seconds):
    """What pyupgrade says that it would change; it only knows how to do so, and gets copies."""
    with tempfile.TemporaryDirectory(prefix="sluice-lint-") as name:
        copies = []
        for module in modules:
            copies.append(pathlib.Path(name) / module.relative_to(ROOT))
            copies[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(module, copies[-1])
        outcome = run(["pyupgrade", PYTHON_VERSION, *copies], seconds)
    return outcome.output.replace(f"{name}/", "") if outcome.returncode != 0 else ""


def clang_tidy(seconds):
    """Over the files of the programs and the library, by the database that meson writes."""
    chosen = rf"^{re.escape(str(ROOT))}/({'|'.join(TIDIED)})/.*\.(c|cpp)$"
    outcome = run(["run-clang-tidy", "-quiet", "-p", BUILD, "-j", os.cpu_count(), chosen], seconds, cwd=ROOT)
    if outcome.timed_out:
        print(f"skip clang-tidy: not finished within {seconds:.0f} s")
        return Tally(skipped=1)
    files = sum(line.startswith("clang-tidy") for line in COLOUR.sub("", outcome.output).splitlines())
    if outcome.returncode == 0 and files > 0:
        print(f"{files} files")
        return Tally(passed=1)
    noise = ("clang-tidy-", "clang-tidy ", "[", "Suppressed ", "Use -header-filter")
    lines = [line for line in COLOUR.sub("", outcome.output).splitlines() if line.strip() and not line.startswith(noise)]
    kept = [line for line in lines if not line.endswith(("warnings generated.", "warning generated."))]
    print("FAIL clang-tidy:\n" + "\n".join(f"    {line}" for line in kept))
    return Tally(failed=1)
