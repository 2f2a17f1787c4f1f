/** The view "Settings": effective values with origin and meaning, and changes with a dry run, built from the JSON schema. */
import { Refusal, getJson, post, send } from "./api.js";
import { duration, h, notify, plural, setAttribute, setText, sync, table, timeText } from "./dom.js";
import { isAdmin, state } from "./state.js";

const appliesText = { live: "", restart: "needs a restart", file: "only in the settings file" };

const shown = (value) => value === undefined || value === null ? "" : Array.isArray(value) ? value.join(", ") : String(value);
const escaped = (part) => part.replaceAll("~", "~0").replaceAll("/", "~1");
const pointerOf = (path) => path.map((part) => `/${escaped(part)}`).join("");

/** Returns the type of a setting for its input. */
function typeOf(schema) {
  if (schema.enum) return "choice";
  return [schema.type].flat().find((type) => type !== "null") ?? "string";
}

/** Returns the JSON value of a text, or the text if it has the wrong form, so that the gateway explains the problem. */
function parsed(schema, text) {
  const number = (given) => given.trim() !== "" && Number.isFinite(Number(given)) ? Number(given) : given;
  switch (typeOf(schema)) {
    case "integer":
    case "number": return text.trim() === "" ? null : number(text);
    case "boolean": return text === "true";
    case "array": {
      const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
      return ["integer", "number"].includes(schema.items?.type) ? parts.map(number) : parts;
    }
    default: return text;
  }
}

export class SettingsView {
  async enter(root, query) {
    this.changes = new Map();  // pointer -> {path, value}
    this.problems = new Map();  // pointer -> text
    this.inputs = new Map();   // pointer -> {input, note}
    this.added = new Map();    // pointer -> {path, schema, values}
    this.checked = false;
    this.filter = h("input", { type: "search", id: "setting-search", value: query.get("q") ?? "", autocomplete: "off", spellcheck: false, oninput: () => this.applyFilter() });
    this.sections = h("div", { class: "sections" });
    this.bar = h("div", { class: "change-bar wide", hidden: true });
    this.revert = h("p", { class: "notice warn wide", hidden: true });
    this.buildBar();
    root.append(this.revert, this.bar, h("section", { "aria-label": "Settings", class: "wide" },
      h("div", { class: "tools" }, h("h2", {}, "Settings"), h("span", { class: "field grow" }, h("label", { for: "setting-search" }, "Search"), this.filter)),
      this.intro = h("p", { class: "muted" }), this.sections, this.adding = h("form", { class: "tools", hidden: true, onsubmit: (event) => { event.preventDefault(); this.add(); } })));
    await this.load();
  }

  update() {
    const reverts = state.status?.config.reverts;
    this.revert.hidden = !reverts;
    if (reverts && this.revert.generation !== reverts.generation) {
      this.revert.generation = reverts.generation;
      this.revert.replaceChildren(h("span", {}, `The last change will be undone at ${timeText(reverts.time)} unless it is confirmed. `),
        isAdmin() && h("button", { type: "button", onclick: () => this.command("/config/confirm", "Confirmed.") }, "Keep the change"), " ",
        isAdmin() && h("button", { type: "button", onclick: () => this.command("/config/rollback", "Undone.") }, "Undo now"));
    }
  }

  async command(path, done) {
    try {
      await post(path);
      notify("settings", "good", done);
      this.onCommand();
      await this.load();
    } catch (error) {
      notify("settings", "bad", error.message);
    }
  }

  async load() {
    try {
      const response = await send("GET", "/config");
      this.entityTag = response.headers.get("ETag");
      this.config = await response.json();
      this.schema ??= (await getJson("/openapi.json")).components.schemas.Settings;
      this.origins = await getJson("/config/origins");
    } catch (error) {
      return setText(this.intro, `The settings are unavailable: ${error.message}`);
    }
    this.changes.clear();
    this.problems.clear();
    this.added.clear();
    const { path, differs_from_file: differs } = state.status?.config ?? {};
    setText(this.intro, `Settings file: ${path || "none"}. ${differs ? "The settings in force differ from the file; a reload or restart applies the file." : ""} `
      + (isAdmin() ? "Changes apply to the running gateway and are not written to the file. Programs, paths, destinations and secrets can only be set in the file." : "Your role may only read."));
    this.showSections();
    this.buildAdding();
    this.showBar();
  }

  /** The kinds of sections with a name, such as [device "NAME"]. */
  namedKinds() {
    return Object.entries(this.schema.properties).filter(([, { additionalProperties: one }]) => one?.properties || one?.oneOf);
  }

  buildAdding() {
    this.adding.hidden = !isAdmin();
    const kinds = this.namedKinds();
    const options = (schema) => schema.additionalProperties.oneOf ?? [];
    const needed = (option) => option.required.find((key) => option.properties[key]["x-applies"] === "file");
    this.kind = h("select", { id: "add-kind", onchange: () => showDrivers() }, kinds.map(([kind]) => h("option", {}, kind)));
    this.kind.value = "device";
    this.driver = h("select", { id: "add-driver" });
    this.newName = h("input", { id: "add-name", required: true, autocomplete: "off", spellcheck: false, "aria-describedby": "add-problem" });
    this.addProblem = h("p", { class: "problem", id: "add-problem", role: "alert" });
    const driverField = h("span", { class: "field" }, h("label", { for: "add-driver" }, "Driver"), this.driver);
    const showDrivers = () => {
      const drivers = options(this.schema.properties[this.kind.value]);
      driverField.hidden = drivers.length === 0;
      this.driver.replaceChildren(...drivers.map((option) => {
        const [name] = option.properties.driver.enum;
        const missing = needed(option);
        return h("option", { value: name, disabled: Boolean(missing) }, missing ? `${name} – only in the settings file, because of ${missing}` : name);
      }));
      this.driver.value = drivers.find((option) => !needed(option))?.properties.driver.enum[0] ?? "";
    };
    showDrivers();
    this.adding.replaceChildren(h("h2", {}, "New section"), h("span", { class: "field" }, h("label", { for: "add-kind" }, "Kind"), this.kind),
      h("span", { class: "field" }, h("label", { for: "add-name" }, "Name"), this.newName), driverField,
      h("button", { id: "add-section" }, "Add"), this.addProblem);
  }

  /** Adds a section to the changes. */
  add() {
    const kind = this.kind.value;
    const name = this.newName.value.trim();
    const path = [kind, name];
    const pointer = pointerOf(path);
    const isKnown = this.added.has(pointer) || this.config[kind]?.[name] !== undefined;
    setText(this.addProblem, isKnown ? `[${kind} "${name}"] exists already.` : "");
    if (isKnown) return;
    const one = this.schema.properties[kind].additionalProperties;
    const schema = one.oneOf?.find((option) => option.properties.driver.enum.includes(this.driver.value)) ?? one;
    const values = one.oneOf ? { driver: this.driver.value } : {};
    const section = { path, schema, values };
    this.added.set(pointer, section);
    this.changes.set(pointer, { path, value: values });
    this.filter.value = "";
    this.applyFilter();
    const element = this.makeSection(section, new Set([path.join(" ")]));
    this.sections.append(element);
    this.newName.value = "";
    this.changed();
    element.querySelector("td input, td select, button").focus();
  }

  /** Removes a section with the next change, or keeps it after all. */
  toggleSection(section, details, button) {
    const pointer = pointerOf(section.path);
    const isKept = this.changes.get(pointer)?.value === null;
    for (const each of [...this.changes.keys()]) {
      if (each === pointer || each.startsWith(`${pointer}/`)) this.changes.delete(each);
    }
    if (this.added.delete(pointer)) details.remove();
    else if (!isKept) this.changes.set(pointer, { path: section.path, value: null });
    setAttribute(details, "class", this.changes.has(pointer) ? "removed" : false);
    setText(button, this.changes.has(pointer) ? "Keep this section" : "Remove this section");
    details.querySelector("div.scroll")?.replaceWith(this.makeTable(section));
    this.changed();
  }

  changed() {
    this.showProblems([]);
    this.checked = false;
    this.showBar();
  }

  /** Returns {path, schema, values} of each section. */
  list() {
    const found = [];
    for (const [kind, schema] of Object.entries(this.schema.properties)) {
      const values = this.config[kind] ?? {};
      if (schema.properties) {
        found.push({ path: [kind], schema, values });
        continue;
      }
      for (const [name, each] of Object.entries(values)) {
        const one = schema.additionalProperties;
        const fitting = one.oneOf?.find((option) => Object.entries(option.properties).every(([key, rule]) => !rule.enum || each[key] === undefined || rule.enum.includes(each[key])));
        found.push({ path: [kind, name], schema: fitting ?? one, values: each });
      }
    }
    return found;
  }

  showSections() {
    this.inputs.clear();
    const open = new Set([...this.sections.querySelectorAll("details[open]")].map((each) => each.dataset.section));
    this.sections.replaceChildren(...this.list().map((section) => this.makeSection(section, open)));
    this.applyFilter();
  }

  makeSection(section, open) {
    const name = section.path.join(" ");
    const body = h("div");
    const isNamed = isAdmin() && this.namedKinds().some(([kind]) => kind === section.path[0]);
    const remove = isNamed && h("button", { type: "button", "aria-label": `Remove ${name}`, onclick: () => this.toggleSection(section, details, remove) }, "Remove this section");
    const fill = () => {
      if (body.firstChild) return;
      body.append(this.makeTable(section));
      if (remove) body.append(h("p", { class: "section-buttons" }, remove));
    };
    const details = h("details", { "data-section": name, ontoggle: () => details.open && fill() },
      h("summary", {}, h("code", {}, section.path.length > 1 ? `[${section.path[0]} "${section.path[1]}"]` : `[${name}]`),
        h("span", { class: "muted" }, section.schema.description ?? "")), body);
    details.fill = fill;
    details.keys = `${name} ${Object.keys(section.schema.properties).join(" ")}`.toLowerCase();
    details.open = open.has(name);
    if (details.open) fill();
    return details;
  }

  makeTable({ path, schema, values }) {
    const isNew = this.added.has(pointerOf(path));
    const required = isNew ? schema.required ?? [] : [];
    const keys = Object.keys(schema.properties).sort((a, b) => required.includes(b) - required.includes(a));
    const rows = keys.map((key) => this.makeRow([...path, key], schema.properties[key], values[key], required.includes(key)));
    return h("div", { class: "scroll" }, h("table", { "aria-label": `Settings of ${path.join(" ")}` },
      h("thead", {}, h("tr", {}, ["Setting", "Value", "Origin", "Meaning"].map((title) => h("th", { scope: "col" }, title)))), h("tbody", {}, rows)));
  }

  makeRow(path, rule, value, isRequired) {
    const pointer = pointerOf(path);
    const key = path.at(-1);
    const applies = rule["x-applies"] ?? "live";
    const id = `setting-${path.join("-")}`;
    const note = h("p", { class: "problem", id: `${id}-problem`, role: "alert" });
    const origin = path.reduce((place, part) => place?.[part], this.origins) ?? "default";
    const standard = rule.default === undefined ? "" : ` Default: ${shown(rule.default) || "empty"}.`;
    const isEditable = isAdmin() && applies === "live" && !(key === "driver");
    const input = isEditable ? this.makeInput(id, rule, value, pointer, path) : h("output", { id, class: "fixed" }, shown(value) || (value === undefined ? "not set" : "empty"));
    this.inputs.set(pointer, { input, note });
    return h("tr", { "data-key": key.toLowerCase() }, h("th", { scope: "row" }, h("label", { for: id }, key), isRequired && h("span", { class: "muted small" }, " required")),
      h("td", {}, input, note, [appliesText[applies], this.inForce(path)].filter(Boolean).map((text) => h("p", { class: "muted small" }, text))),
      h("td", { class: "muted" }, origin), h("td", { class: "meaning" }, (rule.description ?? "") + standard));
  }

  /** A device without an interval of its own uses that of the gateway. */
  inForce([kind, name, key]) {
    const device = kind === "device" && key === "interval_ms" && state.status?.sampler.devices.find((each) => each.name === name);
    return device ? `in force: ${duration(device.interval_ms / 1000)}` : "";
  }

  makeInput(id, rule, value, pointer, path) {
    const change = () => this.change(pointer, path, rule, value, input.value);
    const common = { id, "aria-describedby": `${id}-problem`, oninput: change };
    let input;
    const type = typeOf(rule);
    if (type === "choice" || type === "boolean") {
      const choices = type === "choice" ? rule.enum : ["true", "false"];
      input = h("select", common, choices.map((choice) => h("option", { value: String(choice) }, String(choice))));
      if (value === undefined || value === null) input.prepend(h("option", { value: "" }, "not set"));
      input.value = shown(value);
    } else {
      input = h("input", { ...common, type: "text", value: shown(value), spellcheck: false, autocomplete: "off",
        inputmode: type === "integer" || type === "number" ? "decimal" : null,
        placeholder: value === undefined ? "not set" : "" });
    }
    return input;
  }

  change(pointer, path, rule, before, text) {
    if (text === shown(before)) this.changes.delete(pointer);
    else this.changes.set(pointer, { path, value: parsed(rule, text) });
    setAttribute(this.inputs.get(pointer).input, "class", this.changes.has(pointer) ? "changed" : false);
    this.changed();
  }

  patch() {
    const patch = {};
    for (const { path, value } of this.changes.values()) {
      let place = patch;
      for (const part of path.slice(0, -1)) place = place[part] ??= {};
      place[path.at(-1)] = value?.constructor === Object ? { ...value } : value;  // further changes are added to a copy
    }
    return JSON.stringify(patch);
  }

  buildBar() {
    this.summary = h("p", { role: "status" });
    this.planned = table("Changes", [
      { title: "Setting", show: (cell, change) => setText(cell, change.key) },
      { title: "Now", show: (cell, change) => setText(cell, change.from ?? "–") },
      { title: "New", show: (cell, change) => setText(cell, change.to ?? change.kind) },
      { title: "Applied by", show: (cell, change) => setText(cell, change.applies === "live" ? "running gateway" : change.applies) },
    ], { empty: "", keyOf: (change) => change.key });
    this.planned.hidden = true;
    this.checkButton = h("button", { type: "button", id: "settings-check", onclick: () => this.submit(true) }, "Check");
    this.applyButton = h("button", { type: "button", id: "settings-apply", class: "primary", onclick: () => this.submit(false) }, "Apply");
    this.undo = h("select", { id: "undo" }, h("option", { value: "" }, "until a restart or reload"), h("option", { value: "1m" }, "1 minute, unless confirmed"), h("option", { value: "10m" }, "10 minutes, unless confirmed"));
    this.bar.append(this.summary, this.planned, h("p", { class: "buttons" }, this.checkButton, this.applyButton,
      h("span", { class: "field" }, h("label", { for: "undo" }, "Duration"), this.undo),
      h("button", { type: "button", onclick: () => this.load() }, "Discard")));
  }

  showBar() {
    const number = this.changes.size;
    this.bar.hidden = number === 0;
    this.applyButton.disabled = !this.checked;
    if (!this.checked) {
      this.planned.hidden = true;
      setText(this.summary, `${plural(number, "change")}. Check shows the effect without changing anything.`);
    }
  }

  showProblems(errors) {
    for (const pointer of this.problems.keys()) {
      const field = this.inputs.get(pointer);
      if (field) {
        setText(field.note, "");
        setAttribute(field.input, "aria-invalid", false);
      }
    }
    this.problems.clear();
    const others = [];
    for (const { pointer, detail } of errors) {
      const field = this.inputs.get(pointer);
      if (!field) { others.push(detail); continue; }
      this.problems.set(pointer, detail);
      setText(field.note, detail);
      setAttribute(field.input, "aria-invalid", "true");
    }
    const [first] = this.problems.keys();
    if (first) {
      this.inputs.get(first).input.closest("details").open = true;
      this.inputs.get(first).input.focus();
    }
    return others;
  }

  async submit(isDryRun) {
    const query = new URLSearchParams(isDryRun ? { dry_run: "1" } : this.undo.value ? { revert_after: this.undo.value } : {});
    try {
      const response = await send("PATCH", `/config?${query}`, { body: this.patch(), type: "application/merge-patch+json", headers: this.entityTag ? { "If-Match": this.entityTag } : {} });
      const report = await response.json();
      this.showProblems([]);
      if (!isDryRun) {
        notify("settings", "good", `Applied as generation ${report.generation}.`);
        this.onCommand();
        return await this.load();
      }
      this.checked = true;
      setText(this.summary, report.changes.length ? "The gateway accepts these changes. Nothing has been changed yet." : "These values change nothing.");
      this.planned.hidden = report.changes.length === 0;
      this.planned.show(report.changes);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.checked = false;
      this.planned.hidden = true;
      const errors = error.problem.errors ?? [];
      const others = this.showProblems(errors);
      setText(this.summary, error.status === 412 ? "Other settings are in force by now. Discard loads them."
        : others.length ? others.join("; ") : errors.length ? `${plural(errors.length, "problem")}, shown at the setting. Nothing was changed.` : error.message);
    }
    this.applyButton.disabled = !this.checked;
  }

  applyFilter() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.sections.classList.toggle("filtered", words.length > 0);
    for (const details of this.sections.children) {
      const isWanted = words.every((word) => details.keys.includes(word));
      details.hidden = !isWanted;
      if (isWanted && words.length && !details.open) details.open = true;
      if (details.open) details.fill();
      for (const row of details.querySelectorAll("tbody tr")) {
        row.hidden = words.length > 0 && !words.every((word) => `${details.dataset.section.toLowerCase()} ${row.dataset.key}`.includes(word));
      }
    }
  }

  leave() {}
}
