"""Bars of speed-up over the host alone, a group for each point and a panel for each application, as in figure 4 of the early-release paper."""

from er_points import BY_HAND, RELEASE_OFF, SLUICE

BARS = ((RELEASE_OFF, "#b8b8b8"), (SLUICE, "#2b6cb0"), (BY_HAND, "#d69e2e"))
BAR_WIDTH = 16
GROUP_WIDTH = BAR_WIDTH * len(BARS) + 24
PANEL_HEIGHT = 180
LABELS_HEIGHT = 64
LEFT = 44
HEAD = 40
STEP = 0.5  # between the lines of the scale


def plot(points):
    applications = list(dict.fromkeys(one.point.application for one in points))
    width = LEFT + max(sum(one.point.application == name for one in points) for name in applications) * GROUP_WIDTH + 16
    height = HEAD + len(applications) * (PANEL_HEIGHT + LABELS_HEIGHT)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>', *_legend()]
    for number, name in enumerate(applications):
        top = HEAD + number * (PANEL_HEIGHT + LABELS_HEIGHT)
        parts += _panel(name, [one for one in points if one.point.application == name], top, width)
    return "\n".join([*parts, "</svg>", ""])


def _legend():
    for index, (side, colour) in enumerate(BARS):
        x = LEFT + index * 160
        yield f'<rect x="{x}" y="10" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="20">{side.title}</text>'


def _panel(name, points, top, width):
    highest = max(one.speedup(side) for one in points for side, _ in BARS)
    scale = (PANEL_HEIGHT - 24) / (STEP * (highest // STEP + 1))
    base = top + PANEL_HEIGHT
    yield f'<text x="{LEFT}" y="{top + 12}" font-weight="bold">{name}</text>'
    value = 0.0
    while value <= highest:
        y = base - value * scale
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{width - 8}" y2="{y:.1f}" stroke="{"#444" if value == 1 else "#ddd"}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.1f}</text>'
        value += STEP
    for index, one in enumerate(points):
        yield from _group(one, LEFT + 12 + index * GROUP_WIDTH, base, scale)


def _group(one, left, base, scale):
    for index, (side, colour) in enumerate(BARS):
        height = one.speedup(side) * scale
        x = left + index * BAR_WIDTH
        yield f'<rect x="{x}" y="{base - height:.1f}" width="{BAR_WIDTH - 2}" height="{height:.1f}" fill="{colour}"/>'
        yield f'<text x="{x + BAR_WIDTH / 2 - 1}" y="{base - height - 3:.1f}" text-anchor="middle" font-size="8">{one.speedup(side):.2f}</text>'
    middle = left + BAR_WIDTH * len(BARS) / 2
    words = one.point.arguments
    for line, text in enumerate((" × ".join(words[1::2]), one.point.message, f"{one.ratio:.2g} : 1")):
        yield f'<text x="{middle}" y="{base + 14 + line * 13}" text-anchor="middle">{text}</text>'
