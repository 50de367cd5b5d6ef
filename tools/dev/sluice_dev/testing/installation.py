"""Installs into an empty directory and uses what lies there, as a user would who has no source tree."""

import os
import pathlib
import tempfile

from sluice_dev.base.builds import BUILD
from sluice_dev.base.processes import run
from sluice_dev.jobs.job import run_job
from sluice_dev.testing.checks import Checks


def _only(root, pattern):
    found = sorted(root.rglob(pattern))
    return found[0] if found else root / pattern


def installation(seconds):
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="sluice-installed-") as name:
        root = pathlib.Path(name)
        outcome = run(["meson", "install", "-C", BUILD, "--no-rebuild"], seconds, env={"DESTDIR": name})
        checks.check("meson install", outcome.returncode == 0, outcome.output)
        _check_pkg_config(checks, root)
        _check_command(checks, root, seconds)
    return checks.tally


def _check_pkg_config(checks, root):
    description = _only(root, "sluice.pc")
    outcome = run(["pkg-config", "--variable=preload", "sluice"], 20, env={"PKG_CONFIG_PATH": str(description.parent)})
    library = root / outcome.output.strip().lstrip("/")
    checks.check("pkg-config names the installed library", outcome.returncode == 0 and library.is_file(),
                 f"{outcome.output}{library}")


def _check_command(checks, root, seconds):
    command = _only(root, "bin/sluice")
    library = _only(root, "libsluice.so")
    outcome = run([command, "run", "sh", "-c", "echo $LD_PRELOAD"], 20)
    checks.check("the installed command preloads the installed library", outcome.output.strip() == str(library), outcome.output)

    program = [command, "run", "--", BUILD / "apps" / "pes" / "pes", "--size", "130", "--columns", "8192", "--iterations", "20"]
    job = run_job([*program, "--serial-check"], 2, {}, min(seconds, 60))
    checks.check("a job runs under the installed command", job.ok and "serial check equal" in job.stdout,
                 job.describe() if not job.ok else job.stdout)
    for page in ("sluice.1*", "sluice-run.1*", "bash-completion/completions/sluice", "zsh/site-functions/_sluice"):
        checks.check(f"{page} is there", _only(root, page).is_file() and os.path.getsize(_only(root, page)) > 0)
