#include "gateway/rest/rest_call.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

/// An active alarm of boiler/temp and one of boiler/level that is normal.
struct Alarmed : RestCaller {
    Alarmed() {
        record("temp", AlarmState::high, 90.0);
        record("level", AlarmState::normal, std::nullopt);
    }
    void record(const std::string& channel, AlarmState state, std::optional<double> limit) {
        gateway.alarms.record({.device = "boiler",
                               .channel = channel,
                               .state = state,
                               .quality = Quality::good,
                               .value = 95.5,
                               .limit = limit,
                               .time_utc_ns = 1'700'000'000'000'000'000});
    }
};

}  // namespace

TEST_CASE("alarms are shown with value, limit and start time", "[gateway][rest][alarms]") {
    Alarmed call;
    const json answer = call.request("GET", "/alarms");
    REQUIRE(answer["active"].size() == 1);
    CHECK(answer["active"][0] == json::parse(R"({"device":"boiler","channel":"temp","state":"high","active":true,
        "quality":"good","value":95.5,"limit":90.0,"since":"2023-11-14T22:13:20.000000000Z","acknowledged":null})"));
    REQUIRE(answer["inactive"].size() == 1);
    CHECK(answer["inactive"][0]["channel"] == "level");
    REQUIRE(answer["recent"].size() == 1);
    CHECK(answer["recent"][0]["kind"] == "alarm raised");
}

TEST_CASE("an active alarm is acknowledged once, with the client that did it", "[gateway][rest][alarms]") {
    Alarmed call;
    const json answer = call.request("POST", "/alarms/boiler/temp/acknowledge?comment=pump%20off");
    CHECK(answer["acknowledged"]["comment"] == "pump off");
    CHECK(call.request("POST", "/alarms/boiler/temp/acknowledge?comment=again")["acknowledged"]["comment"] ==
          "pump off");
    CHECK(call.request("GET", "/alarms")["recent"].size() == 2);
}

TEST_CASE("an acknowledgment of an inactive or unknown alarm is refused", "[gateway][rest][alarms]") {
    Alarmed call;
    CHECK(call.request("POST", "/alarms/boiler/level/acknowledge")["status"] == 409);
    CHECK(call.request("POST", "/alarms/boiler/none/acknowledge")["status"] == 404);
    CHECK(call.request("POST", "/alarms/boiler/temp/acknowledge?comment=" + std::string(257, 'x'))["status"] == 422);
}
