"""The page of `sluice timeline` in a browser: what it says that it drew is in the picture, where it says."""

import re
from collections import Counter

from .browser import Browser, Picture, find

WIDTH, HEIGHT = 900, 420
GUTTER = 190  # names are there, as in draw.js
NEAR = 60  # of 255 in each of three colours, added up
DRAWN_OVER = 60  # so much nearer to an arrow's colour is a pixel on its smoothed edge than before
SHARE = 0.7  # of the points that are looked at; names and other arrows lie over some
TOP_KINDS = ("wait", "fault", "settle", "release", "held")
WIDE = 6  # pixels
POINTED_AT = 12  # of the widest waits for a page; there are as many turns of two cases that touch late data at once


def rgb(colour):
    return tuple(int(colour[place:place + 2], 16) for place in (1, 3, 5))


def distance(one, other):
    return sum(abs(a - b) for a, b in zip(one, other))


class Page:
    """The opened page, its last picture, and what it says of that."""

    def __init__(self, browser, path):
        self.browser = browser
        self.seconds = browser.open(path)
        self.left, self.top = browser.evaluate("(box => [box.x, box.y])(document.getElementById('canvas').getBoundingClientRect())")
        self.colours = {name: rgb(colour) for name, colour in browser.evaluate("timeline.colours").items()}
        self.lanes = browser.evaluate("timeline.page.lanes.map(lane => [timeline.page.ranks[lane.rank].rank, lane.thread])")
        self.axis = browser.evaluate("timeline.axis")
        self.take()

    def take(self):
        self.drawn = self.browser.evaluate("timeline.record()")
        self.picture = Picture(self.browser.screenshot())

    def sees(self, colour, x, y):
        """At a place of the canvas, or a pixel beside it."""
        return any(distance(self.picture.at(*pixel), self.colours[colour]) <= NEAR for pixel in self._around(x, y))

    def has_stripe(self, y):
        """Somewhere at this height, exactly: the ground between the lanes has nearly the same colour."""
        return any(self.picture.at(x, round(y + self.top)) == self.colours["stripe"] for x in range(WIDTH // 4, WIDTH))

    def picture_without_messages(self):
        self.browser.evaluate("timeline.shown.messages = false, timeline.record()")
        picture = Picture(self.browser.screenshot())
        self.browser.evaluate("timeline.shown.messages = true, timeline.record()")
        return picture

    def drew_over(self, before, colour, x, y):
        """Something of this colour is there that is not in the other picture."""
        wanted = self.colours[colour]
        return any(distance(before.at(*pixel), wanted) - distance(self.picture.at(*pixel), wanted) >= DRAWN_OVER for pixel in self._around(x, y))

    def _around(self, x, y):
        x, y = round(x + self.left), round(y + self.top)
        return [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if 0 <= x + dx < WIDTH and 0 <= y + dy < HEIGHT]

    def told_at(self, x, y):
        self.browser.mouse("mouseMoved", x + self.left, y + self.top)
        return self.browser.evaluate("document.getElementById('tooltip').hidden ? '' : document.getElementById('tooltip').innerText")

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.mouse(kind, x + self.left, y + self.top, button="left", clickCount=1)
        self.told_at(WIDTH - 2, HEIGHT / 2)


def lanes_are_told(page, threads):
    told = sorted(map(tuple, page.lanes))
    return "" if told == sorted(threads) else f"lanes: {told}\nthreads in the trace: {sorted(threads)}"


def lanes_are_there(page, threads):
    if complaint := lanes_are_told(page, threads):
        return complaint
    rows = page.browser.evaluate("timeline.lanes.map(({y, height}) => [y, height])")
    unseen = [lane for lane, (y, height) in zip(page.lanes, rows) if not page.has_stripe(page.axis + y + height / 2)]
    return f"no stripe for {unseen}" if unseen else ""


def uncovered(pieces, number):
    """Places along the middle of a slice over which nothing was drawn later."""
    piece = pieces[number]
    middle = piece["y"] + piece["height"] / 2
    over = [other for other in pieces[number + 1:] if other["y"] <= middle <= other["y"] + other["height"]]
    along = [piece["x"] + piece["width"] * share / 20 for share in range(1, 20)]
    return [(x, middle) for x in along if not any(other["x"] - 1 <= x <= other["x"] + other["width"] + 1 for other in over)]


def slices_are_in_the_picture(page, wanted_kinds=TOP_KINDS):
    missing, kinds = [], set()
    for number, piece in enumerate(page.drawn["slices"]):
        if piece["kind"] not in TOP_KINDS or piece["width"] < WIDE:
            continue
        points = uncovered(page.drawn["slices"], number)
        seen = sum(page.sees(piece["kind"], x, y) for x, y in points)
        if seen < SHARE * len(points):
            missing.append(f"{piece}: {seen} of {len(points)} points")
        if points:
            kinds.add(piece["kind"])
    lacking = [kind for kind in wanted_kinds if kind not in kinds]
    return "\n".join(missing + [f"no {kind} was drawn" for kind in lacking])


def arrows_are_in_the_picture(page):
    missing = []
    before = page.picture_without_messages()
    for arrow in page.drawn["arrows"]:
        along = [share / 20 for share in range(1, 20)]
        points = [(arrow["x1"] + (arrow["x2"] - arrow["x1"]) * share, arrow["y1"] + (arrow["y2"] - arrow["y1"]) * share) for share in along]
        points = [(x, y) for x, y in points if GUTTER < x < WIDTH - 2]  # of those that reach into the view from beside it
        seen = sum(page.drew_over(before, "arrow", x, y) for x, y in points)
        if seen < len(points):
            missing.append(f"{arrow}: {seen} of {len(points)} points")
    return "\n".join(missing)


def arrows_are_those_of_the_log(page, output):
    """The program logs the messages that ranks sent."""
    logged = Counter((int(rank), int(peer), int(tag)) for rank, peer, tag in re.findall(r"^LOG (\d+) send (\d+) (\d+) \d+$", output, re.MULTILINE))
    of = page.browser.evaluate("timeline.record().arrows.map(({arrow, from, to}) => [from, to, timeline.arrows.tag[arrow]])")
    drawn = Counter((page.lanes[sender][0], page.lanes[receiver][0], tag) for sender, receiver, tag in of)
    return "" if drawn == logged and drawn else f"drawn: {sorted(drawn.items())}\nlog: {sorted(logged.items())}"


def pointing_tells(page):
    faults = sorted((piece for piece in page.drawn["slices"] if piece["kind"] == "fault"), key=lambda piece: -piece["width"])
    all_told = [page.told_at(piece["x"] + piece["width"] / 2, piece["y"] + 2) for piece in faults[:POINTED_AT]]
    told = next((told for told in all_told if "touched_at_once" in told), None)
    if told is None:
        return f"touched_at_once not in: {all_told}"
    words = ("wait for a page", "peer", "rank 1", "tag", "protocol", "1 MiB", "hidden", "pages")
    missing = [word for word in words if word not in told]
    return f"{missing} not in: {told}" if missing else ""


def search_finds(page):
    page.browser.evaluate("timeline.find('kind:wait touched_at_once')")
    found = page.browser.evaluate("document.getElementById('found').textContent")
    expected = page.browser.evaluate("(s => [...s.kind].filter((kind, i) => kind === 2 && "
                                     "timeline.page.sites[s.site[i] - 1].place.includes('touched_at_once')).length)"
                                     "(timeline.slices)")
    return "" if expected > 0 and found == f"{expected} found" else f"{found}; in the page: {expected}"


def keys_and_wheel_zoom(page):
    length = "timeline.view.to - timeline.view.from"
    whole = page.browser.evaluate(length)
    page.browser.mouse("mouseWheel", page.left + 500, page.top + 60, deltaX=0, deltaY=-400)
    nearer = page.browser.evaluate(length)
    page.browser.key("+")
    nearest = page.browser.evaluate(length)
    page.browser.key("0")
    back = page.browser.evaluate(length)
    return "" if whole > nearer > nearest and back == whole else f"lengths: {whole}, wheel {nearer}, + {nearest}, 0 {back}"


def check(tally, path, threads, output):
    """`threads`: (rank, thread) of all that wrote records. `output`: the program's."""
    program = find()
    if program is None:
        tally.skips("the timeline in a browser", "there is no chromium-headless-shell and no chromium")
        return
    with Browser(program, WIDTH, HEIGHT) as browser:
        page = Page(browser, path)
        tally.check("timeline: each thread has a lane", lanes_are_there(page, threads))
        tally.check("timeline: waits, releases and what was held are in the picture", slices_are_in_the_picture(page))
        tally.check("timeline: arrows are in the picture", arrows_are_in_the_picture(page))
        tally.check("timeline: the arrows are the messages of the program's log", arrows_are_those_of_the_log(page, output))
        tally.check("timeline: pointing at a wait tells about it", pointing_tells(page))
        tally.check("timeline: search finds", search_finds(page))
        tally.check("timeline: keys and wheel zoom", keys_and_wheel_zoom(page))
        tally.check("timeline: the browser has no complaint", "\n".join(browser.errors))


def check_long(tally, path, threads):
    """Of a trace whose page cannot show everything: how long it takes to open, and that a part of it shows what it should."""
    with Browser(find(), WIDTH, HEIGHT) as browser:
        page = Page(browser, path)
        told = f"{path.stat().st_size / 1e6:.1f} MB, {page.seconds:.1f} s to open"
        tally.check(f"long trace: each thread has a lane ({told})", lanes_are_told(page, threads))
        # As much of the middle as has some messages, few enough to be told apart.
        browser.evaluate("for (let length = timeline.page.to_ns; timeline.record().arrowsInView > 12; length /= 2) "
                         "timeline.show(timeline.page.to_ns / 2 - length / 2, timeline.page.to_ns / 2 + length / 2)")
        page.take()
        tally.check("long trace: waits and releases are in the picture", slices_are_in_the_picture(page, ("release",)))
        tally.check(f"long trace: {len(page.drawn['arrows'])} arrows in its middle are in the picture",
                    arrows_are_in_the_picture(page) or ("" if page.drawn["arrows"] else "there is none"))
        tally.check("long trace: the browser has no complaint", "\n".join(browser.errors))


def save_picture(path, target):
    """For docs/command.md: the page with something clicked at."""
    with Browser(find(), 1000, 400) as browser:
        page = Page(browser, path)
        piece = min((piece for piece in page.drawn["slices"] if piece["kind"] == "fault" and piece["width"] >= WIDE), key=lambda piece: piece["x"])
        page.click(piece["x"] + piece["width"] / 2, piece["y"] + 2)
        target.write_bytes(browser.screenshot())
