#include "services/service_request.hpp"

#include "encode/time_text.hpp"
#include "support/catch.hpp"

#include <string>
#include <tuple>
#include <variant>

using namespace telegate;

namespace {

ServiceRequest read_request(const std::string& text) {
    const auto result = read_service_request(text);
    if (const auto* const fault = std::get_if<ServiceFault>(&result)) {
        FAIL(text << ": " << fault->detail);
    }
    return std::get<ServiceRequest>(result);
}

ServiceFault request_fault(const std::string& text) {
    const auto result = read_service_request(text);
    REQUIRE(std::holds_alternative<ServiceFault>(result));
    return std::get<ServiceFault>(result);
}

}  // namespace

TEST_CASE("a request has its defaults", "[gateway][services]") {
    const ServiceRequest request = read_request(R"({"service":"snapshot"})");
    CHECK(request.kind == ServiceKind::snapshot);
    CHECK(request.limit == 1'000);
    CHECK(request.prefix.empty());
    CHECK(request.head.service_json == R"("snapshot")");
    CHECK(request.head.id_json.empty());
}

TEST_CASE("an id is returned unchanged", "[gateway][services]") {
    const auto [given, shown] =
        GENERATE(table<std::string, std::string>({{"7", "7"},
                                                  {"-9223372036854775808", "-9223372036854775808"},
                                                  {"18446744073709551615", "18446744073709551615"},
                                                  {R"("a\"b\n")", R"("a\"b\n")"},
                                                  {R"("")", R"("")"}}));
    CHECK(read_request(R"({"service":"ping","id":)" + given + "}").head.id_json == shown);
}

TEST_CASE("a refusal has the id and the service of its request", "[gateway][services]") {
    const ServiceFault fault = request_fault(R"({"id":"x","service":"catalog","limit":0})");
    CHECK(fault.head.id_json == R"("x")");
    CHECK(fault.head.service_json == R"("catalog")");
    CHECK(fault.detail == "limit: 0 is invalid: must be a whole number from 1 to 10000");
    CHECK(fault.pointer == "/limit");
}

TEST_CASE("an unknown key is reported, with the known ones", "[gateway][services]") {
    CHECK(request_fault(R"({"service":"ping","topic":1})").detail ==
          R"("topic" is not a key of ping: must be one of service, id)");
    CHECK(request_fault(R"({"service":"ping","topic":1})").pointer == "/topic");
    CHECK(request_fault(R"({"service":"replay","holes":[{"topic":"a/b","first_seq":1,"x~/":2}]})").pointer ==
          "/holes/0/x~0~1");
}

TEST_CASE("holes keep their open end", "[gateway][services]") {
    const ServiceRequest request = read_request(
        R"({"service":"replay","holes":[{"topic":"a/b","first_seq":3},{"topic":"c/d","first_seq":4,"last_seq":4}]})");
    REQUIRE(request.holes->size() == 2);
    CHECK((*request.holes)[0].last_seq == ServiceHole::open_end);
    CHECK((*request.holes)[1].last_seq == 4);
}

TEST_CASE("since is a time or an age", "[gateway][services]") {
    const auto [text, is_age, ns] = GENERATE(
        table<std::string, bool, std::int64_t>({{"1970-01-01T00:00:01Z", false, 1'000'000'000},
                                                {"1969-12-31T23:59:59.5Z", false, -500'000'000},
                                                {"2026-11-20T23:11:34.123456789Z", false, 1'795'216'294'123'456'789},
                                                {"10m", true, 600'000'000'000},
                                                {"1us", true, 1'000},
                                                {"0.5ms", true, 500'000},
                                                {"300000d", true, 9'000'000'000'000'000'000},
                                                {"1500ms", true, 1'500'000'000}}));
    const ServiceRequest request = read_request(R"({"service":"replay","since":")" + text + "\"}");
    CHECK(request.since->is_age == is_age);
    CHECK(request.since->ns == ns);
}

TEST_CASE("only a replay from a time can start in earlier runs", "[gateway][services]") {
    CHECK(read_request(R"({"service":"replay","since":"1h","earlier_runs":true})").earlier_runs);
    CHECK_FALSE(read_request(R"({"service":"replay","since":"1h"})").earlier_runs);
    const ServiceFault fault = request_fault(R"({"service":"replay","position":0,"earlier_runs":true})");
    CHECK(fault.detail == "earlier_runs: can only be used with since");
    CHECK(fault.pointer == "/earlier_runs");
}

TEST_CASE("a whole number may be written as -0", "[gateway][services]") {
    CHECK(read_request(R"({"service":"replay","position":-0})").position == 0U);
    CHECK(request_fault(R"({"service":"replay","position":-1})").pointer == "/position");
    CHECK(request_fault(R"({"service":"replay","position":-0.0})").pointer == "/position");
}

TEST_CASE("a service that is not text is an invalid service", "[gateway][services]") {
    const ServiceFault number = request_fault(R"({"service":5})");
    CHECK(number.error == ServiceError::bad_request);
    CHECK(number.detail == "service: 5 is not text: must be one of ping, catalog, snapshot, replay, status");
    CHECK(request_fault(R"({"service":"5"})").error == ServiceError::unknown_service);
}

TEST_CASE("a zero byte does not end a request", "[gateway][services]") {
    using namespace std::string_literals;
    CHECK(request_fault(R"({"service":"ping"})"s + '\0').detail == "the request is not JSON in UTF-8, see byte 19");
    CHECK(request_fault(R"({"service":"ping"})"s + "\0}"s).error == ServiceError::bad_request);
}

TEST_CASE("an invalid time is refused", "[gateway][services]") {
    const std::string text =
        GENERATE("", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
                 "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z", "9999-01-01T00:00:00Z",
                 "2026-1-01T00:00:00Z", "2026-01-01T00:00:00+01:00Z");
    CAPTURE(text);
    CHECK_FALSE(parse_iso8601(text));
}

TEST_CASE("a request that is nested too deep or too large is refused before it is parsed", "[gateway][services]") {
    CHECK(request_fault(std::string(60'000, '[')).detail ==
          "the request is nested too deeply: must be at most 3 levels");
    const ServiceFault large = request_fault(std::string(ServiceRequest::bytes_max + 1, ' '));
    CHECK(large.error == ServiceError::too_large);
}
