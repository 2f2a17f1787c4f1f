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

TEST_CASE("columns are named from the left, and columns named - are skipped", "[device][lines]") {
    LineBench parse(csv({"-", "temp[Cel]", "hum [%]", "state"}));
    CHECK(parse("12:00, 21.5 ,40,on") == "temp=21.5[Cel] hum=40[%] state=\"on\"");
    CHECK(parse("\xC3\xBC,-1,,") == "temp=-1[Cel] hum=-[%] state=-");
}

TEST_CASE("quotes do not change the type of a cell", "[device][lines]") {
    LineBench parse(csv({"a", "b"}));
    CHECK(parse(R"("1", "x, ""y""" )") == R"(a=1 b="x, "y"")");
    CHECK(parse(R"("",5" 6)") == R"(a=- b="5" 6")");
    CHECK(parse(R"("1.5","-2e3")") == "a=1.5 b=-2000.");
    CHECK(parse(R"("1e999","NaN")") == "a=- b=-");
    CHECK(parse.refuses(R"("open,1)"));
    CHECK(parse.refuses(R"("open""),1)"));
    CHECK(parse.refuses(R"("a"b,1)"));
}

TEST_CASE("a line with the wrong number of columns is refused", "[device][lines]") {
    LineBench parse(csv({"a", "b"}));
    CHECK(parse("1") == "refused: fewer than 2 columns in \"1\"");
    CHECK(parse("1,2,3") == "refused: more than 2 columns in \"1,2,3\"");
    CHECK(parse("1,2,") == "refused: more than 2 columns in \"1,2,\"");
}

TEST_CASE("headings, comments and blank lines are ignored", "[device][lines]") {
    LineBench parse(csv({"time", "-", "temp[Cel]"}));
    CHECK(parse("time, x ,\"temp\"") == "ignored");
    CHECK(parse("# time") == "ignored");
    CHECK(parse("  ") == "ignored");
    CHECK(parse("time,x,1") == "time=\"time\" temp=1[Cel]");
}

TEST_CASE("a delimiter may be a semicolon, a tab or several blanks", "[device][lines]") {
    LineBench semicolon(csv({"a", "b"}, ';'));
    CHECK(semicolon("1,5;2") == "a=\"1,5\" b=2");
    LineBench tab(csv({"a", "b", "c"}, '\t'));
    CHECK(tab("\t\"x\" \t 2") == "a=- b=\"x\" c=2");
    LineBench blank(csv({"a", "b", "c"}, ' '));
    CHECK(blank("   1   \"x y\"  3  ") == "a=1 b=\"x y\" c=3");
    CHECK(blank.refuses("1 2"));
    CHECK(blank.refuses("1 \"x\"y 3"));
}

TEST_CASE("invalid columns are refused with the reason", "[device][lines]") {
    CHECK_THROWS_WITH(LineBench(csv({})), "columns: no column has a name; at least one must have a name");
    CHECK_THROWS_WITH(LineBench(csv({"-", "-"})), "columns: no column has a name; at least one must have a name");
    CHECK_THROWS_WITH(LineBench(csv({"a", ""})), "columns: invalid column: \"\"; must be NAME, NAME[UNIT] or -");
    CHECK_THROWS_WITH(LineBench(csv({"a[m"})), "columns: invalid column: \"a[m\"; must be NAME, NAME[UNIT] or -");
    CHECK_THROWS_WITH(LineBench(csv({"[m]"})), "columns: invalid column: \"[m]\"; must be NAME, NAME[UNIT] or -");
    CHECK_THROWS_WITH(LineBench(csv({"a b", "A_b"})),
                      "columns: duplicate channel: \"A_b\"; each channel must have one column");
    CHECK_THROWS_WITH(LineBench(csv(std::vector<std::string>(257, "-"))),
                      "columns: too many columns: 257; must be at most 256");
    for (const char delimiter : {'"', '#', '\n', '\0', '\xC3'}) {
        CHECK_THROWS_AS(LineBench(csv({"a"}, delimiter)), std::invalid_argument);
    }
}

}  // namespace
}  // namespace telegate
