#include "support/catch.hpp"
#include "transport/results.hpp"

#include <nlohmann/json.hpp>

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

TEST_CASE("the text has the rates and the ratios of the engines that were measured", "[tools][matrix]") {
    const std::string text = text_of(sample());
    CHECK_THAT(text, Contains("\nPUB/SUB tcp, messages per second\n"));
    CHECK_THAT(line_with(text, "64 B: telegate "), EndsWith("      30000000      20000000      40000000"));
    CHECK_THAT(line_with(text, "64 B: best libzmq, two contexts "), Contains(" 4000000 "));
    CHECK_THAT(line_with(text, "64 B: raw "), Contains(" 40000000 "));
    CHECK_THAT(line_with(text, "64 B: to libzmq "), Contains(" 15 "));
    CHECK_THAT(line_with(text, "64 B: share of raw "), Contains(" 0.750 "));
    CHECK_THAT(line_with(text, "1 KiB: telegate "), Contains(" 5000000 "));
    CHECK(line_with(text, "1 KiB: libzmq").empty());
    CHECK(line_with(text, "1 KiB: to libzmq").empty());
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
    CHECK_THAT(line_with(text, "p50: to libzmq "), Contains(" 2 "));
    CHECK_THAT(line_with(text, "p50: Telegate / raw "), Contains(" 1.250 "));
}

TEST_CASE("a fan-out has a row for each number of I/O threads, with the publisher's CPU time", "[tools][matrix]") {
    const std::string text = text_of(fan_out());
    CHECK_THAT(text, Contains("CPU ns per message, without the receivers"));
    CHECK_THAT(line_with(text, "8 subscribers, 1 I/O thread: to libzmq "), Contains(" 2 "));
    CHECK_THAT(line_with(text, "8 subscribers, 2 I/O threads: to libzmq "), Contains(" 4 "));
}

TEST_CASE("with CURVE, GB/s are shown as well", "[tools][matrix]") {
    const std::string text = text_of(encrypted());
    CHECK_THAT(text, Contains("GB/s") && Contains("0.410") && Contains("0.205") && Contains("1.638"));
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
