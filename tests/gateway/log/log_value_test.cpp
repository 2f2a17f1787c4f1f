#include "log/log_value.hpp"

#include "base/readable_bytes.hpp"
#include "log/json_log_line.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using Json = nlohmann::json;

namespace {

std::string any_bytes(std::mt19937& random) {
    // What could end a value or begin a member is common, every byte is possible.
    constexpr std::string_view nasty = "\"\\= \nwho=x\t";
    std::string bytes;
    for (std::size_t left = random() % 24; left > 0; --left) {
        bytes += random() % 2 == 0 ? nasty[random() % nasty.size()] : static_cast<char>(random() % 256);
    }
    return bytes;
}

/// The members of a line as a person reads them, who knows nothing of JSON.
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

}  // namespace

TEST_CASE("a plain word stands as it is, all else in quotes", "[gateway][log]") {
    CHECK(log_value("operator") == "operator");
    CHECK(log_value("/devices/x%20y/start") == "/devices/x%20y/start");
    CHECK(log_value("") == "\"\"");
    CHECK(log_value("uid=7") == "\"uid=7\"");
    CHECK(log_value("a b") == "\"a b\"");
    CHECK(log_value("[device \"flaky\"]") == R"("[device \"flaky\"]")");
    CHECK(log_value("a\nb\\") == R"(a\x0ab\\)");
    CHECK(log_quoted("7") == "\"7\"");
}

TEST_CASE("any bytes as a value come back as one member with that value, in text and in JSON", "[gateway][log]") {
    std::mt19937 random(20'261'122);
    for (int round = 0; round < test::rounds(5'000); ++round) {
        const std::string bytes = any_bytes(random);
        CAPTURE(to_readable(bytes));
        const std::string line = "path=" + log_value(bytes) + " why=" + log_quoted(bytes) + " result=403";
        CHECK(members_of(line) == std::vector<std::pair<std::string, std::string>>{
                                      {"path", to_readable(bytes)}, {"why", to_readable(bytes)}, {"result", "403"}});
        const Json document = Json::parse(json_log_line("T", "info", "rest change " + line));
        CHECK(document.size() == 6);  // with time, level and message
        CHECK((document["path"].is_string() ? document["path"].get<std::string>() : document["path"].dump()) ==
              to_readable(bytes));
        CHECK(document["why"] == to_readable(bytes));
        CHECK(document["result"] == 403);
    }
}
