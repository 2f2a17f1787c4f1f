/**
 * A chart of several channels over time, with one panel for each unit. A library would need all channels on common
 * times, and could not tell apart missing, bad and stale samples, which is the purpose of this chart.
 *
 * Raw series have `time` (ms), `value` (NaN: none; BigInt if a number is not exact), `quality`, `seq`; a jump of `seq` is a gap. Aggregated series have
 * `time`, `value` (mean), `low`, `high`, `count`, `missing` and the width of an interval.
 */
import { h, unitText, valueText } from "./dom.js";

const pointsMax = 60_000;  // per series: 1.9 MB
const forgottenAtOnce = 500;
const left = 64;
const right = 10;
const top = 10;
const bottom = 22;
const panelHeights = [260, 170, 130];  // with one, two and more units
const markDistance = 9;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800,
  604800, 1209600, 2592000, 7776000, 31536000];

export class Series {
  constructor(topic, color) {
    Object.assign(this, { topic, color, unit: "", interval: 0, since: 0, isLoaded: false, joined: false, pending: [] });
    this.clear();
  }

  clear() {
    this.time = [];
    this.value = [];
    this.quality = [];
    this.seq = [];
    this.low = [];
    this.high = [];
    this.count = [];
    this.missing = [];
    this.epoch = 0;
  }

  /** Adds a sample; one that is not newer than the last one is ignored. */
  add(sample) {
    const last = this.seq.at(-1) ?? 0;
    if (sample.epoch === this.epoch && sample.seq <= last) return;
    this.unit = sample.unit;
    const number = typeof sample.value === "boolean" ? Number(sample.value) : sample.value;
    this.time.push(Date.parse(sample.time));
    this.value.push(["number", "bigint"].includes(typeof number) && sample.quality !== "bad" ? number : NaN);
    this.quality.push(sample.quality);
    this.seq.push(sample.seq);
    this.epoch = sample.epoch;
    if (this.time.length > pointsMax) {
      for (const values of [this.time, this.value, this.quality, this.seq]) values.splice(0, pointsMax / 4);
    }
  }

  /** Forgets the samples before a time, many at once. */
  forget(time) {
    const number = this.at(time);
    if (this.interval || number < forgottenAtOnce) return;
    for (const values of [this.time, this.value, this.quality, this.seq]) values.splice(0, number);
    this.since = Math.max(this.since, time);
  }

  /** Returns the index of the first point at or after a time. */
  at(time) {
    let from = 0;
    let to = this.time.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.time[middle] < time) from = middle + 1; else to = middle;
    }
    return from;
  }

  /** Returns how many samples are missing before a point; a new run of the gateway counts as one. */
  missingBefore(index) {
    if (index === 0) return 0;
    if (this.interval) return this.time[index] - this.time[index - 1] > this.interval * 1.5 ? 1 : 0;
    const step = this.seq[index] - this.seq[index - 1];
    return step < 1 ? 1 : step - 1;
  }
}

const niceStep = (span, count) => {
  const rough = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? 10 * power;
};

const two = (number) => String(number).padStart(2, "0");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const tickText = (ms, step) => {
  const date = new Date(ms);
  const day = `${months[date.getMonth()]} ${date.getDate()}`;
  if (step >= 86400 || (step >= 3600 && date.getHours() === 0)) return day;
  return `${two(date.getHours())}:${two(date.getMinutes())}${step < 60 ? `:${two(date.getSeconds())}` : ""}`;
};

export class Chart {
  /** `onView` is called when the user changes the visible range. */
  constructor({ onView, onHover }) {
    this.canvas = h("canvas", { role: "img", "aria-label": "Chart" });
    this.element = h("div", { class: "chart", tabindex: "0", role: "group",
      "aria-label": "Chart. Arrow keys move in time, plus and minus zoom, Escape follows the newest samples." }, this.canvas);
    Object.assign(this, { onView, onHover, series: [], from: 0, to: 1, hoverAt: null, pointers: new Map() });
    this.canvas.chart = this;
    this.listen();
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.element);
  }

  close() { this.resizing.disconnect(); }

  move(from, to, isUser) {
    const span = Math.min(Math.max(to - from, 200), 400 * 86_400_000);
    const middle = (from + to) / 2;
    [this.from, this.to] = [middle - span / 2, middle + span / 2];
    if (isUser) this.onView(this.from, this.to);
    this.draw();
  }

  /** Multiplies the visible range, keeping the time at a part of the width where it is. */
  zoom(factor, part = 0.5) {
    const at = this.from + (this.to - this.from) * part;
    this.move(at - (at - this.from) * factor, at + (this.to - at) * factor, true);
  }

  pan(part) {
    const by = (this.to - this.from) * part;
    this.move(this.from + by, this.to + by, true);
  }

  listen() {
    const part = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return (event.clientX - box.left - left) / (box.width - left - right);
    };
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== this.element) return;
      event.preventDefault();
      if (event.shiftKey) this.pan(Math.sign(event.deltaY || event.deltaX) / 10);
      else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, part(event));
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, part(event));
      this.element.focus({ preventScroll: true });
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const now = part(event);
      this.hover(now >= 0 && now <= 1 ? this.from + (this.to - this.from) * now : null);
      const before = this.pointers.get(event.pointerId);
      if (before === undefined) return;
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      this.pointers.set(event.pointerId, now);
      if (others.length === 0) this.pan(before - now);
      else if (Math.abs(now - others[0]) > 0.02) this.zoom(Math.abs((before - others[0]) / (now - others[0])), others[0]);
    });
    const end = (event) => this.pointers.delete(event.pointerId);
    for (const kind of ["pointerup", "pointercancel"]) this.canvas.addEventListener(kind, end);
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("dblclick", () => this.onView(null, null));
    this.element.addEventListener("keydown", (event) => {
      const action = { ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5), "-": () => this.zoom(2), Escape: () => this.onView(null, null) }[event.key];
      if (action && event.target === this.element && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        action();
      }
    });
  }

  hover(time) {
    this.hoverAt = time;
    this.onHover(time);
    this.draw();
  }

  /** Draws at most once per frame. */
  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.element.isConnected) this.paint();
    });
  }

  paint() {
    const units = [...new Set(this.series.map((series) => series.unit))];
    const width = this.element.clientWidth;
    this.panelHeight = panelHeights[Math.min(Math.max(units.length, 1), panelHeights.length) - 1];
    const height = top + bottom + this.panelHeight * Math.max(units.length, 1);
    const ratio = devicePixelRatio;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
    }
    const style = getComputedStyle(this.element);
    this.ink = Object.fromEntries(["text", "muted", "line", "bad", "warn", "card"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.colors = this.series.map((series) => style.getPropertyValue(`--series${series.color}`).trim());
    const g = this.g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = `12px ${style.fontFamily}`;
    this.plot = { x: left, width: Math.max(width - left - right, 10) };
    this.timeAxis(height);
    units.forEach((unit, index) => this.panel(unit, top + this.panelHeight * index));
    if (this.hoverAt !== null) this.vertical(this.x(this.hoverAt), top, height - top - bottom, this.ink.muted);
  }

  x(time) { return this.plot.x + (time - this.from) / (this.to - this.from) * this.plot.width; }

  vertical(x, y, height, color) {
    this.g.fillStyle = color;
    this.g.fillRect(Math.round(x), y, 1, height);
  }

  timeAxis(height) {
    const g = this.g;
    const step = steps.find((each) => each * 1000 / (this.to - this.from) * this.plot.width >= 84) ?? steps.at(-1);
    // Steps of hours and days start at local midnight.
    const offset = step >= 3600 ? new Date(this.from).getTimezoneOffset() * 60_000 : 0;
    g.textBaseline = "alphabetic";
    g.textAlign = "center";
    for (let at = Math.ceil((this.from - offset) / (step * 1000)) * step * 1000 + offset; at <= this.to; at += step * 1000) {
      this.vertical(this.x(at), top, height - top - bottom, this.ink.line);
      g.fillStyle = this.ink.muted;
      g.fillText(tickText(at, step), Math.min(Math.max(this.x(at), left + 16), left + this.plot.width - 22), height - 6);
    }
  }

  /** Returns the lowest and the highest visible value. */
  bounds(shown) {
    let low = Infinity;
    let high = -Infinity;
    for (const series of shown) {
      for (let at = Math.max(series.at(this.from) - 1, 0); at < series.time.length; ++at) {
        const smallest = Number(series.interval ? series.low[at] : series.value[at]);
        const largest = Number(series.interval ? series.high[at] : series.value[at]);
        if (smallest < low) low = smallest;
        if (largest > high) high = largest;
        if (series.time[at] > this.to) break;
      }
    }
    if (low > high) return [0, 1];
    const margin = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
    return [low - margin, high + margin];
  }

  panel(unit, y) {
    const g = this.g;
    const height = this.panelHeight - 16;
    const shown = this.series.filter((series) => series.unit === unit);
    const [low, high] = this.bounds(shown);
    const toY = (value) => y + 12 + height - 4 - (Number(value) - low) / (high - low) * (height - 14);
    const step = niceStep(high - low, height / 36);
    const decimals = Math.min(Math.max(-Math.floor(Math.log10(step)), 0), 100);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
      g.fillStyle = this.ink.line;
      g.fillRect(left, Math.round(toY(value)), this.plot.width, 1);
      g.fillStyle = this.ink.muted;
      g.fillText(valueText(Math.abs(value) < step / 1e6 ? 0 : Number(value.toFixed(decimals))), left - 8, toY(value));
    }
    g.save();
    g.beginPath();
    g.rect(left, y, this.plot.width, height + 14);
    g.clip();
    for (const series of shown) this.gaps(series, y + 8, height);
    for (const series of shown) this.line(series, toY, y + 8 + height);
    g.restore();
    g.textAlign = "left";
    g.textBaseline = "top";
    g.fillStyle = this.ink.text;
    g.fillText(unitText(unit), left + 6, y);
  }

  /** Hatches the ranges in which samples are missing. */
  gaps(series, y, height) {
    const g = this.g;
    for (let at = Math.max(series.at(this.from) - 1, 0); at < series.time.length; ++at) {
      const isLossy = series.interval && series.missing[at];
      if (isLossy || series.missingBefore(at)) {
        const from = Math.max(this.x(series.time[isLossy ? at : at - 1]), left - 20);
        const width = Math.max(Math.min(this.x(series.time[at] + (isLossy ? series.interval : 0)), left + this.plot.width + 20) - from, 3);
        g.save();
        g.beginPath();
        g.rect(from, y, width, height);
        g.clip();
        g.strokeStyle = this.ink.bad;
        g.globalAlpha = 0.7;
        g.lineWidth = 1;
        g.beginPath();
        for (let x = from - height; x < from + width; x += 7) {
          g.moveTo(x, y + height);
          g.lineTo(x + height, y);
        }
        g.stroke();
        g.strokeRect(from, y, width, height);
        g.restore();
      }
      if (series.time[at] > this.to) break;
    }
  }

  line(series, toY, bottomY) {
    const g = this.g;
    const color = this.colors[this.series.indexOf(series)];
    const first = Math.max(series.at(this.from) - 1, 0);
    const last = Math.min(series.at(this.to) + 1, series.time.length);
    g.strokeStyle = g.fillStyle = color;
    if (series.interval) this.band(series, first, last, toY);
    g.globalAlpha = 1;
    g.lineWidth = 1.5;
    g.lineJoin = "round";
    g.beginPath();
    // Of many points in one column of pixels, only the extremes are drawn.
    let isOpen = false;
    let column = NaN;
    let low = 0;
    let high = 0;
    const marks = [];
    const flush = () => {
      if (!Number.isNaN(column) && low !== high) {
        g.moveTo(column, low);
        g.lineTo(column, high);
      }
      column = NaN;
    };
    for (let at = first; at < last; ++at) {
      const x = this.x(series.time[at] + series.interval / 2);
      const value = series.value[at];
      if (series.quality[at] && series.quality[at] !== "good" && !(x - marks.at(-1)?.[0] < markDistance)) marks.push([x, value, series.quality[at]]);
      if (Number.isNaN(value) || series.missingBefore(at)) {
        flush();
        isOpen = false;
      }
      if (Number.isNaN(value)) continue;
      const y = toY(value);
      if (Math.floor(x) === column && isOpen) {
        low = Math.min(low, y);
        high = Math.max(high, y);
        continue;
      }
      flush();
      if (isOpen) g.lineTo(x, y); else { g.moveTo(x, y); g.lineTo(x + 0.5, y); }
      [column, low, high, isOpen] = [Math.floor(x), y, y, true];
      g.moveTo(x, y);
    }
    flush();
    g.stroke();
    if (last - first < this.plot.width / 12) {
      for (let at = first; at < last; ++at) {
        if (!Number.isNaN(series.value[at])) this.dot(this.x(series.time[at] + series.interval / 2), toY(series.value[at]), 2.2);
      }
    }
    for (const [x, value, quality] of marks) this.mark(x, Number.isNaN(value) ? bottomY : toY(value), quality);
  }

  band(series, first, last, toY) {
    const g = this.g;
    g.globalAlpha = 0.22;
    for (let at = first; at < last; ++at) {
      if (Number.isNaN(series.low[at])) continue;
      const x = this.x(series.time[at]);
      const y = toY(series.high[at]);
      g.fillRect(x, y, Math.max(this.x(series.time[at] + series.interval) - x, 1), Math.max(toY(series.low[at]) - y, 1));
    }
  }

  dot(x, y, radius) {
    this.g.beginPath();
    this.g.arc(x, y, radius, 0, 7);
    this.g.fill();
  }

  /** A square at the bottom: bad. A ring: stale or uncertain. */
  mark(x, y, quality) {
    const g = this.g;
    if (quality === "bad") {
      g.fillStyle = this.ink.bad;
      g.fillRect(x - 2.5, y - 6, 5, 5);
      return;
    }
    g.strokeStyle = this.ink.warn;
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(x, y, 3.2, 0, 7);
    g.stroke();
  }
}
