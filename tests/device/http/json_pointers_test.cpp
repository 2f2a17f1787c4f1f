#include "http/json_pointers.hpp"

#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

namespace telegate::http {
namespace {

using metrics::JsonEvent;
using metrics::JsonScan;

std::string shown(const JsonScan& scan, JsonEvent event) {
    switch (event) {
        case JsonEvent::whole: return std::to_string(scan.whole());
        case JsonEvent::real: return "real";
        case JsonEvent::text: return '"' + std::string(scan.raw()) + '"';
        case JsonEvent::flag: return scan.flag() ? "true" : "false";
        case JsonEvent::null: return "null";
        case JsonEvent::begin_object: return "{";
        case JsonEvent::begin_array: return "[";
        default: return "?";
    }
}

/// Everything that is found for each pointer.
std::map<std::string, std::string> found(const std::vector<std::string>& pointers, std::string_view text) {
    JsonPointers reader(pointers);
    std::map<std::string, std::string> all;
    const bool is_json = reader.read(text, [&](std::size_t index, const JsonScan& scan, JsonEvent event) {
        all[pointers.at(index)] += shown(scan, event);
    });
    CHECK(is_json);
    return all;
}

using Values = std::map<std::string, std::string>;

TEST_CASE("JSON pointers find values of each type", "[device][http]") {
    const std::string_view text = R"({"a":{"b":[10,{"c":true},null]},"d":"x","e":1.5,"f":{},"g":[]})";
    CHECK(found({"/a/b/0", "/a/b/1/c", "/a/b/2", "/d", "/e", "/f", "/g", "/a/b/3", "/x"}, text) ==
          Values{{"/a/b/0", "10"},
                 {"/a/b/1/c", "true"},
                 {"/a/b/2", "null"},
                 {"/d", "\"x\""},
                 {"/e", "real"},
                 {"/f", "{"},
                 {"/g", "["}});
    CHECK(found({"/1/0", "/2"}, "[[1],[2,3],4]") == Values{{"/1/0", "2"}, {"/2", "4"}});
}

TEST_CASE("JSON pointers follow RFC 6901", "[device][http]") {
    const std::string_view text =
        R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"\u00e4":9})";
    CHECK(found({"/foo/0", "/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", "/k\"l", "/ ", "/m~0n", "/\xc3\xa4"}, text) ==
          Values{{"/foo/0", "\"bar\""},
                 {"/", "0"},
                 {"/a~1b", "1"},
                 {"/c%d", "2"},
                 {"/e^f", "3"},
                 {"/g|h", "4"},
                 {"/i\\j", "5"},
                 {"/k\"l", "6"},
                 {"/ ", "7"},
                 {"/m~0n", "8"},
                 {"/\xc3\xa4", "9"}});
}

TEST_CASE("the first of duplicate members is found", "[device][http]") {
    CHECK(found({"/a"}, R"({"a":1,"a":2})") == Values{{"/a", "1"}});
    CHECK(found({"/a/b", "/a/c", "/d"}, R"({"a":{"b":1},"a":{"b":2,"c":3},"d":4})") ==
          Values{{"/a/b", "1"}, {"/d", "4"}});
    CHECK(found({"/a/0", "/a/1"}, R"({"a":[1],"\u0061":[5,6]})") == Values{{"/a/0", "1"}});
    CHECK(found({"/a/b"}, R"({"a":1,"a":{"b":2}})").empty());
    CHECK(found({"/0/a", "/1/a"}, R"([{"a":1},{"a":2}])") == Values{{"/0/a", "1"}, {"/1/a", "2"}});
}

TEST_CASE("a truncated member name matches no pointer", "[device][http]") {
    const std::string name(JsonPointers::pointer_bytes_max, 'x');
    const std::string longest = '/' + name.substr(1);
    CHECK(found({longest}, "{\"" + name + "\":1,\"" + name + "y\":{\"a\":2}}").empty());
    CHECK(found({longest}, "{\"" + name.substr(1) + "\":1}") == Values{{longest, "1"}});
}

TEST_CASE("nothing is found in invalid JSON", "[device][http]") {
    JsonPointers reader({"/a"});
    const std::string_view text = GENERATE("", "{\"a\":1", "{\"a\":1}}", "{\"a\":1,}", "nothing", "{'a':1}");
    CAPTURE(text);
    CHECK(!reader.read(text, [](std::size_t, const JsonScan&, JsonEvent) { FAIL(); }));
}

TEST_CASE("is_json_pointer() accepts pointers to members and elements", "[device][http]") {
    for (const char* const text : {"/", "/a", "/a/0", "/~0~1"}) {
        CHECK(is_json_pointer(text));
    }
    for (const std::string& text : {std::string(), std::string("a"), std::string("#/a"), std::string("/~"),
                                    std::string("/~2"), '/' + std::string(512, 'x')}) {
        CAPTURE(text);
        CHECK(!is_json_pointer(text));
    }
}

}  // namespace
}  // namespace telegate::http
