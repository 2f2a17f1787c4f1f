// The forms of a report that is no matrix.
#include "report.hpp"
#include "support/catch.hpp"
#include "tools/printed.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

using namespace telegate::perf;
using namespace telegate::test;
using Catch::Matchers::Contains;

namespace {

using PrintReport = void (*)(std::ostream&, const Report&);

std::string printed_report(PrintReport print, const Report& report) {
    std::ostringstream out;
    print(out, report);
    return out.str();
}

Report report() {
    Report report{"queue", "samples per second", {{"samples", "5"}}, {}, {}};
    report.rows = {{"mutex, copy", {1e6, 2e6, 3e6}}};
    report.ratios = {{"fast / slow", {10.0, 11.0, 12.5}}};
    report.sections = {{"full", "bytes", {{"Ours", {64.5}}, {"other", {80.25}}, {"nothing", {0.0}}}, 1}};
    report.ours = "Ours";
    return report;
}

}  // namespace

TEST_CASE("every form of a report has its rows, sections and speed-ups", "[tools][report]") {
    const PrintReport print = GENERATE(print_text, print_markdown, print_html, print_json);
    const std::string text = printed_report(print, report());
    CHECK_THAT(text, Contains("mutex, copy") && Contains("2000000") && Contains("samples per second"));
    CHECK_THAT(text, Contains("full") && Contains("bytes") && Contains("Ours") && Contains("64.5"));
    CHECK_THAT(text, Contains("fast / slow") && Contains("11.0"));
}

TEST_CASE("a report's JSON keeps every run of every section", "[tools][report]") {
    const auto json = nlohmann::json::parse(printed_report(print_json, report()));
    CHECK(json["rows"][0]["runs"].size() == 3);
    CHECK(json["sections"][0]["title"] == "full");
    CHECK(json["sections"][0]["rows"][1]["median"] == 80.25);
}

TEST_CASE("a report without sections has none in its JSON", "[tools][report]") {
    Report plain = report();
    plain.sections.clear();
    CHECK_FALSE(nlohmann::json::parse(printed_report(print_json, plain)).contains("sections"));
}

TEST_CASE("a report's charts have a bar for each row above nothing, and ours stands out", "[tools][report]") {
    const std::string picture = printed_report(print_svg, report());
    CHECK(count_of(picture, "<g><title>") == 3);
    CHECK(count_of(picture, "class=\"telegate\"") == 1);
    CHECK(count_of(picture, "class=\"raw\"") == 2);
    CHECK(count_of(picture, "<svg ") == count_of(picture, "</svg>"));
    CHECK(count_of(picture, "<text ") == count_of(picture, "</text>"));
    CHECK_THAT(picture, Contains("<svg xmlns=\"http://www.w3.org/2000/svg\" width="));
    CHECK(count_of(printed_report(print_html, report()), "<g><title>") == 4);  // the speed-ups too
}

TEST_CASE("a report's pages escape every text", "[tools][report]") {
    const PrintReport print = GENERATE(print_html, print_svg);
    Report hostile = report();
    const std::string text = "<script>'\"&";
    hostile.command = hostile.unit = hostile.rows[0].name = hostile.sections[0].title = text;
    hostile.ratios[0].name = hostile.parameters[0].second = text;
    CHECK_THAT(printed_report(print, hostile), !Contains("<script>"));
}

TEST_CASE("a report that measured nothing still has its forms", "[tools][report]") {
    const PrintReport print = GENERATE(print_text, print_markdown, print_html, print_svg, print_json);
    CHECK_THAT(printed_report(print, Report{"queue", "samples per second", {}, {}, {}}), Contains("queue"));
}
