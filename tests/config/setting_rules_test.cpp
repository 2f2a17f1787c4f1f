#include "config/setting_slot.hpp"
#include "config/settings_table.hpp"
#include "device/common_settings.hpp"
#include "support/catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace telegate;

namespace {

const SettingRow& optional_whole() {
    return *find_setting("device", "errors_before_safe");
}

std::optional<std::uint32_t>& errors_of(DeviceSettings& device) {
    return part_of<DeviceOptions>(device.parts).errors_before_safe;
}

struct Limit {
    std::optional<double> value;
};

/// An optional number.
SettingRow optional_real() {
    SettingRow row{.section = "channel", .key = "limit", .rule = RealRule{.min = -1, .max = 1}, .unset = "no limit"};
    row.slot = slot_of<&Limit::value>;
    return row;
}

using Texts = std::vector<std::string>;

struct Columns {
    Texts texts;
};

SettingRow text_list_row(const TextListRule& rule) {
    SettingRow row{.section = "device", .key = "columns", .rule = rule};
    row.slot = slot_of<&Columns::texts>;
    return row;
}

}  // namespace

TEST_CASE("an optional whole number has no value until it is set", "[config][rules]") {
    DeviceSettings device;
    CHECK(optional_whole().slot.is_optional);
    CHECK(is_unset(optional_whole(), &device));
    CHECK(value_text(optional_whole(), &device) == optional_whole().unset);
    REQUIRE_FALSE(assign(optional_whole(), &device, "0"));
    CHECK(errors_of(device) == 0);
    CHECK_FALSE(is_unset(optional_whole(), &device));
    CHECK(value_text(optional_whole(), &device) == "0");
}

TEST_CASE("an empty text or a reset removes an optional number", "[config][rules]") {
    DeviceSettings device;
    errors_of(device) = 5;
    REQUIRE_FALSE(assign(optional_whole(), &device, ""));
    CHECK_FALSE(errors_of(device).has_value());
    errors_of(device) = 5;
    reset(optional_whole(), &device);
    CHECK_FALSE(errors_of(device).has_value());
}

TEST_CASE("a refused number leaves an optional number unchanged", "[config][rules]") {
    DeviceSettings device;
    errors_of(device) = 5;
    CHECK(assign(optional_whole(), &device, "-1") ==
          "out of range: \"-1\"; must be a whole number without a unit, 0 to 1000000 (readings), or empty");
    CHECK(assign(optional_whole(), &device, "x", Notation::json) ==
          "not a whole number: \"x\"; must be a whole number without a unit, 0 to 1000000 (readings), or null");
    CHECK(errors_of(device) == 5);
}

TEST_CASE("a real number can be optional", "[config][rules]") {
    ChannelSettings channel;
    const SettingRow row = optional_real();
    CHECK(allowed_text(row) == "a number, -1 to 1, or empty");
    CHECK(value_text(row, &channel) == "no limit");
    CHECK(default_text(row) == "no limit");
    REQUIRE_FALSE(assign(row, &channel, "0.25"));
    CHECK(value_text(row, &channel) == "0.25");
    CHECK(assign(row, &channel, "2").has_value());
    CHECK(value_text(row, &channel) == "0.25");
    REQUIRE_FALSE(assign(row, &channel, ""));
    CHECK(is_unset(row, &channel));
}

TEST_CASE("a list of texts keeps the order of its elements", "[config][rules]") {
    DeviceSettings device;
    const SettingRow row = text_list_row({.holds = Holds::plain, .allowed = "a name", .count_max = 3});
    CHECK(is_list(row));
    CHECK(type_text(row) == "list of texts");
    REQUIRE_FALSE(assign(row, &device, "time , \"b c\",#1"));
    CHECK(part_of<Columns>(device.parts).texts == Texts{"time", "\"b c\"", "#1"});
    CHECK(value_text(row, &device) == "time, \"b c\", #1");
    REQUIRE_FALSE(assign(row, &device, ""));
    CHECK(part_of<Columns>(device.parts).texts.empty());
}

TEST_CASE("an invalid list of texts is refused and stores nothing", "[config][rules]") {
    const SettingRow row = text_list_row({.holds = Holds::plain,
                                          .allowed = "1 to 4 of a b",
                                          .characters = "ab",
                                          .bytes_max = 4,
                                          .count_max = 2,
                                          .may_be_empty = false});
    const std::string allowed = "; must be one or more and at most 2 texts separated by commas, each 1 to 4 of a b";
    const auto [text, fault] = GENERATE(table<std::string, std::string>({{"", "invalid value: \"\""},
                                                                         {"a,", "invalid value: \"\""},
                                                                         {"a,,b", "invalid value: \"\""},
                                                                         {"c", "invalid value: \"c\""},
                                                                         {"abaab", "invalid value: \"abaab\""},
                                                                         {"a, a", "duplicate value: \"a\""},
                                                                         {"a,b,ab", "one value too many: \"ab\""}}));
    CAPTURE(text);
    DeviceSettings device;
    part_of<Columns>(device.parts).texts = {"old"};
    CHECK(assign(row, &device, text) == fault + allowed);
    CHECK(part_of<Columns>(device.parts).texts == Texts{"old"});
}

TEST_CASE("an element of a list of texts must be valid in every source and file", "[config][rules]") {
    const auto* const text = GENERATE("a\\", "a\\,b", "a\x01", "\x7f");
    DeviceSettings device;
    CHECK(
        assign(text_list_row({.holds = Holds::plain, .allowed = "a text", .count_max = 9}), &device, text).has_value());
}

TEST_CASE("a list of texts may contain duplicates if its rule allows them", "[config][rules]") {
    DeviceSettings device;
    REQUIRE_FALSE(
        assign(text_list_row({.holds = Holds::plain, .allowed = "a text", .count_max = 9, .may_repeat = true}), &device,
               "-,a,-"));
    CHECK(part_of<Columns>(device.parts).texts == Texts{"-", "a", "-"});
}

TEST_CASE("a text can have a maximum length", "[config][rules]") {
    const SettingRow& unit = *find_setting("channel", "unit");
    ChannelSettings channel;
    CHECK_FALSE(assign(unit, &channel, std::string(32, 'x')));
    CHECK(assign(unit, &channel, std::string(33, 'x')) ==
          "invalid value: \"" + std::string(33, 'x') + "\"; must be a unit of at most 32 bytes, or empty");
    CHECK(processing_of(channel).unit.size() == 32);
    CHECK_FALSE(assign(unit, &channel, ""));
}
