#include "rest_routes.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

using namespace telegate;
using nlohmann::json;

namespace {

/// Handlers whose settings are a queue size: the JSON form is that number, the hash "h" and the same.
struct ConfigHarness {
    ConfigHandlers handlers() {
        ConfigHandlers handlers;
        handlers.in_force = [this] {
            return LiveSettings::InForce{settings, hash(), 7};
        };
        handlers.reload = [this](std::string_view who) {
            last_who = who;
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
                throw SettingsError({{"", 0, "/queue/size", "is bad"}});
            }
            Settings sent;
            sent.queue_size = std::stoll(std::string(text));
            return sent;
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
            return {ReloadOutcome::conflict, 7, {}, {{"", 0, "", "others are in force"}}};
        }
        settings = replacement.settings;
        return report;
    }
    std::string hash() const { return "h" + std::to_string(settings.queue_size); }

    HttpResponse put(std::string_view body, std::map<std::string_view, std::string_view> fields = {},
                     std::string_view target = "/config") {
        fields.try_emplace("Content-Type", "application/json");
        HttpRequest request{"PUT", "/config", target, body};
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

TEST_CASE("the settings in force are shown with their tag", "[gateway][rest][config]") {
    ConfigHarness h;
    const auto method = GENERATE(values<std::string_view>({"GET", "HEAD"}));
    const HttpResponse response = h.answer({method, "/config", "/config"});
    CHECK(response.status == 200);
    CHECK(response.content_type == "application/json");
    CHECK(response.body == "1024");
    CHECK(header(response, "ETag") == "\"h1024\"");
}

TEST_CASE("settings that are sent are put in force, and the answer says what changed", "[gateway][rest][config]") {
    ConfigHarness h;
    h.report.changes = {queue_change(), {"device", "boiler", "", "", "", Applies::live, SettingChange::Kind::added}};
    const HttpResponse response = h.put("5");
    CHECK(response.status == 200);
    CHECK(h.settings.queue_size == 5);
    CHECK(h.last_who == "anna");
    CHECK(header(response, "ETag") == "\"h5\"");
    CHECK(json::parse(response.body) == json::parse(R"({"outcome":"applied","generation":8,"errors":[],
              "credentials":"none","changes":[{"key":"gateway.queue_size","kind":"changed","from":"1024","to":"5","applies":"live"},
              {"key":"device.boiler","kind":"added","applies":"live"}]})"));
}

TEST_CASE("If-Match decides whether settings are taken", "[gateway][rest][config]") {
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

TEST_CASE("dry_run asks for the plan only", "[gateway][rest][config]") {
    const auto [query, dry_run] = GENERATE(table<std::string_view, bool>({{"?dry_run=1", true},
                                                                          {"?&dry_run=true", true},
                                                                          {"?dry_run=0", false},
                                                                          {"?dry_run=false&", false},
                                                                          {"?", false}}));
    ConfigHarness h;
    CHECK(h.put("5", {}, "/config" + std::string(query)).status == 200);
    CHECK(h.was_dry_run == dry_run);
}

TEST_CASE("a dry_run of another value is refused and named", "[gateway][rest][config]") {
    const auto query = GENERATE(values<std::string_view>({"?dry_run=2", "?dry_run", "?dry_run="}));
    ConfigHarness h;
    const HttpResponse response = h.put("5", {}, "/config" + std::string(query));
    CHECK(response.status == 422);
    CHECK(json::parse(response.body)["errors"][0]["parameter"] == "dry_run");
    CHECK(h.settings.queue_size == 1'024);
}

TEST_CASE("a body that is not JSON by its type is refused", "[gateway][rest][config]") {
    const auto [type, status] = GENERATE(table<std::string_view, int>({{"application/json", 200},
                                                                       {"Application/JSON; charset=utf-8", 200},
                                                                       {"text/plain", 415},
                                                                       {"", 415},
                                                                       {"application/jsonx", 415}}));
    CAPTURE(type);
    ConfigHarness h;
    CHECK(h.put("5", {{"Content-Type", type}}).status == status);
}

TEST_CASE("problems of what was sent are told by JSON pointer", "[gateway][rest][config]") {
    ConfigHarness h;
    const HttpResponse response = h.put("bad");
    CHECK(response.status == 422);
    CHECK(response.content_type == "application/problem+json");
    const json body = json::parse(response.body);
    CHECK(body["errors"] == json::parse(R"([{"pointer":"/queue/size","detail":"is bad"}])"));
    CHECK(body["outcome"] == "invalid");
    CHECK(body["generation"] == 7);
}

TEST_CASE("each outcome has its code", "[gateway][rest][config]") {
    const auto [outcome, status] = GENERATE(table<ReloadOutcome, int>({{ReloadOutcome::applied, 200},
                                                                       {ReloadOutcome::unchanged, 200},
                                                                       {ReloadOutcome::planned, 200},
                                                                       {ReloadOutcome::invalid, 422},
                                                                       {ReloadOutcome::needs_restart, 409},
                                                                       {ReloadOutcome::failed, 503},
                                                                       {ReloadOutcome::conflict, 412}}));
    ConfigHarness h;
    h.report = {outcome, 7, {queue_change()}, {{"x.ini", 3, "rest.listen", "takes a restart"}}};
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

TEST_CASE("other methods are refused with those that are possible", "[gateway][rest][config]") {
    ConfigHarness h;
    CHECK(header(h.answer({"POST", "/config", "/config"}), "Allow") == "GET, HEAD, PUT");
    CHECK(header(h.answer({"GET", "/-/reload", "/-/reload"}), "Allow") == "POST");
}

TEST_CASE("without a JSON form there are no settings to see", "[gateway][rest][config]") {
    ConfigHarness h;
    RestHandlers handlers;
    handlers.config = h.handlers();
    handlers.config.to_json = nullptr;
    CHECK(answer_rest(handlers, {"GET", "/config", "/config"}).status == 404);
}

TEST_CASE("a change of settings is logged with what came of it, a dry run as one", "[gateway][rest][reload]") {
    ConfigHarness h;
    CHECK(h.put("20").log_note == " outcome=applied generation=8 changes=0");
    CHECK(h.put("bad").log_note == " outcome=invalid generation=7 changes=0");
    h.report.outcome = ReloadOutcome::planned;
    CHECK(h.put("20", {}, "/config?dry_run=1").log_note == " outcome=planned generation=8 changes=0 dry_run=true");
    h.report.outcome = ReloadOutcome::needs_restart;
    HttpRequest request{"POST", "/-/reload", "/-/reload"};
    CHECK(h.answer(request).log_note == " outcome=needs_restart generation=8 changes=0");
}
