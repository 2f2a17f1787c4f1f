#include "config/problems.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

using namespace telegate;
using telegate::test::has;
using telegate::test::parse;
using telegate::test::problem_of;
using telegate::test::problems_of;

namespace {

std::string endpoint_of(const std::string& lines) {
    return parse("[publish \"a\"]\n" + lines).publish.at(0).endpoint;
}

}  // namespace

TEST_CASE("an empty text gives the defaults", "[config][ini]") {
    const auto* const text = GENERATE("", "\n", "# only a comment", "; another\n\n  # indented\n", "\xef\xbb\xbf");
    CHECK(parse(text).queue_size == 1024);
    CHECK(parse(text).devices.empty());
}

TEST_CASE("blanks around keys and values do not count", "[config][ini]") {
    const auto* const text = GENERATE("queue_size=7", "queue_size = 7", "  queue_size\t=\t7 \t", "queue_size =7\n");
    CHECK(parse(text).queue_size == 7);
}

TEST_CASE("lines may end in CRLF and the text may begin with a byte order mark", "[config][ini]") {
    CHECK(parse("\xef\xbb\xbfqueue_size = 7\r\n[queue]\r\npolicy = block\r\n").queue_policy == "block");
}

TEST_CASE("a value reaches to the end of the line, with comment signs and quotes", "[config][ini]") {
    CHECK(endpoint_of("endpoint = ipc:///a#b;c \"d\" = e") == "ipc:///a#b;c \"d\" = e");
}

TEST_CASE("a comment after a value belongs to the value", "[config][ini]") {
    CHECK(has(problem_of("queue_size = 7 # seven"), "\"7 # seven\" is not a whole number"));
}

TEST_CASE("a backslash at the end joins the next line with a blank", "[config][ini]") {
    const Settings settings = parse(
        "[device \"s\"]\ndriver = simulated\nwaveforms = sine, \\\r\n# not this one: ramp, \\\n  noise, \\\n "
        "counter\n");
    CHECK(test::setting_of(settings.devices.at(0), "waveforms") == "sine, noise, counter");
}

TEST_CASE("a problem in a continued line is told at its first line", "[config][ini]") {
    CHECK(has(problem_of("\nqueue_size = \\\n1 \\\n2\n"), "t.ini:2: queue_size: "));
}

TEST_CASE("lines after a continued line keep their numbers", "[config][ini]") {
    CHECK(has(problem_of("queue_size \\\n = \\\n 12\nlog_level = loud"), "t.ini:4: log_level: "));
}

TEST_CASE("a comment does not continue", "[config][ini]") {
    CHECK(parse("# queue \\\nqueue_size = 7").queue_size == 7);
}

TEST_CASE("a backslash on the last line is a problem", "[config][ini]") {
    CHECK(has(problem_of("log_level = info\nqueue_size = 7 \\\n"), "t.ini:2: the backslash at the end"));
}

TEST_CASE("a line that is neither section nor setting is a problem", "[config][ini]") {
    const auto* const line = GENERATE("hello", "= 7", "queue_size 7", "\\x");
    CAPTURE(line);
    CHECK(has(problem_of(line), "t.ini:1: \"" + std::string(line) + "\" is not a setting, allowed is key = value"));
}

TEST_CASE("a malformed section is one problem, whatever stands below it", "[config][ini]") {
    const auto* const header = GENERATE("[queue", "[]", "[queue] # note", "[\"a\"]", "[device \"a]",
                                        "[device \"a\"b\"]", "[device a]", "[[queue]]", "[", "[device \"]");
    CAPTURE(header);
    CHECK(has(problem_of(std::string(header) + "\nwhatever = 7\n"), " is not a section, allowed is"));
    CHECK(problems_of(std::string(header) + "\nwhatever = 7\n").size() == 1);
}

TEST_CASE("a section header may hold blanks", "[config][ini]") {
    CHECK(parse(" [ queue ] \npolicy = block").queue_policy == "block");
    CHECK(parse("[\tdevice   \"a\" ]\ndriver = host").devices.at(0).name == "a");
}

TEST_CASE("a line of 4096 bytes is read, a longer one is a problem", "[config][ini]") {
    const std::string begin = "endpoint = ipc://";
    CHECK(endpoint_of(begin + std::string(4096 - begin.size(), 'x')).size() == 4096 - begin.size() + 6);
    const std::string longer = "#\n" + begin + std::string(4097 - begin.size(), 'x') + "\nqueue_size = 7";
    CHECK(problem_of(longer) ==
          "t.ini:2: the line has 4097 bytes, allowed are at most 4096 with those that continue it");
}

TEST_CASE("joined lines are bounded together", "[config][ini]") {
    std::string text = "queue_size = 1 \\\n";
    for (int i = 0; i < 5; ++i) {
        text += std::string(1000, 'x') + "\\\n";
    }
    CHECK(has(problem_of(text + "1"), "t.ini:1: the line has 50"));
}

TEST_CASE("a text with a zero byte is refused at its line", "[config][ini]") {
    using namespace std::string_view_literals;
    CHECK(problem_of("queue_size = 1\nlog\0 = x\nnonsense"sv) ==
          "t.ini:2: holds a zero byte, so this is not a text file; allowed is text in UTF-8");
}

TEST_CASE("a text of 1 MiB is read, a larger one is refused", "[config][ini]") {
    std::string text(1024 * 1024, '\n');
    CHECK(problem_of(text).empty());
    CHECK(problem_of(text + "\n") == "t.ini: is too large for a settings file, allowed are at most 1048576 bytes");
}
