#include "config/problems.hpp"
#include "problem_list.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

using namespace telegate;
using telegate::test::has;
using telegate::test::parse;
using telegate::test::problem_of;

namespace {

std::string endpoint_of(const std::string& lines) {
    return parse("[publish \"a\"]\n" + lines).publish.at(0).endpoint;
}

}  // namespace

TEST_CASE("an empty text gives the defaults", "[config][ini]") {
    const auto* const text = GENERATE("", "\n", "# only a comment", "; another\n\n  # indented\n", "\xef\xbb\xbf");
    CHECK(parse(text).queue_size == 0);
    CHECK(parse(text).devices.empty());
}

TEST_CASE("blanks around keys and values are ignored", "[config][ini]") {
    const auto* const text = GENERATE("queue_size=7", "queue_size = 7", "  queue_size\t=\t7 \t", "queue_size =7\n");
    CHECK(parse(text).queue_size == 7);
}

TEST_CASE("lines may end in CRLF and the text may begin with a byte order mark", "[config][ini]") {
    CHECK(parse("\xef\xbb\xbfqueue_size = 7\r\n[queue]\r\npolicy = block\r\n").queue_policy == "block");
}

TEST_CASE("a value extends to the end of the line, including comment signs and quotes", "[config][ini]") {
    CHECK(endpoint_of("endpoint = ipc:///a#b;c \"d\" = e") == "ipc:///a#b;c \"d\" = e");
}

TEST_CASE("a backslash at the end joins the next line with a blank", "[config][ini]") {
    const Settings settings = parse(
        "[device \"s\"]\ndriver = simulated\nwaveforms = sine, \\\r\n# not this one: ramp, \\\n  noise, \\\n "
        "counter\n");
    CHECK(test::setting_of(settings.devices.at(0), "waveforms") == "sine, noise, counter");
}

TEST_CASE("a problem in a continued line is reported at its first line", "[config][ini]") {
    CHECK(has(problem_of("\nqueue_size = \\\n1 \\\n2\n"), "t.ini:2: queue_size: "));
}

TEST_CASE("lines after a continued line keep their numbers", "[config][ini]") {
    CHECK(has(problem_of("queue_size \\\n = \\\n 12\nlog_level = loud"), "t.ini:4: log_level: "));
}

TEST_CASE("a comment is not continued by a backslash", "[config][ini]") {
    CHECK(parse("# queue \\\nqueue_size = 7").queue_size == 7);
}

TEST_CASE("a backslash on the last line is a problem", "[config][ini]") {
    CHECK(has(problem_of("log_level = info\nqueue_size = 7 \\\n"), "t.ini:2: the last line ends with a backslash"));
}

TEST_CASE("a line that is neither a section nor a setting is a problem", "[config][ini]") {
    const auto* const line = GENERATE("hello", "= 7", "queue_size 7", "\\x");
    CAPTURE(line);
    CHECK(has(problem_of(line), "t.ini:1: not a setting: \"" + std::string(line) + "\"; must be key = value"));
}

TEST_CASE("a malformed section is one problem, regardless of its content", "[config][ini]") {
    const auto* const header = GENERATE("[queue", "[]", "[queue] # note", "[\"a\"]", "[device \"a]",
                                        "[device \"a\"b\"]", "[device a]", "[[queue]]", "[", "[device \"]");
    CAPTURE(header);
    CHECK(problem_of(std::string(header) + "\nwhatever = 7\n") ==
          "t.ini:1: not a section header: " + quoted_value(header) + R"(; must be [section] or [section "NAME"])");
}

TEST_CASE("a section header may contain blanks", "[config][ini]") {
    CHECK(parse(" [ queue ] \npolicy = block").queue_policy == "block");
    CHECK(parse("[\tdevice   \"a\" ]\ndriver = host").devices.at(0).name == "a");
}

TEST_CASE("a line of 4096 bytes is accepted, a longer one is a problem", "[config][ini]") {
    const std::string begin = "endpoint = ipc://";
    CHECK(endpoint_of(begin + std::string(4096 - begin.size(), 'x')).size() == 4096 - begin.size() + 6);
    const std::string longer = "#\n" + begin + std::string(4097 - begin.size(), 'x') + "\nqueue_size = 7";
    CHECK(problem_of(longer) ==
          "t.ini:2: line too long: 4097 bytes; must be at most 4096, including its continuation lines");
}

TEST_CASE("the length limit applies to joined lines", "[config][ini]") {
    std::string text = "queue_size = 1 \\\n";
    for (int i = 0; i < 5; ++i) {
        text += std::string(1000, 'x') + "\\\n";
    }
    CHECK(has(problem_of(text + "1"), "t.ini:1: line too long: 50"));
}

TEST_CASE("each line that is not UTF-8 is refused with its number, even in comments and continued lines",
          "[config][ini]") {
    CHECK(problem_of("queue_size = 1\n[device \"b\xE4r\"]\ninterval_ms = 5\n") ==
          "t.ini:2: byte 0xe4 is not UTF-8; must be UTF-8 text");
    CHECK(problem_of("# \xC3\xA4\nlog_level = \xC3\xA4 \xED\xA0\x80\n") ==
          "t.ini:2: byte 0xed is not UTF-8; must be UTF-8 text");
    CHECK(problem_of("# \xE4\nqueue_size = 1\n") == "t.ini:1: byte 0xe4 is not UTF-8; must be UTF-8 text");
    CHECK(problem_of("[tags]\nsite = a \\\n  b \\\n  M\xFCn\n") ==
          "t.ini:4: byte 0xfc is not UTF-8; must be UTF-8 text");
}

TEST_CASE("a text with a zero byte is refused with the line number", "[config][ini]") {
    using namespace std::string_view_literals;
    CHECK(problem_of("queue_size = 1\nlog\0 = x\nnonsense"sv) ==
          "t.ini:2: zero byte found: not a text file; must be UTF-8 text");
}
