#include "log_fixture.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <system_error>

namespace telegate::log_tool::test {
namespace {

/// Two epochs: a and b have ten samples each, a lacks 4 to 6 in the second one.
struct TwoEpochs : LogFixture {
    TwoEpochs() {
        start();
        add(0, 10);
        add(1, 10);
        stop();
        start();
        add(0, 3);
        add_gap(0, 3, store::GapReason::log_slow);
        add(0, 4);
        add(1, 10);
        kill();
    }
};

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t now = 1'800'000'000 * second;

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("list prints a line for each segment", "[gateway_log][list]") {
    TwoEpochs f;
    const Outcome outcome = f.run({"list", "/log"});
    CHECK(outcome.code == exit_code::ok);
    CHECK(lines_of(outcome.out) == 3);
    const std::string json = f.run({"list", "/log", "--json"}).out;
    CHECK(nlohmann::json::parse(json.substr(0, json.find('\n'))) ==
          nlohmann::json({{"name", "00000000000000000000.tgl"},
                          {"bytes", f.content(0).size()},
                          {"state", "sealed"},
                          {"first_position", 0},
                          {"end_position", 21},
                          {"epoch_ms", LogFixture::first_epoch_ms},
                          {"samples", 20},
                          {"oldest_sample", "2027-01-15T08:00:00.001000000Z"},
                          {"newest_sample", "2027-01-15T08:00:00.010000000Z"}}));
}

TEST_CASE("dump prints samples, gaps, starts and stops in order", "[gateway_log][dump]") {
    TwoEpochs f;
    const std::string text = f.run({"dump", "/log", "--channel", "dev/a"}).out;
    CHECK(text.find("start                     epoch 1800000000000 (2027-01-15T08:00:00.000Z)\n"
                    "2027-01-15T08:00:00.001Z  dev/a                          1       good\n") == 0);
    CHECK(text.find("stop                      epoch 1800000000000 (2027-01-15T08:00:00.000Z)\n"
                    "start                     epoch 1800003600000") != std::string::npos);
    CHECK(text.find("2027-01-15T09:00:00.003Z  dev/a                          3       good\n"
                    "gap                       dev/a            3 samples missing: 4..6 (log_slow)\n"
                    "2027-01-15T09:00:00.007Z") != std::string::npos);
    CHECK(text.find("dev/b") == std::string::npos);
}

TEST_CASE("a time range selects samples, gaps and starts", "[gateway_log][dump]") {
    TwoEpochs f;
    const Outcome outcome = f.run({"dump", "/log", "--channel", "dev/a", "--since", "2027-01-15T08:00:00.009Z",
                                   "--until", "2027-01-15T09:00:00.002Z"});
    CHECK(lines_of(outcome.out) == 2 + 1 + 1 + 1);
    CHECK_FALSE(outcome.has("gap"));
    CHECK(f.run({"dump", "/log", "--since", "2027-01-15T09:00:00.004Z"}).has("gap"));
    CHECK(f.run({"dump", "/log", "--until", "2027-01-15T09:00:00.0031Z"}).has("gap"));
    CHECK(f.run({"dump", "/log", "--since", "2028-01-01T00:00:00Z"}).out.empty());
}

TEST_CASE("a channel is selected by its whole topic, or several by the beginning of theirs", "[gateway_log][dump]") {
    TwoEpochs f;
    const auto count = [&](std::vector<const char*> channels) {
        std::vector<const char*> arguments{"export", "/log", "--format", "csv", "--output", "-"};
        for (const char* each : channels) {
            arguments.insert(arguments.end(), {"--channel", each});
        }
        return lines_of(f.run(arguments).out) - 1;
    };
    CHECK(count({}) == 37);
    CHECK(count({"dev/*"}) == 37);
    CHECK(count({"dev/a"}) == 17);
    CHECK(count({"dev/a", "dev/b"}) == 37);
    CHECK(count({"*"}) == 37);
    CHECK(log_tool::ChannelFilter({"plc/array[3]"}).matches("plc/array[3]"));
    CHECK_FALSE(log_tool::ChannelFilter({"plc/array[3]"}).matches("plc/array3"));
}

TEST_CASE("a channel that the log does not have is an error", "[gateway_log][dump]") {
    TwoEpochs f;
    for (const char* const channel : {"dev", "dev/", "dev/aa", "a", "d*b", "other/*"}) {
        CAPTURE(channel);
        const Outcome dump = f.run({"dump", "/log", "--channel", "dev/a", "--channel", channel});
        CHECK(dump.code == exit_code::not_ok);
        CHECK(dump.out.empty());
        CHECK(dump.errors == "gateway_log: --channel: no channel \"" + std::string(channel) +
                                 "\" in the log: must be a whole topic, such as host/cpu.user, or the beginning of "
                                 "topics and *\n");
        CHECK(f.run({"export", "/log", "--format", "csv", "--output", "-", "--channel", channel}).code ==
              exit_code::not_ok);
    }
    CHECK(f.run({"dump", "/log", "--channel", "dev/a", "--since", "2028-01-01T00:00:00Z"}).code == exit_code::ok);
}

TEST_CASE("JSON distinguishes minus zero from zero", "[gateway_log][export]") {
    LogFixture f;
    f.start();
    for (const double value : {0.0, -0.0}) {
        TelemetrySample sample = f.make(1);
        sample.value.real = value;
        f.log->append(std::span(&sample, 1));
    }
    f.stop();
    const Outcome json = f.run({"export", "/log", "--format", "json", "--output", "-"});
    CHECK(json.has(R"("value":0,)"));
    CHECK(json.has(R"("value":-0.0,)"));
}

TEST_CASE("samples are exported as CSV and JSON", "[gateway_log][export]") {
    TwoEpochs f;
    const Outcome csv = f.run({"export", "/log", "--format", "csv", "--output", "-", "--channel", "dev/b"});
    CHECK(csv.out.find("epoch_ms,topic,seq,time_utc_ns,value,type,quality,flags,unit\n"
                       "1800000000000,dev/b,1,1800000000001000000,1,real,good,0,Cel\n") == 0);
    CHECK(csv.errors == "gateway_log: exported 20 samples\n");
    const Outcome json = f.run({"export", "/log", "--format", "json", "--output", "-", "--channel", "dev/a"});
    CHECK(nlohmann::json::parse(json.out.substr(0, json.out.find('\n'))) ==
          nlohmann::json({{"epoch_ms", 1800000000000},
                          {"topic", "dev/a"},
                          {"seq", 1},
                          {"time_utc_ns", 1800000000001000000},
                          {"value", 1},
                          {"type", "integer"},
                          {"quality", "good"},
                          {"flags", 0},
                          {"unit", ""}}));
    CHECK(json.errors == "gateway_log: exported 17 samples; not in the output: 3 samples missing in 1 gap\n");
}

TEST_CASE("a query aggregates a channel by intervals", "[gateway_log][query]") {
    TwoEpochs f;
    const Outcome outcome =
        f.run({"query", "/log", "dev/b", "--interval", "5ms", "--json", "--until", "2027-01-15T08:30:00Z"});
    CHECK(outcome.out ==
          "{\"time\":\"2027-01-15T08:00:00.000000000Z\",\"count\":4,\"min\":1.0,\"max\":4.0,\"mean\":2.5,"
          "\"missing\":0,\"not_good\":0}\n"
          "{\"time\":\"2027-01-15T08:00:00.005000000Z\",\"count\":5,\"min\":5.0,\"max\":9.0,\"mean\":7.0,"
          "\"missing\":0,\"not_good\":0}\n"
          "{\"time\":\"2027-01-15T08:00:00.010000000Z\",\"count\":1,\"min\":10.0,\"max\":10.0,\"mean\":10.0,"
          "\"missing\":0,\"not_good\":0}\n");
    CHECK(lines_of(f.run({"query", "/log", "dev/b"}).out) == 3);
    const Outcome unknown = f.run({"query", "/log", "dev"});
    CHECK(unknown.code == exit_code::not_ok);
    CHECK(unknown.errors.find("no sample found in the log for channel \"dev\"") != std::string::npos);
}

TEST_CASE("times are RFC 3339 or ages", "[gateway_log][options]") {
    const auto [text, expected] =
        GENERATE(table<std::string, std::optional<std::int64_t>>({{"2h", now - 7'200 * second},
                                                                  {"0s", now},
                                                                  {"2027-01-15T08:00:00Z", now},
                                                                  {"2027-01-15t08:00:00.5z", now + second / 2},
                                                                  {"2027-01-15 10:00:00+02:00", now},
                                                                  {"2027-01-15T04:30:00.000000001-03:30", now + 1},
                                                                  {"2027-01-15T08:00:00", std::nullopt},
                                                                  {"2027-01-15T08:00:00+25:00", std::nullopt},
                                                                  {"2027-01-15", std::nullopt},
                                                                  {"2h ago", std::nullopt},
                                                                  {"", std::nullopt}}));
    CAPTURE(text);
    CHECK(parse_age_or_time(text, now) == expected);
}

TEST_CASE("invalid command lines are refused with what is allowed", "[gateway_log][options]") {
    LogFixture f;
    using Arguments = std::vector<const char*>;
    const auto [arguments, message] = GENERATE(table<Arguments, const char*>({
        {Arguments{}, "A subcommand is required"},
        {Arguments{"verify"}, "DIR is required"},
        {Arguments{"verify", ""}, "DIR: must not be empty"},
        {Arguments{"dump", "/log", "--since", "soon"},
         "--since: invalid age or time \"soon\": must be a number with ms"},
        {Arguments{"dump", "/log", "--until", ""}, "--until: invalid value \"\": must not be empty"},
        {Arguments{"dump", "/log", "--since", "1h", "--until", "2h"}, "--since must be before --until"},
        {Arguments{"export", "/log", "--format", "xml", "--output", "-"}, "\"xml\": must be csv or json"},
        {Arguments{"export", "/log", "--format", "csv"}, "--output is required"},
        {Arguments{"query", "/log", "dev/a", "--interval", "0s"}, "--interval: invalid duration \"0s\""},
    }));
    const Outcome outcome = f.run(arguments);
    CAPTURE(outcome.errors);
    CHECK(outcome.code == exit_code::usage);
    CHECK(outcome.errors.find(message) != std::string::npos);
    CHECK(outcome.errors.find("Try 'gateway_log --help'") != std::string::npos);
}

TEST_CASE("a directory without a log is refused", "[gateway_log][options]") {
    LogFixture f;
    const Outcome outcome = f.run({"verify", "/log"});
    CHECK(outcome.code == exit_code::no_input);
    CHECK(outcome.errors == "gateway_log: no log in /log: it has no segment files (*.tgl)\n");
}

TEST_CASE("errors of the disk end a command with its exit code", "[gateway_log][options]") {
    TwoEpochs f;
    f.disk.fail_always(std::errc::io_error);
    for (const char* const command : {"dump", "verify"}) {
        CAPTURE(command);
        CHECK(f.run({command, "/log"}).code == exit_code::io_error);
    }
}

}  // namespace telegate::log_tool::test
