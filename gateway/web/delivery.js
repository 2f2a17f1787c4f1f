/** The view "Delivery": subscribers, uplinks and the durable log. */
import { post } from "./api.js";
import { bytes, confirmed, count, duration, h, notify, plural, setAttribute, setText, showTag, showTime, sync, table, timeText } from "./dom.js";
import { reasonText } from "./ledger.js";
import { isAdmin, state } from "./state.js";

const dayMs = 86_400_000;
const behindMin = 5;  // seconds

const lost = (cell, number) => {
  setText(cell, count(number));
  setAttribute(cell, "class", number ? "number lost" : "number");
};
/** An uplink that is hardly behind always has a few samples in flight; its estimate would only flicker. */
const catchUpText = (uplink) => uplink.lag_s < behindMin && !uplink.backlog_samples ? "–" : uplink.paused ? "paused" : uplink.catch_up_s === null ? "never" : duration(uplink.catch_up_s);
const wide = (title, ...children) => h("section", { "aria-label": title, class: "wide" }, h("h2", {}, title), ...children);

export class DeliveryView {
  enter(root) {
    this.endpoints = h("p", { class: "muted" });
    this.subscribers = table("Subscribers", [
      { title: "Subscriber", show: (cell, each) => setText(cell, each.client ? `${each.client} (${each.peer})` : each.peer) },
      { title: "Format", show: (cell, each) => setText(cell, each.format) },
      { title: "Topics", show: (cell, each) => this.showTopics(cell, each) },
      { title: "Matched", number: true, show: (cell, each) => setText(cell, count(each.matched)) },
      { title: "= sent", number: true, show: (cell, each) => setText(cell, count(each.sent)) },
      { title: "+ dropped", number: true, show: (cell, each) => lost(cell, each.dropped) },
      { title: "+ pending", number: true, show: (cell, each) => setText(cell, count(each.pending)) },
      { title: "Backlog", number: true, show: (cell, each) => setText(cell, bytes(each.backlog_bytes)) },
    ], { empty: "No subscriber is connected.", keyOf: (each) => `${each.format}-${each.id}` });
    this.uplinks = table("Uplinks", [
      { title: "Uplink", show: (cell, each) => setText(cell, each.name) },
      { title: "State", show: (cell, each) => this.showUplinkState(cell, each) },
      { title: "Behind", number: true, show: (cell, each) => setText(cell, duration(each.lag_s)) },
      { title: "Samples behind", number: true, show: (cell, each) => setText(cell, count(each.lag_samples)) },
      { title: "Backlog", number: true, show: (cell, each) => setText(cell, count(each.backlog_samples)) },
      { title: "Acknowledged", number: true, show: (cell, each) => setText(cell, count(each.samples.acknowledged)) },
      { title: "Missing", number: true, show: (cell, each) => lost(cell, each.samples.gaps + each.samples.quarantined) },
      { title: "Catches up in", number: true, show: (cell, each) => setText(cell, catchUpText(each)) },
      { title: "Last error", show: (cell, each) => this.showError(cell, each) },
      { title: "Commands", show: (cell, each) => this.showCommand(cell, each) },
    ], { empty: "No uplink is configured." });
    this.logFigures = h("dl", { class: "pairs" });
    this.logNote = h("p");
    root.append(wide("Subscribers", this.subscribers, this.endpoints), wide("Uplinks", this.uplinks),
      wide("Durable log", this.logNote, this.logFigures));
  }

  update() {
    const { status } = state;
    if (!status) return;
    this.subscribers.show(status.transport.subscribers);
    const { lost: reasons } = status.transport;
    const dropped = Object.entries(reasons).filter(([, number]) => number).map(([reason, number]) => `${reason} ${count(number)}`).join(", ");
    setText(this.endpoints, `Endpoints: ${status.transport.endpoints.map((endpoint, index) => `${endpoint} (${status.transport.formats[index]})`).join(", ") || "none"}. `
      + `Dropped for all subscribers, also earlier ones: ${dropped || "none"}.`);
    this.uplinks.show(state.uplinks ?? []);
    this.showLog();
  }

  showTopics(cell, { subscriptions, subscriptions_count: number }) {
    setText(cell, subscriptions.map((topic) => topic || "all topics").join(", ") + (number > subscriptions.length ? ` and ${number - subscriptions.length} more` : ""));
  }

  showUplinkState(cell, uplink) {
    showTag(cell, uplink.paused ? "off" : uplink.connected ? "good" : "bad", uplink.paused ? "paused" : uplink.state);
  }

  /** A current error is red; an earlier one has its time. */
  showError(cell, { error, cursor_error: cursor, last_error: last, last_error_time: time }) {
    const current = [error, cursor && `The position cannot be saved: ${cursor}`].filter(Boolean).join("; ");
    setText(cell, current || (last ? `${timeText(time)}: ${last}` : "none"));
    setAttribute(cell, "class", current ? "lost" : "muted");
  }

  showCommand(cell, uplink) {
    const action = uplink.paused ? "resume" : "pause";
    const title = action === "pause" ? "Pause" : "Resume";
    sync(cell, isAdmin() ? [action] : [], (each) => each, () =>
      h("button", { type: "button", "aria-label": `${title} ${uplink.name}`, onclick: () => this.command(action, title, uplink.name) }, title));
  }

  async command(action, title, name) {
    const text = action === "pause" ? "Nothing is sent to it until it is resumed. Samples wait in the durable log." : "It continues where it was paused.";
    if (!await confirmed(`${title} ${name}?`, text, title)) return;
    try {
      await post(`/uplinks/${encodeURIComponent(name)}/${action}`);
    } catch (error) {
      notify("command", "bad", `${title} ${name}: ${error.message}`);
    }
    this.onCommand();
  }

  showLog() {
    if (!state.log) return;
    const { log } = state.log;
    setText(this.logNote, log ? log.error ?? (log.full ? "The log is full." : `Directory ${log.path}`) : "There is no durable log. Samples are kept only in memory; [log] path adds one.");
    setAttribute(this.logNote, "class", log?.error || log?.full ? "lost" : "muted");
    const midnight = Math.floor(Date.now() / dayMs) * dayMs;
    const start = Date.now() - state.status.uptime_s * 1000;
    const lostTotal = log ? log.dropped.log_slow + log.dropped.log_full : 0;
    const pairs = log ? [
      ["Used", `${bytes(log.bytes)} in ${plural(log.segments, "segment")}`],
      ["Oldest sample", timeText(log.oldest_time)],
      ["Time until full", state.log.seconds_left === null ? "never: the oldest samples are removed" : duration(state.log.seconds_left)],
      [start > midnight ? `Written since the start at ${timeText(start)}` : "Written today, since 00:00 UTC",
        bytes(Date.parse(log.day) === midnight ? log.day_bytes : 0)],
      ["Written per day at this rate", bytes(state.log.bytes_per_day)],
      ["Samples written", count(log.samples)],
      ["Pending", count(log.pending)],
      ["Lost", lostTotal ? Object.entries(log.dropped).filter(([, number]) => number).map(([reason, number]) => `${count(number)}: ${reasonText(reason)}`).join("; ") : "0"],
    ] : [];
    sync(this.logFigures, pairs, ([name]) => name, () => h("div", {}, h("dt"), h("dd")), (item, [name, text]) => {
      setText(item.firstChild, name);
      setText(item.lastChild, text);
      setAttribute(item.lastChild, "class", name === "Lost" && text !== "0" ? "lost" : false);
    });
  }
}
