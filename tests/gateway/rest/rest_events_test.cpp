#include "gateway/rest/rest_call.hpp"
#include "rest/rest_openapi.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

constexpr std::int64_t event_second_ns = 1'000'000'000;
constexpr std::int64_t first_event_ns = 1'700'000'000 * event_second_ns;  // 2023-11-14T22:13:20Z

/// Events 1 to 4, one second apart.
struct Evented : RestCaller {
    Evented() {
        add(0, "plc", EventKind::device_failed);
        add(1, "gps", EventKind::device_failed);
        add(2, "plc", EventKind::device_recovered);
        add(3, "plc", EventKind::device_stopped);
    }
    void add(std::int64_t second, const std::string& device, EventKind kind) {
        gateway.events.add({first_event_ns + second * event_second_ns, device, "", kind, "reads_failed=7"});
    }
    std::vector<std::uint64_t> numbers(const std::string& query) {
        std::vector<std::uint64_t> result;
        const json answer = request("GET", "/events" + query);
        for (const json& event : answer.at("events")) {
            result.push_back(event["number"]);
        }
        return result;
    }
};

using EventNumbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("events are shown with all their data", "[gateway][rest][events]") {
    Evented call;
    const json answer = call.request("GET", "/events");
    CHECK(answer["last_number"] == 4);
    CHECK(answer["more"] == false);
    CHECK(answer["counts"] == json::parse(R"({"added":4,"suppressed":0,"overwritten":0})"));
    REQUIRE(answer["events"].size() == 4);
    CHECK(answer["events"][0] == json::parse(R"({"number":1,"time":"2023-11-14T22:13:20.000000000Z","device":"plc",
        "channel":"","kind":"device failed","text":"reads_failed=7","suppressed":0})"));
}

TEST_CASE("events are selected by time, number, device and kind", "[gateway][rest][events]") {
    Evented call;
    CHECK(call.numbers("?since=2023-11-14T22:13:22Z") == EventNumbers{3, 4});
    CHECK(call.numbers("?since_number=3") == EventNumbers{4});
    CHECK(call.numbers("?device=gps") == EventNumbers{2});
    CHECK(call.numbers("?device=gps&device=plc&kind=device+failed") == EventNumbers{1, 2});
    CHECK(call.numbers("?kind=device%20stopped&kind=device%20recovered") == EventNumbers{3, 4});
    CHECK(call.numbers("?device=none").empty());
}

TEST_CASE("a limit keeps the newest events, or the oldest after a given point", "[gateway][rest][events]") {
    Evented call;
    CHECK(call.numbers("?limit=2") == EventNumbers{3, 4});
    CHECK(call.numbers("?limit=2&since_number=0") == EventNumbers{1, 2});
    CHECK(call.request("GET", "/events?limit=2&since_number=0")["more"] == true);
}

TEST_CASE("the schema of a request for events lists every kind", "[gateway][rest][events]") {
    const json document = json::parse(openapi_json(HttpRole::admin));
    const json& parameters = document["paths"]["/events"]["get"]["parameters"];
    const auto kind =
        std::find_if(parameters.begin(), parameters.end(), [](const json& each) { return each["name"] == "kind"; });
    REQUIRE(kind != parameters.end());
    CHECK((*kind)["schema"]["items"]["enum"].size() == event_kinds.size());
    CHECK((*kind)["schema"]["items"]["enum"].back() == event_kinds.back().name);
}

TEST_CASE("a fault of a request for events names the parameter", "[gateway][rest][events]") {
    Evented call;
    const json answer = call.request("GET", "/events?since=yesterday&kind=device&limit=1001");
    CHECK(answer["status"] == 422);
    CHECK(call.request("GET", "/events?since=")["status"] == 422);
    CHECK(answer["errors"][0]["detail"] == "invalid time \"yesterday\": must be in UTC, like 2026-11-20T23:11:34Z");
    CHECK_THAT(answer["errors"][1]["detail"].get<std::string>(),
               Catch::StartsWith("unknown event kind \"device\": must be one of gateway started, "));
    CHECK(answer["errors"][2]["parameter"] == "limit");
}
