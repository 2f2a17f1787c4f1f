/** The view "Ledger": samples that add up, every loss with reason and time, and earlier runs. */
import { Refusal, getJson } from "./api.js";
import { count, dateText, duration, h, panel, plural, setAttribute, setText, showTag, showTime, table, timeText } from "./dom.js";
import { state } from "./state.js";

export const droppedOf = (ledger) => Object.values(ledger?.dropped ?? {}).reduce((sum, number) => sum + number, 0);

const reasons = {
  queue_overflow: "the queue was full", shutdown: "the gateway stopped", slow: "the subscriber reads too slowly",
  expired: "older than backlog_age", conflated: "replaced by a newer value", disconnected: "the subscriber disconnected",
  log_slow: "the disk is too slow or failed", log_full: "the log is full",
  crash: "the gateway was killed, crashed or lost power", retention: "removed from the log to stay within its limits",
  damaged: "the file of the log is damaged",
  unknown: "unknown: no longer in memory, and not in a log",
};
export const reasonText = (reason) => reasons[reason] ?? reason;

/** Returns {what, count, reason, first, last} for every loss that /status shows. */
function losses(status) {
  const found = [];
  for (const [topic, channel] of state.channels) {
    for (const [reason, drop] of Object.entries(channel.drops ?? {})) {
      found.push({ what: topic, count: drop.count, reason: reasonText(reason), first: drop.first_time, last: drop.last_time,
        detail: `samples ${drop.first_seq} to ${drop.last_seq}` });
    }
  }
  for (const subscriber of status.transport.subscribers) {
    for (const [reason, loss] of Object.entries(subscriber.losses)) {
      found.push({ what: `subscriber ${subscriber.peer}`, count: loss.count, reason: reasonText(reason), first: loss.first?.time, last: loss.last?.time, detail: "messages" });
    }
  }
  for (const [reason, number] of Object.entries(status.log?.dropped ?? {})) {
    if (number) found.push({ what: "durable log", count: number, reason: reasonText(reason), detail: "samples; the search below finds them" });
  }
  for (const uplink of state.uplinks ?? []) {
    const what = `uplink ${uplink.name}`;
    const { gaps } = uplink.samples;
    if (gaps) found.push({ what, count: gaps, reason: "missing in the log, and reported to the back end as missing", last: uplink.delivered_time, detail: "samples; the search below finds them" });
    const refused = quarantines.get(uplink.name);
    if (uplink.quarantine.samples && refused?.size === uplink.quarantine.samples) found.push(...refused.losses.map((loss) => ({ what, ...loss })));
    else if (uplink.quarantine.samples) found.push({ what, count: uplink.quarantine.samples, reason: "refused by the back end", last: uplink.last_error_time, detail: "samples in quarantine" });
  }
  for (const device of status.sampler.devices) {
    if (device.lost_at_source) found.push({ what: device.name, count: device.lost_at_source, reason: "lost by the device before the gateway could take them", detail: "readings" });
    if (device.ticks_missed) found.push({ what: device.name, count: device.ticks_missed, reason: "skipped because the previous reading took too long", detail: "readings" });
    if (device.reads_skipped) found.push({ what: device.name, count: device.reads_skipped, reason: "skipped after failed readings", last: device.last_error_time, detail: "readings" });
  }
  for (const run of status.previous_runs) {
    if (run.log?.lost) {
      found.push({ what: `run of ${timeText(run.epoch)}`, count: run.log.lost, reason: "not on disk when the gateway crashed", first: run.log.last_sample, detail: "samples" });
    }
    for (const [reason, number] of Object.entries(run.ledger?.dropped ?? {})) {
      if (number) found.push({ what: `run of ${timeText(run.epoch)}`, count: number, reason: reasonText(reason), last: run.last_known, detail: "samples; the search below finds them" });
    }
  }
  return found.sort((a, b) => (b.last ?? b.first ?? "").localeCompare(a.last ?? a.first ?? ""));
}

/** Samples that back ends have refused, by uplink: {size, losses}. */
const quarantines = new Map();

/** Loads the quarantine of each uplink whose size has changed. */
async function loadQuarantines() {
  for (const { name, quarantine: { samples: size } } of state.uplinks ?? []) {
    if (size === (quarantines.get(name)?.size ?? 0)) continue;
    quarantines.set(name, { size, losses: [] });
    const { samples } = await getJson(`/uplinks/${encodeURIComponent(name)}/quarantine`);
    const losses = new Map();
    for (const { reason, refused_time: time } of samples) {
      const loss = losses.get(reason) ?? { count: 0, reason: `refused by the back end: ${reason}`, first: time, detail: "samples in quarantine" };
      losses.set(reason, Object.assign(loss, { count: loss.count + 1, last: time }));
    }
    quarantines.set(name, { size: samples.length, losses: [...losses.values()] });
  }
}

const rowsMax = 500;
const searchedMax = 200;  // channels; each needs requests
const samplesMax = 2000;  // of an interval whose gaps are requested
const hourMs = 3_600_000;
const searchIntervals = [1, 10, 60, 600, 3600, 86_400];
const searchRanges = [["Last hour", () => [Date.now() - hourMs, Date.now()]], ["Last 24 hours", () => [Date.now() - 24 * hourMs, Date.now()]],
  ["Yesterday", () => [new Date(new Date().setHours(0, 0, 0, 0) - 1).setHours(0, 0, 0, 0), new Date().setHours(0, 0, 0, 0)]],
  ["Last 7 days", () => [Date.now() - 168 * hourMs, Date.now()]]];

/**
 * Finds the missing samples of a channel between two times in ms: {topic, count, reason, after, before}. Counts of
 * intervals show where samples are missing; only those intervals are requested as samples, with the gaps between them.
 */
async function findGaps(topic, from, to, found = new Map()) {
  const path = `/samples/${topic.split("/").map(encodeURIComponent).join("/")}?`;
  const time = (ms) => new Date(ms).toISOString();
  const seconds = searchIntervals.find((each) => (to - from) / 1000 / each <= 200) ?? searchIntervals.at(-1);
  const counts = await getJson(path + new URLSearchParams({ aggregate: "count", interval: `${seconds}s`, since: time(from), until: time(to) }));
  for (const [index, begin] of counts.time_ms.entries()) {
    if (!counts.missing[index]) continue;
    const end = (counts.time_ms[index + 1] ?? begin) + seconds * 1000;  // the sample after a gap may be in the next interval
    if (counts.count[index] > samplesMax && seconds > 1) {
      await findGaps(topic, Math.max(begin, from), Math.min(end, to), found);
      continue;
    }
    const { samples, gaps } = await getJson(path + new URLSearchParams({ since: time(Math.max(begin, from)), until: time(end), limit: samplesMax * 2 }));
    for (const { epoch, first_seq: first, last_seq: last, reason } of gaps) {
      const isAfter = (sample) => sample.epoch > epoch || sample.epoch === epoch && sample.seq > last;
      const before = samples.findIndex(isAfter);
      found.set(`${epoch}-${first}`, { topic, count: last - first + 1, reason: reasonText(reason), after: samples[before - 1]?.time, before: samples[before]?.time });
    }
  }
  return found;
}

export class LedgerView {
  enter(root, query) {
    const part = (title, value) => ({ title, number: true, show: (cell, row) => {
      setText(cell, count(value(row)));
      setAttribute(cell, "class", title === "+ dropped" && value(row) ? "number lost" : "number");
    } });
    this.ledger = table("Ledger", [
      { title: "Device", show: (cell, row) => setText(cell, row.name) },
      part("Sampled", (row) => row.sampled), part("= published", (row) => row.published), part("+ dropped", droppedOf),
      part("+ filtered", (row) => row.filtered), part("+ queued", (row) => row.queued),
      { title: "Check", show: (cell, row) => {
        const sum = row.published + droppedOf(row) + row.filtered + row.queued;
        showTag(cell, sum === row.sampled ? "good" : "bad", sum === row.sampled ? "adds up" : `differs by ${count(row.sampled - sum)}`);
      } },
    ]);
    this.verdict = h("p", { role: "status" });
    this.losses = table("Losses", [
      { title: "Where", show: (cell, loss) => setText(cell, loss.what) },
      { title: "Count", number: true, show: (cell, loss) => { setText(cell, count(loss.count)); setAttribute(cell, "class", "number lost"); } },
      { title: "What", show: (cell, loss) => setText(cell, loss.detail) },
      { title: "Reason", show: (cell, loss) => { setText(cell, loss.reason); setAttribute(cell, "class", "lost"); } },
      { title: "First", show: (cell, loss) => loss.first || loss.last ? showTime(cell, loss.first) : setText(cell, "since the start") },
      { title: "Last", show: (cell, loss) => showTime(cell, loss.last) },
    ], { empty: "Nothing was lost since the start of the gateway.", keyOf: (loss) => `${loss.what} ${loss.reason}` });
    this.outages = table("Outages", [
      { title: "Time", show: (cell, event) => showTime(cell, event.time) },
      { title: "Source", show: (cell, event) => setText(cell, event.device || "gateway") },
      { title: "Event", show: (cell, event) => setText(cell, event.kind) },
      { title: "Details", show: (cell, event) => setText(cell, event.text.replaceAll('"', "")) },
    ], { empty: "No outages among the last 100 events.", keyOf: (event) => event.number });
    this.runs = table("Earlier runs", [
      { title: "Started", show: (cell, run) => showTime(cell, new Date(run.epoch).toISOString()) },
      { title: "End", show: (cell, run) => showTag(cell, run.stopped_cleanly ? "good" : "bad", run.stopped_cleanly ? "stopped cleanly" : "crashed or lost power") },
      { title: "Last known", show: (cell, run) => showTime(cell, run.last_known) },
      { title: "Off afterwards", number: true, show: (cell, run) => setText(cell, run.last_known ? duration((run.next - Date.parse(run.last_known)) / 1000) : "–") },
      { title: "Sampled", number: true, show: (cell, run) => setText(cell, run.ledger ? count(run.ledger.sampled) : "–") },
      { title: "Published", number: true, show: (cell, run) => setText(cell, run.ledger ? count(run.ledger.published) : "–") },
      { title: "Dropped", number: true, show: (cell, run) => setText(cell, run.ledger ? count(droppedOf(run.ledger)) : "–") },
      { title: "Lost in the crash", number: true, show: (cell, run) => setText(cell, run.log ? count(run.log.lost) : "–") },
    ], { empty: "Unknown: earlier runs are remembered with the setting state_file.", keyOf: (run) => run.epoch });
    this.buildSearch(query);
    const wide = (title, ...children) => h("section", { "aria-label": title, class: "wide" }, h("h2", {}, title), ...children);
    root.append(wide("Ledger", this.verdict, this.ledger), wide("Losses", this.losses), this.searchPanel, wide("Outages", this.outages), panel("Earlier runs", this.runs));
    root.lastChild.classList.add("wide");
  }

  leave() { this.run = null; }

  buildSearch(query) {
    this.words = h("input", { type: "search", id: "missing-words", value: query.get("q") ?? "", placeholder: "all channels", autocomplete: "off", spellcheck: false });
    this.range = h("select", { id: "missing-range" }, searchRanges.map(([title]) => h("option", {}, title)));
    this.range.selectedIndex = 1;
    this.span = query.has("from") ? [Date.parse(query.get("from")), Date.parse(query.get("to"))] : null;
    if (this.span) {
      this.range.prepend(h("option", {}, `${dateText(this.span[0])} to ${dateText(this.span[1])}`));
      this.range.selectedIndex = 0;
    }
    this.progress = h("p", { class: "muted", role: "status", id: "missing-status" }, "Finds each loss in the durable log, also those of earlier runs.");
    this.gaps = table("Missing samples", [
      { title: "Channel", show: (cell, gap) => this.showGapChannel(cell, gap) },
      { title: "Samples", number: true, show: (cell, gap) => { setText(cell, count(gap.count)); setAttribute(cell, "class", "number lost"); } },
      { title: "Reason", show: (cell, gap) => { setText(cell, gap.reason); setAttribute(cell, "class", "lost"); } },
      { title: "After", show: (cell, gap) => showTime(cell, gap.after) },
      { title: "Before", show: (cell, gap) => showTime(cell, gap.before) },
    ], { empty: "", keyOf: (gap) => gap.key });
    this.gaps.hidden = true;
    const form = h("form", { class: "tools", onsubmit: (event) => { event.preventDefault(); this.search(); } }, h("h2", {}, "Missing samples"),
      h("span", { class: "field" }, h("label", { for: "missing-range" }, "Range"), this.range),
      h("span", { class: "field grow" }, h("label", { for: "missing-words" }, "Channels"), this.words),
      h("button", { class: "primary", id: "missing-search" }, "Search"));
    this.searchPanel = h("section", { "aria-label": "Missing samples", class: "wide" }, form, this.progress, this.gaps);
    this.isWanted = this.span !== null;
  }

  showGapChannel(cell, gap) {
    if (cell.firstChild) return;
    const from = Date.parse(gap.after ?? gap.before) - 30_000;
    const to = Date.parse(gap.before ?? gap.after) + 30_000;
    const query = { c: gap.topic, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    cell.append(h("a", { href: `#/channels?${new URLSearchParams(query)}` }, gap.topic));
  }

  async search() {
    const run = this.run = {};
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = state.topics.filter((topic) => words.every((word) => topic.includes(word)));
    const topics = matching.slice(0, searchedMax);
    const [from, to] = this.span && this.range.selectedIndex === 0 ? this.span : searchRanges.find(([title]) => title === this.range.value)[1]();
    const rows = [];
    let problem = state.status.log ? "" : " There is no durable log, so only samples in memory were searched.";
    this.gaps.hidden = true;
    let isStopped = false;
    for (const [index, topic] of topics.entries()) {
      setText(this.progress, `Searching channel ${index + 1} of ${topics.length}…`);
      try {
        for (const [key, gap] of await findGaps(topic, from, to)) rows.push({ ...gap, key: `${topic}-${key}` });
      } catch (error) {
        if (!(error instanceof Refusal) && error.name !== "TimeoutError" && !(error instanceof TypeError)) throw error;
        isStopped = error.status !== 404;  // 404: the channel has no samples
        if (isStopped) problem = ` Stopped at ${topic}: ${error.message}`;
      }
      if (run !== this.run) return;
      rows.sort((a, b) => (b.after ?? b.before ?? "").localeCompare(a.after ?? a.before ?? ""));
      this.gaps.hidden = rows.length === 0;
      this.gaps.show(rows.slice(0, rowsMax));
      if (isStopped) break;
    }
    const total = rows.reduce((sum, gap) => sum + gap.count, 0);
    setText(this.progress, `${rows.length ? `${plural(total, "sample")} missing in ${plural(rows.length, "place")}` : "No sample is missing"} between ${dateText(from)} and ${dateText(to)}, in ${plural(topics.length, "channel")}.`
      + (rows.length > rowsMax ? ` The newest ${rowsMax} are shown.` : "") + (matching.length > topics.length ? ` Only the first ${searchedMax} of ${plural(matching.length, "channel")} were searched.` : "") + problem);
    setAttribute(this.progress, "class", rows.length || problem ? "lost" : "muted");
  }

  update() {
    const { status } = state;
    if (!status) return;
    if (this.isWanted) {
      this.isWanted = false;
      this.search();
    }
    loadQuarantines().catch(() => { /* the number without reasons is shown */ });
    const { ledger } = status;
    const rows = Object.entries(ledger.devices).map(([name, each]) => ({ name, ...each }));
    this.ledger.show([...rows, { name: "All devices", ...ledger.total }]);
    setText(this.verdict, ledger.balanced
      ? "Every sample is accounted for, in the ledgers of devices and of channels."
      : "The ledgers do not agree: a sample is not accounted for.");
    setAttribute(this.verdict, "class", ledger.balanced ? "muted" : "lost");
    this.losses.show(losses(status).slice(0, rowsMax));
    const outage = /failed|recovered|safe|breaker opened|gateway|stopped/;
    if (state.events) this.outages.show(state.events.events.filter((event) => outage.test(event.kind)).toReversed());
    const runs = status.previous_runs;
    this.runs.show(runs.map((run, index) => ({ ...run, next: runs[index + 1]?.epoch ?? status.epoch })).toReversed());
  }
}
