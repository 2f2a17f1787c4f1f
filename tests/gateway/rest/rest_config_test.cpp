#include "gateway/rest/rest_call.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <optional>
#include <string>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

std::string with_queue_size(int size) {
    return json{{"gateway", {{"queue_size", size}}}}.dump();
}

/// A gateway whose settings can be read and changed. The first ones have a queue of 10 samples.
struct Configured : RestCaller {
    Configured() { fields["Content-Type"] = "application/json"; }

    HttpResponse put(int size, const std::string& query = "") {
        return (*this)("PUT", "/config" + query, with_queue_size(size));
    }
    [[nodiscard]] std::int64_t queue_size() const { return gateway.config.queue_size(); }
    /// Returns the ETag of the settings in force.
    [[nodiscard]] std::string tag() const { return '"' + gateway.config.live.in_force().hash + '"'; }
    [[nodiscard]] std::string last_who() const { return gateway.config.live.generations().back().who; }
};

}  // namespace

TEST_CASE("the settings in force are shown with their ETag", "[gateway][rest][config]") {
    Configured call;
    const auto method = GENERATE(values<std::string_view>({"GET", "HEAD"}));
    const HttpResponse response = call(method, "/config");
    CHECK(response.status == 200);
    CHECK(response.content_type == "application/json");
    CHECK(json::parse(response.body)["gateway"]["queue_size"] == 10);
    CHECK(header_of(response, "ETag") == call.tag());
}

TEST_CASE("sent settings are put in force, and the response says what changed", "[gateway][rest][config]") {
    Configured call;
    const HttpResponse response =
        call("PUT", "/config", R"({"gateway":{"queue_size":5},"device":{"boiler":{"driver":"simulated"}}})");
    CHECK(response.status == 200);
    CHECK(call.queue_size() == 5);
    CHECK(call.last_who() == "test");
    CHECK(header_of(response, "ETag") == call.tag());
    CHECK(json::parse(response.body) == json::parse(R"({"outcome":"applied","generation":2,"errors":[],
              "credentials":"none","needs_restart":[],"reverts_at":null,"changes":[{"key":"gateway.queue_size","kind":"changed","from":"10","to":"5","applies":"live"},
              {"key":"device.boiler","kind":"added","applies":"live"}]})"));
}

TEST_CASE("If-Match decides whether settings are accepted", "[gateway][rest][config]") {
    Configured call;
    const auto [before, after, status] = GENERATE(table<std::string, std::string, int>(
        {{"\"", "\"", 200}, {"\"x\", \"", "\"", 200}, {"W/\"", "\"", 412}, {"", "", 412}, {"\"x", "\"", 412}}));
    CAPTURE(before);
    call.fields["If-Match"] = before + call.gateway.config.live.in_force().hash + after;
    CHECK(call.put(5).status == status);
    CHECK((call.queue_size() == 5) == (status == 200));
    call.fields["If-Match"] = "*";
    CHECK(call.put(6).status == 200);
}

TEST_CASE("dry_run requests only the plan", "[gateway][rest][config]") {
    const auto [query, dry_run] = GENERATE(table<std::string, bool>({{"?dry_run=1", true},
                                                                     {"?&dry_run=true", true},
                                                                     {"?dry_run=0", false},
                                                                     {"?dry_run=false&", false},
                                                                     {"?", false}}));
    CAPTURE(query);
    Configured call;
    const HttpResponse response = call.put(5, query);
    CHECK(response.status == 200);
    CHECK(call.queue_size() == (dry_run ? 10 : 5));
    CHECK(header_of(response, "ETag").empty() == dry_run);
}

TEST_CASE("an invalid value of dry_run is refused and named", "[gateway][rest][config]") {
    const auto* const query = GENERATE("?dry_run=2", "?dry_run", "?dry_run=");
    Configured call;
    const HttpResponse response = call.put(5, query);
    CHECK(response.status == 422);
    CHECK(json::parse(response.body)["errors"][0]["parameter"] == "dry_run");
    CHECK(call.queue_size() == 10);
}

TEST_CASE("a body with a content type other than JSON is refused", "[gateway][rest][config]") {
    const auto [type, status] = GENERATE(table<std::string, int>({{"application/json", 200},
                                                                  {"Application/JSON; charset=utf-8", 200},
                                                                  {"text/plain", 415},
                                                                  {"", 415},
                                                                  {"application/jsonx", 415}}));
    CAPTURE(type);
    Configured call;
    call.fields["Content-Type"] = type;
    CHECK(call.put(5).status == status);
}

TEST_CASE("problems of sent settings are reported with JSON pointers", "[gateway][rest][config]") {
    Configured call;
    const HttpResponse response = call("PUT", "/config", R"({"queue":{"policy":"bad"}})");
    CHECK(response.status == 422);
    CHECK(response.content_type == "application/problem+json");
    const json body = json::parse(response.body);
    CHECK(body["errors"].size() == 1);
    CHECK(body["errors"][0]["pointer"] == "/queue/policy");
    CHECK(body["outcome"] == "invalid");
    CHECK(body["generation"] == 1);
}

TEST_CASE("sent settings that need a file or a restart are reported with JSON pointers too",
          "[gateway][rest][config]") {
    const auto [patch, status, pointer] = GENERATE(table<std::string, int, std::string>({
        {R"({"device":{"a.b":{"driver":"http","url":"http://x/"}}})", 422, "/device/a.b"},
        {R"({"gateway":{"record":"/tmp/x"}})", 422, "/gateway/record"},
        {R"({"rest":{"listen":""}})", 409, "/rest/listen"},
        {R"({"sampling":{"realtime_priority":3}})", 409, "/sampling/realtime_priority"},
    }));
    Configured call;
    call.fields["Content-Type"] = "application/merge-patch+json";
    const HttpResponse response = call("PATCH", "/config", patch);
    CHECK(response.status == status);
    CHECK(json::parse(response.body)["errors"][0]["pointer"] == pointer);
}

TEST_CASE("each outcome of a reload has its status code", "[gateway][rest][config]") {
    const auto [file, fails_with, outcome, status] =
        GENERATE(table<std::string, std::string, std::string, int>({{"queue_size = 5\n", "", "applied", 200},
                                                                    {"queue_size = 10\n", "", "unchanged", 200},
                                                                    {"queue_size = x\n", "", "invalid", 422},
                                                                    {"[rest]\nlisten =\n", "", "applied", 200},
                                                                    {"queue_size = 5\n", "in use", "failed", 503}}));
    CAPTURE(outcome);
    Configured call;
    call.gateway.config.file = file;
    call.gateway.config.fails_with = fails_with;
    const HttpResponse response = call("POST", "/-/reload");
    CHECK(response.status == status);
    const json body = json::parse(response.body);
    CHECK(body["outcome"] == outcome);
    CHECK(body["errors"].empty() == (status == 200));
    CHECK(header_of(response, "Retry-After") == (status == 503 ? "1" : ""));
    CHECK(call.gateway.config.live.status().last_reload.value().who == "test");
}

TEST_CASE("a problem of a settings file is reported with its place", "[gateway][rest][config]") {
    Configured call;
    call.gateway.config.file = "\n\nqueue_size = x\n";
    const json body = json::parse(call("POST", "/-/reload").body);
    CHECK_THAT(body["errors"][0]["detail"].get<std::string>(), Catch::StartsWith("x.ini:3: queue_size: "));
    const json origins = json::parse(call("GET", "/config/origins").body);
    CHECK_THAT(origins["detail"].get<std::string>(), Catch::StartsWith("the settings files have problems: x.ini:3: "));
}

TEST_CASE("other methods are refused with the allowed ones", "[gateway][rest][config]") {
    Configured call;
    CHECK(header_of(call("POST", "/config"), "Allow") == "GET, HEAD, PUT, PATCH");
    CHECK(header_of(call("GET", "/-/reload"), "Allow") == "POST");
}

TEST_CASE("a change of settings is logged with its result, a dry run as such", "[gateway][rest][reload]") {
    Configured call;
    CHECK(call.put(20).log_note.text() == "outcome=applied generation=2 changes=1");
    CHECK(call("PUT", "/config", "bad").log_note.text() == "outcome=invalid generation=2 changes=0");
    CHECK(call.put(30, "?dry_run=1").log_note.text() == "outcome=planned generation=2 changes=1 dry_run=true");
    call.gateway.config.file = "queue_size = 20\n[rest]\nlisten =\n";
    CHECK(call("POST", "/-/reload").log_note.text() == "outcome=unchanged generation=2 changes=0 needs_restart=1");
}

TEST_CASE("a reload that only requests the plan is a dry run", "[gateway][rest][reload]") {
    const auto [target, status, dry_run] =
        GENERATE(table<std::string, int, bool>({{"/-/reload?dry_run=1", 200, true},
                                                {"/-/reload?dry_run=false", 200, false},
                                                {"/-/reload", 200, false},
                                                {"/-/reload?dry_run=2", 422, false},
                                                {"/-/reload?dry_run=1&dry_run=0", 422, false},
                                                {"/-/reload?dryrun=1", 422, false}}));
    CAPTURE(target);
    Configured call;
    call.gateway.config.file = "queue_size = 5\n";
    CHECK(call("POST", target).status == status);
    CHECK(call.queue_size() == (status == 200 && !dry_run ? 5 : 10));
}

TEST_CASE("the settings that require a restart are listed", "[gateway][rest][config]") {
    Configured call;
    const HttpResponse response =
        call("PUT", "/config?dry_run=1", R"({"gateway":{"queue_size":5},"rest":{"listen":""}})");
    CHECK(response.status == 409);
    CHECK(json::parse(response.body)["needs_restart"] == json::parse(R"(["rest.listen"])"));
}

TEST_CASE("a reload lists the settings that wait for a restart", "[gateway][rest][config]") {
    Configured call;
    call.gateway.config.file = "queue_size = 5\n[rest]\nlisten =\n";
    const json body = call.request("POST", "/-/reload");
    CHECK(body["outcome"] == "applied");
    CHECK(body["changes"].size() == 1);
    CHECK(body["needs_restart"] == json::parse(R"(["rest.listen"])"));
    CHECK(call.queue_size() == 5);
}

TEST_CASE("a merge patch changes the settings in force, with its own media type", "[gateway][rest][config]") {
    Configured call;
    const std::string patch = with_queue_size(15);
    call.fields["Content-Type"] = "application/merge-patch+json";
    call.fields["If-Match"] = call.tag();
    const HttpResponse response = call("PATCH", "/config", patch);
    CHECK(response.status == 200);
    CHECK(call.queue_size() == 15);
    CHECK(header_of(response, "ETag") == call.tag());
    CHECK(call("PATCH", "/config", with_queue_size(16)).status == 412);
    call.fields["Content-Type"] = "application/json";
    const HttpResponse refusal = call("PATCH", "/config", patch);
    CHECK(refusal.status == 415);
    CHECK(header_of(refusal, "Accept-Patch") == "application/merge-patch+json");
    CHECK(call.queue_size() == 15);
}

TEST_CASE("a change can be reverted after a time from a second to a day", "[gateway][rest][config]") {
    const auto [text, seconds] = GENERATE(table<std::string, int>(
        {{"90s", 90}, {"10m", 600}, {"24h", 86'400}, {"90", 0}, {"999ms", 0}, {"25h", 0}, {"", 0}, {"soon", 0}}));
    CAPTURE(text);
    const auto [method, type] = GENERATE(
        table<std::string, std::string>({{"PUT", "application/json"}, {"PATCH", "application/merge-patch+json"}}));
    Configured call;
    call.fields["Content-Type"] = type;
    const std::int64_t before_ns = call.gateway.clock.utc_now_ns();
    const HttpResponse response = call(method, "/config?revert_after=" + text, with_queue_size(5));
    CHECK(response.status == (seconds > 0 ? 200 : 422));
    const std::optional<PendingRevert> revert = call.gateway.config.live.status().revert;
    CHECK(revert.has_value() == (seconds > 0));
    CHECK((!revert || (revert->at_utc_ns - before_ns) / 1'000'000'000 == seconds));
}

TEST_CASE("the available generations are listed, and one of them can be restored", "[gateway][rest][config]") {
    Configured call;
    call.put(20);
    const json list = json::parse(call("GET", "/config/generations").body);
    CHECK(list["generations"].size() == 2);
    json last = list["generations"][1];
    CHECK(last["time"].get<std::string>().ends_with('Z'));
    CHECK('"' + last["hash"].get<std::string>() + '"' == call.tag());
    last.erase("time");
    last.erase("hash");
    CHECK(last == json::parse(R"({"generation":2,"by":"test","changes_count":1,"in_force":true})"));
    CHECK(call("POST", "/config/rollback?generation=1&dry_run=1").status == 200);
    CHECK(call.queue_size() == 20);
    CHECK(call("POST", "/config/rollback").status == 200);
    CHECK(call.queue_size() == 10);
    const HttpResponse refusal = call("POST", "/config/rollback?generation=9");
    CHECK(refusal.status == 404);
    CHECK(json::parse(refusal.body)["detail"] == "there is no generation 9; kept: 1 to 3, see GET /config/generations");
    CHECK(call("POST", "/config/rollback?generation=x").status == 422);
}

TEST_CASE("settings that would be reverted can be confirmed once", "[gateway][rest][config]") {
    Configured call;
    CHECK(call("POST", "/config/confirm").status == 409);
    call.put(5, "?revert_after=1h");
    const HttpResponse response = call("POST", "/config/confirm");
    CHECK(response.status == 200);
    CHECK(json::parse(response.body) == json::parse(R"({"confirmed":2})"));
    CHECK(call("POST", "/config/confirm").status == 409);
}
