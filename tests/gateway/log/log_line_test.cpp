#include "log/log_line.hpp"

#include "base/readable_bytes.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <nlohmann/json.hpp>

#include <climits>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using Json = nlohmann::json;

namespace {

std::string any_bytes(std::mt19937& random) {
    // Any byte is possible; characters that could end a value or begin a member are frequent.
    constexpr std::string_view nasty = "\"\\= \nwho=x\t";
    std::string bytes;
    for (std::size_t left = random() % 24; left > 0; --left) {
        bytes += random() % 2 == 0 ? nasty[random() % nasty.size()] : static_cast<char>(random() % 256);
    }
    return bytes;
}

/// Parses the members of a text line like a person would, without knowledge of JSON.
std::vector<std::pair<std::string, std::string>> members_of(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> members;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t equals = text.find('=', at);
        std::string value;
        const bool quoted = text.substr(equals + 1, 1) == "\"";
        for (at = equals + (quoted ? 2 : 1); at < text.size() && text[at] != (quoted ? '"' : ' '); ++at) {
            const bool is_pair = quoted && text[at] == '\\';
            value += is_pair && text[at + 1] == '"' ? "\"" : std::string(text.substr(at, is_pair ? 2 : 1));
            at += is_pair ? 1 : 0;
        }
        const std::size_t begin = text.rfind(' ', equals) + 1;
        members.emplace_back(text.substr(begin, equals - begin), value);
        at += quoted ? 1 : 0;
    }
    return members;
}

Json json_of(const LogLine& line, std::size_t bytes_max = PIPE_BUF) {
    return Json::parse('{' + line.json_members(bytes_max) + '}');
}

}  // namespace

TEST_CASE("a plain word is written as it is, everything else in quotes", "[gateway][log]") {
    CHECK(log_value("operator") == "operator");
    CHECK(log_value("/devices/x%20y/start") == "/devices/x%20y/start");
    CHECK(log_value("") == "\"\"");
    CHECK(log_value("uid=7") == "\"uid=7\"");
    CHECK(log_value("a b") == "\"a b\"");
    CHECK(log_value("[device \"flaky\"]") == R"("[device \"flaky\"]")");
    CHECK(log_value("a\nb\\") == R"(a\x0ab\\)");
    CHECK(LogFields().quote("reason", "x").text() == "reason=\"x\"");
}

TEST_CASE("a line consists of its message and its fields, as text and as JSON", "[gateway][log]") {
    LogLine line = LogLine("device command").add("device", "7").add("retries", -3).add("possible", true);
    line.fields.number("after_s", "0.35");
    CHECK(line.text() == "device command device=7 retries=-3 possible=true after_s=0.35");
    CHECK(line.json_members(1'000) ==
          R"("message":"device command","device":"7","retries":-3,"possible":true,"after_s":0.35)");
    CHECK(LogLine("stopping").text() == "stopping");
    CHECK(json_of("stopping") == Json{{"message", "stopping"}});
}

TEST_CASE("a repeated key becomes an array, and no key replaces one that every line has", "[gateway][log]") {
    const LogLine line = LogLine("running").add("publish", "a").add("time", "now").add("publish", "b");
    CHECK(line.text() == "running publish=a time=now publish=b");
    CHECK(json_of(line) == Json{{"message", "running"}, {"publish", {"a", "b"}}, {"time_", "now"}});
}

TEST_CASE("a value of any bytes is read back as one field with that value, in text and in JSON", "[gateway][log]") {
    std::mt19937 random(20'261'122);
    for (int round = 0; round < test::rounds(5'000); ++round) {
        const std::string bytes = any_bytes(random);
        CAPTURE(to_readable(bytes));
        const LogFields fields = LogFields().add("path", bytes).quote("reason", bytes).add("result", 403);
        CHECK(members_of(fields.text()) ==
              std::vector<std::pair<std::string, std::string>>{
                  {"path", to_readable(bytes)}, {"reason", to_readable(bytes)}, {"result", "403"}});
        CHECK(json_of({"rest change", fields}) == Json{{"message", "rest change"},
                                                       {"path", to_readable(bytes)},
                                                       {"reason", to_readable(bytes)},
                                                       {"result", 403}});
    }
}

TEST_CASE("a line that is too long loses its last fields in JSON, and is marked", "[gateway][log]") {
    const std::string many(100'000, GENERATE('x', '\x01', '\xff'));
    const Json of_words = json_of(many, 3'000);
    CHECK(of_words["cut"] == true);
    CHECK_FALSE(of_words["message"].get<std::string>().empty());
    const LogLine line = LogLine("words").add("first", 1).add("second", many);
    CHECK(json_of(line, 3'000) == Json{{"message", "words"}, {"first", 1}, {"cut", true}});
    CHECK(line.json_members(3'000).size() <= 3'000);
    CHECK_FALSE(json_of("words").contains("cut"));
}
