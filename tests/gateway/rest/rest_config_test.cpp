#include "rest/rest_routes.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using nlohmann::json;

namespace {

/// Handlers whose settings are a queue size: the JSON form is that number, the hash is "h" followed by it.
struct ConfigHarness {
    ConfigHandlers handlers() {
        ConfigHandlers handlers;
        handlers.in_force = [this] {
            return LiveSettings::InForce{settings, hash(), 7};
        };
        handlers.reload = [this](std::string_view who, bool dry_run) {
            last_who = who;
            was_dry_run = dry_run;
            return report;
        };
        handlers.replace = [this](const LiveSettings::Replacement& replacement, std::string_view who) {
            return replace(replacement, who);
        };
        handlers.to_json = [](const Settings& each) {
            return std::to_string(each.queue_size);
        };
        handlers.from_json = [](std::string_view text) {
            if (text == "bad") {
                throw SettingsError({{{}, "/queue/size", "is bad"}});
            }
            Settings sent;
            sent.queue_size = std::stoll(std::string(text));
            return sent;
        };
        handlers.from_patch = [](Settings base, std::string_view patch) {
            base.queue_size += std::stoll(std::string(patch));
            return base;
        };
        handlers.generations = [] {
            return std::vector<ConfigGeneration>{{6, 0, "start", "a", 0, nullptr}, {7, 0, "anna", "b", 2, nullptr}};
        };
        handlers.rollback = [this](std::optional<std::uint64_t> generation, bool dry_run, std::string_view /*who*/) {
            was_dry_run = dry_run;
            return generation.value_or(6) == 6 ? std::optional(report) : std::nullopt;
        };
        handlers.confirm = [this](std::string_view /*who*/) {
            return std::exchange(to_confirm, std::nullopt);
        };
        return handlers;
    }
    HttpResponse answer(const HttpRequest& request) {
        RestHandlers all;
        all.config = handlers();
        return answer_rest(all, request);
    }
    ReloadReport replace(const LiveSettings::Replacement& replacement, std::string_view who) {
        last_who = who;
        was_dry_run = replacement.dry_run;
        if (replacement.is_based_on && !replacement.is_based_on(hash())) {
            return {ReloadOutcome::conflict, 7, {}, {{{}, "", "other settings are in force"}}};
        }
        last_revert_after = replacement.revert_after;
        try {
            settings = replacement.make(settings);
        } catch (const SettingsError& error) {
            return {ReloadOutcome::invalid, 7, {}, error.problems()};
        }
        return report;
    }
    std::string hash() const { return "h" + std::to_string(settings.queue_size); }

    HttpResponse put(std::string_view body, std::map<std::string_view, std::string_view> fields = {},
                     std::string_view target = "/config") {
        return send("PUT", body, std::move(fields), target);
    }
    HttpResponse send(std::string_view method, std::string_view body,
                      std::map<std::string_view, std::string_view> fields, std::string_view target) {
        fields.try_emplace("Content-Type", method == "PATCH" ? "application/merge-patch+json" : "application/json");
        HttpRequest request{method, target.substr(0, target.find('?')), target, body};
        request.who = "anna";
        request.field = [fields](std::string_view name) {
            const auto found = fields.find(name);
            return found == fields.end() ? std::string_view() : found->second;
        };
        return answer(request);
    }

    Settings settings;
    ReloadReport report{ReloadOutcome::applied, 8, {}, {}};
    std::string last_who;
    bool was_dry_run = false;
    std::optional<std::chrono::milliseconds> last_revert_after;
    std::optional<std::uint64_t> to_confirm;
};

std::string header(const HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) {
            return value;
        }
    }
    return "";
}

SettingChange queue_change() {
    return {"gateway", "", "queue_size", "1024", "5", Applies::live, SettingChange::Kind::changed};
}

}  // namespace

TEST_CASE("the settings in force are shown with their ETag", "[gateway][rest][config]") {
    ConfigHarness h;
    const auto method = GENERATE(values<std::string_view>({"GET", "HEAD"}));
    const HttpResponse response = h.answer({method, "/config", "/config"});
    CHECK(response.status == 200);
    CHECK(response.content_type == "application/json");
    CHECK(response.body == "1024");
    CHECK(header(response, "ETag") == "\"h1024\"");
}

TEST_CASE("sent settings are put in force, and the response says what changed", "[gateway][rest][config]") {
    ConfigHarness h;
    h.report.changes = {queue_change(), {"device", "boiler", "", "", "", Applies::live, SettingChange::Kind::added}};
    const HttpResponse response = h.put("5");
    CHECK(response.status == 200);
    CHECK(h.settings.queue_size == 5);
    CHECK(h.last_who == "anna");
    CHECK(header(response, "ETag") == "\"h5\"");
    CHECK(json::parse(response.body) == json::parse(R"({"outcome":"applied","generation":8,"errors":[],
              "credentials":"none","needs_restart":[],"reverts_at":null,"changes":[{"key":"gateway.queue_size","kind":"changed","from":"1024","to":"5","applies":"live"},
              {"key":"device.boiler","kind":"added","applies":"live"}]})"));
}

TEST_CASE("If-Match decides whether settings are accepted", "[gateway][rest][config]") {
    const auto [field, status] = GENERATE(table<std::string_view, int>({{"\"h1024\"", 200},
                                                                        {"*", 200},
                                                                        {"\"x\", \"h1024\"", 200},
                                                                        {"\"x\"", 412},
                                                                        {"W/\"h1024\"", 412},
                                                                        {"h1024", 412}}));
    CAPTURE(field);
    ConfigHarness h;
    CHECK(h.put("5", {{"If-Match", field}}).status == status);
    CHECK((h.settings.queue_size == 5) == (status == 200));
}

TEST_CASE("dry_run requests only the plan", "[gateway][rest][config]") {
    const auto [query, dry_run] = GENERATE(table<std::string_view, bool>({{"?dry_run=1", true},
                                                                          {"?&dry_run=true", true},
                                                                          {"?dry_run=0", false},
                                                                          {"?dry_run=false&", false},
                                                                          {"?", false}}));
    ConfigHarness h;
    CHECK(h.put("5", {}, "/config" + std::string(query)).status == 200);
    CHECK(h.was_dry_run == dry_run);
}

TEST_CASE("an invalid value of dry_run is refused and named", "[gateway][rest][config]") {
    const auto query = GENERATE(values<std::string_view>({"?dry_run=2", "?dry_run", "?dry_run="}));
    ConfigHarness h;
    const HttpResponse response = h.put("5", {}, "/config" + std::string(query));
    CHECK(response.status == 422);
    CHECK(json::parse(response.body)["errors"][0]["parameter"] == "dry_run");
    CHECK(h.settings.queue_size == 1'024);
}

TEST_CASE("a body with a content type other than JSON is refused", "[gateway][rest][config]") {
    const auto [type, status] = GENERATE(table<std::string_view, int>({{"application/json", 200},
                                                                       {"Application/JSON; charset=utf-8", 200},
                                                                       {"text/plain", 415},
                                                                       {"", 415},
                                                                       {"application/jsonx", 415}}));
    CAPTURE(type);
    ConfigHarness h;
    CHECK(h.put("5", {{"Content-Type", type}}).status == status);
}

TEST_CASE("problems of sent settings are reported with JSON pointers", "[gateway][rest][config]") {
    ConfigHarness h;
    const HttpResponse response = h.put("bad");
    CHECK(response.status == 422);
    CHECK(response.content_type == "application/problem+json");
    const json body = json::parse(response.body);
    CHECK(body["errors"] == json::parse(R"([{"pointer":"/queue/size","detail":"is bad"}])"));
    CHECK(body["outcome"] == "invalid");
    CHECK(body["generation"] == 7);
}

TEST_CASE("each outcome has its status code", "[gateway][rest][config]") {
    const auto [outcome, status] = GENERATE(table<ReloadOutcome, int>({{ReloadOutcome::applied, 200},
                                                                       {ReloadOutcome::unchanged, 200},
                                                                       {ReloadOutcome::planned, 200},
                                                                       {ReloadOutcome::invalid, 422},
                                                                       {ReloadOutcome::needs_restart, 409},
                                                                       {ReloadOutcome::failed, 503},
                                                                       {ReloadOutcome::conflict, 412}}));
    ConfigHarness h;
    h.report = {outcome, 7, {queue_change()}, {{{"x.ini", 3}, "rest.listen", "takes a restart"}}};
    HttpRequest request{"POST", "/-/reload", "/-/reload"};
    request.who = "anna";
    const HttpResponse response = h.answer(request);
    CHECK(response.status == status);
    const json body = json::parse(response.body);
    CHECK(body["outcome"] == to_string(outcome));
    CHECK(body["errors"][0]["detail"] == "x.ini:3: rest.listen: takes a restart");
    CHECK(header(response, "Retry-After") == (status == 503 ? "1" : ""));
    CHECK(h.last_who == "anna");
}

TEST_CASE("other methods are refused with the allowed ones", "[gateway][rest][config]") {
    ConfigHarness h;
    CHECK(header(h.answer({"POST", "/config", "/config"}), "Allow") == "GET, HEAD, PUT, PATCH");
    CHECK(header(h.answer({"GET", "/-/reload", "/-/reload"}), "Allow") == "POST");
}

TEST_CASE("without a JSON form the settings are not available", "[gateway][rest][config]") {
    ConfigHarness h;
    RestHandlers handlers;
    handlers.config = h.handlers();
    handlers.config.to_json = nullptr;
    CHECK(answer_rest(handlers, {"GET", "/config", "/config"}).status == 404);
}

TEST_CASE("a change of settings is logged with its result, a dry run as such", "[gateway][rest][reload]") {
    ConfigHarness h;
    CHECK(h.put("20").log_note.text() == "outcome=applied generation=8 changes=0");
    CHECK(h.put("bad").log_note.text() == "outcome=invalid generation=7 changes=0");
    h.report.outcome = ReloadOutcome::planned;
    CHECK(h.put("20", {}, "/config?dry_run=1").log_note.text() ==
          "outcome=planned generation=8 changes=0 dry_run=true");
    h.report.outcome = ReloadOutcome::needs_restart;
    HttpRequest request{"POST", "/-/reload", "/-/reload"};
    CHECK(h.answer(request).log_note.text() == "outcome=needs_restart generation=8 changes=0");
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
    ConfigHarness h;
    const HttpResponse response = h.send("POST", "", {}, target);
    CHECK(response.status == status);
    CHECK(h.was_dry_run == dry_run);
    CHECK((h.last_who == "anna") == (status == 200));
}

TEST_CASE("the settings that require a restart are listed", "[gateway][rest][config]") {
    ConfigHarness h;
    h.report.outcome = ReloadOutcome::needs_restart;
    h.report.changes = {queue_change(),
                        {"rest", "", "listen", "a", "b", Applies::restart, SettingChange::Kind::changed}};
    const HttpResponse response = h.put("5", {}, "/config?dry_run=1");
    CHECK(response.status == 409);
    CHECK(json::parse(response.body)["needs_restart"] == json::parse(R"(["rest.listen"])"));
}

TEST_CASE("a merge patch changes the settings in force, with its own media type", "[gateway][rest][config]") {
    ConfigHarness h;
    const HttpResponse response = h.send("PATCH", "5", {{"If-Match", "\"h1024\""}}, "/config");
    CHECK(response.status == 200);
    CHECK(h.settings.queue_size == 1'029);
    CHECK(header(response, "ETag") == "\"h1029\"");
    CHECK(h.send("PATCH", "5", {{"If-Match", "\"h1024\""}}, "/config").status == 412);
    const HttpResponse refusal = h.send("PATCH", "5", {{"Content-Type", "application/json"}}, "/config");
    CHECK(refusal.status == 415);
    CHECK(header(refusal, "Accept-Patch") == "application/merge-patch+json");
    CHECK(h.settings.queue_size == 1'029);
}

TEST_CASE("a change can be reverted after a time from a second to a day", "[gateway][rest][config]") {
    const auto [text, seconds] = GENERATE(table<std::string, int>(
        {{"90s", 90}, {"10m", 600}, {"24h", 86'400}, {"90", 0}, {"999ms", 0}, {"25h", 0}, {"", 0}, {"soon", 0}}));
    CAPTURE(text);
    const auto* const method = GENERATE("PUT", "PATCH");
    ConfigHarness h;
    const HttpResponse response = h.send(method, "5", {}, "/config?revert_after=" + text);
    CHECK(response.status == (seconds > 0 ? 200 : 422));
    CHECK(h.last_revert_after.value_or(std::chrono::milliseconds(0)) == std::chrono::seconds(seconds));
}

TEST_CASE("the available generations are listed, and one of them can be restored", "[gateway][rest][config]") {
    ConfigHarness h;
    const json list = json::parse(h.answer({"GET", "/config/generations", "/config/generations"}).body);
    CHECK(list["generations"].size() == 2);
    CHECK(list["generations"][1] == json::parse(R"({"generation":7,"time":"1970-01-01T00:00:00.000000000Z","by":"anna",
                                                    "hash":"b","changes_count":2,"in_force":true})"));
    CHECK(h.send("POST", "", {}, "/config/rollback").status == 200);
    CHECK(h.send("POST", "", {}, "/config/rollback?generation=6&dry_run=1").status == 200);
    CHECK(h.was_dry_run);
    const HttpResponse refusal = h.send("POST", "", {}, "/config/rollback?generation=3");
    CHECK(refusal.status == 404);
    CHECK(json::parse(refusal.body)["detail"] == "there is no generation 3; kept: 6 to 7, see GET /config/generations");
    CHECK(h.send("POST", "", {}, "/config/rollback?generation=x").status == 422);
}

TEST_CASE("settings that would be reverted can be confirmed once", "[gateway][rest][config]") {
    ConfigHarness h;
    CHECK(h.send("POST", "", {}, "/config/confirm").status == 409);
    h.to_confirm = 9;
    const HttpResponse response = h.send("POST", "", {}, "/config/confirm");
    CHECK(response.status == 200);
    CHECK(json::parse(response.body) == json::parse(R"({"confirmed":9})"));
    CHECK(h.send("POST", "", {}, "/config/confirm").status == 409);
}
