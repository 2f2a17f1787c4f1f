#!/usr/bin/env python3
"""Draws the JSON of perf_tool as an SVG picture.

    perf_tool transport --json transport.json
    tools/perf_tool/plot.py transport.json docs/transport.svg

Comparisons with libzmq (transport, fanout, latency) become a chart of the ratios: right of 1, Telegate is better. Other
reports become one chart per table, with the medians and the range of the runs. Axes are logarithmic. Needs
python3-matplotlib."""

import argparse
import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "telegate"  # the same JSON produces the same file
import matplotlib.pyplot as plt  # noqa: E402

OURS, LINE = "#2a6fbb", "#555555"
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


def draw_table(axes, table):
    rows = table["rows"]
    medians = [row["median"] if positive(row) else float("nan") for row in rows]
    axes.barh(range(len(rows)), medians, height=0.6, color=OURS)
    for place, row in enumerate(rows):
        if positive(row):
            axes.plot([row["min"], row["max"]], [place, place], color=LINE, linewidth=1)
            axes.annotate(" " + short(row["median"]), (row["max"], place), va="center", fontsize=7)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_title(table["title"], fontsize=9, loc="left")
    axes.grid(axis="x", which="major", linewidth=0.4)
    axes.margins(x=0.15)
    if "ratios" in table["title"]:
        axes.axvline(1, color=LINE, linewidth=1)


def draw(result):
    tables = [table for table in result["tables"] if any(positive(row) for row in table["rows"])]
    tables = [table for table in tables if "Telegate is better" in table["title"]] or tables
    if not tables:
        raise SystemExit("nothing to draw: no median above 0")
    heights = [len(table["rows"]) + 2 for table in tables]
    figure = plt.figure(figsize=(WIDTH_INCHES, HEAD_INCHES + ROW_INCHES * max(sum(heights), 4)), layout="constrained")
    figure.suptitle(f"perf_tool {result['command']}\n{facts_line(result)}", fontsize=9)
    grid = figure.add_gridspec(len(tables), 1, height_ratios=heights)
    for place, table in enumerate(tables):
        draw_table(figure.add_subplot(grid[place]), table)
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
