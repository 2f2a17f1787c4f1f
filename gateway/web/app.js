/** Connects the parts of the page: navigation, the line at the top, login, and the views. */
import { getJson, hasToken, setToken, whenUnknown } from "./api.js";
import { ChannelsView } from "./channels.js";
import { DeliveryView } from "./delivery.js";
import { bytes, duration, h, notify, setAttribute, setText, showTag, short, sync } from "./dom.js";
import { LedgerView } from "./ledger.js";
import { OverviewView } from "./overview.js";
import { SettingsView } from "./settings.js";
import { Poller, checkText, state } from "./state.js";

const renderMs = 250;
const oldMs = 4000;  // at least; large statuses are requested less often

const views = {
  overview: ["Overview", new OverviewView()],
  channels: ["Channels", new ChannelsView(setAddress)],
  delivery: ["Delivery and log", new DeliveryView()],
  ledger: ["Ledger and losses", new LedgerView()],
  settings: ["Settings", new SettingsView()],
};
const root = document.getElementById("view");
let current = null;

function parseAddress() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return [path in views ? path : "overview", new URLSearchParams(query)];
}

/** Replaces the address, which then shows the same when it is opened again. */
function setAddress(name, query) {
  const text = query.toString();
  history.replaceState(null, "", `#/${name}${text ? `?${text}` : ""}`);
}

function open() {
  const [name, query] = parseAddress();
  const view = views[name][1];
  if (current) current.leave?.();
  if (current !== view) scrollTo(0, 0);
  root.replaceChildren();
  root.className = name;
  current = view;
  view.enter(root, query);
  poller.hurry();
  render();
}

const viewName = () => parseAddress()[0];
const poller = new Poller({
  view: viewName,
  onChange: requestRender,
  onRestart: () => {
    notify("restart", "warn", "The gateway was restarted. Counters and sequence numbers start again.", 20_000);
    identify();
  },
  onLost: (error) => { if (error.status === 401) login(); },
});

let renderedAt = 0;
let renderTimer = null;
/** Renders at most every 250 ms, whatever changes. */
function requestRender() {
  if (renderTimer || document.hidden) return;
  renderTimer = setTimeout(() => { renderTimer = null; requestAnimationFrame(render); }, Math.max(0, renderMs - (performance.now() - renderedAt)));
}

function render() {
  renderedAt = performance.now();
  showTitle();
  showNavigation();
  showHealth();
  showFacts();
  current?.update();
}

function showTitle() {
  const title = [views[viewName()][0], state.status?.gateway, "Telegate"].filter(Boolean).join(" – ");
  if (document.title !== title) document.title = title;
}

function showNavigation() {
  const active = viewName();
  const alarms = state.alarms?.active.length ?? 0;
  sync(document.getElementById("views"), Object.entries(views), ([name]) => name, ([name, [title]]) => h("a", { href: `#/${name}` }, title), (link, [name, [title]]) => {
    setAttribute(link, "aria-current", name === active ? "page" : false);
    setText(link, name === "overview" && alarms ? `${title} (${alarms})` : title);
  });
}

function showHealth() {
  const line = document.getElementById("health");
  if (!state.status) return showTag(line, state.problem ? "bad" : "off", state.problem ? `No connection: ${state.problem}` : "Connecting");
  if (state.problem) return showTag(line, "bad", "Not connected");
  const failed = state.checks.filter((check) => check.kind === "bad");
  const warned = state.checks.filter((check) => check.kind === "warn");
  const reason = (checks) => checks.map((check) => `${checkText(check.name)}: ${check.text}`).join("; ");
  setAttribute(line, "title", reason([...failed, ...warned]) || false);
  if (failed.length) showTag(line, "bad", `Not ready – ${reason(failed)}`);
  else if (warned.length) showTag(line, "warn", `Ready – ${reason(warned)}`);
  else showTag(line, "good", state.ready === null ? "Connected" : "Ready");
}

function showFacts() {
  const { status, process } = state;
  const clock = status?.clock;
  const facts = status ? [
    ["Version", status.version],
    ["Uptime", duration(status.uptime_s < 60 ? Math.floor(status.uptime_s) : status.uptime_s)],
    ["Clock", clock.synchronized === null ? "unknown" : clock.synchronized ? `±${duration(clock.estimated_error_s ?? 0)}` : "not synchronized"],
    ["CPU", process?.cpu === null || process?.cpu === undefined ? "…" : `${short(process.cpu * 100)} %`],
    ["Memory", process ? bytes(process.memory) : "…"],
  ] : [];
  sync(document.getElementById("facts"), facts, ([name]) => name, () => h("div", {}, h("dt"), h("dd")), (item, [name, text]) => {
    setText(item.firstChild, name);
    setText(item.lastChild, text);
  });
}

/** Says when the shown data is old. */
function watchAge() {
  if (document.hidden) return;
  const age = performance.now() - state.statusAt;
  const isOld = state.status !== null && age > Math.max(oldMs, 2.5 * poller.period());
  document.body.classList.toggle("old", isOld);
  const since = new Date(Date.now() - age).toLocaleTimeString("en-GB");
  notify("old", "bad", isOld ? `Old data: the gateway has not responded since ${since}. Trying again…` : "", 0);
  if (isOld) showHealth();
}

async function identify() {
  try {
    state.me = await getJson("/whoami");
    const who = document.getElementById("who");
    who.replaceChildren(h("span", { class: "muted" }, `${state.me.name} (${state.me.role})`),
      ...(hasToken() ? [h("button", { type: "button", class: "link", onclick: () => location.reload() }, "Log out")] : []));
    poller.start();
  } catch (error) {
    if (error.status === 401) login();
    else {
      state.problem = error.message;
      poller.start();
    }
  }
  requestRender();
}

const dialog = document.getElementById("login");
function login() {
  poller.stop();
  views.channels[1].pause();
  if (!dialog.open) dialog.showModal();
}
whenUnknown(login);
dialog.addEventListener("cancel", (event) => event.preventDefault());
document.getElementById("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = document.getElementById("token");
  const problem = document.getElementById("login-problem");
  setText(problem, "");
  setToken(input.value.trim());
  try {
    await getJson("/whoami");
  } catch (error) {
    setToken("");
    setText(problem, error.message);
    return;
  }
  input.value = "";
  dialog.close();
  await identify();
  open();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    poller.stop();
    views.channels[1].pause();
  } else if (!dialog.open) {
    poller.start();
    if (current === views.channels[1]) current.resume();
  }
});
addEventListener("hashchange", open);
for (const [, view] of Object.values(views)) {
  view.onCommand = () => poller.hurry();
  view.onChange = requestRender;
}
setInterval(watchAge, 1000);
open();
identify();
