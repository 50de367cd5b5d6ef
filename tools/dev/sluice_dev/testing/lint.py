"""Formatting and clang-tidy over every source in the tree."""

import os
import re

from sluice_dev.base.builds import BUILD, ROOT
from sluice_dev.base.processes import run
from sluice_dev.testing.report import Tally

SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
TIDIED = ["apps", "interpose", "net", "runtime", "shmem", "tcp", "tools", "verbs"]  # tests repeat idioms of their own, and GoogleTest's headers are slow
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def sources():
    outcome = run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"], 60)
    if outcome.returncode == 0:
        paths = [ROOT / line for line in outcome.output.splitlines()]
    else:  # an exported tree
        paths = [path for path in ROOT.rglob("*") if not path.relative_to(ROOT).parts[0].startswith("build")]
    return sorted(path for path in paths if path.suffix in SUFFIXES and path.exists())


def formatting(seconds):
    outcome = run(["clang-format", "--dry-run", "-Werror", *sources()], seconds)
    if outcome.returncode == 0:
        return Tally(passed=1)
    offenders = sorted({line.split(":")[0] for line in outcome.output.splitlines() if ": error:" in line})
    print("FAIL formatting; run clang-format -i on:\n" + "\n".join(f"    {path}" for path in offenders))
    return Tally(failed=1)


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
