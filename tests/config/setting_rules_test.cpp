#include "config/driver_rows.hpp"
#include "config/settings_table.hpp"
#include "support/catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace telegate;

namespace {

const SettingRow& optional_whole() {
    return *find_setting("device", "errors_before_safe");
}

SettingSlot real_slot(const SettingOwner& /*owner*/) {
    static std::optional<double> value;
    return &value;
}

/// A number of which there may be none.
SettingRow optional_real() {
    SettingRow row{.section = "channel", .key = "limit", .rule = RealRule{.min = -1, .max = 1}, .unset = "no limit"};
    row.slot = real_slot;
    return row;
}

using Texts = std::vector<std::string>;

SettingSlot texts_slot(const SettingOwner& owner) {
    return &part_of<Texts>(std::get<DeviceSettings*>(owner)->driver_settings);
}

SettingRow text_list_row(const TextListRule& rule) {
    SettingRow row{.section = "device", .key = "columns", .rule = rule};
    row.slot = texts_slot;
    return row;
}

}  // namespace

TEST_CASE("a whole number of which there may be none is not set until it is given", "[config][rules]") {
    DeviceSettings device;
    CHECK(is_optional(optional_whole()));
    CHECK(is_unset(optional_whole(), &device));
    CHECK(value_text(optional_whole(), &device) == optional_whole().unset);
    REQUIRE_FALSE(assign(optional_whole(), &device, "0"));
    CHECK(device.errors_before_safe == 0);
    CHECK_FALSE(is_unset(optional_whole(), &device));
    CHECK(value_text(optional_whole(), &device) == "0");
}

TEST_CASE("no text takes a number away again, and so does a reset", "[config][rules]") {
    DeviceSettings device;
    device.errors_before_safe = 5;
    REQUIRE_FALSE(assign(optional_whole(), &device, ""));
    CHECK_FALSE(device.errors_before_safe.has_value());
    device.errors_before_safe = 5;
    reset(optional_whole(), &device);
    CHECK_FALSE(device.errors_before_safe.has_value());
}

TEST_CASE("a number that is refused leaves an optional one as it is", "[config][rules]") {
    DeviceSettings device;
    device.errors_before_safe = 5;
    CHECK(assign(optional_whole(), &device, "-1") ==
          "\"-1\" is out of range, allowed: a whole number without unit, 0 to 1000000 (readings), or nothing");
    CHECK(assign(optional_whole(), &device, "x", Notation::json) ==
          "\"x\" is not a whole number, allowed: a whole number without unit, 0 to 1000000 (readings), or null");
    CHECK(device.errors_before_safe == 5);
}

TEST_CASE("a number with a fraction may be one of which there may be none", "[config][rules]") {
    ChannelSettings channel;
    const SettingRow row = optional_real();
    CHECK(allowed_text(row) == "a number, -1 to 1, or nothing");
    CHECK(value_text(row, &channel) == "no limit");
    CHECK(default_text(row) == "no limit");
    REQUIRE_FALSE(assign(row, &channel, "0.25"));
    CHECK(value_text(row, &channel) == "0.25");
    CHECK(assign(row, &channel, "2").has_value());
    CHECK(value_text(row, &channel) == "0.25");
    REQUIRE_FALSE(assign(row, &channel, ""));
    CHECK(is_unset(row, &channel));
}

TEST_CASE("a list of texts keeps them in their order", "[config][rules]") {
    DeviceSettings device;
    const SettingRow row = text_list_row({.allowed = "a name", .count_max = 3});
    CHECK(is_list(row));
    CHECK(type_text(row) == "list of texts");
    REQUIRE_FALSE(assign(row, &device, "time , \"b c\",#1"));
    CHECK(part_of<Texts>(device.driver_settings) == Texts{"time", "\"b c\"", "#1"});
    CHECK(value_text(row, &device) == "time, \"b c\", #1");
    REQUIRE_FALSE(assign(row, &device, ""));
    CHECK(part_of<Texts>(device.driver_settings).empty());
}

TEST_CASE("what is no list of texts is refused and stores nothing", "[config][rules]") {
    const SettingRow row = text_list_row(
        {.allowed = "1 to 4 of a b", .characters = "ab", .bytes_max = 4, .count_max = 2, .may_be_empty = false});
    const std::string allowed = ", allowed: one or more and at most 2 texts separated by commas, each 1 to 4 of a b";
    const auto [text, fault] = GENERATE(table<std::string, std::string>({{"", "\"\" is not allowed"},
                                                                         {"a,", "\"\" is not allowed"},
                                                                         {"a,,b", "\"\" is not allowed"},
                                                                         {"c", "\"c\" is not allowed"},
                                                                         {"abaab", "\"abaab\" is not allowed"},
                                                                         {"a, a", "\"a\" is there twice"},
                                                                         {"a,b,ab", "\"ab\" is one too many"}}));
    CAPTURE(text);
    DeviceSettings device;
    part_of<Texts>(device.driver_settings) = {"old"};
    CHECK(assign(row, &device, text) == fault + allowed);
    CHECK(part_of<Texts>(device.driver_settings) == Texts{"old"});
}

TEST_CASE("a text of a list fits a line", "[config][rules]") {
    const auto* const text = GENERATE("a\\", "a\\,b", "a\x01", "\x7f");
    DeviceSettings device;
    CHECK(assign(text_list_row({.allowed = "a text", .count_max = 9}), &device, text).has_value());
}

TEST_CASE("a text of a list may be there twice where its rule says so", "[config][rules]") {
    DeviceSettings device;
    REQUIRE_FALSE(assign(text_list_row({.allowed = "a text", .count_max = 9, .may_repeat = true}), &device, "-,a,-"));
    CHECK(part_of<Texts>(device.driver_settings) == Texts{"-", "a", "-"});
}

TEST_CASE("a text may have a number of bytes at most", "[config][rules]") {
    const SettingRow& unit = *find_setting("channel", "unit");
    ChannelSettings channel;
    CHECK_FALSE(assign(unit, &channel, std::string(32, 'x')));
    CHECK(assign(unit, &channel, std::string(33, 'x')) ==
          "\"" + std::string(33, 'x') + "\" is not allowed, allowed: a unit of at most 32 bytes, or nothing");
    CHECK(channel.unit.size() == 32);
    CHECK_FALSE(assign(unit, &channel, ""));
}
