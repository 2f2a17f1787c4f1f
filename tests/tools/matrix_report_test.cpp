#include "transport/matrix_report.hpp"
#include "support/catch.hpp"
#include "tools/printed.hpp"
#include "transport/standing.hpp"
#include "transport/tables.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate::perf;
using namespace telegate::test;
using Catch::Matchers::Contains;

namespace {

Series series(std::string engine, std::string variant, std::vector<double> rates) {
    return {std::move(engine), std::move(variant), std::move(rates), {}, {}, {}};
}

/// A cell in which everything was measured, one in which only Telegate was, and one of which nothing is known.
Matrix sample() {
    Cell full{"PUB/SUB tcp", "64 B", {}, {}};
    full.series = {series("telegate", "", {40e6, 20e6, 30e6}), series("libzmq", "as reported", {2e6, 4e6, 2e6}),
                   series("libzmq", "two contexts", {4e6, 5e6, 3e6}), series("raw", "", {50e6, 40e6, 40e6})};
    full.series[0].cpu_ns = {50, 60, 55};
    full.series[0].sender_cpu_ns = {21, 23, 22};
    full.series[3].cpu_ns = {41, 42, 43};
    const Cell alone{"PUB/SUB tcp", "1 KiB", {}, {series("telegate", "", {5e6, 4e6, 6e6})}};
    const Cell empty{"PUB/SUB inproc", "64 B", {}, {}};
    return {"transport", "messages per second", {{"runs", "3"}, {"libzmq", "4.3.5"}}, {full, alone, empty}, false};
}

Matrix sample_of_times() {
    Cell cell{"DEALER-ROUTER tcp", "p50", {}, {}};
    cell.series = {series("telegate", "", {50, 60, 70}), series("libzmq", "", {100, 60, 140}),
                   series("libzmq", "busy", {200, 50, 280}), series("raw", "", {40, 60, 50})};
    return {"latency", "microseconds", {}, {cell}, true};
}

std::string line_with(const std::string& text, std::string_view start) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(start)) {
            return line;
        }
    }
    return {};
}

}  // namespace

TEST_CASE("a number has three digits and a suffix from ten thousand on", "[tools][matrix]") {
    const auto [value, text] = GENERATE(table<double, const char*>({{0, "0.00"},
                                                                    {0.254, "0.25"},
                                                                    {9.994, "9.99"},
                                                                    {9.999, "10.0"},
                                                                    {73.44, "73.4"},
                                                                    {99.96, "100"},
                                                                    {1'234, "1234"},
                                                                    {9'999.6, "10.0 k"},
                                                                    {197'400, "197 k"},
                                                                    {999'600, "1.00 M"},
                                                                    {42'310'000, "42.3 M"},
                                                                    {1.5e9, "1.50 G"}}));
    CAPTURE(value);
    CHECK(short_number(value) == text);
}

TEST_CASE("what is no number is shown as a dash", "[tools][matrix]") {
    CHECK(short_number(std::numeric_limits<double>::infinity()) == "-");
    CHECK(times(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("rates are compared run by run, Telegate over the other", "[tools][matrix]") {
    const Matrix matrix = sample();
    const Standing standing = standing_in(matrix.cells[0], matrix.lower_is_better);
    CHECK(standing.over_libzmq == std::vector<double>{20, 5, 15});
    CHECK(standing.over_libzmq_best == std::vector<double>{10, 4, 10});
    CHECK(standing.of_raw == std::vector<double>{0.8, 0.5, 0.75});
    CHECK(standing.libzmq_best->variant == "two contexts");
}

TEST_CASE("times are compared run by run, the other over Telegate", "[tools][matrix]") {
    const Matrix matrix = sample_of_times();
    const Standing standing = standing_in(matrix.cells[0], matrix.lower_is_better);
    CHECK(standing.over_libzmq == std::vector<double>{2, 1, 2});
    CHECK(standing.libzmq_best == standing.libzmq);
    CHECK(standing.of_raw == std::vector<double>{1.25, 1, 1.4});
}

TEST_CASE("an engine without runs counts as not measured", "[tools][matrix]") {
    const Cell cell{"g", "c", {}, {series("telegate", "", {1}), series("libzmq", "", {}), series("libzmq", "b", {2})}};
    const Standing standing = standing_in(cell, false);
    CHECK(standing.libzmq->variant == "b");
    CHECK(standing.raw == nullptr);
    CHECK(standing.of_raw.empty());
}

TEST_CASE("cells of one group stand together in the order in which groups came", "[tools][matrix]") {
    Matrix matrix = sample();
    matrix.cells.push_back({"PUB/SUB tcp", "8 KiB", {}, {}});
    const std::vector<Group> groups = groups_of(matrix);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].cells.size() == 3);
    CHECK(groups[1].name == "PUB/SUB inproc");
}

TEST_CASE("the text has one row per cell, and dashes for what is missing", "[tools][matrix]") {
    const std::string text = printed(print_matrix_text, sample());
    CHECK(line_with(text, "  64 B ") ==
          "  64 B   30.0 M  20.0 M  40.0 M  2.00 M  15.0x  4.00 M  10.0x  40.0 M   75 %"
          "      55.0       -     -  42.0  two contexts");
    CHECK(line_with(text, "  1 KiB ") ==
          "  1 KiB  5.00 M  4.00 M  6.00 M       -      -       -      -       -      -"
          "         -       -     -     -  -");
}

TEST_CASE("the text names the machine, the build and the parameters", "[tools][matrix]") {
    const std::string text = printed(print_matrix_text, sample());
    CHECK_THAT(text, Contains("perf_tool transport\n"));
    CHECK_THAT(text, Contains("\n  libzmq       4.3.5\n"));
    for (const char* fact :
         {"processor", "cores", "system", "wmem_max", "tcp_wmem", "compiler", "build", "flags", "version"}) {
        CHECK_THAT(text, Contains("\n  " + std::string(fact) + " "));
    }
}

TEST_CASE("the text has one row per series", "[tools][matrix]") {
    const std::string text = printed(print_matrix_text, sample());
    CHECK_THAT(text, Contains("telegate  -             30.0 M  20.0 M  40.0 M  55.0    22.0\n"));
    CHECK_THAT(text, Contains("libzmq    two contexts  4.00 M  3.00 M  5.00 M     -       -\n"));
}

TEST_CASE("a report says which variants had shorter runs", "[tools][matrix]") {
    Matrix matrix = sample();
    CHECK_THAT(printed(print_matrix_text, matrix), !Contains("Shorter runs"));
    matrix.cells[0].series[2].is_cut = true;
    CHECK_THAT(printed(print_matrix_text, matrix), Contains("Shorter runs") && Contains(": libzmq (two contexts)."));
    const auto json = nlohmann::json::parse(printed(print_matrix_json, matrix));
    CHECK(json["cells"][0]["series"][2]["shorter_runs"] == true);
    CHECK(json["cells"][0]["series"][1]["shorter_runs"] == false);
}

TEST_CASE("the text fits 160 columns whatever the names", "[tools][matrix]") {
    Matrix matrix = sample();
    std::string long_name;
    for (int count = 0; count < 100; ++count) {
        long_name += "\u00E4b";  // two columns, three bytes
    }
    matrix.cells[0].name = long_name;
    matrix.cells[0].group = long_name;
    matrix.cells[0].series[2].variant = long_name;
    matrix.parameters.emplace_back(long_name, long_name + " words and " + long_name);
    matrix.parameters.emplace_back("words", std::string(500, 'x') + " y");
    std::istringstream lines(printed(print_matrix_text, matrix));
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(line.size() - count_of(line, "\u00E4") <= 160);
        CHECK(count_of(line, "\xC3") == count_of(line, "\u00E4"));  // no character is cut in two
    }
}

TEST_CASE("times are shown with the floor instead of a ceiling", "[tools][matrix]") {
    const std::string text = printed(print_matrix_text, sample_of_times());
    CHECK_THAT(line_with(text, "  p50"), Contains("60.0  50.0  70.0") && Contains("2.00x") && Contains("1.25x"));
    CHECK_THAT(text, Contains("less is better") && Contains("libzmq over Telegate"));
}

TEST_CASE("a matrix without cells can be printed", "[tools][matrix]") {
    const Print print = GENERATE(print_matrix_text, print_matrix_json);
    CHECK_FALSE(printed(print, {"fanout", "messages per second", {}, {}, false}).empty());
}

TEST_CASE("the JSON has every run, every series and the comparisons", "[tools][matrix]") {
    const auto json = nlohmann::json::parse(printed(print_matrix_json, sample()));
    const auto& cell = json["cells"][0];
    CHECK(cell["series"].size() == 4);
    CHECK(cell["series"][1]["rates"]["runs"] == nlohmann::json{2e6, 4e6, 2e6});
    CHECK(cell["series"][0]["cpu_ns"]["median"] == 55);
    CHECK(cell["over_libzmq"]["median"] == 15);
    CHECK(cell["best_libzmq_variant"] == "two contexts");
    CHECK(cell["workload"]["size_bytes"] == 64);
    CHECK(json["parameters"]["libzmq"] == "4.3.5");
    CHECK(json["surroundings"].contains("processor"));
    CHECK(json["lower_is_better"] == false);
    CHECK(json["cells"][1]["over_libzmq"].is_null());
    CHECK(json["cells"][2]["series"].empty());
}

TEST_CASE("the JSON stays valid with infinities and foreign bytes", "[tools][matrix]") {
    Matrix matrix = sample();
    matrix.cells[0].series[1].rates = {0, 0, 0};
    matrix.cells[0].name = "\"\\\xFF";
    CHECK_NOTHROW(nlohmann::json::parse(printed(print_matrix_json, matrix)));
}
