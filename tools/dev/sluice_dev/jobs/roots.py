"""Other hosts than the machine's own: the MPI libraries of other Debian suites, unpacked into a folder that ranks have as their root.

    root = Root("trixie", builddir)                                     # downloads what is missing, or raises NoRoot
    result = run_job(["./ring"], 2, {}, 60, launch=root.launch)         # mpirun of Open MPI 5, as the machine's own otherwise

Nothing is installed, and nothing of the machine is changed: packages come from the Debian mirror that the machine itself uses, through an
apt whose lists and caches lie in the folder, and are unpacked, without their scripts. The folder is kept below the build directory. Jobs
run in namespaces of their own. They see the build directory and the sources at their own paths; /tmp and /dev/shm are theirs alone.
"""

import dataclasses
import fcntl
import os
import pathlib
import re
import shutil
import subprocess

from sluice_dev.base.builds import ROOT
from sluice_dev.jobs.job import JOB_ENVIRONMENT

KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MIRROR = "http://deb.debian.org/debian"  # where the machine's own cannot be found out
LIBRARIES = "usr/lib/x86_64-linux-gnu"
DOWNLOAD_SECONDS = 240
# What ranks never open.
LEFT_OUT = ("./usr/share/doc", "./usr/share/man", "./usr/share/locale", "./usr/share/lintian", f"./{LIBRARIES}/*.a", f"./{LIBRARIES}/*/lib/*.a")

BASE = ("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "dash", "libudev1", "libcap2", "libnl-3-200", "libnl-route-3-200", "libnuma1", "libhwloc15",
        "libevent-core-2.1-7t64", "libevent-pthreads-2.1-7t64", "libmunge2", "libpmix2t64", "libfabric1", "libucx0", "libpsm2-2", "librdmacm1t64",
        "libibverbs1", "ibverbs-providers", "libgfortran5", "libquadmath0")
OPEN_MPI = ("libopenmpi40", "openmpi-bin", "openmpi-common", "libopenmpi-dev")
MPICH = ("mpich", "libmpich12", "libmpich-dev")


@dataclasses.dataclass(frozen=True)
class Release:
    """A suite of Debian, and what is taken of it."""
    suite: str
    packages: tuple


RELEASES = {
    # MPICH 4.0 in the place that Debian 12 gives it beside Open MPI 4.1.
    "bookworm": Release("bookworm", ("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "dash", "libudev1", "libcap2", "libnl-3-200", "libnl-route-3-200",
                                     "libnuma1", "libhwloc15", "libfabric1", "libucx0",
                                     "libpsm-infinipath1", "libpsm2-2", "librdmacm1", "libibverbs1",
                                     "ibverbs-providers", "libgfortran5", "libquadmath0", "libpmix2", "libevent-core-2.1-7",
                                     "libevent-pthreads-2.1-7", "libmunge2", "libslurm38", "hydra", *MPICH)),
    "trixie": Release("trixie", (*BASE, *OPEN_MPI)),  # Open MPI 5.0
    "sid": Release("sid", (*BASE, *OPEN_MPI, *MPICH, "libucc1", "libprrte-bin", "libprrte4", "libesmtp6", "libssl3t64", "libzstd1", "libze1",
                           "hwloc-nox")),  # Open MPI 6.0, MPICH 5.0, and the standard interface of both
}


class NoRoot(Exception):
    """There can be no such host here: no privilege, no network, or the packages are gone."""


class Root:
    def __init__(self, name, builddir):
        self.release = RELEASES[name]
        self._builddir = pathlib.Path(builddir or ROOT / "build").resolve()
        self._place = self._builddir / "hosts" / name
        self.path = self._place / "root"
        self._complete = self._place / "complete"  # names the packages that were unpacked
        self._require_privilege()
        self._place.mkdir(parents=True, exist_ok=True)
        with open(self._place / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of several suites, one downloads
            if not self._is_complete():
                self._unpack()

    def file(self, path):
        """A file of the root, as seen from outside. Links of the root that start at its top are followed."""
        found = self.path / path
        for _ in range(8):
            if not found.is_symlink():
                break
            target = os.readlink(found)
            found = self.path / target[1:] if target.startswith("/") else found.parent / target
        return found

    def libraries_named(self, soname, library):
        """A folder, at its path inside, in which a library has its soname as name: Debian leaves that to alternatives."""
        folder = pathlib.Path("opt") / pathlib.Path(library).name
        (self.path / folder).mkdir(parents=True, exist_ok=True)
        link = self.path / folder / soname
        if not link.is_symlink():
            os.symlink(f"/{library}", link)
        return f"/{folder}"

    def launch(self, command):
        """For run_job: the command with the root around it."""
        words = ["unshare", "-m", "-p", "-n", "-f", "--kill-child", "sh", "-c", ENTER, "sh", self.path, self._builddir, ROOT, *map(str, command)]
        added = {name: value for name, value in JOB_ENVIRONMENT.items() if "ALLOW" in name}
        added |= {name.replace("OMPI", "PRTE"): value for name, value in added.items()}
        return [str(word) for word in words], {**added, "HOME": "/root", "TMPDIR": "/tmp", "LD_LIBRARY_PATH": ""}

    @staticmethod
    def _require_privilege():
        if os.geteuid() != 0:
            raise NoRoot("namespaces and chroot need root")
        for tool in ("unshare", "ip", "apt-get", "apt-config", "dpkg-deb", "tar"):
            if not shutil.which(tool):
                raise NoRoot(f"there is no {tool}")
        if subprocess.run(["unshare", "-m", "-p", "-n", "-f", "mount", "-t", "tmpfs", "tmpfs", "/tmp"], capture_output=True, check=False).returncode:
            raise NoRoot("this container permits no mounts")
        if not KEYRING.exists():
            raise NoRoot(f"there is no {KEYRING} to check packages with")

    def _is_complete(self):
        return self._complete.exists() and self._complete.read_text(encoding="utf-8") == " ".join(self.release.packages)

    def _unpack(self):
        shutil.rmtree(self.path, ignore_errors=True)
        packages = self._place / "packages"
        packages.mkdir(exist_ok=True)
        try:
            _download(self.release, self._place / "apt", packages)
            self.path.mkdir()
            for package in sorted(packages.glob("*.deb")):
                self._unpack_one(package)
        finally:
            shutil.rmtree(self._place / "apt", ignore_errors=True)
            shutil.rmtree(packages, ignore_errors=True)
        for name in ("lib", "lib64", "bin", "sbin"):
            if not (self.path / name).exists():
                os.symlink(f"usr/{name}", self.path / name)
        for name in ("proc", "dev", "sys", "tmp", "root", "etc"):
            (self.path / name).mkdir(exist_ok=True)
        (self.path / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", encoding="ascii")
        (self.path / "etc/hosts").write_text("127.0.0.1 localhost\n", encoding="ascii")
        if not (self.path / "bin/sh").exists():
            os.symlink("dash", self.path / "bin/sh")
        self._complete.write_text(" ".join(self.release.packages), encoding="utf-8")

    def _unpack_one(self, package):
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "x", "-C", self.path, "--no-same-owner", *(f"--exclude={pattern}" for pattern in LEFT_OUT)], stdin=archive.stdout,
                           check=True)


# $1 the root, $2 and $3 what is seen at its own path, then the command. Debian names the launcher after its MPI. Hosts name what they share
# after process ids, which are the same in all these namespaces: so /tmp and /dev/shm are the job's own.
ENTER = """
set -e
root=$1; shift
for shown in "$1" "$2"; do mkdir -p "$root$shown"; mount --rbind "$shown" "$root$shown"; done
shift 2
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/dev/shm"
ip link set lo up
PATH=/usr/bin:/bin:/usr/sbin:/sbin
[ "$1" != mpirun ] || { shift; set -- mpirun.openmpi "$@"; }
exec chroot "$root" "$@"
"""


def _mirror():
    """Of Debian's own archive, as the machine's sources name it."""
    wanted = ["apt-get", "indextargets", "--format", "$(SITE) $(ORIGIN) $(LABEL)", "Created-By: Packages"]
    for line in subprocess.run(wanted, capture_output=True, text=True, check=False).stdout.splitlines():
        site, *labels = line.split(" ")
        if labels == ["Debian", "Debian"]:
            return site
    return MIRROR


def _download(release, apt, packages):
    for folder in ("etc/apt.conf.d", "etc/preferences.d", "etc/trusted.gpg.d", "lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    (apt / "etc/sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {release.suite} main\n", encoding="ascii")
    # How the machine reaches its mirror; an archive that stands still is as good as another.
    machine = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=False).stdout
    (apt / "apt.conf").write_text(machine + f"""
Dir::Etc "{apt}/etc";
Dir::State "{apt}";
Dir::State::status "{apt}/status";
Dir::Cache "{apt}/cache";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
""", encoding="utf-8")
    _apt(apt, ["update"])
    _apt(apt, ["download", *release.packages], cwd=packages)


def _apt(apt, words, cwd=None):
    environment = {**os.environ, "APT_CONFIG": str(apt / "apt.conf"), "LC_ALL": "C"}
    try:
        done = subprocess.run(["apt-get", "-q", *words], env=environment, cwd=cwd, capture_output=True, text=True,
                              timeout=DOWNLOAD_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NoRoot(f"apt-get {words[0]} took more than {DOWNLOAD_SECONDS} s") from None
    told = re.findall(r"^[EW]: (.*)$", done.stderr, re.MULTILINE)
    if done.returncode != 0 or (words[0] == "update" and told):
        raise NoRoot(f"apt-get {words[0]}: {told[0] if told else done.stderr.strip()[-200:]}")
