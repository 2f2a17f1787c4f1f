/** Everything that the page knows about the gateway, and the polling that keeps it up to date. */
import { Refusal, parseJson, send } from "./api.js";

const sparkPoints = 60;
const sparkChannelsMax = 5000;  // memory: 240 bytes each
const bytesPerMs = 400;  // of responses that are requested periodically
const rateWindow = 6;  // statuses that rates are computed from

export const state = {
  me: null,          // {name, role}
  status: null,
  statusAt: 0,       // performance.now() of the last status
  problem: null,     // why the last request for the status failed
  checks: [],        // {sign, name, text}
  ready: null,
  process: null,     // {cpu, memory}
  alarms: null,
  events: null,
  log: null,
  uplinks: null,     // null: unknown or not configured
  channels: new Map(),  // topic -> {value, quality, time, unit, seq, drops, spark}
  topics: [],        // sorted
};
export const isAdmin = () => state.me?.role === "admin";

const earlier = [];  // {uptime, epoch, sampled: {device: number}}

/** Returns samples per second of a device, or of all; null if it is not known yet. */
export function sampledRate(device) {
  const last = earlier.at(-1);
  const first = earlier.find((each) => each.epoch === last?.epoch);
  if (!last || last === first || last.uptime <= first.uptime) return null;
  const of = (each) => device === undefined ? each.total : each.sampled[device]?.sampled ?? 0;
  return Math.max(0, of(last) - of(first)) / (last.uptime - first.uptime);
}

function takeChannels(last) {
  let changed = false;
  for (const topic in last) {
    const given = last[topic];
    let channel = state.channels.get(topic);
    if (!channel) {
      channel = { spark: state.channels.size < sparkChannelsMax ? [] : null };
      state.channels.set(topic, channel);
      changed = true;
    }
    if (!(channel.epoch === state.status.epoch && channel.seq > given.seq)) Object.assign(channel, given);
    channel.epoch = state.status.epoch;
    channel.drops = given.drops;
    if (channel.spark) {
      channel.spark.push(given.quality !== "bad" && typeof given.value !== "string" && given.value !== null ? Number(given.value) : NaN);
      if (channel.spark.length > sparkPoints) channel.spark.shift();
    }
  }
  if (state.channels.size > Object.keys(last).length) {
    for (const topic of state.channels.keys()) {
      if (!(topic in last)) state.channels.delete(topic);
    }
    changed = true;
  }
  if (changed) state.topics = [...state.channels.keys()].sort();
}

function takeStatus(status) {
  const isRestarted = state.status !== null && state.status.epoch !== status.epoch;
  state.status = status;
  state.statusAt = performance.now();
  state.problem = null;
  earlier.push({ uptime: status.uptime_s, epoch: status.epoch, sampled: status.ledger.devices, total: status.ledger.total.sampled });
  if (earlier.length > rateWindow) earlier.shift();
  takeChannels(status.channels.last);
  return isRestarted;
}

/** Takes samples of the event stream, which are newer than the last status. */
export function takeSamples(samples) {
  for (const sample of samples) {
    const channel = state.channels.get(`${sample.device}/${sample.channel}`);
    if (channel) {
      channel.value = sample.value;
      channel.quality = sample.quality;
      channel.time = sample.time;
      channel.unit = sample.unit;
      channel.seq = sample.seq;
    }
  }
}

const checkTexts = { pump: "publishing" };
/** The name of a check of /readyz for people. */
export const checkText = (name) => checkTexts[name] ?? name.replaceAll("_", " ");

function takeChecks(text) {
  const signs = { "[+]": "good", "[!]": "warn", "[-]": "bad" };
  const lines = text.trimEnd().split("\n");
  state.ready = lines.pop() === "ok";
  state.checks = lines.map((line) => {
    const [, sign, name, rest] = line.match(/^(\[.\]) (\S+) ?(.*)$/) ?? [null, "[-]", "", line];
    return { kind: signs[sign], name, text: rest.replace(/^(warning|failed|excluded): ?/, "") };
  });
}

let cpuBefore = null;
function takeMetrics(text) {
  const value = (name) => Number(text.match(new RegExp(`^${name} (\\S+)$`, "m"))?.[1] ?? NaN);
  const now = { cpu: value("process_cpu_seconds_total"), at: performance.now() / 1000 };
  const cpu = cpuBefore && now.cpu >= cpuBefore.cpu ? (now.cpu - cpuBefore.cpu) / (now.at - cpuBefore.at) : null;
  cpuBefore = now;
  state.process = { cpu, memory: value("process_resident_memory_bytes") };
}

/** Each is requested while `isWanted`, every `every` ms, or less often if its responses are large. */
export class Poller {
  constructor({ onChange, onRestart, onLost, view }) {
    Object.assign(this, { onChange, onRestart, onLost, timer: null, controller: null });
    const on = (...names) => () => names.includes(view());
    this.sources = [
      { every: 1000, path: "/status", take: (text) => this.takeStatus(parseJson(text)),
        lost: (error) => { state.problem = error.message; this.onLost(error); } },
      { every: 2000, path: "/readyz?verbose", accept: [503], take: takeChecks },
      { every: 5000, path: "/metrics", take: takeMetrics },
      { every: 2000, path: "/alarms", take: (text) => { state.alarms = parseJson(text); } },
      { every: 2000, isWanted: on("overview", "ledger"), path: "/events?limit=100", take: (text) => { state.events = JSON.parse(text); } },
      { every: 5000, isWanted: on("overview", "delivery"), path: "/log", take: (text) => { state.log = JSON.parse(text); } },
      { every: 2000, isWanted: on("overview", "delivery", "ledger"), path: "/uplinks", take: (text) => { state.uplinks = JSON.parse(text).uplinks; },
        lost: (error, source) => { source.isAbsent = error.status === 404; } },
    ];
  }

  text(path, accept = []) { return send("GET", path, { accept, signal: this.controller.signal }).then((response) => response.text()); }

  start() {
    if (this.timer) return;
    this.controller = new AbortController();
    for (const source of this.sources) source.due = 0;
    this.timer = setInterval(() => this.poll(), 250);
    this.poll();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.controller?.abort();
  }

  /** Requests everything again at once, such as after a command. */
  hurry() {
    for (const source of this.sources) source.due = 0;
    if (this.timer) this.poll();
  }

  /** Returns the time between two statuses, in ms. */
  period() { return this.sources[0].period ?? this.sources[0].every; }

  takeStatus(status) {
    if (!takeStatus(status)) return;
    for (const source of this.sources) source.isAbsent = false;
    this.onRestart();
  }

  poll() {
    for (const source of this.sources) {
      if (!source.busy && !source.isAbsent && performance.now() >= source.due && (!source.isWanted || source.isWanted())) this.load(source);
    }
  }

  async load(source) {
    source.busy = true;
    const begin = performance.now();
    const { signal } = this.controller;
    let size = 0;
    try {
      const text = await this.text(source.path, source.accept);
      size = text.length;
      source.take(text);
    } catch (error) {
      if (!signal.aborted && source.lost) source.lost(error, source);
      if (!(error instanceof Refusal || error instanceof TypeError || error.name === "TimeoutError" || signal.aborted)) throw error;
    } finally {
      source.busy = false;
      source.period = Math.max(source.every, size / bytesPerMs);
      source.due = begin + source.period;
      if (!signal.aborted) this.onChange();
    }
  }
}
