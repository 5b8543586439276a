"""Plots as SVG: panels side by side, both axes logarithmic, a line for each library."""

import math
from html import escape

WIDTH, HEIGHT, GAP, TOP, BOTTOM = 300, 250, 62, 62, 46
COLOURS = {"motet": "#c1121f", "mpich": "#1d6fb8", "ompi": "#e07b00", "impi": "#2a8a4a",
           "limit": "#666666"}
TITLES = {"motet": "Motet", "mpich": "MPICH", "ompi": "Open MPI", "impi": "Intel MPI",
          "limit": "limit of the machine"}


class Axis:
    """From values to places, both ends a little outside of what is shown."""

    def __init__(self, values, begin, end):
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max(0.05 * (high - low), 0.05)
        self.low, self.high = low - margin, high + margin
        self.begin, self.end = begin, end

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def decades(self):
        """Powers of ten and, where there are few of them, what is between."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1, 2, 5) if self.high - self.low < 2.2 else (1,)
        values = [step * 10.0 ** power for power in powers for step in steps]
        return [value for value in values if self.low <= math.log10(value) <= self.high]


def short_size(size):
    """Bytes in few letters."""
    for unit, name in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit:
            return f"{size // unit}{name}"
    return str(size)


def text(x, y, words, anchor="middle", size=12, more=""):
    """Words at a place."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {more}>'
            f"{escape(words)}</text>")


def line(name, places):
    """A line with a point for each figure; the limit is dashed and has none."""
    dashes = ' stroke-dasharray="5 4"' if name == "limit" else ""
    width = 2.6 if name == "motet" else 1.6
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    made = [f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" '
            f'stroke-width="{width}"{dashes}/>']
    if name != "limit":
        made += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>'
                 for x, y in places]
    return made


def panel(left, title, series, x_axis, y_axis, ticks, x_words):
    """One of the panels: grid, ticks, lines."""
    right, bottom = left + WIDTH, TOP + HEIGHT
    made = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
            'stroke="#999"/>', text(left + WIDTH / 2, TOP - 10, title, size=13)]
    for value in y_axis.decades():
        y = y_axis(value)
        made.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        made.append(text(left - 6, y + 4, f"{value:g}", "end", 11))
    for value, words in ticks:
        x = x_axis(value)
        made.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#f0f0f0"/>')
        made.append(text(x, bottom + 16, words, size=11))
    made.append(text(left + WIDTH / 2, bottom + 36, x_words, size=12))
    for name, values in series.items():
        places = [(x_axis(x), y_axis(y)) for x, y in sorted(values.items())]
        made += line(name, places) if places else []
    return made


def legend(names):
    """The libraries with their colours, in a row."""
    made, x = [], GAP
    for name in names:
        dashes = ' stroke-dasharray="5 4"' if name == "limit" else ""
        made.append(f'<line x1="{x}" y1="22" x2="{x + 24}" y2="22" stroke="{COLOURS[name]}" '
                    f'stroke-width="3"{dashes}/>')
        made.append(text(x + 30, 26, TITLES[name], "start", 12))
        x += 50 + 8 * len(TITLES[name])
    return made


def figure(panels, x_words, tick_words):
    """A picture of panels (title, {library: {x: µs}}), which share their axes; None if empty."""
    xs = [x for _, series in panels for values in series.values() for x in values]
    ys = [y for _, series in panels for values in series.values() for y in values.values()]
    if not xs:
        return None
    ticks = [(x, tick_words(x)) for x in sorted(set(xs))]
    y_axis = Axis(ys, TOP + HEIGHT, TOP)
    names = [name for name in COLOURS if any(series.get(name) for _, series in panels)]
    body = legend(names)
    for number, (title, series) in enumerate(panels):
        left = GAP + number * (WIDTH + GAP)
        x_axis = Axis(xs, left, left + WIDTH)
        body += panel(left, title, series, x_axis, y_axis, ticks, x_words)
    body.append(text(16, TOP + HEIGHT / 2, "µs", size=12))
    width, height = GAP + len(panels) * (WIDTH + GAP) - GAP + 20, TOP + HEIGHT + BOTTOM
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="white"/>', *body, "</svg>", ""])
