#include "config/joined.hpp"
#include "gateway/rest/rest_call.hpp"
#include "status/health_checks.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <array>
#include <fstream>
#include <map>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

json parameter_fault(const json& problem) {
    return problem["status"] == 422 ? problem["errors"][0]["parameter"] : json();
}
std::string pointer_fault(const json& problem) {
    return problem["status"] == 422 ? problem["errors"][0]["pointer"].get<std::string>() : "no fault";
}

HealthCheck good_check(std::string_view name) {
    return {name, true, false, ""};
}

/// Two devices as in FakeGateway, one channel each, and samples 1 to `samples` of the first in the history.
struct Sampled : RestCaller {
    explicit Sampled(std::uint64_t samples = 0) {
        for (std::uint64_t seq = 1; seq <= samples; ++seq) {
            write(numbered(cpu, seq));
        }
        fields["Content-Type"] = "application/json";
    }
    void write(const TelemetrySample& sample) { gateway.history.consume({&sample, 1}); }
    std::vector<std::uint64_t> seqs(const std::string& target) {
        std::vector<std::uint64_t> result;
        const json answer = request("GET", target);
        for (const json& sample : answer["samples"]) {
            result.push_back(sample["seq"]);
        }
        return result;
    }

    ChannelId cpu = gateway.channels.add(DeviceId{0}, "host", "cpu", "%").value();
    ChannelId heat = gateway.channels.add(DeviceId{1}, "boiler", "heat", "Cel").value();
};

}  // namespace

TEST_CASE("health is 200 if all checks pass, and lists the checks on request", "[gateway][rest][health]") {
    RestCaller call;
    call.gateway.health.checks = {good_check("sampling"), good_check("pump")};
    const std::string path = GENERATE("/livez", "/readyz", "/healthz", "/-/healthy", "/-/ready");
    CAPTURE(path);
    CHECK(call("GET", path).body == "ok\n");
    CHECK(call("GET", path + "?verbose").body == "[+] sampling ok\n[+] pump ok\nok\n");
}

TEST_CASE("a warning does not affect health and is listed", "[gateway][rest][health]") {
    RestCaller call;
    call.gateway.health.checks = {good_check("pump"), check_channel_settings({"boiler/flow.temps", "boiler/b"})};
    CHECK(call("GET", "/readyz").body == "ok\n");
    CHECK(call("GET", "/readyz?verbose").body ==
          "[+] pump ok\n"
          "[!] channel_settings warning: sections without a matching channel: boiler/flow.temps, boiler/b\nok\n");
    CHECK(check_channel_settings(std::vector<std::string>(12, "d/x")).detail.ends_with(", d/x and 2 more"));
    CHECK(check_channel_settings({}).detail.empty());
}

TEST_CASE(
    "a gateway that is not ready responds with 503 and the failed check, and is alive unless the check "
    "is vital",
    "[gateway][rest][health]") {
    RestCaller call;
    call.gateway.health.checks = {good_check("pump"), {"devices", false, false, "boiler is in error"}};
    const HttpResponse response = call("GET", "/readyz");
    CHECK(response.status == 503);
    CHECK(header_of(response, "Retry-After") == "1");
    CHECK(json::parse(response.body)["detail"] == "devices: boiler is in error");
    CHECK(call("GET", "/readyz?verbose").body == "[+] pump ok\n[-] devices failed: boiler is in error\nfailed\n");
    CHECK(call("GET", "/livez").status == 200);
    call.gateway.health.checks[1].vital = true;
    CHECK(call("GET", "/livez").status == 503);
}

TEST_CASE("a failed check that is a warning is listed and leaves the gateway ready", "[gateway][rest][health]") {
    RestCaller call;
    call.gateway.health.checks = {good_check("pump"), {"devices", false, false, "boiler is in error", true}};
    CHECK(call("GET", "/readyz").status == 200);
    CHECK(call("GET", "/readyz?verbose").body == "[+] pump ok\n[!] devices warning: boiler is in error\nok\n");
}

TEST_CASE("a request selects the checks that count", "[gateway][rest][health]") {
    RestCaller call;
    call.gateway.health.checks = {{"pump", false, true, "hangs"},
                                  {"devices", false, false, "boiler is in error", true}};
    CHECK(call("GET", "/readyz").status == 503);
    CHECK(call("GET", "/readyz?exclude=pump").status == 200);
    CHECK(call("GET", "/livez?exclude=pump").status == 200);
    CHECK(call("GET", "/readyz?exclude=pump&include=devices").status == 503);
    CHECK(call("GET", "/readyz?exclude=pump&exclude=devices&include=devices").status == 200);
    CHECK(call("GET", "/readyz?exclude=pump&include=devices&verbose").body ==
          "[-] pump excluded: failed: hangs\n[-] devices failed: boiler is in error\nfailed\n");
}

TEST_CASE("a check that does not exist cannot be selected", "[gateway][rest][health]") {
    RestCaller call;
    call.gateway.health.checks = {good_check("pump"), good_check("devices")};
    const json answer = call.request("GET", "/readyz?exclude=device");
    CHECK(parameter_fault(answer) == "exclude");
    CHECK(answer["errors"][0]["detail"] == "unknown check \"device\": must be one of " + joined(health_check_names));
}

TEST_CASE("devices are shown as in /status, with their ledger", "[gateway][rest]") {
    RestCaller call;
    DeviceStatus device;
    device.name = "boiler";
    device.state = DeviceState::error;
    device.last_error = "no response";
    call.gateway.snapshot.devices = {device};
    call.gateway.snapshot.ledger.resize(1);
    call.gateway.snapshot.ledger[0].sampled = 7;
    const json one = call.request("GET", "/devices/boiler");
    CHECK(one["state"] == "error");
    CHECK(one["ledger"]["sampled"] == 7);
    CHECK(one["ledger"]["balanced"] == false);
    CHECK(call.request("GET", "/devices")["devices"] == json::array({one}));
    CHECK(call.request("GET", "/devices/boyler")["detail"] ==
          "there is no device \"boyler\"; known devices: host, boiler");
}

TEST_CASE("the log level can be read and changed, and reverts by itself", "[gateway][rest][log]") {
    Sampled call;
    CHECK(call.request("GET", "/log-level") == json::parse(R"({"level":"info","reverts_to":null,"reverts_at":null})"));
    const json changed = call.request("PUT", "/log-level", R"({"level":"debug","revert_after":"10m"})");
    CHECK(changed["level"] == "debug");
    CHECK(changed["reverts_to"] == "info");
    CHECK_THAT(changed["reverts_at"].get<std::string>(), Catch::StartsWith("20") && Catch::EndsWith("Z"));
    CHECK(call.request("PUT", "/log-level", R"({"level":"warn"})")["reverts_to"].is_null());
}

TEST_CASE("a change is logged with its effect", "[gateway][rest][log]") {
    Sampled call;
    (void)call("PUT", "/log-level", R"({"level":"debug","revert_after":"10m"})");
    (void)call("DELETE", "/subscribers/json-3");
    (void)call("POST", "/reset");
    CHECK(
        call.gateway.changes ==
        std::vector<std::string>{"rest change by=test method=PUT path=/log-level result=200 log_level=debug for_s=600",
                                 "rest change by=test method=DELETE path=/subscribers/json-3 result=200 closed=json-3",
                                 "rest change by=test method=POST path=/reset result=200 command=reset devices=2"});
}

TEST_CASE("a temporary log level reverts to the permanent one", "[gateway][log]") {
    FakeGateway gateway;
    (void)gateway.log_level.set("warn", std::nullopt, "test");
    (void)gateway.log_level.set("debug", 1h, "test");
    (void)gateway.log_level.set("trace", 1ms, "test");
    CHECK(gateway.log_level.status().reverts_to == "warn");
    CHECK(eventually([&] {
        gateway.reactor.poll();
        return gateway.log_level.status().level == "warn";
    }));
    CHECK(gateway.log_level.status().reverts_to.empty());
}

TEST_CASE("a permanent level is not reverted by an earlier timer", "[gateway][log]") {
    FakeGateway gateway;
    (void)gateway.log_level.set("debug", 1ms, "test");
    (void)gateway.log_level.set("error", std::nullopt, "test");
    bool timer_has_run = false;
    CHECK(eventually([&] { return gateway.reactor.run_for(5ms) ? (timer_has_run = true, false) : timer_has_run; }));
    CHECK(gateway.log_level.status().level == "error");
}

TEST_CASE("an invalid log level is reported with its value", "[gateway][rest][log]") {
    Sampled call;
    const json answer = call.request("PUT", "/log-level", R"({"level":"loud","revert_after":"soon"})");
    CHECK(answer["errors"][0]["detail"] ==
          "\"loud\" is not a level: must be one of trace, debug, info, warn, error, off");
    CHECK(answer["errors"][1]["detail"] ==
          "\"soon\" is not a valid time: must be 1s to 24h, such as 90s, 10m or 1h30m");
}

TEST_CASE("the revert time of a log level has the format of settings", "[gateway][rest][log]") {
    Sampled call;
    const auto* const time = GENERATE("1s", "90s", "1000s", "1h30m", "24h", "1500ms", "1.5 h");
    CAPTURE(time);
    const json body{{"level", "debug"}, {"revert_after", time}};
    CHECK(call.request("PUT", "/log-level", body.dump())["reverts_to"] == "info");
}

TEST_CASE("an invalid log level names the member and what is allowed", "[gateway][rest][log]") {
    Sampled call;
    const auto [body, pointer] =
        GENERATE(table<std::string, std::string>({{R"({"level":"loud"})", "/level"},
                                                  {R"({"level":7})", "/level"},
                                                  {R"({})", "/level"},
                                                  {R"({"level":"info","revert_after":"0s"})", "/revert_after"},
                                                  {R"({"level":"info","revert_after":"25h"})", "/revert_after"},
                                                  {R"({"level":"info","revert_after":"999ms"})", "/revert_after"},
                                                  {R"({"level":"info","revert_after":"24h1s"})", "/revert_after"},
                                                  {R"({"level":"info","revert_after":"2000"})", "/revert_after"},
                                                  {R"({"level":"info","revert_after":"10 years"})", "/revert_after"},
                                                  {R"({"level":"info","revert_after":""})", "/revert_after"},
                                                  {R"({"level":"info","revert_after":10})", "/revert_after"},
                                                  {R"({"level":"info","re/vert~":1})", "/re~1vert~0"},
                                                  {"{\"level\":\"debug\"}" + std::string(1'024, ' '), ""},
                                                  {R"({"level":"debug","level":"debug"})", "/level"},
                                                  {"[]", ""},
                                                  {"{", ""},
                                                  {"", ""}}));
    CAPTURE(body);
    CHECK(pointer_fault(call.request("PUT", "/log-level", body)) == pointer);
    CHECK(call.request("GET", "/log-level")["level"] == "info");
}

TEST_CASE("a member of a body that is unknown or missing is reported with what is allowed", "[gateway][rest]") {
    Sampled call;
    const json errors = call.request("PUT", "/log-level", R"({"levle":"info"})")["errors"];
    REQUIRE(errors.size() == 2);
    CHECK(errors[0]["detail"] == "is unknown: must be level or revert_after");
    CHECK(errors[1]["detail"] == "is missing: must be one of trace, debug, info, warn, error, off");
    CHECK(call.request("PUT", "/log-level", "[]")["errors"][0]["detail"] ==
          R"(is not a JSON object: must be like {"level":"debug","revert_after":"10m"})");
}

TEST_CASE("an invalid target of a rewind names the member and what is allowed", "[gateway][rest][uplinks]") {
    Sampled call;
    const std::string no_target =
        R"(is not a target: must be like {"position":1000} or {"time":"2026-11-20T23:11:34Z"})";
    const std::string no_position = " is not a position: must be a whole number from 0";
    const std::string no_time = R"( is not a time: must be like "2026-11-20T23:11:34Z")";
    const auto [body, pointer, detail] = GENERATE_COPY(table<std::string, std::string, std::string>(
        {{R"({"position":-1})", "/position", "-1" + no_position},
         {R"({"position":"1"})", "/position", "\"1\"" + no_position},
         {R"({"time":"yesterday"})", "/time", "\"yesterday\"" + no_time},
         {R"({"time":1})", "/time", "1" + no_time},
         {R"({"when":1})", "", no_target},
         {R"({"position":1,"time":"2026-11-20T23:11:34Z"})", "", no_target},
         {R"({"position":1,"when":1})", "", no_target},
         {R"({})", "", no_target},
         {R"([])", "", no_target},
         {R"({"position":1,"position":1})", "/position", "is a duplicate key: must appear once"},
         {R"({"time":[[[[]]]]})", "", "is nested too deeply: must be at most 4 levels"},
         {"{\"position\":1}" + std::string(1'024, ' '), "", "is too large: must be at most 1024 bytes"}}));
    CAPTURE(body);
    const json answer = call.request("POST", "/uplinks/cloud/rewind", body);
    CHECK(pointer_fault(answer) == pointer);
    CHECK(answer["errors"] == json::array({{{"pointer", pointer}, {"detail", detail}}}));
}

TEST_CASE("a rewind can be confirmed", "[gateway][rest][uplinks]") {
    Sampled call;
    CHECK(call("POST", "/uplinks/cloud/rewind?confirm=1", R"({"position":1})").status == 404);  // no such uplink
    CHECK(call("POST", "/uplinks/cloud/rewind?confirm=2", R"({"position":1})").status == 422);
}

TEST_CASE("a body of the wrong type is refused with 415", "[gateway][rest]") {
    Sampled call;
    call.fields["Content-Type"] = GENERATE("", "text/plain", "application/x-www-form-urlencoded");
    CHECK(call("PUT", "/log-level", R"({"level":"debug"})").status == 415);
    CHECK(call.request("GET", "/log-level")["level"] == "info");
}

TEST_CASE("channels are listed, optionally by prefix", "[gateway][rest]") {
    Sampled call;
    CHECK(call.request("GET", "/channels")["channels"].size() == 2);
    CHECK(call.request("GET", "/channels?prefix=host/")["channels"] ==
          json::parse(R"([{"topic":"host/cpu","device":"host","channel":"cpu","unit":"%","ledger":{"sampled":0,
          "published":0,"filtered":0,"queued":0,"dropped":{"queue_overflow":0,"shutdown":0},"drops":{}}}])"));
    CHECK(call.request("GET", "/channels?prefix=hosts")["channels"].empty());
}

TEST_CASE("a channel is listed with its tags", "[gateway][rest]") {
    Sampled call;
    call.gateway.sample_text.set_labels(std::make_shared<const Labels>(
        parse_settings("[tags]\nsite = a\n[device \"host\"]\ndriver = host\ntags = line=3\n", "t.ini")));
    CHECK(call.request("GET", "/channels?prefix=host/")["channels"][0]["tags"] == json{{"site", "a"}, {"line", "3"}});
}

TEST_CASE("channels are listed in pieces, however many there are", "[gateway][rest]") {
    Sampled call;
    for (int channel = 2; channel < 1'000; ++channel) {
        REQUIRE(call.gateway.channels.add(DeviceId{0}, "host", "c" + std::to_string(channel), "").has_value());
    }
    const HttpResponse response = call("GET", "/channels");
    REQUIRE(response.pieces);
    std::string text;
    bool has_more = true;
    while (has_more) {
        const std::size_t before = text.size();
        has_more = response.pieces(text, 1'000) == StreamState::more;
        CHECK(text.size() - before < 2'000);
    }
    const json list = json::parse(text);
    CHECK(list["channels"].size() == 1'000);
    CHECK(list["channels"].back()["topic"] == "host/c999");
    CHECK(list["refused"] == 0);
}

TEST_CASE("a channel shows its ledger and its losses for each reason", "[gateway][rest]") {
    Sampled call;
    TelemetrySample sample{};
    sample.seq = 4;
    sample.time_utc_ns = 1'000'000'000;
    call.gateway.ledger.captured(DeviceId{0}, std::array{sample});
    call.gateway.ledger.dropped_at_queue(sample, DropReason::queue_overflow);
    call.gateway.ledger.progress(sample.channel).reach(2);
    const json counts = call.request("GET", "/channels")["channels"][0]["ledger"];
    CHECK(counts == json::parse(R"({"sampled":4,"published":2,"filtered":0,"queued":1,
        "dropped":{"queue_overflow":1,"shutdown":0},"drops":{"queue_overflow":{"count":1,"first_seq":4,"last_seq":4,
        "first_time":"1970-01-01T00:00:01.000000000Z","last_time":"1970-01-01T00:00:01.000000000Z"}}})"));
}

TEST_CASE("the latest samples have the same form as published ones", "[gateway][rest]") {
    Sampled call;
    call.gateway.last_samples[call.cpu] = numbered(call.cpu, 42);
    const json latest = call.request("GET", "/samples/latest");
    REQUIRE(latest["samples"].size() == 1);
    CHECK(latest["samples"][0] ==
          json::parse(R"({"device":"host","channel":"cpu","epoch":1795217494123,"seq":42,)"
                      R"("time":"1970-01-01T00:00:00.000000000Z","value":42,"unit":"%","quality":"good"})"));
    CHECK(call.request("GET", "/samples/latest?prefix=boiler")["samples"].empty());
}

TEST_CASE("without since_seq the newest samples of a channel are returned, oldest first", "[gateway][rest]") {
    Sampled call(300);
    const std::vector<std::uint64_t> newest = call.seqs("/samples/host/cpu");
    REQUIRE(newest.size() == 100);
    CHECK(newest.front() == 201);
    CHECK(newest.back() == 300);
    CHECK(call.seqs("/samples/host/cpu?limit=2") == std::vector<std::uint64_t>{299, 300});
    CHECK(call.seqs("/samples/boiler/heat").empty());
}

TEST_CASE("with since_seq the samples after it are returned, and whether there are more", "[gateway][rest]") {
    Sampled call(10);
    CHECK(call.seqs("/samples/host/cpu?since_seq=7") == std::vector<std::uint64_t>{8, 9, 10});
    const json first = call.request("GET", "/samples/host/cpu?since_seq=0&limit=4");
    CHECK(first["more"] == true);
    CHECK(first["gap"].is_null());
    CHECK(first["samples"].size() == 4);
    CHECK(call.request("GET", "/samples/host/cpu?since_seq=6&limit=4")["more"] == false);
    CHECK(call.seqs("/samples/host/cpu?since_seq=10").empty());
}

TEST_CASE("samples that are no longer retained are a gap with both ends", "[gateway][rest]") {
    Sampled call(2'000);  // of which 1024 are retained
    const json answer = call.request("GET", "/samples/host/cpu?since_seq=100");
    CHECK(answer["gap"] == json::parse(R"({"first_seq":101,"last_seq":976})"));
    CHECK(answer["samples"][0]["seq"] == 977);
}

TEST_CASE("an invalid parameter is reported with what is allowed", "[gateway][rest]") {
    Sampled call;
    const auto [query, name] = GENERATE(table<std::string, std::string>({{"limit=0", "limit"},
                                                                         {"limit=10001", "limit"},
                                                                         {"limit=", "limit"},
                                                                         {"limit=1&limit=2", "limit"},
                                                                         {"since_seq=-1", "since_seq"},
                                                                         {"since_seq=1.5", "since_seq"},
                                                                         {"since_seq=x", "since_seq"}}));
    CAPTURE(query);
    CHECK(parameter_fault(call.request("GET", "/samples/host/cpu?" + query)) == name);
}

TEST_CASE("a prefix can be as long as a topic, in characters", "[gateway][rest]") {
    Sampled call;
    std::string most;
    for (int i = 0; i < 256; ++i) {
        most += "%C3%A4";
    }
    const std::string path = GENERATE("/channels", "/samples/latest", "/stream");
    CAPTURE(path);
    CHECK(call("GET", path + "?prefix=" + most).status == 200);
    CHECK(parameter_fault(call.request("GET", path + "?prefix=" + most + "a")) == "prefix");
}

TEST_CASE("an unknown channel is 404", "[gateway][rest]") {
    Sampled call;
    const std::string path = GENERATE("/samples/host/heat", "/samples/x/cpu", "/samples/host/CPU");
    CAPTURE(path);
    CHECK(call("GET", path).status == 404);
}

TEST_CASE("subscribers have ids with which they can be closed", "[gateway][rest]") {
    RestCaller call;
    SubscriberStatus subscriber;
    subscriber.id = 3;
    subscriber.format = PayloadFormat::cbor;
    call.gateway.snapshot.subscribers = {subscriber};
    CHECK(call.request("GET", "/subscribers")["subscribers"][0]["id"] == "cbor-3");
    CHECK(call.request("DELETE", "/subscribers/json-3") == json::parse(R"({"closed":"json-3"})"));
    const std::string id = GENERATE("json-4", "cbor-3", "json-", "json-3x", "3", "xml-3", "json--3");
    CAPTURE(id);
    CHECK(call("DELETE", "/subscribers/" + id).status == 404);
}

TEST_CASE("a resource that the gateway does not provide in time is 503 with a time to retry", "[gateway][rest]") {
    RestCaller call;
    call.gateway.answering = false;
    const auto [method, path] = GENERATE(table<std::string, std::string>({{"GET", "/subscribers"},
                                                                          {"GET", "/metrics"},
                                                                          {"POST", "/devices/host/stop"},
                                                                          {"DELETE", "/subscribers/json-3"}}));
    CAPTURE(path);
    const HttpResponse response = call(method, path);
    CHECK(response.status == 503);
    CHECK(header_of(response, "Retry-After") == "1");
}
