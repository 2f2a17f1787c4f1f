/** The view "Overview": figures, devices with commands, alarms, events, and what receives the samples. */
import { post } from "./api.js";
import { confirmed, count, duration, h, notify, panel, plural, rate, setAttribute, setText, showTag, showTime, sync, table, timeText, unitText, valueText } from "./dom.js";
import { checkText, isAdmin, sampledRate, state } from "./state.js";
import { droppedOf } from "./ledger.js";

const checkOrder = ["bad", "warn", "good"];
const stateKinds = { measuring: "good", idle: "off", error: "bad", safe: "bad" };
const commands = {
  start: { title: (name) => `Start ${name}?`, text: () => "It is read immediately and then at its interval.", yes: "Start" },
  stop: { title: (name) => `Stop ${name}?`, yes: "Stop",
    text: (device) => `Its ${plural(device.channels, "channel")} will have no new samples until it is started again.` },
  reset: { title: (name) => `Reset ${name}?`, text: () => "It returns to its state at the start of the gateway, and its errors are cleared.", yes: "Reset" },
};

/** Returns why a device provides less than it should, as sentences. */
function troubles(device) {
  const found = [];
  const reason = device.last_error ? `: ${device.last_error}` : "";
  if (device.state === "idle") found.push(["warn", `Stopped since ${timeText(device.state_since)}; it is not read until it is started.`]);
  if (device.state === "safe") found.push(["bad", `Not read since ${timeText(device.state_since)} until it is reset, because ${plural(device.consecutive_failures, "reading")} in succession failed${reason}`]);
  if (device.state === "error") {
    found.push(["bad", `Readings have failed since ${timeText(device.state_since)} (${count(device.consecutive_failures)} in succession)${reason}`]);
  } else if (device.state === "measuring" && device.last_error_current) {
    found.push(["warn", `A part of the device cannot be read${reason}`]);
  }
  if (device.breaker === "open") found.push(["warn", "Paused by its circuit breaker; the next try follows automatically."]);
  if (device.channels_bad) found.push(["warn", `${plural(device.channels_bad, "channel")} bad for at least a minute.`]);
  if (device.state === "measuring" && !device.last_good_time) found.push(["warn", "There is no good reading yet."]);
  if (device.lost_at_source) found.push(["bad", `${plural(device.lost_at_source, "reading")} lost before the gateway could take them.`]);
  if (device.refused) found.push(["muted", `${plural(device.refused, "invalid input")} refused; the last one at ${timeText(device.last_refused_time)}: ${device.last_refused}`]);
  if (device.ticks_missed) found.push(["muted", `${plural(device.ticks_missed, "reading")} skipped because the previous one took too long.`]);
  return found;
}

export class OverviewView {
  enter(root) {
    this.figures = h("dl", { class: "figures wide" });
    this.devices = table("Devices", [
      { title: "Device", show: (cell, device) => this.showName(cell, device) },
      { title: "State", show: (cell, device) => showTag(cell, stateKinds[device.state] ?? "off", device.state) },
      { title: "Samples/s", number: true, show: (cell, device) => setText(cell, rate(sampledRate(device.name))) },
      { title: "Interval", number: true, show: (cell, device) => this.showInterval(cell, device) },
      { title: "Late (p99)", number: true, show: (cell, device) => setText(cell, duration(device.lateness_s.p99)) },
      { title: "Failed readings", number: true, show: (cell, device) => setText(cell, count(device.reads_failed)) },
      { title: "Dropped", number: true, show: (cell, device) => this.showDropped(cell, device) },
      { title: "Commands", show: (cell, device) => this.showCommands(cell, device) },
    ], { empty: "The settings have no device." });
    this.alarms = table("Alarms", [
      { title: "Channel", show: (cell, alarm) => this.showChannel(cell, alarm) },
      { title: "State", show: (cell, alarm) => showTag(cell, alarm.active ? "bad" : alarm.state === "normal" ? "good" : "off", alarm.state) },
      { title: "Value", number: true, show: (cell, alarm) => setText(cell, valueText(alarm.value)) },
      { title: "Limit", number: true, show: (cell, alarm) => setText(cell, valueText(alarm.limit)) },
      { title: "Since", show: (cell, alarm) => showTime(cell, alarm.since) },
      { title: "Acknowledged", show: (cell, alarm) => this.showAcknowledged(cell, alarm) },
    ], { empty: "No channel has an alarm.", keyOf: (alarm) => `${alarm.device}/${alarm.channel}` });
    this.events = table("Events", [
      { title: "Time", show: (cell, event) => showTime(cell, event.time) },
      { title: "Source", show: (cell, event) => setText(cell, [event.device || "gateway", event.channel].filter(Boolean).join("/")) },
      { title: "Event", show: (cell, event) => setText(cell, event.kind) },
      { title: "Details", show: (cell, event) => setText(cell, event.text.replaceAll('"', "")) },
    ], { empty: "No events.", keyOf: (event) => event.number });
    this.checks = h("ul", { class: "checks" });
    this.health = panel("Health", this.checks);
    root.append(this.figures, h("section", { "aria-label": "Devices", class: "wide" }, h("h2", {}, "Devices"), this.devices), this.health,
      panel("Alarms", this.alarms), h("section", { "aria-label": "Events", class: "wide" }, h("h2", {}, "Events"), this.events));
  }

  update() {
    const { status } = state;
    if (!status) return;
    this.showFigures(status);
    this.devices.show(status.sampler.devices);
    const checks = state.checks.toSorted((a, b) => checkOrder.indexOf(a.kind) - checkOrder.indexOf(b.kind));
    sync(this.checks, checks, (check) => check.name, () => h("li", {}, h("span", {}), h("span")), (item, check) => {
      setAttribute(item, "class", check.kind === "good" ? false : "reason");
      showTag(item.firstChild, check.kind, checkText(check.name));
      setText(item.lastChild, check.text === "ok" ? "" : check.text);
    });
    if (state.alarms) this.alarms.show([...state.alarms.active, ...state.alarms.inactive]);
    if (state.events) this.events.show(state.events.events.toReversed().slice(0, 50));
  }

  showFigures(status) {
    const { devices } = status.sampler;
    const measuring = devices.filter((device) => device.state === "measuring").length;
    const lost = droppedOf(status.ledger.total);
    const active = state.alarms?.active.length ?? 0;
    const { depth, capacity } = status.queue;
    const up = (state.uplinks ?? []).filter((uplink) => uplink.connected && !uplink.paused).length;
    const figures = [
      ["Samples/s", rate(sampledRate()), ""],
      ["Devices measuring", `${measuring} of ${devices.length}`, measuring < devices.length ? "warn" : ""],
      ["Channels", count(state.topics.length), "", "#/channels"],
      ["Subscribers", count(status.transport.subscribers.length), "", "#/delivery"],
      ...(state.uplinks?.length ? [["Uplinks connected", `${up} of ${state.uplinks.length}`, up < state.uplinks.length ? "warn" : "", "#/delivery"]] : []),
      ["Queue", `${count(depth)} of ${count(capacity)}`, depth > capacity / 2 ? "warn" : ""],
      ["Samples dropped", count(lost), lost ? "bad" : "", "#/ledger"],
      ["Active alarms", count(active), active ? "bad" : ""],
    ];
    sync(this.figures, figures, ([name]) => name, ([name, , , href]) => h("div", {}, h("dt", {}, href ? h("a", { href }, name) : name), h("dd")), (item, [, text, kind]) => {
      setText(item.lastChild, text);
      setAttribute(item.lastChild, "class", kind || false);
    });
  }

  showName(cell, device) {
    if (!cell.firstChild) {
      cell.append(h("a", { href: `#/channels?${new URLSearchParams({ q: `${device.name}/` })}` }, device.name), h("ul", { class: "troubles" }));
    }
    sync(cell.lastChild, troubles(device), ([, text]) => text, ([kind, text]) => h("li", { class: kind }, text));
  }

  showInterval(cell, device) {
    if (!cell.firstChild) {
      cell.append(h("a", { href: `#/settings?${new URLSearchParams({ q: `device ${device.name} interval` })}`, title: "Change the interval" }));
    }
    setText(cell.firstChild, duration(device.interval_ms / 1000));
  }

  showDropped(cell, device) {
    const dropped = droppedOf(state.status.ledger.devices[device.name]);
    setText(cell, count(dropped));
    setAttribute(cell, "class", dropped ? "number lost" : "number");
  }

  showCommands(cell, device) {
    const wanted = device.state === "idle" ? ["start"] : device.state === "safe" ? ["reset"] : ["stop", ...(device.state === "error" ? ["reset"] : [])];
    const shown = isAdmin() ? wanted : [];
    sync(cell, shown, (name) => name, (name) =>
      h("button", { type: "button", "aria-label": `${commands[name].yes} ${device.name}`, onclick: () => this.command(name, device.name) }, commands[name].yes));
    if (!isAdmin()) setAttribute(cell, "title", "Your role may only read.");
  }

  async command(name, device) {
    const { title, text, yes } = commands[name];
    const given = state.status.sampler.devices.find((each) => each.name === device);
    if (!await confirmed(title(device), text(given), yes)) return;
    try {
      await post(`/devices/${encodeURIComponent(device)}/${name}`);
    } catch (error) {
      notify("command", "bad", `${yes} ${device}: ${error.message}`);
    }
    this.onCommand();
  }

  showChannel(cell, alarm) {
    const topic = `${alarm.device}/${alarm.channel}`;
    if (!cell.firstChild) cell.append(h("a", { href: `#/channels?${new URLSearchParams({ c: topic })}` }, topic));
  }

  showAcknowledged(cell, alarm) {
    const { acknowledged } = alarm;
    const key = acknowledged ? "done" : alarm.active && isAdmin() ? "button" : "none";
    const topic = `${alarm.device}/${alarm.channel}`;
    sync(cell, [key], (each) => each, () => key === "button"
      ? h("button", { type: "button", "aria-label": `Acknowledge ${topic}`, onclick: () => this.acknowledge(alarm) }, "Acknowledge")
      : h("span"), (element) => {
      if (key !== "button") setText(element, acknowledged ? `${timeText(acknowledged.time)} by ${acknowledged.by} ${acknowledged.comment}` : "");
    });
  }

  async acknowledge({ device, channel }) {
    try {
      await post(`/alarms/${encodeURIComponent(device)}/${encodeURIComponent(channel)}/acknowledge`);
    } catch (error) {
      notify("command", "bad", `Acknowledge ${device}/${channel}: ${error.message}`);
    }
    this.onCommand();
  }
}
