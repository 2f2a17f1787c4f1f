// What fan-out and CURVE add to the reports of matrix_report_test.cpp.
#include "support/catch.hpp"
#include "tools/printed.hpp"
#include "transport/matrix_report.hpp"
#include "transport/tables.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace telegate::perf;
using namespace telegate::test;
using Catch::Matchers::Contains;

namespace {

Cell cell_of(std::string name, std::vector<Series> series) {
    return {"fan-out tcp", std::move(name), {}, std::move(series)};
}

/// Telegate with one and two io threads, with 8 and 64 subscribers.
Matrix fan_out() {
    const auto ours = [](const char* variant, std::vector<double> publisher_ns) {
        return Series{"telegate", variant, {1e6, 2e6, 3e6}, {}, {}, std::move(publisher_ns)};
    };
    Cell few = cell_of("8 subscribers", {ours("1 io thread", {10, 20, 10}), ours("2 io threads", {8, 8, 8}),
                                         Series{"libzmq", "as reported", {1e6, 1e6, 1e6}, {}, {}, {90, 90, 90}},
                                         Series{"raw", "64 KiB chunks", {4e6, 4e6, 4e6}, {}, {}, {}}});
    Cell many = cell_of("64 subscribers", {ours("1 io thread", {12, 22, 15}), ours("2 io threads", {4, 4, 4})});
    few.work.receivers = 8;
    many.work.receivers = 64;
    return {"fanout", "messages per second", {}, {few, many}, false};
}

Matrix sealed() {
    Cell cell{"PUB/SUB tcp, CURVE", "8 KiB", {}, {}};
    cell.work.curve = true;
    cell.work.size = 8192;
    cell.series = {Series{"telegate", "", {50e3}, {}, {}, {}}, Series{"libzmq", "as reported", {25e3}, {}, {}, {}},
                   Series{"libzmq", "two contexts", {200e3}, {}, {}, {}}};
    return {"transport", "messages per second", {}, {cell}, false};
}

/// All 24 cells, Telegate ahead ten times.
Matrix whole() {
    Matrix matrix{"transport", "messages per second", {{"libzmq", "4.3.5"}}, {}, false};
    for (const char* pattern : {"PUB/SUB ", "ROUTER-ROUTER "}) {
        for (const char* transport : {"tcp", "ipc", "inproc"}) {
            for (const char* size : {"64 B", "1 KiB", "8 KiB", "64 KiB"}) {
                matrix.cells.push_back(
                    {std::string(pattern) + transport,
                     size,
                     {},
                     {Series{"telegate", "", {10e6}, {}, {}, {}}, Series{"libzmq", "as reported", {1e6}, {}, {}, {}},
                      Series{"libzmq", "HWM 0", {2e6}, {}, {}, {}}}});
            }
        }
    }
    return matrix;
}

}  // namespace

TEST_CASE("the summary has a row for each number of io threads, with its own ratio", "[tools][matrix]") {
    const Table table = summary_table(fan_out());
    REQUIRE(table.sections.size() == 1);
    REQUIRE(table.sections[0].rows.size() == 4);
    CHECK(table.sections[0].rows[0][0] == "8 subscribers, 1 io thread");
    CHECK(table.sections[0].rows[1][0] == "8 subscribers, 2 io threads");
    CHECK(table.sections[0].rows[0][5] == "2.00x");
}

TEST_CASE("a fan-out shows the publisher's CPU time, and what 64 subscribers cost it beside 8", "[tools][matrix]") {
    const Print print = GENERATE(print_matrix_text, print_matrix_json);
    const std::string text = printed(print, fan_out());
    CHECK_THAT(text, Contains("publisher"));
    CHECK_THAT(text, Contains("fan-out tcp, 1 io thread: with 64 subscribers") && Contains("1.20x (1.10x to 1.50x)"));
    CHECK_THAT(text, Contains("2 io threads: with 64 subscribers") && Contains("0.50x (0.50x to 0.50x)"));
}

TEST_CASE("what a publisher's subscribers cost is not told of several topics, nor without 8", "[tools][matrix]") {
    Matrix topics = fan_out();
    topics.cells[0].work.topics = topics.cells[1].work.topics = 1'000;
    CHECK(findings_in(topics).empty());
    Matrix alone = fan_out();
    alone.cells.erase(alone.cells.begin());
    CHECK(findings_in(alone).empty());
    CHECK(findings_in(whole()).empty());
}

TEST_CASE("the raw row tells its chunks", "[tools][matrix]") {
    CHECK_THAT(printed(print_matrix_text, fan_out()), Contains("raw       64 KiB chunks"));
}

TEST_CASE("with CURVE there are GB/s in place of raw", "[tools][matrix]") {
    const std::string text = printed(print_matrix_text, sealed());
    CHECK_THAT(text, Contains("GB/s") && Contains("0.410") && Contains("0.205") && Contains("1.64"));
    CHECK_THAT(text, !Contains("raw"));
    CHECK(nlohmann::json::parse(printed(print_matrix_json, sealed()))["cells"][0]["workload"]["curve"] == true);
    CHECK_THAT(printed(print_matrix_text, whole()), !Contains("GB/s"));
}
