"""A page in headless Chromium, driven over a pipe by the DevTools protocol: what it computes, and what it looks like."""

import base64
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
READ_END, WRITE_END = 3, 4  # where the browser looks for its pipes
# A process of the browser's was seen to hang while it came up, once in hundreds of starts. No page was asked for by then.
STARTS = 2
SECONDS_TO_START = 15


def find():
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class BrowserError(RuntimeError):
    pass


class Browser:
    """One page. No network: the browser gets a namespace of its own where that can be had."""

    def __init__(self, program, width=1200, height=700, dark=False, seconds=30):
        for start in range(1, STARTS + 1):
            try:
                self._deadline = time.monotonic() + SECONDS_TO_START
                self._start(program, width, height, dark)
                break
            except BrowserError:
                self._end()
                if start == STARTS:
                    raise
        self._deadline = time.monotonic() + seconds

    def _start(self, program, width, height, dark):
        self._home = tempfile.TemporaryDirectory(prefix="sluice-browser-", ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={self._home.name}",
                   "--no-first-run", "--disable-dev-shm-usage", "--force-device-scale-factor=1", f"--window-size={width},{height}", "about:blank"]
        if os.geteuid() == 0 and shutil.which("unshare"):
            command = ["unshare", "-n", *command]
        # Descriptors 3 and 4 are the browser's; a shell puts the pipes there.
        shell = f'exec "$@" {READ_END}<&{theirs_in} {WRITE_END}>&{theirs_out}'
        self._process = subprocess.Popen(["bash", "-c", shell, "browser", *command], pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest = b""
        self._number = 0
        self._session = None
        self._errors = []
        target = self._call("Target.createTarget", url="about:blank", width=width, height=height)["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call("Runtime.enable")
        self._call("Log.enable")
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def _end(self):
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._home.cleanup()

    def open(self, path):
        """Seconds until the page is loaded and its scripts have run."""
        started = time.monotonic()
        self._loaded = False
        self._call("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._take(self._message())
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - started

    @property
    def errors(self):
        """Exceptions, and whatever the browser complained about, so far."""
        return self._errors

    def evaluate(self, expression):
        result = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self, clip=None):
        """PNG. `clip`: x, y, width, height."""
        options = {"clip": dict(zip(("x", "y", "width", "height"), clip), scale=1)} if clip else {}
        return base64.b64decode(self._call("Page.captureScreenshot", format="png", **options)["data"])

    def _call(self, method, **parameters):
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._take(answer)

    def _take(self, event):
        if event.get("method") == "Page.loadEventFired":
            self._loaded = True
        elif event.get("method") == "Runtime.exceptionThrown":
            self._errors.append(json.dumps(event["params"]["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"):
            self._errors.append(event["params"]["entry"]["text"])

    def _message(self):
        while b"\0" not in self._rest:
            left = self._deadline - time.monotonic()
            if left <= 0 or not _readable(self._in, left):
                raise BrowserError("the browser does not answer")
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise BrowserError("the browser has ended")
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)


def _readable(descriptor, seconds):
    import select
    return bool(select.select([descriptor], [], [], seconds)[0])


class Picture:
    """The pixels of a PNG as Chromium writes it: 8 bits, three or four channels, not interlaced."""

    def __init__(self, png):
        data, at = b"", 8
        while at < len(png):
            length, kind = struct.unpack_from(">I4s", png, at)
            content = png[at + 8:at + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", content)
                self._channels = {2: 3, 6: 4}[colour]
                if depth != 8 or interlaced:
                    raise ValueError("a PNG of a kind that is not read here")
            elif kind == b"IDAT":
                data += content
            at += length + 12
        self._rows = list(self._unfiltered(zlib.decompress(data)))

    def _unfiltered(self, data):
        """Undoes what PNG's five filters did (PNG specification, section 9)."""
        size, step = self.width * self._channels, self._channels
        above = bytes(size)
        for row in range(self.height):
            start = row * (size + 1)
            kind, line = data[start], bytearray(data[start + 1:start + 1 + size])
            for i in range(size) if kind else ():
                left = line[i - step] if i >= step else 0
                up = above[i]
                if kind == 1:
                    guess = left
                elif kind == 2:
                    guess = up
                elif kind == 3:
                    guess = (left + up) // 2
                else:
                    corner = above[i - step] if i >= step else 0
                    by = [abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)]
                    guess = (left, up, corner)[by.index(min(by))]
                line[i] = (line[i] + guess) & 255
            above = line
            yield line

    def at(self, x, y):
        start = x * self._channels
        return tuple(self._rows[y][start:start + 3])
