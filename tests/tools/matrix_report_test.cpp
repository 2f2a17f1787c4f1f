#include "support/catch.hpp"
#include "transport/results.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate::perf;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

Series series(std::string engine, std::string variant, std::vector<double> rates) {
    return {std::move(engine), std::move(variant), std::move(rates)};
}

/// A cell in which both engines were measured, one with Telegate only, and one without measurements.
Matrix sample() {
    Cell full{"PUB/SUB tcp", "64 B", {}, {}};
    full.series = {series("telegate", "", {40e6, 20e6, 30e6}), series("libzmq", "as reported", {2e6, 4e6, 2e6}),
                   series("libzmq", "two contexts", {4e6, 5e6, 3e6}), series("raw", "", {50e6, 40e6, 40e6})};
    full.series[0].cpu_ns = {50, 60, 55};
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

/// Telegate with one and two I/O threads.
Matrix fan_out() {
    Cell cell{"fan-out tcp", "8 subscribers"};
    cell.work.receivers = 8;
    cell.series = {series("telegate", "1 I/O thread", {1e6, 2e6, 3e6}),
                   series("telegate", "2 I/O threads", {2e6, 4e6, 6e6}),
                   series("libzmq", "as reported", {1e6, 1e6, 1e6})};
    cell.series[1].publisher_cpu_ns = {8, 9, 8};
    return {"fanout", "messages per second", {}, {cell}};
}

Matrix encrypted() {
    Cell cell{"PUB/SUB tcp, CURVE", "8 KiB"};
    cell.work.curve = true;
    cell.work.size = 8192;
    cell.series = {series("telegate", "", {50e3}), series("libzmq", "as reported", {25e3}),
                   series("libzmq", "two contexts", {200e3})};
    return {"transport", "messages per second", {}, {cell}};
}

Standing standing_in(const Matrix& matrix) {
    return standings_in(matrix.cells[0], matrix.lower_is_better).front();
}

std::string text_of(const Matrix& matrix) {
    std::ostringstream out;
    print_text(out, matrix);
    return out.str();
}

nlohmann::json json_of(const Matrix& matrix) {
    std::ostringstream out;
    print_json(out, matrix);
    return nlohmann::json::parse(out.str());
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

TEST_CASE("numbers from ten thousand on have three digits and a suffix", "[tools][matrix]") {
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

TEST_CASE("a value that is not a number is shown as a dash", "[tools][matrix]") {
    CHECK(short_number(std::numeric_limits<double>::infinity()) == "-");
    CHECK(times(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("rates are compared run by run, Telegate divided by the other engine", "[tools][matrix]") {
    const Matrix matrix = sample();
    const Standing standing = standing_in(matrix);
    CHECK(standing.over_libzmq == std::vector<double>{20, 5, 15});
    CHECK(standing.over_libzmq_best == std::vector<double>{10, 4, 10});
    CHECK(standing.of_raw == std::vector<double>{0.8, 0.5, 0.75});
    CHECK(standing.libzmq_best->variant == "two contexts");
}

TEST_CASE("times are compared run by run, the other engine divided by Telegate", "[tools][matrix]") {
    const Matrix matrix = sample_of_times();
    const Standing standing = standing_in(matrix);
    CHECK(standing.over_libzmq == std::vector<double>{2, 1, 2});
    CHECK(standing.libzmq_best == standing.libzmq);
    CHECK(standing.of_raw == std::vector<double>{1.25, 1, 1.4});
}

TEST_CASE("an engine without runs counts as not measured", "[tools][matrix]") {
    const Cell cell{"g", "c", {}, {series("telegate", "", {1}), series("libzmq", "", {}), series("libzmq", "b", {2})}};
    const Standing standing = standings_in(cell, false).front();
    CHECK(standing.libzmq->variant == "b");
    CHECK(standing.raw == nullptr);
    CHECK(standing.of_raw.empty());
}

TEST_CASE("the text has one row per cell, and dashes for missing values", "[tools][matrix]") {
    const std::string text = text_of(sample());
    CHECK_THAT(line_with(text, "  64 B "), Contains("30.0 M  20.0 M  40.0 M  2.00 M  15.0x") &&
                                               Contains("4.00 M  10.0x") && Contains("40.0 M   75 %") &&
                                               Contains("42.0  two contexts"));
    CHECK_THAT(line_with(text, "  1 KiB "), Contains("5.00 M  4.00 M  6.00 M       -      -") && EndsWith("-  -"));
    CHECK_THAT(text, Contains("\nPUB/SUB tcp") && Contains("\nPUB/SUB inproc"));
}

TEST_CASE("the text names the machine, the build and the parameters", "[tools][matrix]") {
    const std::string text = text_of(sample());
    CHECK_THAT(text, Contains("perf_tool transport\n"));
    for (const char* fact :
         {"processor", "cores", "system", "wmem_max", "tcp_wmem", "compiler", "build", "flags", "version", "libzmq"}) {
        CHECK_THAT(text, Contains("\n  " + std::string(fact) + " "));
    }
}

TEST_CASE("shorter runs of a variant are reported", "[tools][matrix]") {
    Matrix matrix = sample();
    CHECK_THAT(text_of(matrix), !Contains("shorter runs"));
    matrix.cells[0].series[2].is_cut = true;
    CHECK_THAT(text_of(matrix), Contains("two contexts (shorter runs)"));
    CHECK(json_of(matrix)["cells"][0]["series"][2]["shorter_runs"] == true);
    CHECK(json_of(matrix)["cells"][0]["series"][1]["shorter_runs"] == false);
}

TEST_CASE("times are shown with the factor to raw instead of the share", "[tools][matrix]") {
    const std::string text = text_of(sample_of_times());
    CHECK_THAT(line_with(text, "  p50"), Contains("60.0  50.0  70.0") && Contains("2.00x") && Contains("1.25x"));
    CHECK_THAT(text, Contains("less is better") && Contains("times"));
}

TEST_CASE("a fan-out has a row for each number of I/O threads, with the publisher's CPU time", "[tools][matrix]") {
    const std::string text = text_of(fan_out());
    CHECK_THAT(text, Contains("publisher"));
    CHECK_THAT(line_with(text, "  8 subscribers, 1 I/O thread"), Contains("2.00x"));
    CHECK_THAT(line_with(text, "  8 subscribers, 2 I/O threads"), Contains("4.00x") && Contains("8.00"));
}

TEST_CASE("with CURVE, GB/s are shown instead of the share of raw", "[tools][matrix]") {
    const std::string text = text_of(encrypted());
    CHECK_THAT(text, Contains("GB/s") && Contains("0.410") && Contains("0.205") && Contains("1.638"));
    CHECK_THAT(text, !Contains("share"));
    CHECK(json_of(encrypted())["cells"][0]["workload"]["curve"] == true);
    CHECK_THAT(text_of(sample()), !Contains("GB/s"));
}

TEST_CASE("a matrix without cells can be printed", "[tools][matrix]") {
    const Matrix matrix{"fanout", "messages per second"};
    CHECK_FALSE(text_of(matrix).empty());
    CHECK(json_of(matrix)["cells"].empty());
}

TEST_CASE("the JSON contains every run, every series and the comparisons", "[tools][matrix]") {
    const auto json = json_of(sample());
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

TEST_CASE("the JSON stays valid with infinities and invalid UTF-8", "[tools][matrix]") {
    Matrix matrix = sample();
    matrix.cells[0].series[1].rates = {0, 0, 0};
    matrix.cells[0].name = "\"\\\xFF";
    CHECK_NOTHROW(json_of(matrix));
}
