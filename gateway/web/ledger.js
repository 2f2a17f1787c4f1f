/** The view "Ledger": samples that add up, every loss with reason and time, and earlier runs. */
import { count, h, panel, setAttribute, setText, showTag, showTime, table, timeText } from "./dom.js";
import { state } from "./state.js";

export const droppedOf = (ledger) => Object.values(ledger?.dropped ?? {}).reduce((sum, number) => sum + number, 0);

const reasons = {
  queue_overflow: "the queue was full", shutdown: "the gateway stopped", slow: "the subscriber reads too slowly",
  expired: "older than backlog_age", conflated: "replaced by a newer value", disconnected: "the subscriber disconnected",
  log_slow: "the disk is too slow or failed", log_full: "the log is full",
};

/** Returns {what, count, reason, first, last} for every loss that /status shows. */
function losses(status) {
  const found = [];
  for (const [topic, channel] of state.channels) {
    for (const [reason, drop] of Object.entries(channel.drops ?? {})) {
      found.push({ what: topic, count: drop.count, reason: reasons[reason] ?? reason, first: drop.first_time, last: drop.last_time,
        detail: `samples ${drop.first_seq} to ${drop.last_seq}` });
    }
  }
  for (const subscriber of status.transport.subscribers) {
    for (const [reason, loss] of Object.entries(subscriber.losses)) {
      found.push({ what: `subscriber ${subscriber.peer}`, count: loss.count, reason: reasons[reason] ?? reason, first: loss.first?.time, last: loss.last?.time, detail: "messages" });
    }
  }
  for (const recorder of status.recorders) {
    if (recorder.lost) found.push({ what: `recording ${recorder.path}`, count: recorder.lost, reason: recorder.error ?? "the disk was too slow", detail: "samples" });
  }
  for (const [reason, number] of Object.entries(status.log?.dropped ?? {})) {
    if (number) found.push({ what: "durable log", count: number, reason: reasons[reason] ?? reason, detail: "samples" });
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
    const dropped = droppedOf(run.ledger ?? {});
    if (dropped) found.push({ what: `run of ${timeText(run.epoch)}`, count: dropped, reason: "dropped in an earlier run", last: run.last_known, detail: "samples" });
  }
  return found.sort((a, b) => (b.last ?? b.first ?? "").localeCompare(a.last ?? a.first ?? ""));
}

const rowsMax = 500;

export class LedgerView {
  enter(root) {
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
      { title: "First", show: (cell, loss) => showTime(cell, loss.first) },
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
      { title: "Sampled", number: true, show: (cell, run) => setText(cell, run.ledger ? count(run.ledger.sampled) : "–") },
      { title: "Published", number: true, show: (cell, run) => setText(cell, run.ledger ? count(run.ledger.published) : "–") },
      { title: "Dropped", number: true, show: (cell, run) => setText(cell, run.ledger ? count(droppedOf(run.ledger)) : "–") },
      { title: "Lost in the crash", number: true, show: (cell, run) => setText(cell, run.log ? count(run.log.lost) : "–") },
    ], { empty: "Unknown: earlier runs are remembered with the setting state_file.", keyOf: (run) => run.epoch });
    const wide = (title, ...children) => h("section", { "aria-label": title, class: "wide" }, h("h2", {}, title), ...children);
    root.append(wide("Ledger", this.verdict, this.ledger), wide("Losses", this.losses), wide("Outages", this.outages), panel("Earlier runs", this.runs));
    root.lastChild.classList.add("wide");
  }

  update() {
    const { status } = state;
    if (!status) return;
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
    this.runs.show(status.previous_runs.toReversed());
  }
}
