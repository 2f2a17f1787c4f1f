#!/usr/bin/env python3
"""Draws the JSON of perf_tool as an SVG picture.

    perf_tool transport --json transport.json
    tools/perf_tool/plot.py transport.json docs/transport.svg

A matrix (transport, fanout, latency) becomes a chart of the ratios to libzmq per cell: right of 1, Telegate is better. Other
reports become one chart per section, with the medians and the range of the runs. Axes are logarithmic. Needs
python3-matplotlib."""

import argparse
import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "telegate"  # the same JSON produces the same file
import matplotlib.pyplot as plt  # noqa: E402

OURS, AGAINST_BEST, LINE = "#2a6fbb", "#9cc3ea", "#555555"
ROW_INCHES, HEAD_INCHES, WIDTH_INCHES = 0.24, 1.1, 9.0


def facts_line(result):
    facts = {**result["surroundings"], **result["parameters"]}
    wanted = ("processor", "system", "compiler", "libzmq", "runs")
    return ", ".join(f"{name}: {facts[name]}" for name in wanted if name in facts)


def short(value):
    """Returns three digits with a suffix, such as "31.9 k"."""
    for unit, divisor, suffix in ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if value >= unit:
            return f"{value / divisor:.3g}{suffix}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def positive(spread):
    """Returns whether a logarithmic axis can show it."""
    return spread is not None and min(spread["min"], spread["median"]) > 0


def bars(axes, spreads, offset, height, color, label=None):
    places = [place + offset for place in range(len(spreads))]
    medians = [spread["median"] if positive(spread) else float("nan") for spread in spreads]
    axes.barh(places, medians, height=height, color=color, label=label)
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


def draw_matrix(figure, cells):
    axes = figure.add_subplot()
    bars(axes, [cell["over_libzmq"] for cell in cells], -0.2, 0.38, OURS, "compared with libzmq as reported")
    bars(axes, [cell["over_best_libzmq"] for cell in cells], 0.2, 0.38, AGAINST_BEST, "compared with its best variant")
    axes.axvline(1, color=LINE, linewidth=1)
    axes.legend(fontsize=8)
    finish(axes, [f"{cell['group']}, {cell['name']}" for cell in cells], "ratio to libzmq (right of 1: Telegate is better)")


def draw_sections(figure, sections):
    grid = figure.add_gridspec(len(sections), 1, height_ratios=[len(section["rows"]) + 2 for section in sections])
    for place, section in enumerate(sections):
        axes = figure.add_subplot(grid[place])
        bars(axes, section["rows"], 0, 0.6, OURS)
        finish(axes, [row["name"] for row in section["rows"]], f"{section['title']}, {section['unit']}")


def draw(result):
    if "cells" in result:
        parts = [cell for cell in result["cells"] if positive(cell["over_libzmq"])]
        rows, draw_parts = 2 * len(parts), draw_matrix
    else:
        whole = {"title": result["command"], "unit": result["unit"], "rows": result["rows"]}
        parts = [part for part in [whole, *result.get("sections", [])] if any(positive(row) for row in part["rows"])]
        rows, draw_parts = sum(len(part["rows"]) + 3 for part in parts), draw_sections
    if not parts:
        raise SystemExit("nothing to draw: no comparison with libzmq, or no median above 0")
    figure = plt.figure(figsize=(WIDTH_INCHES, HEAD_INCHES + ROW_INCHES * max(rows, 4)), layout="constrained")
    figure.suptitle(f"perf_tool {result['command']}\n{facts_line(result)}", fontsize=9)
    draw_parts(figure, parts)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", help="output of perf_tool --json; - is stdin")
    parser.add_argument("picture", help="SVG file to write")
    options = parser.parse_args()
    with sys.stdin if options.json == "-" else open(options.json, encoding="utf-8") as file:
        result = json.load(file)
    draw(result).savefig(options.picture, format="svg", metadata={"Date": None, "Title": f"perf_tool {result['command']}"})


if __name__ == "__main__":
    main()
