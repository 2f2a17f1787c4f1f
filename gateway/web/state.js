/** Everything that the page knows about the gateway, and the polling that keeps it up to date. */
import { Refusal, getJson, send } from "./api.js";

const sparkPoints = 60;
const sparkChannelsMax = 5000;  // memory: 240 bytes each
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

/** Each is requested while `isWanted`, at most every `every` ms, and so rarely that it takes at most 5 % of the time. */
export class Poller {
  constructor({ onChange, onRestart, onLost, view }) {
    Object.assign(this, { onChange, onRestart, onLost, timer: null, controller: null });
    const on = (...names) => () => names.includes(view());
    this.sources = [
      { every: 1000, load: () => this.json("/status"), take: (status) => takeStatus(status) && this.onRestart(),
        lost: (error) => { state.problem = error.message; this.onLost(error); } },
      { every: 2000, load: async () => (await send("GET", "/readyz?verbose", { accept: [503], signal: this.controller.signal })).text(), take: takeChecks },
      { every: 5000, load: async () => (await send("GET", "/metrics", { signal: this.controller.signal })).text(), take: takeMetrics },
      { every: 2000, load: () => this.json("/alarms"), take: (alarms) => { state.alarms = alarms; } },
      { every: 2000, isWanted: on("overview", "ledger"), load: () => this.json("/events?limit=100"), take: (events) => { state.events = events; } },
      { every: 5000, isWanted: on("overview", "delivery"), load: () => this.json("/log"), take: (log) => { state.log = log; } },
      { every: 2000, isWanted: on("overview", "delivery"), load: () => this.json("/uplinks"),
        take: (uplinks) => { state.uplinks = Array.isArray(uplinks) ? uplinks : uplinks.uplinks; },
        lost: (error, source) => { if (error.status === 404) { state.uplinks = null; source.due = performance.now() + 60_000; } } },
    ];
  }

  json(path) { return getJson(path, { signal: this.controller.signal }); }

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

  poll() {
    for (const source of this.sources) {
      if (!source.busy && performance.now() >= source.due && (!source.isWanted || source.isWanted())) this.load(source);
    }
  }

  async load(source) {
    source.busy = true;
    const begin = performance.now();
    const { signal } = this.controller;
    source.due = Infinity;
    try {
      source.take(await source.load());
    } catch (error) {
      if (!signal.aborted && source.lost) source.lost(error, source);
      if (!(error instanceof Refusal || error instanceof TypeError || error.name === "TimeoutError" || signal.aborted)) throw error;
    } finally {
      const took = performance.now() - begin;
      source.busy = false;
      if (source.due === Infinity) source.due = begin + Math.max(source.every, 20 * took);
      if (!signal.aborted) this.onChange();
    }
  }
}
