#!/usr/bin/env python3
"""Draws the JSON of perf_tool as an SVG picture.

    perf_tool transport --json transport.json
    tools/perf_tool/plot.py transport.json docs/transport.svg

A matrix (transport, fanout, latency) becomes the ratios to libzmq, cell by cell: bars to the right of 1 are where
Telegate is ahead. Any other report becomes one chart per section, with the medians and a line from the least to the
greatest run. Axes are logarithmic. Needs python3-matplotlib."""

import argparse
import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "telegate"  # the same JSON always makes the same file
import matplotlib.pyplot as plt  # noqa: E402

OURS, AGAINST_BEST, LINE = "#2a6fbb", "#9cc3ea", "#555555"
ROW_INCHES, HEAD_INCHES, WIDTH_INCHES = 0.24, 1.1, 9.0


def facts_line(result):
    facts = {**result["surroundings"], **result["parameters"]}
    wanted = ("processor", "system", "compiler", "libzmq", "runs")
    return ", ".join(f"{name}: {facts[name]}" for name in wanted if name in facts)


def short(value):
    """"31.9 k": three digits."""
    for unit, suffix in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= unit:
            return f"{value / (1e3 if suffix == ' k' else unit):.3g}{suffix}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def positive(spread):
    """A logarithmic axis shows nothing else."""
    return spread is not None and min(spread["min"], spread["median"]) > 0


def bars(axes, names, spreads, offset, height, color, label=None):
    places = [place + offset for place in range(len(names))]
    medians = [spread["median"] if positive(spread) else float("nan") for spread in spreads]
    axes.barh(places, medians, height=height,
              color=color, label=label)
    for place, spread in zip(places, spreads):
        if positive(spread):
            axes.plot([spread["min"], spread["max"]], [place, place], color=LINE, linewidth=1)
            axes.annotate(" " + short(spread["median"]), (spread["max"], place), va="center", fontsize=7)


def finish(axes, names, title):
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_title(title, fontsize=9, loc="left")
    axes.grid(axis="x", which="major", linewidth=0.4)
    axes.margins(x=0.15)


def draw_matrix(figure, result):
    cells = [cell for cell in result["cells"] if positive(cell["over_libzmq"])]
    if not cells:
        raise SystemExit("nothing to draw: no cell compares Telegate with libzmq")
    axes = figure.add_subplot()
    names = [f"{cell['group']}, {cell['name']}" for cell in cells]
    bars(axes, names, [cell["over_libzmq"] for cell in cells], -0.2, 0.38, OURS, "against libzmq as reported")
    bars(axes, names, [cell["over_best_libzmq"] for cell in cells], 0.2, 0.38, AGAINST_BEST, "against its best variant")
    axes.axvline(1, color=LINE, linewidth=1)
    axes.legend(fontsize=8)
    finish(axes, names, "times better than libzmq (right of 1: Telegate is ahead)")
    return axes


def sections_of(result):
    whole = [{"title": result["command"], "unit": result["unit"], "rows": result["rows"]}] if result["rows"] else []
    return [section for section in whole + result.get("sections", []) if any(positive(row) for row in section["rows"])]


def draw_report(figure, result):
    sections = sections_of(result)
    if not sections:
        raise SystemExit("nothing to draw: no row has a median above 0")
    grid = figure.add_gridspec(len(sections), 1, height_ratios=[len(section["rows"]) + 2 for section in sections])
    for place, section in enumerate(sections):
        axes = figure.add_subplot(grid[place])
        names = [row["name"] for row in section["rows"]]
        bars(axes, names, section["rows"], 0, 0.6, OURS)
        finish(axes, names, f"{section['title']}, {section['unit']}")


def rows_in(result):
    if "cells" in result:
        return 2 * len(result["cells"])
    return sum(len(section["rows"]) + 3 for section in sections_of(result))


def draw(result):
    figure = plt.figure(figsize=(WIDTH_INCHES, HEAD_INCHES + ROW_INCHES * max(rows_in(result), 4)), layout="constrained")
    figure.suptitle(f"perf_tool {result['command']}\n{facts_line(result)}", fontsize=9)
    (draw_matrix if "cells" in result else draw_report)(figure, result)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", help="what perf_tool --json FILE has written; - is stdin")
    parser.add_argument("picture", help="the SVG file to write")
    options = parser.parse_args()
    with sys.stdin if options.json == "-" else open(options.json, encoding="utf-8") as file:
        result = json.load(file)
    draw(result).savefig(options.picture, format="svg", metadata={"Date": None, "Title": f"perf_tool {result['command']}"})


if __name__ == "__main__":
    main()
