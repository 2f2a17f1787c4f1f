/** Elements and texts. Nothing here parses HTML, so texts of devices and clients cannot become markup. */

/** Creates an element. Properties that begin with "on" are listeners; "class", "for" and names with a dash are attributes. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !["class", "list", "form", "role"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Changes a text only if it differs, so that selections and screen readers are not disturbed. */
export function setText(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

export function setAttribute(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Makes the children of `parent` match `items`: an element keeps its place, focus and listeners while its key exists. */
export function sync(parent, items, keyOf, make, update = () => {}) {
  const known = parent.keyed ??= new Map();
  const wanted = new Set();
  let next = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    if (wanted.has(key)) continue;
    wanted.add(key);
    let element = known.get(key);
    if (!element) known.set(key, element = make(item));
    update(element, item);
    if (element === next) next = next.nextSibling;
    else parent.insertBefore(element, next);
  }
  for (const [key, element] of known) {
    if (!wanted.has(key)) {
      element.remove();
      known.delete(key);
    }
  }
}

/** A table. Each column is {title, number, show(cell, item)}; `show` fills the cell. */
export function table(caption, columns, { empty = "None.", keyOf = (item) => item.name } = {}) {
  const head = h("tr", {}, columns.map((column) =>
    h("th", { scope: "col", class: column.number ? "number" : null }, column.title)));
  const body = h("tbody");
  const nothing = h("p", { class: "empty" }, empty);
  const element = h("table", { "aria-label": caption }, h("thead", {}, head), body);
  const make = () => h("tr", {}, columns.map((column, index) =>
    h(index === 0 ? "th" : "td",
      { class: column.number ? "number" : null, "data-title": column.title, scope: index === 0 ? "row" : null })));
  const update = (row, item) => columns.forEach((column, index) => column.show(row.children[index], item));
  const box = h("div", { class: "scroll" }, element, nothing);
  box.show = (items) => {
    element.hidden = items.length === 0;
    nothing.hidden = items.length > 0;
    sync(body, items, keyOf, make, update);
  };
  return box;
}

/** A tag with a state: good, warn, bad or off. Its symbol differs, so color is not the only difference. */
export function showTag(cell, kind, text) {
  let element = cell.firstElementChild;
  if (!element) cell.append(element = h("span"));
  if (element.className !== `tag ${kind}`) element.className = `tag ${kind}`;
  setText(element, text);
}

export function panel(title, ...children) {
  return h("section", { "aria-label": title }, h("h2", {}, title), ...children);
}

const whole = new Intl.NumberFormat("en-US");
const six = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 6, useGrouping: false });
const three = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
export const count = (number) => whole.format(number);
export const short = (number) => three.format(number);
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export function rate(perSecond) {
  if (perSecond === null) return "…";
  return perSecond >= 100 ? count(Math.round(perSecond)) : short(perSecond);
}

const units = { Cel: "°C", By: "B", "By/s": "B/s", 1: "", "Ohm": "Ω", "deg": "°" };
export const unitText = (unit) => units[unit] ?? unit;

/** The shortest text that identifies a value; it is never rounded. */
export const valueText = (value) => value === null || value === undefined ? "–" : String(value);

/** The minimum or maximum of an interval, which the gateway computes as a double: marked where that rounds integers. */
export const extremeText = (value) => Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER ? `≈ ${valueText(value)}` : valueText(value);

/** A computed number with six digits, marked if that changes it. */
export function rounded(number) {
  const text = six.format(number);
  return Number(text) === number ? text : `≈ ${text}`;
}

export function bytes(number) {
  const steps = ["B", "KiB", "MiB", "GiB", "TiB"];
  let step = 0;
  for (; number >= 1024 && step < steps.length - 1; ++step) number /= 1024;
  return `${short(number)} ${steps[step]}`;
}

/** "850 µs", "12 ms", "4.5 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return `${short(seconds * 1e6)} µs`;
  if (seconds < 1) return `${short(seconds * 1e3)} ms`;
  if (seconds < 60) return `${short(seconds)} s`;
  const two = (large, size, one, other) => {
    const rest = Math.floor(large % size / (size === 3600 ? 60 : size === 86400 ? 3600 : 1));
    return `${Math.floor(large / size)} ${one}${rest ? ` ${rest} ${other}` : ""}`;
  };
  if (seconds < 3600) return two(seconds, 60, "min", "s");
  return seconds < 86400 ? two(seconds, 3600, "h", "min") : two(seconds, 86400, "d", "h");
}

const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayTime = new Intl.DateTimeFormat("en-US",
  { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
/** Local time with the date. */
export const dateText = (time) => dayTime.format(new Date(time));
/** Local time; the date is shown if it is not today. */
export function timeText(time) {
  if (!time) return "–";
  const date = new Date(time);
  return date.toDateString() === new Date().toDateString() ? clockTime.format(date) : dayTime.format(date);
}

export function showTime(element, time) {
  setText(element, timeText(time));
  setAttribute(element, "title", time ?? false);
}

/** Saves a text as a file. */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const quoted = (value) => /[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
/** Rows of texts and numbers as CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe. */
export function csv(rows) {
  const field = (value) => typeof value === "string" && /^[=+@\t-]/.test(value) ? `'${value}` : String(value ?? "");
  return rows.map((row) => row.map((value) => quoted(field(value))).join(",")).join("\r\n") + "\r\n";
}

/** Opens the dialog for confirmations. Resolves to whether the user agreed. */
export function confirmed(title, text, yes) {
  const dialog = document.getElementById("confirm");
  setText(document.getElementById("confirm-title"), title);
  setText(document.getElementById("confirm-text"), text);
  setText(document.getElementById("confirm-yes"), yes);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

/** Shows a message for a while, or until it is replaced by one with the same key. */
export function notify(key, kind, text, forMs = 8000) {
  const notices = document.getElementById("notices");
  let notice = notices.querySelector(`[data-key="${key}"]`);
  if (!text) return notice?.remove();
  if (!notice) notices.append(notice = h("p", { "data-key": key }));
  notice.className = `notice ${kind}`;
  setText(notice, text);
  clearTimeout(notice.timer);
  if (forMs) notice.timer = setTimeout(() => notice.remove(), forMs);
}
