#include "exec/last_line.hpp"

#include "support/catch.hpp"

#include <string>

using telegate::exec::LastLine;

TEST_CASE("the last line that is not blank is kept", "[device][exec]") {
    LastLine last;
    CHECK(last.text().empty());
    last.feed("one\ntwo\r\n\n  \n");
    CHECK(last.text() == "two");
    last.feed("thr");
    CHECK(last.text() == "thr");
    last.feed("ee\n");
    CHECK(last.text() == "three");
    last.clear();
    CHECK(last.text().empty());
}

TEST_CASE("control bytes of a last line become spaces, and its length is limited", "[device][exec]") {
    LastLine last;
    last.feed("a\x1b[0m\tb");
    CHECK(last.text() == "a [0m b");
    last.clear();
    last.feed(std::string(10'000, 'x'));
    CHECK(last.text() == std::string(LastLine::bytes_max, 'x'));
}
