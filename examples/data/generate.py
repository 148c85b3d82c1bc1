#!/usr/bin/env python3
"""Writes the generated data sets of this folder. Plain Python, no packages; the same bytes every run."""

import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent


def write(name, header, rows):
    def cell(x):
        return format(x, ".6g") if isinstance(x, float) else str(x)

    lines = [",".join(header)] + [",".join(cell(x) for x in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n")


def sinc(x):
    return math.sin(x) / x if x else 1.0


def make_sinc():
    """As in Tipping (2001): sin(x)/x at 100 equally spaced inputs, noise of deviation 0.1."""
    r = random.Random(1)
    xs = [-10 + 20 * i / 99 for i in range(100)]
    write("sinc.csv", ["x", "t"], [(x, sinc(x) + r.gauss(0, 0.1)) for x in xs])


def make_classes():
    """Two classes in the plane, each a mixture of two Gaussians that overlap the other class."""
    r = random.Random(2)
    centres = {0: [(-0.7, 0.3), (0.3, 0.3)], 1: [(-0.3, 0.7), (0.4, 0.7)]}
    rows = []
    for i in range(120):
        label = i % 2
        a, b = r.choice(centres[label])
        rows.append((r.gauss(a, 0.17), r.gauss(b, 0.17), label))
    write("classes.csv", ["x1", "x2", "t"], rows)


def make_ratings():
    """Four ordered levels cut from a smooth function of two inputs."""
    r = random.Random(3)
    rows = []
    for _ in range(150):
        a, b = r.uniform(-2, 2), r.uniform(-2, 2)
        f = 2 * math.sin(1.5 * a) + b + r.gauss(0, 0.5)
        rows.append((a, b, 1 + sum(f > cut for cut in (-1.5, 0.0, 1.5))))
    write("ratings.csv", ["x1", "x2", "y"], rows)


def make_friedman():
    """Friedman (1991), #1: five inputs matter, five do not; noise of deviation 1."""
    r = random.Random(4)
    rows = []
    for _ in range(120):
        x = [r.random() for _ in range(10)]
        f = 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
        rows.append((*x, f + r.gauss(0, 1)))
    write("friedman.csv", [f"x{j + 1}" for j in range(10)] + ["t"], rows)


def make_shapes():
    """Three classes in four dimensions: blobs around three corners."""
    r = random.Random(5)
    corners = {"circle": (1, 0, 0, 0), "square": (0, 1, 1, 0), "star": (0, 0, 1, 1)}
    rows = []
    for i in range(90):
        name = list(corners)[i % 3]
        rows.append((*[r.gauss(c, 0.35) for c in corners[name]], name))
    write("shapes.csv", ["x1", "x2", "x3", "x4", "c"], rows)


def make_schools():
    """Pupils in eight schools: three measurements (the third does nothing), school effects, outliers."""
    r = random.Random(6)
    names = ["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Oak"]
    effects = {name: r.gauss(0, 3) for name in names}
    rows = []
    for i in range(160):
        name = names[i % 8]
        hours, sleep, shoe = r.uniform(0, 20), r.gauss(7.5, 1), r.gauss(39, 3)
        noise = r.gauss(0, 2) if r.random() > 0.05 else r.gauss(0, 15)
        rows.append((hours, sleep, shoe, name, 50 + 0.8 * hours + 1.5 * sleep + effects[name] + noise))
    write("schools.csv", ["hours", "sleep", "shoe", "school", "score"], rows)


def make_channels():
    """Three outputs that depend on the same two of eight inputs."""
    r = random.Random(7)
    rows = []
    for _ in range(80):
        x = [r.gauss(0, 1) for _ in range(8)]
        f = [2 * x[1] - x[5], -x[1] + 0.5 * x[5], 1.5 * x[1] + x[5]]
        rows.append((*x, *[v + r.gauss(0, 0.3) for v in f]))
    write("channels.csv", [f"x{j + 1}" for j in range(8)] + [f"y{k + 1}" for k in range(3)], rows)


def make_twins():
    """Two instruments, one ten times as precise, that measure the same linear function."""
    r = random.Random(8)
    rows = []
    for _ in range(60):
        x = [r.gauss(0, 1) for _ in range(6)]
        f = 1.2 * x[0] - 0.7 * x[3]
        rows.append((*x, f + r.gauss(0, 0.1), f + r.gauss(0, 1)))
    write("twins.csv", [f"x{j + 1}" for j in range(6)] + ["fine", "coarse"], rows)


def make_groups():
    """Twelve inputs in four named groups; only two groups matter. JSON: the names belong to columns."""
    r = random.Random(9)
    groups = ["soil", "soil", "soil", "rain", "rain", "rain", "wind", "wind", "wind", "sun", "sun", "sun"]
    w = [0.9, -1.1, 0.5, 0, 0, 0, 0, 0, 0, 0.7, 0.8, -0.6]
    x = [[round(r.gauss(0, 1), 4) for _ in groups] for _ in range(70)]
    y = [round(3 + sum(a * b for a, b in zip(row, w)) + r.gauss(0, 0.4), 4) for row in x]
    rows = ",\n    ".join(json.dumps(row) for row in x)
    text = f'{{\n  "x": [\n    {rows}\n  ],\n  "group": {json.dumps(groups)},\n  "y": {json.dumps(y)}\n}}\n'
    (HERE / "groups.json").write_text(text)


def make_stars():
    """Brightness over time: every night with its own error bar, and a trend that is known."""
    r = random.Random(10)
    rows = []
    for i in range(90):
        time = i / 9
        error = r.choice([0.05, 0.1, 0.4])
        trend = 0.3 * time
        rows.append((time, trend + 0.8 * math.sin(2 * time) + r.gauss(0, error), error, trend))
    write("stars.csv", ["time", "brightness", "error", "trend"], rows)


def make_counts():
    """Events in a number of hours: the rate depends on the first of four inputs."""
    r = random.Random(12)
    rows = []
    for _ in range(100):
        x = [r.gauss(0, 1) for _ in range(4)]
        hours = r.randint(1, 8)
        # events within the hours: exponential waiting times
        rate, time, events = math.exp(0.3 + 0.6 * x[0]), 0.0, -1
        while time < hours:
            time += r.expovariate(rate)
            events += 1
        rows.append((*x, hours, events))
    write("counts.csv", ["x1", "x2", "x3", "x4", "hours", "events"], rows)


def make_heights():
    """One column of numbers."""
    r = random.Random(11)
    write("heights.csv", ["height"], [(round(r.gauss(172, 8), 1),) for _ in range(50)])


for make in (make_sinc, make_classes, make_ratings, make_friedman, make_shapes, make_schools, make_channels,
             make_twins, make_groups, make_stars, make_counts, make_heights):
    make()
