#include "config/settings_table.hpp"

#include "config/settings_instances.hpp"
#include "rows.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>

using namespace telegate;

namespace {

/// Calls `check` for every row, with its name captured.
template <class Check>
void for_each_row(Check check) {
    for (const SettingRow& row : settings_table()) {
        CAPTURE(row.section, row.type, row.key);
        check(row);
    }
}

/// The section of a row, with default values.
struct RowSection {
    explicit RowSection(const SettingRow& row) : owner(add_instance(settings, row.section, "")) {}

    Settings settings;
    const SettingOwner owner;
};

}  // namespace

TEST_CASE("every setting has a complete row", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        CHECK(find_section(row.section) != nullptr);
        CHECK_FALSE(row.key.empty());
        CHECK(row.meaning.size() > 10);
        CHECK(row.meaning.back() == '.');
        CHECK_FALSE(type_text(row).empty());
        CHECK_FALSE(allowed_text(row).empty());
        CHECK((row.slot.get != nullptr && row.slot.set != nullptr));
    });
}

TEST_CASE("a key that ends in _ms, _age, age_max or _interval has the unit ms", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        CHECK((row.key.ends_with("_ms") || row.key.ends_with("_age") || row.key == "age_max" ||
               row.key.ends_with("_interval") || row.key == "lag_alarm" || row.key == "ack_grace") ==
              (row.unit == "ms"));
    });
}

TEST_CASE("a key that ends in _us has the unit us", "[config][table]") {
    for_each_row([](const SettingRow& row) { CHECK(row.key.ends_with("_us") == (row.unit == "us")); });
}

TEST_CASE("the sections of the table are in order and contiguous", "[config][table]") {
    std::vector<std::string_view> sections;
    for_each_row([&](const SettingRow& row) {
        if (sections.empty() || sections.back() != row.section) {
            sections.push_back(row.section);
        }
    });
    std::vector<std::string_view> expected;
    for (const SectionRow& section : section_table()) {
        expected.push_back(section.name);
    }
    CHECK(sections == expected);
}

TEST_CASE("a setting of a type belongs to a section that has this type", "[config][table]") {
    for_each_row([&](const SettingRow& row) {
        if (!row.type.empty()) {
            CAPTURE(row.section, row.key);
            const auto types = types_of(row.section == "channel" ? "device" : row.section);
            CHECK(std::find(types.begin(), types.end(), row.type) != types.end());
        }
    });
}

TEST_CASE("a setting that needs a restart is in a section without a name", "[config][table]") {
    for_each_row(
        [](const SettingRow& row) { CHECK((row.applies != Applies::restart || !find_section(row.section)->named())); });
}

TEST_CASE("an optional setting has no other value that means the default", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        const auto* const whole = std::get_if<WholeRule>(&row.rule);
        CHECK_FALSE((row.slot.is_optional && whole != nullptr && whole->zero_is_default));
        CHECK_FALSE((row.slot.is_optional && row.required));
    });
}

TEST_CASE("a list of texts has a maximum number of elements", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        const auto* const list = std::get_if<TextListRule>(&row.rule);
        CHECK((list == nullptr || list->count_max > 0));
    });
}

TEST_CASE("destinations, paths, programs and secrets cannot be changed over REST", "[config][table]") {
    for_each_row([](const SettingRow& row) { CHECK((row.applies != Applies::live || !holds_of(row).is_for_files())); });
    for (const std::string_view key : {"url", "subject", "tls_server_name"}) {
        CHECK(holds_of(*find_setting("uplink", key, "nats")).kind() == Holds::destination);
    }
    CHECK(holds_of(*find_setting("device", "endpoint", "modbus")).kind() == Holds::destination);
    CHECK(holds_of(*find_setting("device", "environment", "exec")).kind() == Holds::secret);
}

TEST_CASE("a text that REST can change has a reason why it is harmless", "[config][table]") {
    // Rules bound numbers and choices, but not texts.
    using Reasons = std::map<std::string, std::string_view>;
    const Reasons harmless{
        {"gateway..name", "one word of a subject whose place a file determines"},
        {"tags..value", "published as it is"},
        {"publish..endpoint", "over REST, only loopback addresses without CURVE"},
        {"services..endpoint", "over REST, only loopback addresses without CURVE"},
        {"channel..tags", "published as they are"},
        {"device..tags", "published as they are"},
        {"channel..unit", "published as it is"},
        {"channel..texts", "published as they are"},
        {"channel.http.source", "looked up in a response"},
        {"device.exec.columns", "names"},
        {"device.exec.pattern", "an RE2 expression, evaluated in linear time"},
        {"device.exec.time_member", "a name"},
        {"device.exec.name_member", "a name"},
        {"device.host.processes", "names that are compared"},
        {"device.host.filesystems", "measured, not opened"},
        {"device.replay.source", "a name that is compared"},
        {"device.serial.columns", "names"},
        {"device.serial.pattern", "an RE2 expression, evaluated in linear time"},
        {"device.serial.frame_start", "bytes that are compared"},
        {"device.udp.multicast_group", "can only be set in files, because others can send to it"},
        {"device.udp.time_member", "a name"},
        {"device.udp.name_member", "a name"},
        {"uplink..topics", "names that are compared"},
        {"uplink.influxdb.field", "a name in a point"},
        {"uplink.influxdb.gaps", "a name in a point"},
        {"uplink.influxdb.measurement", "a name in a point"},
        {"uplink.influxdb.tags", "names that are compared"},
    };
    Reasons unused = harmless;
    for_each_row([&](const SettingRow& row) {
        const bool is_text =
            std::holds_alternative<TextRule>(row.rule) || std::holds_alternative<TextListRule>(row.rule);
        if (is_text && row.applies == Applies::live) {
            const std::string name =
                std::string(row.section) + '.' + std::string(row.type) + '.' + std::string(row.key);
            CAPTURE(name);
            CHECK(harmless.contains(name));
            unused.erase(name);
        }
    });
    CHECK(unused.empty());
}

TEST_CASE("an endpoint that names a path cannot be changed over REST", "[config][table]") {
    const SettingRow& publish = *find_setting("publish", "endpoint");
    CHECK(applies_to(publish, "tcp://127.0.0.1:5556") == Applies::live);
    CHECK(applies_to(publish, "ipc:///run/x") == Applies::file);
    CHECK(applies_to(*find_setting("device", "endpoint", "modbus"), "tcp://plc") == Applies::file);
}

TEST_CASE("settings exclude only settings of their own section", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        if (!row.excludes.empty()) {
            CHECK(find_setting(row.section, row.excludes, row.type) != nullptr);
        }
    });
}

TEST_CASE("no two rows have the same key or the same location", "[config][table]") {
    std::set<std::tuple<std::string_view, std::string_view, std::string_view>> keys;
    std::set<std::tuple<std::string_view, std::string_view, decltype(SettingSlot::set)>> places;
    for_each_row([&](const SettingRow& row) {
        CHECK(keys.emplace(row.section, row.type, row.key).second);
        CHECK((row.type.empty() || find_setting(row.section, row.key) == nullptr));
        CHECK(places.emplace(row.section, row.type, row.slot.set).second);
    });
}

TEST_CASE("every choice is stored and read as itself", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        const auto* const choice = std::get_if<ChoiceRule>(&row.rule);
        const auto* const list = std::get_if<ListRule>(&row.rule);
        for (const std::string_view name : choice != nullptr ? choice->choices
                                           : list != nullptr ? list->choices
                                                             : std::span<const std::string_view>()) {
            const RowSection section(row);
            CHECK(assign(row, section.owner, name) == std::nullopt);
            CHECK(value_text(row, section.owner) == name);
        }
    });
}

TEST_CASE("every whole number is stored and read as itself, up to the limits of its row", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        if (const auto* const whole = std::get_if<WholeRule>(&row.rule)) {
            for (const std::int64_t number : {whole->min, whole->max}) {
                CAPTURE(number);
                const RowSection section(row);
                CHECK(assign(row, section.owner, std::to_string(number)) == std::nullopt);
                CHECK(row.slot.get(section.owner) == SettingValue(number));
            }
        }
    });
}

TEST_CASE("every default is an allowed value and survives printing and parsing", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        const RowSection section(row);
        if (!row.required && row.unset.empty()) {
            CHECK(assign(row, section.owner, default_text(row)) == std::nullopt);
            CHECK(value_text(row, section.owner) == default_text(row));
        }
    });
}

TEST_CASE("several threads can read the defaults of all drivers", "[config][table][thread]") {
    const auto read_all = [] {
        std::string all;
        for (const SettingRow& row : settings_table()) {
            all += default_text(row) + '\n';
        }
        return all;
    };
    std::future<std::string> other = std::async(std::launch::async, read_all);
    CHECK(read_all() == other.get());
}

TEST_CASE("every row refuses an invalid text and stores nothing", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        const RowSection section(row);
        const auto fault = assign(row, section.owner, "\x01");
        REQUIRE(fault.has_value());
        CHECK(fault->find("; must be " + allowed_text(row)) != std::string::npos);
        CHECK(value_text(row, section.owner) == default_text(row));
    });
}

TEST_CASE("defaults come from the settings structs", "[config][table]") {
    CHECK(default_text(*find_setting("gateway", "queue_size")) == "auto");
    CHECK(default_text(*find_setting("rest", "listen")) == "127.0.0.1:8080");
    CHECK(default_text(*find_setting("device", "interval_ms")) == "sampling_interval_ms");
    CHECK(default_text(*find_setting("device", "waveforms", "simulated")) ==
          "sine, ramp, square, random_walk, noise, counter");
    CHECK(default_text(*find_setting("device", "amplitude", "simulated")) == "10");
    CHECK(default_text(*find_setting("device", "autostart")) == "yes");
    CHECK(default_text(*find_setting("publish", "endpoint")).empty());
    CHECK(default_text(*find_setting("sampling", "cpu_affinity")).empty());
}

TEST_CASE("an IPv6 address is printed in brackets", "[config][table]") {
    const SettingRow& listen = *find_setting("rest", "listen");
    Settings settings;
    CHECK(assign(listen, &settings, "[::1]:80") == std::nullopt);
    CHECK(value_text(listen, &settings) == "[::1]:80");
}

TEST_CASE("a driver setting is only found with its driver", "[config][table]") {
    CHECK(find_setting("device", "seed", "simulated") != nullptr);
    CHECK(find_setting("device", "seed", "host") == nullptr);
    CHECK(find_setting("device", "seed") == nullptr);
    CHECK(find_setting("device", "autostart", "host") == find_setting("device", "autostart"));
    CHECK(find_setting("queue", "autostart") == nullptr);
}

TEST_CASE("a text must be valid in every source and file", "[config][table]") {
    const SettingRow& row = *find_setting("device", "proc_root", "host");
    const RowSection section(row);
    const auto [text, good] = GENERATE(table<std::string, bool>({{"/a b", true},
                                                                 {"a#;\"", true},
                                                                 {"/a\\b", true},
                                                                 {" /a", false},
                                                                 {"/a\t", false},
                                                                 {"/a\\", false},
                                                                 {"/a\n", false},
                                                                 {"", false}}));
    CAPTURE(text);
    CHECK(assign(row, section.owner, text).has_value() == !good);
}

TEST_CASE("a text may be empty if its rule allows it", "[config][table]") {
    SettingRow row = *find_setting("device", "proc_root", "host");
    row.rule = TextRule{.holds = Holds::path, .prefixes = {}, .allowed = "a path, or empty", .may_be_empty = true};
    const RowSection section(row);
    CHECK(assign(row, section.owner, "") == std::nullopt);
    CHECK(value_text(row, section.owner).empty());
    CHECK(assign(row, section.owner, " ").has_value());
}

TEST_CASE("a reset restores the default", "[config][table]") {
    for_each_row([](const SettingRow& row) {
        const RowSection section(row);
        if (!row.required) {
            const auto* const listen = std::get_if<ListenRule>(&row.rule);
            const std::string other = listen != nullptr ? "[::1]:1" : default_text(row);
            (void)assign(row, section.owner, other);
            reset(row, section.owner);
            CHECK(value_text(row, section.owner) == default_text(row));
        }
    });
    Settings settings;
    settings.cpu_affinity = {1};
    reset(*find_setting("sampling", "cpu_affinity"), &settings);
    CHECK(settings.cpu_affinity.empty());
}

TEST_CASE("the allowed values in JSON are described in JSON terms", "[config][table]") {
    const auto allowed = [](std::string_view section, std::string_view key) {
        return allowed_text(*find_setting(section, key, "simulated"), Notation::json);
    };
    CHECK(allowed("device", "autostart") == "true or false");
    CHECK(allowed("device", "interval_ms") == "a whole number without a unit, 1 to 3600000 (ms)");
    CHECK(allowed("sampling", "cpu_affinity") == "an array of whole numbers, 0 to 1023");
    CHECK(allowed("queue", "policy") == "one of drop_oldest, drop_newest, block");
}
