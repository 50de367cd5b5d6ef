"""Bars of speed-up over the host alone, a group for each point and a panel for each application, as in figure 4 of the early-release paper."""

from sluice_dev.papers import bars
from sluice_dev.papers.er_points import BY_HAND, RELEASE_OFF, SLUICE

SHOWN = (RELEASE_OFF, SLUICE, BY_HAND)
STYLE = bars.Style(tuple(zip((side.title for side in SHOWN), ("#b8b8b8", "#2b6cb0", "#d69e2e"))))


def plot(points):
    return bars.plot([_panel(name, [one for one in points if one.point.application == name])
                      for name in dict.fromkeys(one.point.application for one in points)], STYLE)


def _panel(name, points):
    return bars.Panel(name, tuple(bars.Group(tuple(one.speedup(side) for side in SHOWN), _labels(one)) for one in points))


def _labels(one):
    return " × ".join(one.point.arguments[1::2]), one.point.message, f"{one.ratio:.2g} : 1"
