/** The view "Channels": a searchable table with live values, and a chart of the selected channels. */
import { Refusal, SampleStream, getJson, prefixesOf } from "./api.js";
import { Chart, Series } from "./chart.js";
import { count, csv, download, duration, extremeText, h, notify, plural, rounded, setAttribute, setText, showTag, sync, timeText, unitText, valueText } from "./dom.js";
import { state, takeSamples } from "./state.js";

const selectedMax = 8;
const streamedMax = 64;
const historyMax = 10_000;
const rowHeight = 36;
const chartMs = 450;  // between two pictures of a chart that follows the newest samples
const ranges = [[60, "Last minute"], [300, "Last 5 minutes"], [900, "Last 15 minutes"], [3600, "Last hour"],
  [21600, "Last 6 hours"], [86400, "Last 24 hours"], [604800, "Last 7 days"], [2592000, "Last 30 days"]];
const shortestMs = 20_000;
const pendingMax = 5000;  // samples of one channel while it is loaded
const legendTitles = ["Channel", "Value", "Lowest", "Highest", "Mean", "Missing"];
const rawSpanMax = 900;  // seconds; longer ranges are aggregated
const intervals = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];
const intervalText = (seconds) => seconds % 3600 === 0 ? `${seconds / 3600}h` : seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
const qualityKinds = { good: "good", uncertain: "warn", stale: "warn", bad: "bad" };
/** Returns the range of "today" or "yesterday", in local time. */
const daySpan = (day) => {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return day === "today" ? [midnight, new Date(midnight + 36 * 3_600_000).setHours(0, 0, 0, 0)] : [new Date(midnight - 1).setHours(0, 0, 0, 0), midnight];
};
const localInput = (ms) => new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

export class ChannelsView {
  constructor(navigate) {
    this.navigate = navigate;
    this.text = "";
    this.selected = [];
    this.range = 300;      // seconds up to now
    this.span = null;      // [from, to] in ms; null: follows the newest samples
    this.series = new Map();
    this.stream = new SampleStream({
      onSamples: (samples) => this.onSamples(samples),
      onGap: (gap) => { if (gap.missed) notify("gap", "bad", `${plural(gap.missed, "sample")} of all channels missing in this stream: ${gap.reason}.`); },
      onState: (problem) => this.onStream(problem),
    });
  }

  /** Returns the view as parameters of the address. */
  query() {
    const query = new URLSearchParams();
    if (this.text) query.set("q", this.text);
    for (const topic of this.selected) query.append("c", topic);
    if (this.range !== 300) query.set("range", this.range);
    if (this.span) query.set("from", new Date(this.span[0]).toISOString()), query.set("to", new Date(this.span[1]).toISOString());
    return query;
  }

  enter(root, query) {
    this.text = query.get("q") ?? "";
    this.selected = [...new Set(query.getAll("c"))].slice(0, selectedMax);
    this.range = Number(query.get("range")) || 300;
    const from = Date.parse(query.get("from") ?? "");
    const to = Date.parse(query.get("to") ?? "");
    this.span = from < to ? [from, to] : null;
    this.build(root);
    this.isOpen = true;
    this.drawnAt = -chartMs;
    this.filtered = null;
    this.select();
    this.update();
  }

  leave() {
    this.isOpen = false;
    this.stream.close();
    this.stream.forget();
    this.series.clear();
    this.chart?.close();
    clearTimeout(this.loading);
    clearTimeout(this.followTimer);
  }

  /** A hidden page receives nothing. What it has missed is loaded when it is visible again, so nothing is missing. */
  pause() {
    this.stream.close();
    this.stream.forget();
    for (const series of this.series.values()) series.joined = false;
  }

  resume() {
    this.update();
    if (this.selected.length) this.load();
  }

  build(root) {
    this.chart = new Chart({ onView: (from, to) => this.onView(from, to), onHover: () => this.showLegend() });
    this.search = h("input", { type: "search", id: "search", value: this.text, placeholder: "such as temp or boiler/", autocomplete: "off",
      spellcheck: false, oninput: () => { this.text = this.search.value.trim(); this.filtered = null; this.scroller.scrollTop = 0; this.address(); this.update(); } });
    this.counted = h("span", { class: "muted", role: "status" });
    this.rangeInput = h("select", { id: "range", onchange: () => this.chooseRange() });
    this.fromInput = h("input", { type: "datetime-local", id: "from", onchange: () => this.chooseSpan() });
    this.toInput = h("input", { type: "datetime-local", id: "to", onchange: () => this.chooseSpan() });
    this.spanInputs = h("span", { class: "field span" }, h("label", { for: "from" }, "From"), this.fromInput, h("label", { for: "to" }, "to"), this.toInput);
    this.source = h("p", { class: "muted", role: "status", id: "chart-source" });
    this.legend = h("tbody");
    const button = (text, label, action) => h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    this.liveButton = h("button", { type: "button", onclick: () => this.onView(null, null) }, "Follow");
    this.chartPanel = h("section", { "aria-label": "Chart", class: "wide" },
      h("div", { class: "tools" }, h("h2", {}, "Chart"),
        h("span", { class: "field" }, h("label", { for: "range" }, "Range"), this.rangeInput), this.spanInputs,
        h("span", { class: "group" }, button("◀", "Earlier", () => this.chart.pan(-0.5)), button("▶", "Later", () => this.chart.pan(0.5)),
          button("+", "Zoom in", () => this.chart.zoom(0.5)), button("−", "Zoom out", () => this.chart.zoom(2))),
        this.liveButton,
        h("button", { type: "button", id: "chart-csv", title: "Saves the values that the chart shows", onclick: () => this.saveChart() }, "Save CSV"),
        h("button", { type: "button", onclick: () => this.choose([]) }, "Clear")),
      this.chart.element,
      h("p", { class: "muted keys" }, h("span", { class: "key gap" }), "samples missing", h("span", { class: "key bad" }), "bad, no value",
        h("span", { class: "key stale" }), "stale or uncertain. Drag to move, Ctrl and wheel to zoom, double-click to follow."),
      h("div", { class: "scroll" }, h("table", { "aria-label": "Selected channels" }, h("thead", {}, h("tr", {},
        [...legendTitles, ""].map((title, index) =>
          h("th", { scope: "col", class: index > 0 && index < 6 ? "number" : null }, title || h("span", { class: "hidden" }, "Remove"))))), this.legend)),
      this.source);
    this.rows = h("tbody");
    this.above = h("tbody", { "aria-hidden": "true" }, h("tr", {}, h("td", { colspan: 6 })));
    this.below = h("tbody", { "aria-hidden": "true" }, h("tr", {}, h("td", { colspan: 6 })));
    const head = ["", "Channel", "Value", "Quality", "Time", "Last minute"].map((title, index) =>
      h("th", { scope: "col", class: index === 2 ? "number" : null }, title || h("span", { class: "hidden" }, "In the chart")));
    this.table = h("table", { "aria-label": "Channels", class: "rows" }, h("thead", {}, h("tr", {}, head)), this.above, this.rows, this.below);
    this.scroller = h("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Table of channels", onscroll: () => this.scroll() }, this.table);
    this.live = h("span", { class: "muted" });
    root.append(this.chartPanel, h("section", { "aria-label": "Channels", class: "wide" },
      h("div", { class: "tools" }, h("h2", {}, "Channels"),
        h("span", { class: "field grow" }, h("label", { for: "search" }, "Search"), this.search),
        this.counted, this.live, h("button", { type: "button", id: "table-csv", title: "Saves the latest values of these channels", onclick: () => this.saveTable() }, "Save CSV")),
      this.scroller));
  }

  matching() {
    if (this.filtered?.topics !== state.topics) {
      const words = this.text.toLowerCase().split(/\s+/).filter(Boolean);
      const found = state.topics.filter((topic) => words.every((word) => topic.includes(word)));
      this.filtered = { topics: state.topics, found };
    }
    return this.filtered.found;
  }

  address() { this.navigate("channels", this.query()); }

  scroll() {
    this.showRows();
    clearTimeout(this.followTimer);
    this.followTimer = setTimeout(() => this.follow(), 300);
  }

  update() {
    const found = this.matching();
    setText(this.counted, found.length === state.topics.length ? plural(found.length, "channel") : `${count(found.length)} of ${plural(state.topics.length, "channel")}`);
    this.showRows();
    this.follow();
    if (performance.now() - this.drawnAt < chartMs) return;
    this.drawnAt = performance.now();
    this.showLegend();
    if (!this.span && this.selected.length) this.followNow();
  }

  visible() {
    const found = this.matching();
    const first = Math.max(Math.floor(this.scroller.scrollTop / rowHeight) - 2, 0);
    return [first, Math.min(first + Math.ceil((this.scroller.clientHeight || 400) / rowHeight) + 4, found.length)];
  }

  showRows() {
    const found = this.matching();
    const [first, last] = this.visible();
    const space = (body, rows) => { body.hidden = rows === 0; body.firstChild.style.height = `${rows * rowHeight}px`; };
    space(this.above, first);
    space(this.below, found.length - last);
    setAttribute(this.table, "aria-rowcount", found.length + 1);
    sync(this.rows, found.slice(first, last), (topic) => topic, (topic) => this.makeRow(topic), (row, topic) => this.showRow(row, topic));
    [...this.rows.children].forEach((row, index) => setAttribute(row, "aria-rowindex", first + index + 2));
  }

  makeRow(topic) {
    const box = h("input", { type: "checkbox", "aria-label": `Show ${topic} in the chart`, onchange: () => this.toggle(topic) });
    const name = h("button", { type: "button", class: "link", onclick: () => this.toggle(topic) }, topic);
    return h("tr", { "data-topic": topic }, h("td", {}, box), h("th", { scope: "row" }, name), h("td", { class: "number" }), h("td"), h("td", { class: "muted" }),
      h("td", {}, h("canvas", { class: "spark", width: 120, height: 24, "aria-hidden": "true" })));
  }

  showRow(row, topic) {
    const channel = state.channels.get(topic);
    const [box, , value, quality, time, spark] = row.children;
    const isSelected = this.selected.includes(topic);
    if (box.firstChild.checked !== isSelected) box.firstChild.checked = isSelected;
    const reason = channel.value === null ? this.reasonOf(topic) : "";
    setText(value, reason || `${valueText(channel.value)} ${channel.value === null ? "" : unitText(channel.unit)}`.trim());
    setAttribute(value, "title", reason || false);
    showTag(quality, qualityKinds[channel.quality] ?? "off", channel.quality);
    setText(time, timeText(channel.time));
    if (channel.spark && row.drawn !== state.statusAt) {
      row.drawn = state.statusAt;
      this.drawSpark(spark.firstChild, channel.spark);
    }
  }

  /** Returns why a channel has no value, if its device knows. */
  reasonOf(topic) {
    const device = state.status.sampler.devices.find((each) => topic.startsWith(`${each.name}/`));
    return device?.last_error_current ? device.last_error : "";
  }

  drawSpark(canvas, values) {
    const g = canvas.getContext("2d");
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--series0").trim();
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    g.clearRect(0, 0, 120, 24);
    g.strokeStyle = ink;
    g.lineWidth = 1.2;
    g.beginPath();
    let isOpen = false;
    values.forEach((value, index) => {
      if (Number.isNaN(value)) { isOpen = false; return; }
      const x = 119 - (values.length - 1 - index) * 2;
      const y = high === low ? 12 : 22 - (value - low) / (high - low) * 20;
      if (isOpen) g.lineTo(x, y); else g.moveTo(x, y);
      isOpen = true;
    });
    g.stroke();
  }

  toggle(topic) {
    if (this.selected.includes(topic)) this.choose(this.selected.filter((each) => each !== topic));
    else if (this.selected.length < selectedMax) this.choose([...this.selected, topic]);
    else {
      notify("many", "warn", `The chart shows at most ${selectedMax} channels. Remove one first.`);
      this.showRows();
    }
  }

  choose(topics) {
    this.selected = topics;
    this.address();
    this.select();
    this.update();
  }

  /** Makes the series match the selected channels. */
  select() {
    this.chartPanel.hidden = this.selected.length === 0;
    for (const topic of this.series.keys()) {
      if (!this.selected.includes(topic)) this.series.delete(topic);
    }
    for (const topic of this.selected) {
      if (!this.series.has(topic)) {
        const used = [...this.series.values()].map((series) => series.color);
        this.series.set(topic, new Series(topic, [...Array(selectedMax).keys()].find((color) => !used.includes(color))));
      }
    }
    this.chart.series = this.selected.map((topic) => this.series.get(topic));
    setAttribute(this.chart.canvas, "aria-label", `Chart of ${this.selected.join(", ")}. The table below has the values.`);
    if (this.selected.length) {
      this.showRange();
      this.load();
    }
    this.follow();
  }

  showRange() {
    const known = ranges.some(([seconds]) => seconds === this.range) ? ranges : [...ranges, [this.range, `Last ${this.range} s`]];
    this.rangeInput.replaceChildren(...known.map(([seconds, text]) => h("option", { value: seconds }, text)),
      h("option", { value: "today" }, "Today"), h("option", { value: "yesterday" }, "Yesterday"), h("option", { value: "custom" }, "From … to …"));
    this.rangeInput.value = this.rangeName();
    this.spanInputs.hidden = !this.span;
    this.liveButton.hidden = !this.span;
    const [from, to] = this.window();
    this.fromInput.value = localInput(from);
    this.toInput.value = localInput(to);
    this.chart.move(from, to, false);
  }

  /** While there are few samples yet, the range that follows the newest ones is shorter. */
  window() {
    if (this.span) return this.span;
    const now = Date.now();
    const first = Math.min(...[...this.series.values()].map((series) => series.time[0] ?? now));
    const isShort = this.range <= rawSpanMax && first < now;
    return [isShort ? Math.min(Math.max(now - this.range * 1000, first), now - shortestMs) : now - this.range * 1000, now];
  }

  /** Returns the choice that describes the visible range. */
  rangeName() {
    if (!this.span) return String(this.range);
    const [from, to] = daySpan("yesterday");
    if (this.span[0] === from && this.span[1] === to) return "yesterday";
    return this.span[0] === to && this.span[1] > Date.now() ? "today" : "custom";
  }

  chooseRange() {
    const choice = this.rangeInput.value;
    if (choice === "today" || choice === "yesterday") this.span = daySpan(choice);
    else if (choice === "custom") this.span = this.window();
    else [this.range, this.span] = [Number(choice), null];
    this.viewChanged();
  }

  chooseSpan() {
    const span = [Date.parse(this.fromInput.value), Date.parse(this.toInput.value)];
    if (!(span[0] < span[1])) return notify("span", "warn", "The start must be before the end.");
    this.span = span;
    this.viewChanged();
  }

  viewChanged() {
    this.address();
    this.showRange();
    this.load();
  }

  /** The user has moved the chart, or wants to follow the newest samples (null). */
  onView(from, to) {
    this.span = from === null ? null : [from, to];
    this.rangeInput.value = this.rangeName();
    clearTimeout(this.moving);
    this.moving = setTimeout(() => this.isOpen && this.viewChanged(), from === null ? 0 : 300);
  }

  followNow() {
    const [from, to] = this.window();
    this.chart.move(from, to, false);
    for (const series of this.series.values()) series.forget(to - this.range * 1000);
    const oldest = [...this.series.values()].find((series) => series.interval);
    if (oldest && performance.now() - this.loadedAt > Math.max(oldest.interval, 5000)) this.load();
  }

  /** Loads the visible range: samples for minutes, aggregates of the durable log for more. */
  async load() {
    this.loadedAt = performance.now();
    const run = this.run = {};
    const [from, to] = this.span ?? [Date.now() - this.range * 1000, Date.now()];
    setText(this.source, "Loading…");
    const problems = [];
    for (const series of [...this.series.values()]) {
      try {
        const isShort = (to - from) / 1000 <= rawSpanMax;
        if (isShort && await this.loadSamples(series, from, to)) continue;
        if (run !== this.run) return;
        if (!await this.loadIntervals(series, from, to) && !isShort) await this.loadSamples(series, from, to);
      } catch (error) {
        problems.push(`${series.topic}: ${error.message}`);
      }
      if (run !== this.run) return;
    }
    const first = Math.min(...[...this.series.values()].map((series) => series.time[0] ?? Infinity));
    const aggregated = [...this.series.values()].find((series) => series.interval);
    setText(this.source, problems.join("; ") || (aggregated
      ? `The line is the mean of each ${duration(aggregated.interval / 1000)}, the area the range of the values.`
      : first === Infinity ? "There are no samples in this range."
        : first > from + 2000 ? `The oldest available sample is of ${timeText(first)}.` : ""));
    this.chart.draw();
    this.showLegend();
  }

  /** Returns the response of a channel; null if the gateway refuses the parameters, as one without this kind of request. */
  async request(series, parameters) {
    const path = series.topic.split("/").map(encodeURIComponent).join("/");
    try {
      return await getJson(`/samples/${path}?${new URLSearchParams(parameters)}`);
    } catch (error) {
      if (error instanceof Refusal && [404, 422].includes(error.status)) return null;
      throw error;
    }
  }

  /** Loads single samples. Returns false if there are too many. */
  async loadSamples(series, from, to) {
    const isLoaded = series.joined && !series.interval && series.epoch === state.status.epoch && series.since <= from;
    if (isLoaded && !this.span) return true;  // the stream has added the rest
    const range = { since: new Date(from).toISOString(), until: new Date(to + 1000).toISOString() };
    const found = await this.request(series, { limit: historyMax, ...range }) ?? await this.request(series, { limit: historyMax });
    if (!found || found.more) return false;
    series.clear();
    series.since = from;
    series.interval = 0;
    series.unit = found.unit;
    for (const sample of found.samples) series.add(sample);
    series.joined = false;
    series.isLoaded = true;
    return true;
  }

  /** Adds the samples between the loaded ones and the first one of the stream, and then those of the stream. */
  async join(series) {
    series.isLoaded = false;
    const found = await this.request(series, { limit: historyMax, since_seq: series.seq.at(-1) ?? 0 }).catch(() => null);
    for (const sample of [...found?.samples ?? [], ...series.pending.splice(0)]) series.add(sample);
    series.joined = true;
  }

  /** Loads aggregates. Returns false if the gateway has none. */
  async loadIntervals(series, from, to) {
    const seconds = intervals.find((each) => (to - from) / 1000 / each <= 700) ?? intervals.at(-1);
    const found = await this.request(series, { aggregate: "min,max,mean,count", interval: intervalText(seconds),
      since: new Date(Math.floor(from / seconds / 1000) * seconds * 1000).toISOString(), until: new Date(to).toISOString() });
    if (!found?.time_ms) return false;
    const numbers = (values) => values.map((value) => value ?? NaN);
    series.clear();
    series.joined = series.isLoaded = false;
    series.unit = found.unit;
    series.interval = seconds * 1000;
    series.time = found.time_ms;
    [series.value, series.low, series.high] = [found.mean, found.min, found.max].map(numbers);
    [series.count, series.missing] = [found.count, found.missing];
    return true;
  }

  /** Streams the channels that are visible or in the chart. */
  follow() {
    if (!this.isOpen || document.hidden || !state.status) return;
    const [first, last] = this.visible();
    const isLive = !this.span || this.span[1] > Date.now();
    const topics = [...this.matching().slice(first, last).slice(0, streamedMax), ...(isLive ? this.selected : [])];
    this.stream.follow(prefixesOf(topics));
  }

  onSamples(samples) {
    takeSamples(samples);
    for (const sample of samples) {
      const series = this.series.get(`${sample.device}/${sample.channel}`);
      if (!series || series.interval) continue;
      if (series.joined) series.add(sample);
      else if (series.pending.push(sample) > pendingMax) series.pending.shift();
      if (series.isLoaded) this.join(series);
    }
    this.onChange();
  }

  onStream(problem) {
    setText(this.live, problem ? "no stream; values once a second" : "");
    setAttribute(this.live, "title", problem ?? false);
  }

  showLegend() {
    if (this.selected.length === 0) return;
    const [from, to] = this.window();
    sync(this.legend, this.chart.series, (series) => series.topic, (series) => h("tr", {},
      h("th", { scope: "row" }, h("span", { class: `swatch series${series.color}` }), series.topic),
      ...legendTitles.slice(1).map((title) => h("td", { class: "number", "data-title": title })),
      h("td", {}, h("button", { type: "button", class: "link", "aria-label": `Remove ${series.topic}`, onclick: () => this.toggle(series.topic) }, "Remove"))),
    (row, series) => {
      const figures = this.figures(series, from, to);
      const extreme = series.interval ? extremeText : valueText;
      [["value", extreme], ["low", extreme], ["high", extreme], ["mean", rounded]].forEach(([name, text], index) =>
        setText(row.children[index + 1], Number.isNaN(figures[name]) ? "–" : `${text(figures[name])} ${unitText(series.unit)}`.trim()));
      this.showMissing(row.children[5], series.topic, figures.missing, from, to);
    });
  }

  /** The number of missing samples is a link to their reasons. */
  showMissing(cell, topic, number, from, to) {
    setAttribute(cell, "class", number ? "number lost" : "number");
    if (!number) return setText(cell, "0");
    if (!cell.firstElementChild) cell.replaceChildren(h("a", { title: "Show the reasons" }));
    const query = { q: topic, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    setAttribute(cell.firstChild, "href", `#/ledger?${new URLSearchParams(query)}`);
    setText(cell.firstChild, count(number));
  }

  figures(series, from, to) {
    const first = series.at(from);
    const last = series.at(to + 1);
    const figures = { low: NaN, high: NaN, mean: NaN, value: NaN, missing: 0 };
    let sum = 0;
    let weight = 0;
    for (let at = first; at < last; ++at) {
      if (series.interval) figures.missing += series.missing[at];
      else if (at > first) figures.missing += series.missingBefore(at);
      if (Number.isNaN(series.value[at])) continue;
      const low = series.interval ? series.low[at] : series.value[at];
      const high = series.interval ? series.high[at] : series.value[at];
      if (!(figures.low <= low)) figures.low = low;
      if (!(figures.high >= high)) figures.high = high;
      const part = series.interval ? series.count[at] : 1;
      sum += Number(series.value[at]) * part;
      weight += part;
    }
    if (weight) figures.mean = sum / weight;
    const at = this.chart.hoverAt === null ? last - 1 : series.at(this.chart.hoverAt + 1) - 1;
    figures.value = series.value[at] ?? NaN;
    return figures;
  }

  saveChart() {
    const [from, to] = this.window();
    const rows = [["time", "topic", "value", "low", "high", "count", "unit", "quality", "seq"]];
    for (const series of this.chart.series) {
      for (let at = series.at(from); at < series.at(to + 1); ++at) {
        rows.push([new Date(series.time[at]).toISOString(), series.topic, Number.isNaN(series.value[at]) ? "" : series.value[at],
          series.low[at], series.high[at], series.count[at], series.unit, series.quality[at], series.seq[at]]);
      }
    }
    download("telegate-samples.csv", "text/csv", csv(rows));
  }

  saveTable() {
    const rows = this.matching().map((topic) => {
      const { value, unit, quality, time, seq } = state.channels.get(topic);
      return [topic, value, unit, quality, time, seq];
    });
    download("telegate-channels.csv", "text/csv", csv([["topic", "value", "unit", "quality", "time", "seq"], ...rows]));
  }
}
