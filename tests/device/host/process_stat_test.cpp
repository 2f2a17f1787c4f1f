#include "host/process_stat.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using host::parse_process_stat;
using host::program_of;

namespace {

const std::string rest_of_stat =
    " 1 2 3 4 5 6 7 8 9 10 120 30 0 0 20 0 7 0 98765 1000000 250 18446744073709551615 1 1 0 0\n";

}  // namespace

TEST_CASE("a process is parsed from its line", "[device][host]") {
    const std::string text = "4242 (nginx) S" + rest_of_stat;
    const auto stat = parse_process_stat(text);
    REQUIRE(stat);
    CHECK(stat->name == "nginx");
    CHECK(stat->state == 'S');
    CHECK(stat->cpu_ticks == 150);
    CHECK(stat->threads == 7);
    CHECK(stat->start_ticks == 98'765);
    CHECK(stat->resident_pages == 250);
    CHECK_FALSE(stat->is_over());
}

TEST_CASE("a name with blanks and brackets does not shift the fields", "[device][host]") {
    const std::string text = "1 (a) R 1 (b c) Z" + rest_of_stat;
    const auto stat = parse_process_stat(text);
    REQUIRE(stat);
    CHECK(stat->name == "a) R 1 (b c");
    CHECK(stat->is_over());
    CHECK(stat->threads == 7);
}

TEST_CASE("a text that is not a process line is refused", "[device][host]") {
    for (const std::string text : {"", "1", "1 (a", "1 )a( S 1 2", "1 (a) S 1 2 3", "1 (a)", "1 (a) S x y z"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_process_stat(text));
    }
}

TEST_CASE("a program is the last part of the first argument", "[device][host]") {
    using namespace std::string_literals;
    CHECK(program_of("/usr/bin/python3\0/opt/x/run.py\0"s) == "python3");
    CHECK(program_of("nginx: worker process\0"s) == "nginx: worker process");
    CHECK(program_of("").empty());
    CHECK(program_of("/usr/bin/\0"s).empty());
}
