/** Requests to the gateway. The token is kept in this variable only: never in a URL, a cookie or storage. */
let token = "";
let onUnknown = () => {};

export function setToken(text) { token = text; }
export const hasToken = () => token !== "";
/** `listener` is called when the gateway requires a token, or no longer knows this one. */
export function whenUnknown(listener) { onUnknown = listener; }

/** An error response; `problem` is its body (RFC 9457). */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `the gateway responded with status ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

const fields = () => token ? { Authorization: `Bearer ${token}` } : {};
const timeoutMs = 10_000;

const busyMs = 500;
const busyTries = 6;  // within timeoutMs, since a busy gateway responds after a second

/**
 * Sends a request; a GET again while the gateway is too busy to process it. Returns the response; throws Refusal, or
 * TypeError if there is no connection.
 */
export async function send(method, path, { body, type, headers = {}, accept = [], signal } = {}) {
  const limit = AbortSignal.timeout(timeoutMs);
  const request = {
    method, body, cache: "no-store", credentials: "same-origin", redirect: "error",
    headers: { ...fields(), ...(type ? { "Content-Type": type } : {}), ...headers },
    signal: signal && AbortSignal.any ? AbortSignal.any([signal, limit]) : limit,
  };
  let response = await fetch(path, request);
  for (let tries = 1; tries < busyTries && method === "GET" && response.status === 503 && !accept.includes(503); ++tries) {
    await new Promise((resolve) => setTimeout(resolve, busyMs));
    response = await fetch(path, request);
  }
  if (response.ok || accept.includes(response.status)) return response;
  let problem = {};
  try { problem = await response.json(); } catch { /* the status is sufficient */ }
  if (response.status === 401) onUnknown();
  throw new Refusal(response.status, problem);
}

const largeValueOrText = /"value":\s*(-?\d{16,})(?=\s*[,}])|"(?:[^"\\]|\\.)*"/g;
const mark = "\ud800";  // UTF-8 cannot encode it, so no text of the gateway contains it
const exact = (digits) => Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
/** Parses JSON. Integers of samples that a number cannot hold exactly are BigInt. */
export function parseJson(text) {
  const marked = text.replace(largeValueOrText, (found, digits) => digits ? `"value":"${mark}${digits}"` : found);
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (_, value) => typeof value === "string" && value[0] === mark ? exact(value.slice(1)) : value);
}

export const getJson = async (path, options) => parseJson(await (await send("GET", path, options)).text());
export const post = async (path) => (await send("POST", path)).json();

const retryMs = [500, 1000, 2000, 5000, 10_000];

/**
 * The event stream of the topics with some prefixes. It reconnects by itself and continues after the last event that it
 * received, even when the prefixes change. EventSource cannot send a token, so this reads the stream with fetch().
 */
export class SampleStream {
  constructor({ onSamples, onGap, onState }) {
    Object.assign(this, { onSamples, onGap, onState, lastId: "", wanted: "", tries: 0 });
  }

  /** Receives the topics that begin with one of these prefixes; none: closes the stream. */
  follow(prefixes) {
    const query = prefixes.map((prefix) => `prefix=${encodeURIComponent(prefix)}`).join("&");
    if (query === this.wanted) return;
    this.close();
    this.wanted = query;
    if (query) this.run(query);
  }

  close() {
    this.controller?.abort();
    clearTimeout(this.timer);
    this.controller = null;
    this.wanted = "";
  }

  /** Continues with the newest sample instead of the last one that was received. */
  forget() { this.lastId = ""; }

  async run(query) {
    const controller = this.controller = new AbortController();
    let problem = "the stream ended";
    try {
      const response = await fetch(`/stream?${query}`, {
        cache: "no-store", credentials: "same-origin", signal: controller.signal,
        headers: { ...fields(), Accept: "text/event-stream", ...(this.lastId ? { "Last-Event-ID": this.lastId } : {}) },
      });
      if (response.ok) {
        this.tries = 0;
        this.onState(null);
        await this.read(response.body.getReader());
      } else {
        if (response.status === 422) this.forget();
        problem = (await response.json()).detail;
      }
    } catch (error) {
      problem = error.message;
    }
    if (controller.signal.aborted) return;
    this.onState(problem);
    this.timer = setTimeout(() => this.run(query), retryMs[Math.min(this.tries++, retryMs.length - 1)]);
  }

  async read(reader) {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = events.pop();
      const samples = [];
      for (const event of events) this.take(event, samples);
      if (samples.length) this.onSamples(samples);
    }
  }

  take(event, samples) {
    let kind = "";
    for (const line of event.split("\n")) {
      if (line.startsWith("id: ")) this.lastId = line.slice(4);
      else if (line.startsWith("event: ")) kind = line.slice(7);
      else if (line.startsWith("data: ") && kind === "sample") samples.push(parseJson(line.slice(6)));
      else if (line.startsWith("data: ") && kind === "gap") this.onGap(JSON.parse(line.slice(6)));
    }
  }
}

/** Returns at most `limit` prefixes that match all topics: neighbors with the longest common beginning are merged. */
export function prefixesOf(topics, limit = 16) {
  const prefixes = [...new Set(topics)].sort();
  const common = (a, b) => {
    let size = 0;
    while (size < a.length && a[size] === b[size]) ++size;
    return a.slice(0, size);
  };
  while (prefixes.length > limit) {
    let best = 0;
    let longest = -1;
    for (let at = 0; at + 1 < prefixes.length; ++at) {
      const size = common(prefixes[at], prefixes[at + 1]).length;
      if (size > longest) [best, longest] = [at, size];
    }
    prefixes.splice(best, 2, common(prefixes[best], prefixes[best + 1]));
  }
  return prefixes;
}
