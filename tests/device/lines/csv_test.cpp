#include "line_bench.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace telegate {
namespace {

using test::LineBench;

LineFormat csv(std::vector<std::string> columns, char delimiter = ',') {
    return {.kind = LineFormat::Kind::csv, .columns = std::move(columns), .delimiter = delimiter};
}

TEST_CASE("columns have their names from the left, and those named - are skipped", "[device][lines]") {
    LineBench parse(csv({"-", "temp[Cel]", "hum [%]", "state"}));
    CHECK(parse("12:00, 21.5 ,40,on") == "temp=21.5[Cel] hum=40[%] state=\"on\"");
    CHECK(parse("\xC3\xBC,-1,,") == "temp=-1[Cel] hum=-[%] state=-");
}

TEST_CASE("cells in quotes are texts", "[device][lines]") {
    LineBench parse(csv({"a", "b"}));
    CHECK(parse(R"("1", "x, ""y""" )") == R"(a="1" b="x, "y"")");
    CHECK(parse(R"("",5" 6)") == R"(a="" b="5" 6")");
    CHECK(parse.refuses(R"("open,1)"));
    CHECK(parse.refuses(R"("open""),1)"));
    CHECK(parse.refuses(R"("a"b,1)"));
}

TEST_CASE("another number of columns than there are names is refused", "[device][lines]") {
    LineBench parse(csv({"a", "b"}));
    CHECK(parse("1") == "refused: not 2 columns in \"1\"");
    CHECK(parse("1,2,3") == "refused: more than the 2 columns that have names in \"1,2,3\"");
    CHECK(parse("1,2,") == "refused: more than the 2 columns that have names in \"1,2,\"");
}

TEST_CASE("headings, comments and blank lines are ignored", "[device][lines]") {
    LineBench parse(csv({"time", "-", "temp[Cel]"}));
    CHECK(parse("time, x ,\"temp\"") == "ignored");
    CHECK(parse("# time") == "ignored");
    CHECK(parse("  ") == "ignored");
    CHECK(parse("time,x,1") == "time=\"time\" temp=1[Cel]");
}

TEST_CASE("a delimiter may be a semicolon, a tab or blanks in a row", "[device][lines]") {
    LineBench semicolon(csv({"a", "b"}, ';'));
    CHECK(semicolon("1,5;2") == "a=\"1,5\" b=2");
    LineBench tab(csv({"a", "b", "c"}, '\t'));
    CHECK(tab("\t\"x\" \t 2") == "a=- b=\"x\" c=2");
    LineBench blank(csv({"a", "b", "c"}, ' '));
    CHECK(blank("   1   \"x y\"  3  ") == "a=1 b=\"x y\" c=3");
    CHECK(blank.refuses("1 2"));
    CHECK(blank.refuses("1 \"x\"y 3"));
}

TEST_CASE("columns that cannot be are refused in words", "[device][lines]") {
    CHECK_THROWS_WITH(LineBench(csv({})), "columns: none has a name, and csv needs one at least");
    CHECK_THROWS_WITH(LineBench(csv({"-", "-"})), "columns: none has a name, and csv needs one at least");
    CHECK_THROWS_WITH(LineBench(csv({"a", ""})), "columns: \"\" is not NAME, NAME[UNIT] or -");
    CHECK_THROWS_WITH(LineBench(csv({"a[m"})), "columns: \"a[m\" is not NAME, NAME[UNIT] or -");
    CHECK_THROWS_WITH(LineBench(csv({"[m]"})), "columns: \"[m]\" is not NAME, NAME[UNIT] or -");
    CHECK_THROWS_WITH(LineBench(csv({"a b", "A_b"})), "columns: \"A_b\" has the channel of another column");
    CHECK_THROWS_WITH(LineBench(csv(std::vector<std::string>(257, "-"))), "columns: 257 are more than 256");
    for (const char delimiter : {'"', '#', '\n', '\0', '\xC3'}) {
        CHECK_THROWS_AS(LineBench(csv({"a"}, delimiter)), std::invalid_argument);
    }
}

}  // namespace
}  // namespace telegate
