#include "config/hidden_secrets.hpp"

#include "config/load.hpp"
#include "config/settings_diff.hpp"
#include "config/settings_table.hpp"
#include "config/settings_text.hpp"

#include "support/catch.hpp"
#include "support/setting_values.hpp"

#include <string>

using namespace telegate;

namespace {

const std::string with_secrets = R"(
[device "a"]
driver = exec
command = curl -s 'https://user:hush@h/x?key=hush'
environment = TOKEN=hush, OTHER=hush=hush
[device "b"]
driver = http
url = https://h:81/metrics?key=hush
)";

std::string shown(std::string_view driver, std::string_view key, std::string_view value) {
    return shown_value(*find_setting("device", key, driver), value);
}

}  // namespace

TEST_CASE("secrets of variables and URLs are not shown", "[config][secrets]") {
    CHECK(shown("exec", "environment", "TOKEN=a=b, EMPTY=, ODD") == "TOKEN=***, EMPTY=***, ***");
    CHECK(shown("exec", "environment", "").empty());
    CHECK(shown("http", "url", "https://h/p?q=1#f") == "https://h/p?***");
    CHECK(shown("http", "url", "https://u:p@h:81/p@q") == "https://***@h:81/p@q");
    CHECK(shown("http", "url", "https://h/p") == "https://h/p");
    CHECK(shown("exec", "command", "a 'http://u@h/?x' http://h/?y z?") == "a 'http://***@h/?***' http://h/?*** z?");
    CHECK(shown_value(*find_setting("uplink", "url", "nats"), "nats://u:p@a, nats://b") == "nats://***@a, nats://b");
    CHECK(shown("serial", "port", "/dev/a?b=c") == "/dev/a?b=c");
}

TEST_CASE("secrets appear neither in printed settings nor in changes and problems", "[config][secrets]") {
    const Settings settings = parse_settings(with_secrets, "x.ini");
    CHECK(effective_text(settings).find("hush") == std::string::npos);
    CHECK(sample_ini(settings).find("TOKEN=hush") != std::string::npos);  // can be used as a file
    Settings other = parse_settings(with_secrets, "x.ini");
    REQUIRE_FALSE(assign(*find_setting("device", "environment", "exec"), &other.devices[0], "TOKEN=hush2"));
    REQUIRE_FALSE(assign(*find_setting("device", "url", "http"), &other.devices[1], "http://h/?hush"));
    const std::vector<SettingChange> changes = diff(settings, other);
    REQUIRE(changes.size() == 2);
    for (const SettingChange& change : changes) {
        CHECK((change.from + change.to).find("hush") == std::string::npos);
    }
    const auto problem =
        assign(*find_setting("device", "url", "http"), &other.devices[1], "http://u:hush@h/" + std::string(3'000, 'x'));
    CHECK(problem.value_or("hush").find("hush") == std::string::npos);
}

TEST_CASE("settings that were shown can be sent back, and hidden values stay", "[config][secrets]") {
    const Settings known = parse_settings(with_secrets, "x.ini");
    Settings sent = known;
    walk(sent, [](const SettingSpot& spot) {
        if (may_hold_secrets(spot.row)) {
            REQUIRE_FALSE(assign(spot.row, spot.owner, shown_text(spot.row, spot.owner)));
        }
    });
    CHECK(test::all_values(sent) != test::all_values(known));
    REQUIRE_FALSE(assign(*find_setting("device", "interval_ms"), &sent.devices[0], "77"));
    restore_hidden(sent, known);
    const std::vector<SettingChange> changes = diff(known, sent);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].key == "interval_ms");
}

TEST_CASE("a hidden value of another section or driver is not restored", "[config][secrets]") {
    Settings sent = parse_settings("[device \"c\"]\ndriver = exec\ncommand = x\nenvironment = TOKEN=***\n", "x.ini");
    const std::string before = test::all_values(sent);
    restore_hidden(sent, parse_settings(with_secrets, "x.ini"));
    CHECK(test::all_values(sent) == before);
}
