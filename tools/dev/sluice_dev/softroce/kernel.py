"""What a guest boots from: Debian's kernel, the modules of a verbs stack without hardware, and busybox.

The kernel package is fetched with apt-get once for a build directory and what is needed of it is kept there: the kernel, unpacked (to
do that in an emulated processor takes seconds), and the modules below. Nothing is installed.
"""

import contextlib
import fcntl
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from sluice_dev.softroce.cpio import Archive

METAPACKAGE = "linux-image-amd64"
BUSYBOX = pathlib.Path("/bin/busybox")
FETCH_SECONDS = 300
XZ_MAGIC = b"\xfd7zXZ\0"

# In the order in which they can be inserted. rdma_rxe wants a crc32 in the kernel's crypto interface, but does not say so.
MODULES = """
    crc32_generic virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover net_failover virtio_net virtio_console
    9pnet 9pnet_virtio netfs fscache 9p overlay
    udp_tunnel ip6_udp_tunnel ib_core ib_uverbs rdma_rxe configfs ib_cm iw_cm rdma_cm rdma_ucm veth dummy
""".split()


class NoGuest(Exception):
    """Guests cannot be had here; the text says why."""


class Kernel:
    def __init__(self, directory):
        """`directory` is made and filled when it does not have the kernel yet; several processes may do so at a time."""
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        self._files = directory / "kernel"
        with _locked(directory / "lock"):
            if not self._files.exists():
                _fetch(directory, self._files)

    @property
    def image(self):
        return self._files / "vmlinux"

    def initramfs(self, init, settings):
        """The first file system of a guest, as bytes: `init` is run with what `settings`, a script, says."""
        if not BUSYBOX.exists() or _interpreter_in(BUSYBOX.read_bytes()):
            raise NoGuest("there is no statically linked busybox (package busybox-static)")
        archive = Archive()
        for name in ("bin", "modules", "dev", "proc", "sys", "lower", "layer", "root"):
            archive.directory(name)
        archive.console("dev/console")
        archive.file("bin/busybox", BUSYBOX.read_bytes(), executable=True)
        for number, module in enumerate(MODULES):
            archive.file(f"modules/{number:02}-{module}.ko", (self._files / f"{module}.ko").read_bytes())
        archive.file("init", init.encode(), executable=True)
        archive.file("settings", settings.encode())
        return archive.finish()


def _interpreter_in(program):
    """Whether an ELF program names a dynamic linker."""
    return b"/ld-linux" in program[:4096]


@contextlib.contextmanager
def _locked(path):
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(directory, files):
    """All or nothing: an interrupted attempt leaves no `files`."""
    for tool in ("apt-get", "apt-cache", "dpkg-deb", "tar"):
        if shutil.which(tool) is None:
            raise NoGuest(f"the kernel comes from a Debian package, and there is no {tool}")
    with tempfile.TemporaryDirectory(dir=directory, prefix="fetch-") as scratch:
        scratch = pathlib.Path(scratch)
        package = _package(scratch)
        _unpack(package, scratch)
        new = scratch / "new"
        new.mkdir()
        (new / "vmlinux").write_bytes(_unpacked_kernel(next(scratch.glob("boot/vmlinuz-*")).read_bytes()))
        found = {path.stem.replace("-", "_"): path for path in scratch.glob("lib/modules/*/kernel/**/*.ko")}
        for module in MODULES:
            if module not in found:
                raise NoGuest(f"{package.name} has no module {module}")
            shutil.copyfile(found[module], new / f"{module}.ko")
        os.rename(new, files)


def _package(directory):
    try:
        return _download(_package_name(), directory)
    except NoGuest:
        if os.geteuid() != 0:
            raise
    # The package lists may be missing or old.
    subprocess.run(["apt-get", "update", "-qq"], capture_output=True, timeout=FETCH_SECONDS, check=False)
    return _download(_package_name(), directory)


def _package_name():
    """The kernel package that the metapackage stands for."""
    listed = subprocess.run(["apt-cache", "depends", METAPACKAGE], capture_output=True, text=True, check=False).stdout
    if found := re.search(r"Depends: (linux-image-\S+)", listed):
        return found[1]
    raise NoGuest(f"apt knows no package {METAPACKAGE}")


def _download(package, directory):
    # _apt, the user that apt-get downloads as when it can, has no access to our directories.
    command = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", package]
    try:
        run = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NoGuest(f"{package} could not be downloaded within {FETCH_SECONDS} s") from None
    if run.returncode != 0:
        raise NoGuest(f"{package} could not be downloaded: {run.stderr.strip()}")
    return next(directory.glob("*.deb"))


def _unpack(package, directory):
    wanted = [f"./lib/modules/*/{module.translate({ord('_'): '?'})}.ko" for module in MODULES]
    contents = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    tar = subprocess.run(["tar", "-x", "-C", directory, "--wildcards", "./boot/vmlinuz-*", *wanted], stdin=contents.stdout,
                         capture_output=True, text=True, check=False)
    contents.stdout.close()
    if contents.wait() != 0 or tar.returncode != 0:
        raise NoGuest(f"{package.name} could not be unpacked: {tar.stderr.strip()}")


def _unpacked_kernel(image):
    """The ELF file in a bzImage."""
    start = image.find(XZ_MAGIC)
    if start < 0:
        raise NoGuest("Debian's kernel is not compressed with xz any more")
    return lzma.LZMADecompressor().decompress(image[start:])
