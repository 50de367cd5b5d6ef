"""Bars in groups, as SVG: a panel below the other, a group for each thing that was measured, a bar for each side."""

import dataclasses

PANEL_HEIGHT = 180
LABEL_HEIGHT = 13
LEFT = 44
HEAD = 40
GAP = 24  # between groups
LEGEND_WIDTH = 160


@dataclasses.dataclass(frozen=True)
class Group:
    values: tuple  # one for each bar; None: nothing to show
    labels: tuple  # lines below


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    groups: tuple


@dataclasses.dataclass(frozen=True)
class Style:
    bars: tuple  # title and colour of each bar
    step: float = 0.5  # between the lines of the scale
    bar_width: int = 16
    digits: int = 2  # of the number over a bar
    line: float = 1.0  # a value whose line is drawn dark
    legend_columns: int = 3

    @property
    def group_width(self):
        return self.bar_width * len(self.bars) + GAP

    @property
    def legend_height(self):
        return HEAD + (len(self.bars) - 1) // self.legend_columns * 18


def plot(panels, style):
    labels = 12 + LABEL_HEIGHT * (1 + max(len(group.labels) for panel in panels for group in panel.groups))
    width = LEFT + max(max(len(panel.groups) for panel in panels) * style.group_width, style.legend_columns * LEGEND_WIDTH) + 16
    height = style.legend_height + len(panels) * (PANEL_HEIGHT + labels)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>', *_legend(style)]
    for number, panel in enumerate(panels):
        parts += _panel(panel, style, style.legend_height + number * (PANEL_HEIGHT + labels), width)
    return "\n".join([*parts, "</svg>", ""])


def _legend(style):
    for index, (title, colour) in enumerate(style.bars):
        row, column = divmod(index, style.legend_columns)
        x, y = LEFT + column * LEGEND_WIDTH, 10 + 18 * row
        yield f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="{y + 10}">{title}</text>'


def _panel(panel, style, top, width):
    highest = max((value for group in panel.groups for value in group.values if value is not None), default=style.step)
    scale = (PANEL_HEIGHT - 24) / (style.step * (highest // style.step + 1))
    base = top + PANEL_HEIGHT
    yield f'<text x="{LEFT}" y="{top + 12}" font-weight="bold">{panel.title}</text>'
    value = 0.0
    while value <= highest:
        y = base - value * scale
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{width - 8}" y2="{y:.1f}" stroke="{"#444" if value == style.line else "#ddd"}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.1f}</text>'
        value += style.step
    for index, group in enumerate(panel.groups):
        yield from _group(group, style, LEFT + 12 + index * style.group_width, base, scale)


def _group(group, style, left, base, scale):
    for index, (value, (_, colour)) in enumerate(zip(group.values, style.bars)):
        if value is None:
            continue
        height = value * scale
        x = left + index * style.bar_width
        yield f'<rect x="{x}" y="{base - height:.1f}" width="{style.bar_width - 2}" height="{height:.1f}" fill="{colour}"/>'
        yield (f'<text x="{x + style.bar_width / 2 - 1}" y="{base - height - 3:.1f}" text-anchor="middle" font-size="8">'
               f'{value:.{style.digits}f}</text>')
    middle = left + style.bar_width * len(style.bars) / 2
    for line, text in enumerate(group.labels):
        yield f'<text x="{middle}" y="{base + 14 + line * LABEL_HEIGHT}" text-anchor="middle">{text}</text>'
