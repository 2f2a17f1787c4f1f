#include "settings_page.hpp"

#include "config/settings_table.hpp"

#include <string_view>
#include <variant>

namespace telegate {
namespace {

constexpr std::string_view introduction = R"(# Settings

<!-- Made by telegate_reference from the settings table. Edits here are lost. -->

`gateway_app --config FILE` reads settings from several sources. A later one wins:

1. the defaults below
2. `FILE`
3. the files `*.ini` in the folder `conf.d` beside it, or in `--config-dir DIR`, sorted by name; hidden ones are left out
4. variables of the environment, such as `TELEGATE_QUEUE_POLICY`
5. `--set queue.policy=block`, in the order given
6. `--log-level`

| to | do |
|---|---|
| see every value with where it was given | `gateway_app --config FILE --print-config` |
| get a file with all keys, explained | `gateway_app --print-config=ini`; with `--config FILE` it has the values that hold; what is a default for a channel stays a comment |
| get the same as JSON | `gateway_app --config FILE --print-config=json`; [settings.schema.json](settings.schema.json) is the schema |
| see whether the settings are right | `gateway_app --config FILE --check`, or `--check --output json` |
| see what a device says with them | `gateway_app --config FILE --read DEVICE` ([devices.md](devices.md#trying-a-device)) |
| see which changes need a restart | `curl -s http://127.0.0.1:8080/config \| gateway_app --config FILE --check --against -`, see [reload.md](reload.md#before-a-change) |

## Files

    # A comment: the first character of its line is # or ;
    sampling_interval_ms = 100

    [queue]
    policy = drop_oldest

    [device "boiler"]
    driver = simulated
    interval_ms = 1.5s
    waveforms = sine, \
                counter

A line is blank, a comment, `[section]`, `[section "name"]` or `key = value`. A value is the rest of its line, so `#` and quotes
are part of it: `site = "north"` sets a value with quotes. A backslash at the end joins the next line. Keys of `[gateway]` may
also stand before the first section. At most 1 MiB a file and 4096 bytes a line.

In one file, a section or a key that is there twice is a problem. Sections of one name in several files are one section. Of two
settings that exclude each other, the one from the later source holds.

Sections of which there can be several have a name: 1 to 64 of the characters `a-z 0-9 _ . -`. What is said of one channel of a
device stands in a section of its own that is named as its topic; the device must be there:

    [channel "boiler/sine"]
    unit = Cel

### Templates for equal devices

A device with `%d` in its name is a template. `instances` lists its instances: numbers and ranges from 0 to 65535, each number
once, at most 256. `%d` in names and values of its sections, and of its channels' sections, is the number of the instance:

    [device "inverter-%d"]
    driver = modbus
    instances = 1..20, 25
    endpoint = tcp://10.0.0.%d:502

    [channel "inverter-%d/power"]
    address = 40
    unit = W

    [device "inverter-7"]
    interval_ms = 5s

A section of one instance overrides the template, in the same file and in later sources; so does a variable such as
`TELEGATE_DEVICE_INVERTER_7_INTERVAL_MS`. A later source may add keys to the template or replace its `instances`. `%%d` in a value
of a template is the text `%d`. Elsewhere `%d` has no meaning. `--print-config` and `/config` show the devices that the templates
make, each value with the line of the template. A document of settings in JSON has no templates.

### Tables of channels

A device whose driver has a setting for it, such as `registers` of [modbus](drivers/modbus.md#tables-of-registers), takes its
channels from a CSV file: a row for each channel, a column for each key. A section `[channel "DEVICE/NAME"]` overrides its row.

### Tags

Words about the whole gateway go with its samples: in the payloads of the formats `json` and `cbor`, in the responses of the services
and of REST that have samples, in `catalog`, and as labels of the metric `telegate_tags_info`. The format `record` has none, nor
have notices.

    [tags]
    site = north
    line = 3

This is short for `[tags "site"]` with `value = north` and so on, which is how JSON and variables have it:
`{"tags": {"site": {"value": "north"}}}`, `TELEGATE_TAGS_SITE_VALUE`. `--set tags.site=north` is short as well. A name is 1 to 64 of the
characters `a-z 0-9 _`, no digit first. A change of a tag takes a restart. In Prometheus, a series gets the label of a tag by
`* on (instance) group_left (site) telegate_tags_info`.

## Values

- **Times and sizes.** A bare number is in the unit of its key, which the tables below give beside its type: `interval_ms = 250`.
  Any other unit may be written out, and is converted if that is exact: `250ms`, `1.5s`, `1m30s`, `2h`; else it is refused, as
  `250us` is for a key in milliseconds. Times: `us`, `ms`, `s`, `m` or `min`, `h`, `d`. Sizes: `B`, `kB`, `MB`, `GB` are powers of
  1000; `KiB`, `MiB`, `GiB`, or `K`, `M`, `G`, are powers of 1024.
- **Yes or no.** `yes`, `true`, `on`, `1`; `no`, `false`, `off`, `0`; in any letter case.
- **Lists.** Separated by commas. A key that is repeated in one source goes on with its list; an empty value begins it anew. The
  list of a later source stands in place of the earlier one.
- **Text.** No control characters, no blanks at its ends, no backslash at the last one. Those of a list have no commas either.
- **A number, or nothing.** No value is as if the key were not there.

## Environment

`TELEGATE_SECTION_KEY` gives a setting: `TELEGATE_QUEUE_POLICY=block`. Keys of `[gateway]` need no section:
`TELEGATE_LOG_LEVEL=debug`. Instances are named in between, with `_` for `.`, `-` and `/`:
`TELEGATE_DEVICE_BOILER_INTERVAL_MS=250`, `TELEGATE_CHANNEL_BOILER_SINE_UNIT=Cel`. They must be there already, in a file or by
`--set`. A variable that could mean two settings is a problem.

With `_FILE` behind it, a variable names a file that holds the value: `TELEGATE_LOG_LEVEL_FILE=/run/secrets/level`. One newline at its
end does not count. Both at once are a problem.

A variable that begins with `TELEGATE_` and means nothing is a warning, not a problem: other programs set such variables too.

## Command line

`--set SECTION.KEY=VALUE`, `--set SECTION.NAME.KEY=VALUE`, or `--set KEY=VALUE` for keys of `[gateway]`; as often as needed. The name
reaches from the first point to the last one before `=`. Instances can be made that way:
`--set device.probe.driver=simulated --set device.probe.interval_ms=10 --set channel.probe/sine.unit=Cel`.

## Problems

All problems of all sources are told at once, each as `file:line: key: what is wrong, what is allowed`; for variables and options,
`env TELEGATE_X: ...` and `--set ...: ...`. Files that cannot be read are told alone. The exit code is 78, or 66 when a file cannot be
read, or 77 when that is not permitted. `--check` plans the settings by the code of the start, and reads the files of tokens,
certificates and keys. A port or a file that two settings want is a problem too. What depends on the machine as it is now is a
warning: an address or an interface that the machine does not have; a folder of a socket or of the log file that is missing or closed;
a tty, a program, a file, a device of IIO or the address of a host name that a device needs and that is not there. So are Modbus
addresses that look like those of a manual. No device is opened: `--read DEVICE` does that ([devices.md](devices.md#trying-a-device)).
What it does not look for is whether another program has taken an address.

    gateway_app --config FILE --check --output json
    {"valid":false,"problems":[
      {"source":"file","file":"gateway.ini","line":3,"key":"queue_size","what":"\"x\" is not a whole number, ..."},
      {"source":"environment","variable":"TELEGATE_QUEUE_POLICY","key":"queue.policy","what":"..."},
      {"source":"command line","option":"--set queue.polcy=block","key":"queue.polcy","what":"..."}],"warnings":[]}

`key` is written as for `--set`. What a problem has none of is left out; the answer is one line.

## JSON

    {"gateway": {"log_level": "info"}, "device": {"boiler": {"driver": "simulated", "interval_ms": 1500, "autostart": true}}}

Numbers are in the unit of their key and have none of their own; lists are arrays; where a number may be nothing, that is `null`. What
is left out has its default. Problems name the place by a JSON pointer: `/device/boiler/interval_ms`, `/channel/boiler~1sine/unit`.
)";

/// Text in a cell of a table.
std::string cell(std::string text) {
    for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
        text.insert(at, 1, '\\');
    }
    return text;
}

/// Whether another setting stands in where this one is not given.
bool has_stand_in(const SettingRow& row) {
    return !row.unset.empty() && (find_setting(row.section, row.unset, row.driver) != nullptr ||
                                  find_setting("gateway", row.unset) != nullptr);
}

std::string setting_line(const SettingRow& row) {
    const std::string standard = default_text(row);
    const std::string shown = row.required         ? "(needed)"
                              : standard.empty()   ? "(nothing)"
                              : has_stand_in(row)  ? "that of `" + standard + "`"
                              : !row.unset.empty() ? standard
                                                   : "`" + standard + "`";
    return "| `" + std::string(row.key) + "` | " + std::string(type_text(row)) +
           (row.unit.empty() ? "" : ", " + std::string(row.unit)) + " | " + cell(allowed_text(row)) + " | " +
           cell(shown) + " | " + std::string(to_string(row.applies)) + " | " + cell(std::string(row.meaning)) + " |\n";
}

std::string table(std::string_view section, std::string_view driver) {
    std::string lines;
    for (const SettingRow& row : settings_table()) {
        if (row.section == section && row.driver == driver) {
            lines += setting_line(row);
        }
    }
    return lines.empty()
               ? ""
               : "| key | type | allowed | default | changed by | meaning |\n|---|---|---|---|---|---|\n" + lines;
}

std::string section_text(const SectionRow& section) {
    std::string text = "\n### [" + std::string(section.name) +
                       (section.named() ? " \"" + std::string(section.name_form) + "\"" : "") + "]\n\n" +
                       std::string(section.meaning);
    if (section.named()) {
        text += " At most " + std::to_string(section.count_max) + ".";
    }
    text += "\n\n" + table(section.name, "");
    std::string links;
    for (const std::string_view driver : driver_names()) {
        if (!table(section.name, driver).empty()) {
            links += (links.empty() ? "[" : ", [") + std::string(driver) + "](drivers/" + std::string(driver) +
                     ".md#settings)";
        }
    }
    return links.empty() ? text : text + "\nSettings that a driver adds are on its page: " + links + ".\n";
}

}  // namespace

std::string settings_page() {
    std::string text(introduction);
    text +=
        "\n## All settings\n\nA setting that is changed by `live` takes effect in a running gateway, one of "
        "`restart` at its next\nstart. `file` is live as well, but cannot be set over `PUT /config`, because it "
        "decides which "
        "program the\ngateway runs or which path it opens. The same applies to an endpoint with a path, `ipc://PATH` "
        "or "
        "`rtu:///PATH`.\n";
    for (const SectionRow& section : section_table()) {
        text += section_text(section);
    }
    return text;
}

std::span<const std::string_view> driver_names() {
    return std::get<ChoiceRule>(find_setting("device", "driver")->rule).choices;
}

std::string driver_settings(std::string_view driver) {
    std::string text = "<!-- Made by telegate_reference from the settings table. Edits here are lost. -->\n\n";
    const std::string of_device = table("device", driver);
    const std::string of_channel = table("channel", driver);
    text += of_device.empty()
                ? "It has no settings but those of [every device](../devices.md).\n"
                : "In a `[device]` section, beside those of [every device](../devices.md):\n\n" + of_device;
    if (!of_channel.empty()) {
        text +=
            "\nIn a `[channel]` section, beside those of [every channel](../settings.md#channel-devicechannel):\n\n" +
            of_channel;
    }
    return text + '\n';
}

}  // namespace telegate
