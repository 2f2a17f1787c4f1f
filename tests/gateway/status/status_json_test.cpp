#include "status/status_json.hpp"

#include "config/payload_format.hpp"
#include "gateway/status/full_snapshot.hpp"
#include "gateway/status/shown_status.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <limits>
#include <utility>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

json value_of(const ChannelStatus& channel) {
    StatusSnapshot snapshot;
    snapshot.channels.push_back(channel);
    return shown(snapshot)["channels"]["last"][channel.topic]["value"];
}

}  // namespace

TEST_CASE("the status shows name, version, start time and state", "[gateway][status]") {
    const json status = shown(full_snapshot());
    CHECK(status["name"] == "telegate");
    CHECK_FALSE(status["version"].get<std::string>().empty());
    CHECK_FALSE(status["build"]["type"].get<std::string>().empty());
    CHECK_FALSE(status["build"]["compiler"].get<std::string>().empty());
    CHECK(status["state"] == "running");
    CHECK(status["epoch"] == 1'795'216'294'123);
    CHECK(status["time"] == "2026-11-20T23:11:34.123456789Z");
    CHECK(status["uptime_s"] == 1.5);
    CHECK(status["rest"] == json::parse(R"({"endpoint":"127.0.0.1:8080"})"));
}

TEST_CASE("every gateway state has a name", "[gateway][status]") {
    CHECK(to_string(GatewayState::starting) == "starting");
    CHECK(to_string(GatewayState::running) == "running");
    CHECK(to_string(GatewayState::stopping) == "stopping");
}

TEST_CASE("the status shows which settings are in force and the result of the last reload", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.config = {"x.ini", "abc", 3, 1'795'216'294'123'456'789, {}};
    CHECK(shown(snapshot)["config"] == json::parse(R"({"path":"x.ini","hash":"abc","generation":3,
        "loaded_at":"2026-11-20T23:11:34.123456789Z","differs_from_file":null,"reverts":null,
        "last_reload":null})"));
    snapshot.config.last_reload = ReloadStatus{1'795'216'294'123'456'789, "anna", ReloadOutcome::invalid, 2,
                                               "x.ini:1: a: is bad",      1,      {"rest.listen"}};
    CHECK(shown(snapshot)["config"]["last_reload"] == json::parse(R"({"time":"2026-11-20T23:11:34.123456789Z",
        "by":"anna","outcome":"invalid","changes_count":2,"needs_restart":["rest.listen"],"problem":"x.ini:1: a: is bad"})"));
}

TEST_CASE("the ledger of removed devices is included in the total only", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.ledger_removed = counts(7, 7, 0, 0);
    CHECK(shown(snapshot)["ledger"]["total"]["sampled"] == 117);
    CHECK(shown(snapshot)["ledger"]["devices"].size() == 2);
    CHECK(shown(snapshot)["ledger"]["balanced"] == true);
    snapshot.ledger_removed = counts(8, 7, 0, 0);
    CHECK(shown(snapshot)["ledger"]["balanced"] == false);
}

TEST_CASE("the status shows the queue", "[gateway][status]") {
    CHECK(shown(full_snapshot())["queue"] ==
          json::parse(R"({"depth":1,"capacity":1024,"high_water":7,"policy":"drop_newest"})"));
}

TEST_CASE("the ledger is shown per device and in total", "[gateway][status]") {
    const json shown_ledger = shown(full_snapshot())["ledger"];
    CHECK(shown_ledger["balanced"] == true);
    CHECK(shown_ledger["total"] == json::parse(R"({"sampled":110,"published":100,"filtered":0,"queued":4,
        "dropped":{"queue_overflow":6,"shutdown":0}})"));
    CHECK(shown_ledger["devices"]["host"] == json::parse(R"({"sampled":100,"published":90,"filtered":0,"queued":4,
        "dropped":{"queue_overflow":6,"shutdown":0},"balanced":true})"));
    CHECK(shown_ledger["devices"]["boiler"]["sampled"] == 10);
}

TEST_CASE("a sample that is missing from one device's ledger shows there and in the total", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.ledger[0].published -= 1;
    const json shown_ledger = shown(snapshot)["ledger"];
    CHECK(shown_ledger["balanced"] == false);
    CHECK(shown_ledger["devices"]["host"]["balanced"] == false);
    CHECK(shown_ledger["devices"]["boiler"]["balanced"] == true);
}

TEST_CASE("errors of two devices that cancel out do not make the total balance", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.ledger[0].published -= 1;
    snapshot.ledger[1].published += 1;
    CHECK(shown(snapshot)["ledger"]["balanced"] == false);
}

TEST_CASE("devices and channels that disagree do not balance", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    CHECK(shown(snapshot)["ledger"]["balanced"] == true);
    snapshot.channels_agree = false;
    CHECK(shown(snapshot)["ledger"]["balanced"] == false);
}

TEST_CASE("a sample that was lost inside the queue shows although every device balances", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.queue_agrees = false;
    const json shown_ledger = shown(snapshot)["ledger"];
    CHECK(shown_ledger["balanced"] == false);
    CHECK(shown_ledger["devices"]["host"]["balanced"] == true);
}

TEST_CASE("a channel that lost all its samples is shown with its losses", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    TelemetrySample none{};
    none.quality = Quality::bad;
    snapshot.channels = {{"host/lost", "", none, {{{3, 1, 3}}}}};
    const json lost = shown(snapshot)["channels"]["last"]["host/lost"];
    CHECK(lost["seq"] == 0);
    CHECK(lost["time"].is_null());
    CHECK(lost["drops"]["queue_overflow"]["count"] == 3);
}

TEST_CASE("the status shows how each device is sampled", "[gateway][status]") {
    const json devices = shown(full_snapshot())["sampler"]["devices"];
    CHECK(devices[0] == json::parse(R"({"name":"host","state":"measuring","interval_ms":1000,"channels":20,"reads":5,
        "reads_failed":0,"ticks_missed":1,"reads_skipped":0,"consecutive_failures":0,"lost_at_source":0,
        "filtered_by":{"range":0,"deadband":4,"rate_limit":0,"window":0},"thread":"tg-sample",
        "breaker":null,"last_error":null,"last_error_current":false,"last_error_time":null,
        "last_good_time":"2026-11-20T23:11:34.000000000Z","state_since":"2026-11-20T23:11:33.000000000Z",
        "outages":0,"samples_bad":2,"channels_bad":1,"refused":0,"last_refused":null,"last_refused_time":null,
        "lateness_s":{"p50":1e-05,"p99":2e-05,"max":3e-05}})"));
    CHECK(devices[1]["state"] == "error");
    CHECK(devices[1]["reads_failed"] == 3);
    CHECK(devices[1]["last_error"] == "no reply");
    CHECK(devices[1]["last_error_current"] == true);
    CHECK(devices[1]["last_error_time"] == "2026-11-20T23:11:34.000000000Z");
    CHECK(devices[1]["last_good_time"].is_null());
    CHECK(devices[1]["outages"] == 4);
    CHECK(devices[1]["refused"] == 2);
    CHECK(devices[1]["last_refused"] == "wrong checksum: \"\\x01\"");
    CHECK(devices[1]["last_refused_time"] == "2023-11-14T22:13:20.000000000Z");
    CHECK(devices[1]["thread"] == "tg-bus-boiler");
    CHECK(devices[1]["breaker"] == "half_open");
}

TEST_CASE("an interval below a millisecond is shown as a fraction of one", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    const auto [interval, text] = GENERATE(
        table<Duration, std::string>({{100us, "0.1"}, {10us, "0.01"}, {1'500us, "1.5"}, {1ms, "1"}, {1h, "3600000"}}));
    snapshot.devices[0].interval = interval;
    CHECK(shown(snapshot)["sampler"]["devices"][0]["interval_ms"].dump() == text);
}

TEST_CASE("the status shows the schedule of the sampling thread", "[gateway][status]") {
    json sampler = shown(full_snapshot())["sampler"];
    sampler.erase("devices");
    CHECK(sampler == json::parse(R"({"realtime_priority":0,"cpu_affinity":[]})"));
    StatusSnapshot snapshot = full_snapshot();
    snapshot.sampling_schedule = {50, {1, 3}};
    sampler = shown(snapshot)["sampler"];
    sampler.erase("devices");
    CHECK(sampler == json::parse(R"({"realtime_priority":50,"cpu_affinity":[1,3]})"));
}

TEST_CASE("the status shows the endpoints and their traffic", "[gateway][status]") {
    json transport = shown(full_snapshot())["transport"];
    transport.erase("subscribers");
    const json notices = std::exchange(transport["notices"], nullptr);
    CHECK(notices.size() == payload_formats);
    CHECK(notices["json"] == json({{"gaps", 7}, {"beats", 0}}));
    CHECK(notices["cbor"] == json({{"gaps", 0}, {"beats", 0}}));
    CHECK(notices["record"] == json({{"gaps", 0}, {"beats", 3}}));
    CHECK(
        transport ==
        json::parse(R"({"endpoints":["tcp://127.0.0.1:5556","ipc:///run/telegate/pub.sock"],"formats":["cbor","record"],
        "security":[{"mechanism":"CURVE","public_key":"KEY","clients":2},{"mechanism":"NULL"}],
        "delivery":[{"policy":"block","backlog_bytes":65536,"backlog_age_ms":1500,"last_value":true},
        {"policy":"drop_oldest","backlog_bytes":16777216,"backlog_age_ms":0,"last_value":false}],
        "messages":100,"connections_accepted":4,"connections_refused":1,"accept_errors":6,"handshakes_failed":2,
        "violations":9,"heartbeat_timeouts":8,"subscribers_revoked":6,"gap_overflows":12,"subscriptions":1,"subscriptions_refused":5,"received":11,"matched":60,"sent":50,"dropped":7,"pending":3,"balanced":true,
        "lost":{"slow":4,"expired":2,"conflated":0,"disconnected":1},
        "notices":null})"));
}

TEST_CASE("the status shows each subscriber", "[gateway][status]") {
    CHECK(
        shown(full_snapshot())["transport"]["subscribers"] ==
        json::parse(
            R"([{"id":3,"endpoint":"tcp://127.0.0.1:5556","format":"cbor","peer":"127.0.0.1:50312","subscriptions":["host/"],
        "subscriptions_count":1,"matched":50,"sent":40,"dropped":7,"pending":3,"balanced":true,
        "losses":{"slow":{"count":4,"first":{"topic":"host/x","seq":5,"time":"1970-01-01T00:00:01.000000000Z"},
        "last":{"topic":"host/y","seq":9,"time":"1970-01-01T00:00:02.000000000Z"}},
        "conflated":{"count":3,"first":{"topic":null,"seq":null,"time":"1970-01-01T00:00:03.000000000Z"},
        "last":{"topic":null,"seq":null,"time":"1970-01-01T00:00:03.000000000Z"}}},
        "backlog_bytes":300,"blocking":true,
        "received":2,"zmtp":"3.1","mechanism":"CURVE","curve_key":"0000000000000000000000000000000000000000","client":"anna","idle_ms":1200,"round_trip_s":0.00025}])"));
}

TEST_CASE("a subscriber that has not answered a PING has no round-trip time", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.subscribers[0].round_trip.reset();
    CHECK(shown(snapshot)["transport"]["subscribers"][0]["round_trip_s"].is_null());
}

TEST_CASE("a message that a subscriber neither received nor lost shows", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.subscribers[0].sent -= 1;
    snapshot.publisher.dropped += 1;
    const json transport = shown(snapshot)["transport"];
    CHECK(transport["subscribers"][0]["balanced"] == false);
    CHECK(transport["balanced"] == false);
}

TEST_CASE("a subscription with arbitrary bytes is readable", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    snapshot.subscribers[0].subscriptions = {"", std::string("a\0\xFF", 3), "back\\slash"};
    CHECK(shown(snapshot)["transport"]["subscribers"][0]["subscriptions"] ==
          json::array({"", "a\\x00\\xff", "back\\\\slash"}));
}

TEST_CASE("the status shows the last sample of each channel", "[gateway][status]") {
    const json channels = shown(full_snapshot())["channels"];
    CHECK(channels["refused"] == 8);
    CHECK(channels["unclaimed"] == json::array({"boiler/flow.temps"}));
    CHECK(channels["last"] == json::parse(R"({"host/x":{"seq":42,"time":"2026-11-20T23:11:34.123456789Z",
        "value":12.5,"unit":"%","quality":"good"}})"));
}

TEST_CASE("a channel shows its losses, if any", "[gateway][status]") {
    StatusSnapshot snapshot = full_snapshot();
    CHECK_FALSE(shown(snapshot)["channels"]["last"]["host/x"].contains("drops"));
    snapshot.channels[0].drops[1] = {2, 5, 9, 1'000'000'000, 2'000'000'001};
    CHECK(shown(snapshot)["channels"]["last"]["host/x"]["drops"] ==
          json::parse(R"({"shutdown":{"count":2,"first_seq":5,"last_seq":9,
        "first_time":"1970-01-01T00:00:01.000000000Z","last_time":"1970-01-01T00:00:02.000000001Z"}})"));
}

TEST_CASE("each type of value is shown as its own JSON type", "[gateway][status]") {
    ChannelStatus status = channel("host/x");
    CHECK(value_of(status) == nullptr);
    status.last.type = ValueType::boolean;
    status.last.value.boolean = true;
    CHECK(value_of(status) == true);
    status.last.type = ValueType::integer;
    status.last.value.integer = std::numeric_limits<std::int64_t>::min();
    CHECK(value_of(status) == std::numeric_limits<std::int64_t>::min());
    CHECK(value_of(channel_of("on \"fire\"")) == "on \"fire\"");
}

TEST_CASE("a value that is not a finite number is null", "[gateway][status]") {
    const double value = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity());
    CHECK(value_of(channel_of(value)) == nullptr);
}

TEST_CASE("text that is not UTF-8 is replaced, not a failure", "[gateway][status]") {
    CHECK(value_of(channel_of("caf\xE9")) == "caf\xEF\xBF\xBD");
    StatusSnapshot snapshot = full_snapshot();
    snapshot.devices[0].last_error = "\xFF";
    CHECK(shown(snapshot)["sampler"]["devices"][0]["last_error"] == "\xEF\xBF\xBD");
}

TEST_CASE("a time before 1970 is shown correctly", "[gateway][status]") {
    StatusSnapshot snapshot;
    snapshot.time_utc_ns = -1;
    CHECK(shown(snapshot)["time"] == "1969-12-31T23:59:59.999999999Z");
}

TEST_CASE("the status shows what each consumer of samples has received", "[gateway][status]") {
    CHECK(shown(full_snapshot())["consumers"] ==
          nlohmann::json::parse(R"([{"name":"history","taken":900,"missing":7}])"));
}

TEST_CASE("an empty gateway has every member", "[gateway][status]") {
    const json status = shown(StatusSnapshot{});
    const auto member = GENERATE("name", "version", "build", "state", "epoch", "time", "uptime_s", "clock", "queue",
                                 "ledger", "sampler", "consumers", "transport", "services", "rest", "channels");
    CAPTURE(member);
    CHECK(status.contains(member));
    CHECK(status["ledger"]["balanced"] == true);
}

TEST_CASE("the maximum number of channels is shown completely", "[gateway][status]") {
    StatusSnapshot snapshot;
    for (std::size_t index = 0; index < ChannelTable::channels_max; ++index) {
        snapshot.channels.push_back(channel("host/" + std::to_string(index)));
    }
    const std::string text = status_json(snapshot);
    std::size_t shown_count = 0;
    for (std::size_t at = 0; (at = text.find("\"host/", at)) != std::string::npos; ++at) {
        ++shown_count;
    }
    CHECK(shown_count == ChannelTable::channels_max);
}
