#include "log/json_log_line.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <climits>
#include <string>

using namespace telegate;
using Json = nlohmann::json;

namespace {

Json parsed(std::string_view text) {
    const std::string line = json_log_line("2026-11-20T23:11:34.123Z", "info", text);
    CHECK(line.back() == '\n');
    CHECK(line.find('\n') == line.size() - 1);
    return Json::parse(line);
}

}  // namespace

TEST_CASE("words are the message, and each key=value is a member", "[gateway][log]") {
    CHECK(json_log_line("T", "info", "device command device=host state=idle possible=true") ==
          R"({"time":"T","level":"info","message":"device command","device":"host","state":"idle","possible":true})"
          "\n");
}

TEST_CASE("a value in quotes may hold spaces, and a number is a number", "[gateway][log]") {
    const Json line = parsed("subscriber left peer=\"pid=7 uid=0\" sent=12 offset=-3 version=007 dropped=1.5 why=\"\"");
    CHECK(line["message"] == "subscriber left");
    CHECK(line["peer"] == "pid=7 uid=0");
    CHECK(line["sent"] == 12);
    CHECK(line["offset"] == -3);
    CHECK(line["version"] == "007");
    CHECK(line["dropped"] == "1.5");
    CHECK(line["why"] == "");
}

TEST_CASE("a key that comes again is an array, and none takes the place of what each line has", "[gateway][log]") {
    const Json line = parsed("running publish=a publish=b publish=c time=now level=high message=text");
    CHECK(line["publish"] == Json::array({"a", "b", "c"}));
    CHECK(line["time"] == "2026-11-20T23:11:34.123Z");
    CHECK(line["level"] == "info");
    CHECK(line["message"] == "running");
    CHECK(line["time_"] == "now");
}

TEST_CASE("words that only look like pairs stay words", "[gateway][log]") {
    CHECK(parsed("http://x/?a=b =c A=b 1=2 \"x=y")["message"] == "http://x/?a=b =c A=b 1=2 \"x=y");
    CHECK(parsed("an open quote=\"never closed")["quote"] == "\"never closed");
    CHECK(parsed("")["message"] == "");
}

TEST_CASE("whatever bytes a peer sends, the line is JSON", "[gateway][log]") {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
    }
    CHECK_FALSE(parsed("peer=\"" + bytes + "\" " + bytes)["message"].empty());
}

TEST_CASE("a line that is too long is cut, and says so", "[gateway][log]") {
    const std::string text = "words " + std::string(100'000, GENERATE('x', '\x01', '\xff'));
    const std::string line = json_log_line("2026-11-20T23:11:34.123Z", "warning", text);
    CHECK(line.size() <= PIPE_BUF);
    CHECK(Json::parse(line)["cut"] == true);
    CHECK_FALSE(parsed("words").contains("cut"));
}
