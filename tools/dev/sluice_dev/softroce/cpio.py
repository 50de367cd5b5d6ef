"""The archive format of a Linux initramfs: cpio, "newc"."""

import stat


class Archive:
    def __init__(self):
        self._bytes = bytearray()
        self._members = 0

    def directory(self, name):
        self._add(name, stat.S_IFDIR | 0o755)

    def file(self, name, contents, executable=False):
        self._add(name, stat.S_IFREG | (0o755 if executable else 0o644), contents)

    def console(self, name):
        """The device that the kernel opens for the first process."""
        self._add(name, stat.S_IFCHR | 0o600, device=(5, 1))

    def finish(self):
        self._add("TRAILER!!!", 0)
        return bytes(self._bytes)

    def _add(self, name, mode, contents=b"", device=(0, 0)):
        self._members += 1
        encoded = name.encode() + b"\0"
        owner, group, links, modified, checksum = 0, 0, 1, 0, 0
        header = (self._members, mode, owner, group, links, modified, len(contents), 0, 0, *device, len(encoded), checksum)
        self._bytes += b"070701" + b"".join(b"%08x" % field for field in header) + encoded
        self._align()
        self._bytes += contents
        self._align()

    def _align(self):
        self._bytes += b"\0" * (-len(self._bytes) % 4)
