#include "settings/settings_json.hpp"

#include "config/problems.hpp"
#include "config/settings_diff.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "config/settings_text.hpp"
#include "device/common_settings.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/setting_values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>

using namespace telegate;

namespace {

/// Generates random settings that the table allows.
class Draw {
  public:
    explicit Draw(std::uint32_t seed) : random_(seed) {}

    Settings settings() {
        Settings settings;
        for (std::size_t i = below(4); i > 0; --i) {
            settings.publish.emplace_back().name = "p" + std::to_string(i);
            settings.publish.back().endpoint =
                below(2) == 0 ? "tcp://*:0" : "ipc:///a \"b\"\\c\xc3\xa4" + std::to_string(i);
        }
        for (std::size_t i = below(5); i > 0; --i) {
            settings.devices.emplace_back().name = "d." + std::to_string(i);
            const auto drivers = std::get<ChoiceRule>(find_setting("device", "driver")->rule).choices;
            settings.devices.back().driver = drivers[below(drivers.size())];
            for (std::size_t j = below(3); j > 0; --j) {
                settings.channels.emplace_back().name = settings.devices.back().name + "/c-" + std::to_string(j);
            }
        }
        walk(settings, [&](const SettingSpot& spot) {
            const bool excluded = (!spot.row.excludes.empty() && !is_free(spot)) || spot.row.names_channels;
            const bool is_given = spot.row.required ? value_text(spot.row, spot.owner).empty() : below(2) == 0;
            if (is_given && !excluded) {
                REQUIRE_FALSE(assign(spot.row, spot.owner, text_for(spot.row.rule)));
            }
        });
        return settings;
    }

  private:
    std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

    static bool is_free(const SettingSpot& spot) {
        return is_unset(*find_setting(spot.row.section, spot.row.excludes), spot.owner);
    }

    std::string text_for(const SettingRule& rule) {
        if (std::holds_alternative<BooleanRule>(rule)) {
            return below(2) == 0 ? "yes" : "no";
        }
        if (const auto* const whole = std::get_if<WholeRule>(&rule)) {
            return std::to_string(std::uniform_int_distribution<std::int64_t>(whole->min, whole->max)(random_));
        }
        if (const auto* const real = std::get_if<RealRule>(&rule)) {
            return nlohmann::json(std::uniform_real_distribution<double>(real->min, real->max)(random_)).dump();
        }
        if (const auto* const choice = std::get_if<ChoiceRule>(&rule)) {
            return std::string(choice->choices[below(choice->choices.size())]);
        }
        if (const auto* const list = std::get_if<ListRule>(&rule)) {
            return std::string(list->choices.front()) + (below(2) == 0 ? "" : "," + std::string(list->choices.back()));
        }
        if (const auto* const list = std::get_if<WholeListRule>(&rule)) {
            return below(3) == 0 ? "" : std::to_string(list->min) + "," + std::to_string(list->max);
        }
        if (const auto* const text = std::get_if<TextRule>(&rule)) {
            return text->characters.empty()
                       ? (text->prefixes.empty() ? "" : std::string(text->prefixes.front())) + "/x y:1"
                       : std::string(1, text->characters.back());
        }
        if (const auto* const list = std::get_if<TextListRule>(&rule)) {
            return list->may_be_empty && below(3) == 0 ? "" : text_for(*list);
        }
        return below(2) == 0 ? "[::1]:0" : "0.0.0.0:65535";
    }

    static std::string text_for(const TextListRule& rule) {
        return rule.characters.empty() ? "/x y,\"z\"" : std::string(1, rule.characters.front());
    }

    std::mt19937 random_;
};

/// Returns a value other than the default, as text.
std::string other_value(const SettingRow& row) {
    struct Cases {
        const std::string standard;
        std::string operator()(const BooleanRule&) const { return standard == "yes" ? "no" : "yes"; }
        std::string operator()(const WholeRule& rule) const {
            const std::string most = std::to_string(rule.max);
            return most == standard ? std::to_string(rule.min) : most;
        }
        std::string operator()(const RealRule& rule) const {
            return rule.max == 1 ? "0.375" : rule.min > -2.5 ? "2.5" : "-2.5";
        }
        std::string operator()(const ChoiceRule& rule) const {
            return std::string(rule.choices.front() == standard ? rule.choices.back() : rule.choices.front());
        }
        std::string operator()(const ListRule& rule) const { return std::string(rule.choices.back()); }
        std::string operator()(const WholeListRule&) const { return "5, 0"; }
        std::string operator()(const TextRule& rule) const {
            return rule.characters.empty()
                       ? (rule.prefixes.empty() ? "" : std::string(rule.prefixes.front())) + "/x # \"y\""
                       : std::string(rule.characters.substr(0, 1));
        }
        std::string operator()(const TextListRule& rule) const {
            return std::string(rule.characters.empty() ? "#a b" : rule.characters.substr(0, 1));
        }
        std::string operator()(const ListenRule&) const { return ""; }
    };
    return std::visit(Cases{default_text(row)}, row.rule);
}

/// One instance of each section, with the value of this row changed from its default.
Settings with_other(const SettingRow& row) {
    Settings settings;
    settings.tags.emplace_back().name = "t";
    settings.publish.emplace_back().name = "p";
    settings.publish.back().endpoint = "tcp://*:0";
    settings.devices.emplace_back().name = "d.1";
    const bool is_of_uplink = row.section == "uplink";
    settings.devices.back().driver = row.type.empty() || is_of_uplink ? "host" : std::string(row.type);
    settings.channels.emplace_back().name = "d.1/c";
    settings.uplinks.emplace_back().name = "u";
    settings.uplinks.back().type = row.type.empty() || !is_of_uplink ? "nats" : std::string(row.type);
    const auto give = [](const SettingSpot& spot) {
        REQUIRE_FALSE(assign(spot.row, spot.owner, other_value(spot.row)));
    };
    walk(settings, [&](const SettingSpot& spot) {
        if (spot.row.required && value_text(spot.row, spot.owner).empty()) {
            give(spot);
        }
    });
    walk(settings, [&](const SettingSpot& spot) {
        if (&spot.row == &row) {
            give(spot);
            REQUIRE(value_text(row, spot.owner) != default_text(row));
        }
    });
    return settings;
}

/// Returns the problems of a document, one per line.
std::string document_problems(std::string_view document) {
    try {
        (void)settings_from_json(document);
    } catch (const SettingsError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("random settings survive a conversion to JSON and back", "[gateway][settings_json]") {
    const auto seed = GENERATE(range(0U, test::rounds(200U)));
    CAPTURE(seed);
    const Settings settings = Draw(seed).settings();
    const Settings again = settings_from_json(settings_json(settings));
    CHECK(test::all_values(again) == test::all_values(settings));
    CHECK(settings_json(again) == settings_json(settings));
    CHECK(settings_hash(again) == settings_hash(settings));
}

TEST_CASE("every setting of the table survives a conversion to a file and to JSON", "[gateway][settings_json]") {
    for (const SettingRow& row : settings_table()) {
        CAPTURE(row.section, row.key, row.type);
        const Settings settings = with_other(row);
        const bool is_read = row.names_channels;  // if the settings are
        CHECK(
            (is_read || test::all_values(parse_settings(sample_ini(settings), "t.ini")) == test::all_values(settings)));
        const Settings again = settings_from_json(settings_json(settings));
        CHECK(test::all_values(again) == test::all_values(settings));
        CHECK(diff(settings, again).empty());
        CHECK(settings_hash(again) == settings_hash(settings));
    }
}

TEST_CASE("a document with random bytes yields settings or problems, never a crash", "[gateway][settings_json]") {
    std::mt19937 random(GENERATE(range(1U, 20U)));
    const std::string good = settings_json(Draw(static_cast<std::uint32_t>(random())).settings());
    const std::string_view odd = "{}[]\",:0-e.\\/~\x01\xff\xc3";
    for (int i = 0; i < test::rounds(100); ++i) {
        std::string text = good;
        for (int change = 0; change <= i % 3; ++change) {
            text[random() % text.size()] = odd[random() % odd.size()];
        }
        const std::string problems = document_problems(text);
        CHECK(std::none_of(problems.begin(), problems.end(), [](char c) { return c != '\n' && c >= 0 && c < 0x20; }));
    }
}

TEST_CASE("random settings survive a conversion to a file and back", "[gateway][settings_json]") {
    const Settings settings = Draw(GENERATE(range(1U, 50U))).settings();
    CHECK(test::all_values(parse_settings(sample_ini(settings), "t.ini")) == test::all_values(settings));
}

TEST_CASE("the document has a member for each section, with typed values", "[gateway][settings_json]") {
    const Settings settings = parse_settings(
        "[sampling]\ncpu_affinity = 1, 2\n[publish \"tcp\"]\nendpoint = tcp://*:0\n[device \"h\"]\ndriver = host\n"
        "interval_us = 250\n[device \"s\"]\ndriver = simulated\nwaveforms = sine\n",
        "t.ini");
    const auto document = nlohmann::json::parse(settings_json(settings));
    CHECK(document["gateway"]["sampling_interval_ms"] == 100);
    CHECK(document["gateway"]["log_level"] == "info");
    CHECK(document["gateway"]["state_file"].is_string());
    CHECK(document["sampling"]["cpu_affinity"] == std::vector<int>{1, 2});
    CHECK(document["rest"]["listen"] == "127.0.0.1:8080");
    CHECK(document["publish"]["tcp"]["format"] == "json");
    CHECK(document["device"]["h"]["autostart"] == true);
    CHECK(document["device"]["h"]["interval_us"] == 250);
    CHECK_FALSE(document["device"]["h"].contains("interval_ms"));
    CHECK_FALSE(document["device"]["h"].contains("seed"));
    CHECK(document["device"]["s"]["amplitude"] == 10.0);
    CHECK(document["device"]["s"]["waveforms"] == std::vector<std::string>{"sine"});
}

TEST_CASE("omitted settings have their defaults, and the order is kept", "[gateway][settings_json]") {
    CHECK(test::all_values(settings_from_json("{}")) == test::all_values(Settings()));
    const Settings settings =
        settings_from_json(R"({"device":{"b":{"driver":"host"},"a":{"driver":"host","interval_ms":5.0}}})");
    CHECK(settings.devices.at(0).name == "b");
    CHECK(settings.devices.at(1).interval_ms == 5);
}

TEST_CASE("a problem of a document has a JSON pointer", "[gateway][settings_json]") {
    const auto [document, problem] = GENERATE(table<std::string, std::string>({
        {R"({"device":{"boiler":{"driver":"host","interval_ms":0}}})",
         R"(/device/boiler/interval_ms: out of range: "0"; must be a whole number without a unit, 1 to 3600000 (ms))"},
        {R"({"device":{"boiler":{"driver":"host","interval_ms":"100ms"}}})",
         R"(/device/boiler/interval_ms: "100ms" has the wrong type; must be a whole number without a unit, )"
         "1 to 3600000 (ms)"},
        {R"({"device":{"boiler":{}}})",
         R"(/device/boiler/driver: missing in [device "boiler"]; must be )" + test::driver_names()},
        {R"({"device":{"boiler":{"driver":5}}})",
         R"(/device/boiler/driver: 5 has the wrong type; must be )" + test::driver_names()},
        {R"({"device":{"b":{"driver":"host","interval_ms":5,"interval_us":5000}}})",
         R"(/device/b/interval_us: conflicts with interval_ms; set only one of the two)"},
        {R"({"device":{"B":{"driver":"host"}}})",
         R"(/device/B: invalid name: [device "B"]; must be 1 to 64 of the characters a-z 0-9 _ . -)"},
        {R"({"channel":{"a/b":{"unit":5}},"device":{"a":{"driver":"host"}}})",
         R"(/channel/a~1b/unit: 5 has the wrong type; must be a unit of at most 32 bytes, or empty)"},
        {R"({"channel":{"a/b":{"unit":"Cel"}}})", R"(/channel/a~1b: unknown device: no section [device "a"])"},
        {R"({"channel":{"a":{}}})",
         R"(/channel/a: invalid name: [channel "a"]; must be DEVICE/CHANNEL, each 1 to 64 of the characters )"
         "a-z 0-9 _ . -"},
        {R"({"channel":{"a/b":{"driver":"host"}},"device":{"a":{"driver":"host"}}})",
         R"(/channel/a~1b/driver: not a setting of [channel "a/b"]; it belongs in [device "NAME"])"},
        {R"({"device":{"a":{"driver":"host","errors_before_safe":"1"}}})",
         R"(/device/a/errors_before_safe: "1" has the wrong type; must be a whole number without a unit, 0 to )"
         "1000000 (readings), or null"},
        {R"({"device":[]})", R"(/device: [] has the wrong type; must be an object with an object for each name)"},
        {R"({"device":[],"channel":{"99999999999999999999/x":{}}})",
         "/device: [] has the wrong type; must be an object with an object for each name\n"
         R"(/channel/99999999999999999999~1x: unknown device: no section [device "99999999999999999999"])"},
        {R"({"device":{"a":1}})", R"(/device/a: 1 has the wrong type; must be an object of settings)"},
        {R"({"queue":null})", R"(/queue: null has the wrong type; must be an object of settings)"},
        {R"({"queue":{"polcy":"block"}})", R"(/queue/polcy: not a setting of [queue]; did you mean policy?)"},
        {R"({"queue":{"a/b~\u0000":1}})", R"(/queue/a~1b~0?: not a setting of [queue]; must be one of policy)"},
        {R"({"qeue":{}})", R"(/qeue: unknown section: [qeue]; did you mean queue?)"},
        {R"({"":{}})", R"(/: is not a known section)"},
        {R"({"device":{"a":{"driver":"host","autostart":"yes"}}})",
         R"(/device/a/autostart: "yes" has the wrong type; must be true or false)"},
        {R"({"sampling":{"cpu_affinity":[1,"2"]}})",
         R"(/sampling/cpu_affinity: [1,"2"] has the wrong type; must be an array of whole numbers, 0 to 1023)"},
        {R"({"sampling":{"cpu_affinity":1}})",
         R"(/sampling/cpu_affinity: 1 has the wrong type; must be an array of whole numbers, 0 to 1023)"},
        {R"({"gateway":{"queue_size":1.5}})",
         R"(/gateway/queue_size: 1.5 has the wrong type; must be a whole number without a unit, 1 to 1048576 )"
         "(samples), or auto"},
        {R"({"gateway":{"queue_size":99999999999999999999}})",
         R"(/gateway/queue_size: 1e+20 has the wrong type; must be a whole number without a unit, 1 to 1048576 )"
         "(samples), or auto"},
    }));
    CAPTURE(document);
    CHECK(document_problems(document) == problem);
}

TEST_CASE("a document has the channels under their names, in any order", "[gateway][settings_json]") {
    const Settings settings =
        settings_from_json(R"({"channel":{"a/b":{"unit":"Cel"}},"device":{"a":{"driver":"host"}}})");
    CHECK(settings.channels.at(0).name == "a/b");
    CHECK(processing_of(settings.channels.at(0)).unit == "Cel");
    CHECK(nlohmann::json::parse(settings_json(settings))["channel"]["a/b"]["unit"] == "Cel");
}

TEST_CASE("an optional number is a number, null or omitted", "[gateway][settings_json]") {
    const auto read = [](const std::string& value) {
        return settings_from_json(R"({"device":{"a":{"driver":"host")" + value + "}}}");
    };
    const auto errors = [&](const std::string& value) {
        return sampling_of(read(value).devices.at(0)).errors_before_safe;
    };
    CHECK(errors(R"(,"errors_before_safe":0)") == 0);
    CHECK_FALSE(errors(R"(,"errors_before_safe":null)").has_value());
    CHECK_FALSE(errors("").has_value());
    const auto device_document = [&](const std::string& value) {
        return nlohmann::json::parse(settings_json(read(value)))["device"]["a"];
    };
    CHECK(device_document(R"(,"errors_before_safe":0)")["errors_before_safe"] == 0);
    CHECK_FALSE(device_document("").contains("errors_before_safe"));
    CHECK(document_problems(R"({"device":{"a":{"driver":"host","interval_ms":null}}})")
              .starts_with("/device/a/interval_ms: null has the wrong type"));
}

TEST_CASE("a document with very many channels can be read again", "[gateway][settings_json]") {
    const int channels = test::rounds(8'192);
    Settings settings;
    settings.devices.emplace_back().name = "d";
    settings.devices.back().driver = "host";
    for (int i = 0; i < channels; ++i) {
        settings.channels.emplace_back().name = "d/c" + std::to_string(i);
    }
    CHECK(settings_from_json(settings_json(settings)).channels.size() == settings.channels.size());
}

TEST_CASE("items of a list must not contain commas", "[gateway][settings_json]") {
    CHECK(document_problems(R"({"device":{"a":{"driver":"simulated","waveforms":["sine,ramp"]}}})")
              .starts_with(R"(/device/a/waveforms: ["sine,ramp"] has the wrong type)"));
    CHECK(document_problems(R"({"device":{"a":{"driver":"simulated","waveforms":[]}}})")
              .starts_with(R"(/device/a/waveforms: unknown value: ""; must be an array of one or more of sine)"));
}

namespace {

std::string object_of(std::size_t keys) {
    std::string document = "{";
    for (std::size_t i = 0; i < keys; ++i) {
        document += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
    }
    return document + "}";
}

}  // namespace

TEST_CASE("a document that is not JSON, or not an object, is refused as a whole", "[gateway][settings_json]") {
    const auto [document, problem] = GENERATE(table<std::string, std::string>({
        {"", "is not JSON in UTF-8, see byte 1"},
        {"{\"queue\":", "is not JSON in UTF-8, see byte 10"},
        {"[]", "is not an object; must be {\"SECTION\":{\"KEY\":VALUE}}"},
        {"\"\xff\"", "is not JSON in UTF-8, see byte 2"},
        {R"({"queue":{"policy":"block","policy":"block"}})", "/queue/policy: is a duplicate key: must appear once"},
        {R"({"queue":{},"queue":{}})", "/queue: is a duplicate key: must appear once"},
        {R"({"a":{"b":{"c":[[]]}}})", "is nested too deeply: must be at most 4 levels"},
        {std::string(100'000, '['), "is nested too deeply: must be at most 4 levels"},
        {R"({"gateway":{"queue_size":1e999}})", "contains a number that is out of range"},
        {object_of(8'193), "has an object with too many keys: must be at most 8192"},
        {std::string(1024 * 1024 + 1, ' '), "is too large; must be at most 1048576 bytes"},
    }));
    CHECK(document_problems(document) == problem);
}

TEST_CASE("all problems of a document are reported at once, 200 at most", "[gateway][settings_json]") {
    std::string document = "{";
    for (int i = 0; i < 250; ++i) {
        document += (i == 0 ? "" : ",") + std::string("\"x") + std::to_string(i) + "\":{}";
    }
    try {
        (void)settings_from_json(document + "}");
        FAIL("no error");
    } catch (const SettingsError& error) {
        REQUIRE(error.problems().size() == 201);
        CHECK(error.problems().back().text() == "50 more problems not listed");
    }
}

TEST_CASE("the schema has the channels, and allows null for optional numbers", "[gateway][settings_json]") {
    const auto schema = nlohmann::json::parse(settings_schema_json())["properties"];
    const auto channel = schema["channel"]["additionalProperties"].value("properties", nlohmann::json());
    CHECK((channel.contains("unit") && channel.contains("address") && channel.contains("frame_offset")));
    CHECK(schema["channel"]["maxProperties"] == 8'192);
    CHECK(schema["channel"]["propertyNames"]["pattern"] == "^[a-z0-9_.-]{1,64}/[a-z0-9_.-]{1,64}$");
    CHECK(schema["device"]["propertyNames"]["pattern"] == "^[a-z0-9_.-]{1,64}$");
    const auto device = schema["device"]["additionalProperties"]["oneOf"][0]["properties"];
    CHECK(device["driver"]["enum"] == std::vector<std::string>{"clock"});
    CHECK(schema["device"]["additionalProperties"]["oneOf"][0].value("title", "") == "clock");
    CHECK(device["errors_before_safe"]["type"] == std::vector<std::string>{"integer", "null"});
    CHECK_FALSE(device["errors_before_safe"].contains("default"));
    CHECK(device["align"]["default"] == "start");
}

TEST_CASE("the hash depends on every value and not on the order of sections", "[gateway][settings_json]") {
    const auto hash = [](const std::string& text) {
        return settings_hash(parse_settings(text, "t.ini"));
    };
    const std::string a = "[device \"a\"]\ndriver = host\n";
    const std::string b = "[device \"b\"]\ndriver = host\n";
    CHECK(hash(a + b) == hash(b + a));
    CHECK(hash(a + b) != hash(a));
    CHECK(hash(a) != hash(b));
    CHECK(hash(a + "interval_ms = 5") != hash(a + "interval_ms = 6"));
    CHECK(hash("").size() == 16);
    CHECK(hash("").find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(hash("") == hash("queue_size = auto\n"));
}
