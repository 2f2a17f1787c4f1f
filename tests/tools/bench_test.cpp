#include "bench.hpp"
#include "report.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <signal.h>

#include <cstdint>
#include <numeric>
#include <sstream>

using namespace telegate::perf;
using Catch::Contains;

namespace {

std::string text_of(const Report& report) {
    std::ostringstream out;
    print_head(out, report);
    print_tables(out, report.tables);
    return out.str();
}

nlohmann::json json_of(const Report& report) {
    std::ostringstream out;
    print_json(out, report);
    return nlohmann::json::parse(out.str());
}

/// Measures a plan and returns how often it printed.
int measured(const Plan& plan, std::size_t runs) {
    std::ostringstream ignored;
    Steps steps(ignored, false, steps_in(plan, runs));
    int prints = 0;
    measure(plan, runs, steps, [&prints] { ++prints; });
    return prints;
}

}  // namespace

TEST_CASE("values of a run are added to the row with the same name, and shown with their goal", "[tools][report]") {
    Report report{"queue", {{"runs", "2"}}};
    for (const double value : {6.0, 8.0}) {
        report.add("rates", "fast", value, Goal::at_least(7));
        report.add("rates", "slow", value / 2);
    }
    report.add_ratio("ratios", "fast over slow", {report.find("rates", "fast"), report.find("rates", "slow")});
    report.add_ratio("ratios", "fast over none", {report.find("rates", "fast"), report.find("rates", "none")});
    REQUIRE(report.tables.size() == 2);
    CHECK(report.find("rates", "fast")->values == std::vector<double>{6, 8});
    CHECK(report.find("ratios", "fast over slow")->values == std::vector<double>{2, 2});
    CHECK(report.tables[1].rows.size() == 1);
    const std::string text = text_of(report);
    CHECK_THAT(text, Contains("met: at_least 7") && Contains("\nratios\n"));
    for (const char* fact : {"processor", "system", "compiler", "build", "flags", "version", "runs"}) {
        CHECK_THAT(text, Contains("\n  " + std::string(fact) + " "));
    }
    const auto json = json_of(report);
    CHECK(json["tables"][0]["rows"][0]["runs"] == nlohmann::json{6, 8});
    CHECK(json["tables"][0]["rows"][0]["goal"]["met"] == true);
    CHECK(json["parameters"]["runs"] == "2");
}

TEST_CASE("the JSON stays valid with infinities and invalid UTF-8", "[tools][report]") {
    Report report{"fanout"};
    report.add("\"\\\xFF", "x", 1.0 / 0.0);
    CHECK_NOTHROW(json_of(report));
}

TEST_CASE("the median is the middle value, or the mean of the two middle ones", "[tools][report]") {
    const Spread spread = spread_of({9.0, 1.0, 2.0});
    CHECK(spread.median == 2.0);
    CHECK(spread.min == 1.0);
    CHECK(spread.max == 9.0);
    CHECK(spread_of({4.0, 1.0, 3.0, 2.0}).median == 2.5);
}

TEST_CASE("a quantile is the smallest value that its share of all values does not exceed", "[tools][report]") {
    std::vector<std::uint64_t> ns(1'000);
    std::iota(ns.begin(), ns.end(), 1);
    CHECK(quantile(ns, 0.5) == 500);
    CHECK(quantile(ns, 0.999) == 999);
    CHECK(quantile(ns, 1.0) == 1'000);
}

TEST_CASE("engines take turns within each run, and each group is printed when it is complete", "[tools][bench]") {
    std::string order;
    const auto engine = [&order](const char* name) {
        return Engine{name, [&order, name] {
                          order += name;
                      }};
    };
    const Plan plan{{"one",
                     {engine("a"), engine("b")},
                     [&order] {
                         order += ".";
                     }},
                    {"two", {engine("c")}, {}, true}};
    CHECK(measured(plan, 2) == 2);
    CHECK(order == "abab.c");
    CHECK(steps_in(plan, 2) == 5);
}

TEST_CASE("a wrong result names the engine and the group", "[tools][bench]") {
    const Plan plan{{"PUB/SUB tcp", {{"a", [] {
                                          throw std::runtime_error("message 7 is lost");
                                      }}}}};
    CHECK_THROWS_WITH(measured(plan, 1), "a, PUB/SUB tcp: message 7 is lost");
}

TEST_CASE("an interrupt ends the measurement at the next step, with the results so far", "[tools][bench]") {
    sigset_t before{};
    ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
    block_interrupts();
    bool is_finished = false;
    const Plan plan{{"one",
                     {{"a",
                       [] {
                           ::pthread_kill(::pthread_self(), SIGINT);
                       }}},
                     [&] {
                         is_finished = true;
                     }}};
    CHECK_THROWS_AS(measured(plan, 2), Interrupted);
    CHECK(is_finished);
    CHECK_FALSE(is_interrupted());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("steps are lines with their number and the time left, unless the output is a terminal", "[tools][bench]") {
    std::ostringstream lines;
    std::ostringstream terminal;
    {
        Steps plain(lines, false, 2);
        Steps rewritten(terminal, true, 2);
        for (const char* const name : {"one", "two"}) {
            plain.next(name);
            rewritten.next(name);
        }
    }
    CHECK(lines.str().starts_with("step 1 of 2: one\nstep 2 of 2: two, about "));
    CHECK(lines.str().ends_with(" s left\n"));
    CHECK(terminal.str().starts_with("step 1 of 2: one\r\x1b[Kstep 2 of 2: two, about "));
    CHECK(terminal.str().ends_with("\r\x1b[K"));
}
