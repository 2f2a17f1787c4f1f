#include "exec/command_run.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using telegate::exec::split_command;

using Words = std::vector<std::string>;

TEST_CASE("a command is split into words", "[device][exec]") {
    const auto [text, words] = GENERATE(table<std::string, Words>({
        {"cat", {"cat"}},
        {"  cat \t -n\nfile ", {"cat", "-n", "file"}},
        {"a 'b c' \"d e\"", {"a", "b c", "d e"}},
        {"a''b'c'\"d\"", {"abcd"}},
        {"a '' \"\"", {"a", "", ""}},
        {R"(a\ b \'c \\)", {"a b", "'c", "\\"}},
        {R"("a\"b\\c\d")", {R"(a"b\c\d)"}},
        {R"('a\b"c')", {R"(a\b"c)"}},
        {"echo $HOME * ~ | > x;y", {"echo", "$HOME", "*", "~", "|", ">", "x;y"}},
    }));
    CAPTURE(text);
    CHECK(split_command(text) == words);
}

TEST_CASE("a command without words or with an unterminated quote is refused", "[device][exec]") {
    const auto* const text = GENERATE("", "  ", "a 'b", "a \"b", "a \"b\\\"", "a\\", "'' a");
    CAPTURE(text);
    CHECK_THROWS_AS(split_command(text), std::invalid_argument);
}
