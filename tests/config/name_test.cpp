#include "config/settings_text.hpp"
#include "problems.hpp"

#include "support/catch.hpp"

#include <string>

using namespace telegate;
using test::parse;
using test::problem_of;

TEST_CASE("the name of the gateway can be part of a topic, and is the host name by default", "[config][name]") {
    CHECK(parse("name = plant-7.a\n").name == "plant-7.a");
    CHECK(parse("name =\n").name.empty());
    CHECK(sample_ini(Settings()).find("Default: the host name.") != std::string::npos);
    for (const char* name : {"Plant", "a b", "a/b", "a,b"}) {
        CHECK(problem_of("name = " + std::string(name) + "\n") ==
              "t.ini:1: name: invalid value: \"" + std::string(name) +
                  "\"; must be 1 to 64 of the characters a-z 0-9 _ . -, or empty");
    }
    CHECK(test::has(problem_of("name = " + std::string(65, 'x') + "\n"), "invalid value"));
}
