#include "transport/selection.hpp"
#include "support/catch.hpp"
#include "transport/workload.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::perf;
using Catch::Matchers::Contains;

namespace {

std::vector<std::string> names_of(const std::vector<Cell>& cells) {
    std::vector<std::string> names;
    names.reserve(cells.size());
    for (const Cell& cell : cells) {
        names.push_back(cell.group + ", " + cell.name);
    }
    return names;
}

constexpr bool transport = false;
constexpr bool fanout = true;

Selection parsed(bool for_fanout, const std::string& arguments) {
    Selection selection(for_fanout);
    CLI::App app;
    add_options(app, selection);
    app.parse(arguments);
    return selection;
}

/// Returns the error for the arguments; empty if there is none.
std::string complaint(bool for_fanout, const std::string& arguments) {
    try {
        (void)parsed(for_fanout, arguments);
    } catch (const CLI::ParseError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("lists on the command line produce the cells in their order", "[tools][selection]") {
    const auto chosen = parsed(transport, "--pattern router --transport ipc,tcp --size 64,8192,100");
    CHECK(names_of(cells_of(chosen)) ==
          std::vector<std::string>{"ROUTER-ROUTER ipc, 64 B", "ROUTER-ROUTER ipc, 8 KiB", "ROUTER-ROUTER ipc, 100 B",
                                   "ROUTER-ROUTER tcp, 64 B", "ROUTER-ROUTER tcp, 8 KiB", "ROUTER-ROUTER tcp, 100 B"});
    CHECK(cells_of(chosen).front().work.messages == 0);
    CHECK(cells_of(parsed(transport, "")).size() == 24);
    CHECK(cells_of(parsed(transport, "--two-processes")).size() == 16);  // not over inproc
}

TEST_CASE("a fan-out has a cell for each number of subscribers, with enough topics for them", "[tools][selection]") {
    const auto chosen = parsed(fanout, "--subscribers 1,8 --topics 1,4 --transport inproc --messages 10");
    const auto cells = cells_of(chosen);
    CHECK(names_of(cells) == std::vector<std::string>{"fan-out inproc, 1 subscriber", "fan-out inproc, 8 subscribers",
                                                      "fan-out inproc, 4 topics, 1 subscriber"});
    CHECK(cells.front().work.messages == 10);
    CHECK(cells_of(parsed(fanout, "")).size() == 10);
}

TEST_CASE("the original message counts belong to the four original sizes", "[tools][selection]") {
    const auto cells = cells_of(parsed(transport, "--messages original --pattern pubsub --transport tcp"));
    REQUIRE(cells.size() == 4);
    CHECK(cells[0].work.messages == 100'000);
    CHECK(cells[3].work.messages == 1'000);
    CHECK_THROWS_AS(cells_of(parsed(transport, "--messages original --size 65")), std::runtime_error);
}

TEST_CASE("unknown choices are rejected", "[tools][selection]") {
    const std::string arguments = GENERATE("--pattern pubsub,push", "--transport udp", "--size 15", "--size 64,x",
                                           "--engine zmq", "--variants best", "--messages 0", "--messages -1",
                                           "--messages some", "--seconds 0", "--seconds 1 --messages 2");
    CAPTURE(arguments);
    CHECK_THROWS_AS(parsed(transport, arguments), CLI::ParseError);
}

TEST_CASE("CURVE is measured with 64 B and 8 KiB over tcp, compared with libzmq only", "[tools][selection]") {
    const auto chosen = parsed(transport, "--curve");
    const auto cells = cells_of(chosen);
    CHECK(names_of(cells) == std::vector<std::string>{"PUB/SUB tcp, CURVE, 64 B", "PUB/SUB tcp, CURVE, 8 KiB",
                                                      "ROUTER-ROUTER tcp, CURVE, 64 B",
                                                      "ROUTER-ROUTER tcp, CURVE, 8 KiB"});
    CHECK(std::ranges::all_of(cells, [](const Cell& cell) { return cell.work.curve; }));
    CHECK(chosen.engines == std::vector<std::string>{"telegate", "libzmq"});
    CHECK(names_of(cells_of(parsed(fanout, "--curve --subscribers 2"))) ==
          std::vector<std::string>{"fan-out tcp, CURVE, 64 B, 2 subscribers",
                                   "fan-out tcp, CURVE, 8 KiB, 2 subscribers"});
}

TEST_CASE("explicit options also apply with CURVE", "[tools][selection]") {
    const auto cells = cells_of(parsed(transport, "--curve --size 100 --transport ipc --pattern pubsub"));
    CHECK(names_of(cells) == std::vector<std::string>{"PUB/SUB ipc, CURVE, 100 B"});
}

TEST_CASE("options that cannot be combined with CURVE are rejected by name", "[tools][selection]") {
    CHECK_THAT(complaint(transport, "--curve --transport tcp,inproc"), Contains("--transport: inproc"));
    CHECK_THAT(complaint(fanout, "--curve --engine raw"), Contains("--engine: raw"));
    CHECK_THAT(complaint(transport, "--curve=maybe"), Contains("maybe"));
    CHECK(complaint(transport, "--transport tcp,inproc --engine raw").empty());
}

TEST_CASE("I/O thread counts apply to a fan-out, and invalid ones are rejected by name", "[tools][selection]") {
    CHECK(parsed(fanout, "").io_threads.empty());
    CHECK(parsed(fanout, "--io-threads 1,2").io_threads == std::vector<std::size_t>{1, 2});
    const std::string value = GENERATE("0", "65", "-1", "1,x");
    CHECK_THAT(complaint(fanout, "--io-threads " + value), Contains("--io-threads"));
    CHECK_FALSE(complaint(transport, "--io-threads 1").empty());
}

TEST_CASE("each size of a fan-out is a group of its own", "[tools][selection]") {
    const auto cells = cells_of(parsed(fanout, "--transport tcp --size 64,8192 --subscribers 2,4"));
    CHECK(names_of(cells) ==
          std::vector<std::string>{"fan-out tcp, 64 B, 2 subscribers", "fan-out tcp, 64 B, 4 subscribers",
                                   "fan-out tcp, 8 KiB, 2 subscribers", "fan-out tcp, 8 KiB, 4 subscribers"});
}

TEST_CASE("sizes are shown in common units", "[tools][selection]") {
    CHECK(size_name(64) == "64 B");
    CHECK(size_name(1000) == "1000 B");
    CHECK(size_name(64 * 1024) == "64 KiB");
    CHECK(size_name(2 * 1024 * 1024) == "2 MiB");
}
