#include "http/http_text.hpp"

#include "support/catch.hpp"

#include <array>
#include <string>

using namespace telegate;

namespace {

constexpr std::array<std::string_view, 2> metrics{"text/plain; version=0.0.4; charset=utf-8",
                                                  "application/openmetrics-text; version=1.0.0; charset=utf-8"};
constexpr int no_type = -1;

int preferred(std::string_view accept) {
    const auto found = preferred_type(accept, metrics);
    return found ? static_cast<int>(*found) : no_type;
}

}  // namespace

TEST_CASE("the media type that a client prefers is found", "[gateway][rest]") {
    const auto [accept, wanted] = GENERATE(table<std::string, int>(
        {{"", 0},
         {"*/*", 0},
         {"text/*", 0},
         {"application/*", 1},
         {"application/openmetrics-text", 1},
         {"Application/OpenMetrics-Text;Version=1.0.0", 1},
         {"application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", 1},
         {"application/openmetrics-text; q=0.2, text/plain; q=0.3", 0},
         {"application/openmetrics-text;version=0.0.1,text/plain;version=0.0.4;q=0.5", 0},
         {"text/plain;q=0, */*", 1},
         {"text/plain;version=\"0.0.4\";x=\"a,b;q=0\",application/openmetrics-text;q=0.9", 0},
         {"text/plain;x=\"\\\",application/openmetrics-text\";q=0.1,application/openmetrics-text;q=\"0.9\"", 1},
         {"application/openmetrics-text;version=\"1.0.0\"", 1},
         {"text/plain;x=\"", 0},
         {"text/plain;q=0", no_type},
         {"application/json", no_type},
         {"text/html, image/*", no_type},
         {",,;;=,", no_type}}));
    CAPTURE(accept);
    CHECK(preferred(accept) == wanted);
}

TEST_CASE("a content type is recognized with parameters and in any case", "[gateway][rest]") {
    CHECK(is_media_type("Application/JSON; charset=utf-8", "application/json"));
    CHECK_FALSE(is_media_type("application/jsonx", "application/json"));
    CHECK_FALSE(is_media_type("", "application/json"));
}
