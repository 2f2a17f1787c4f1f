#include "app/gateway.hpp"
#include "live/live_settings.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <utility>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

/// A running gateway with a settings file and a tokens file.
class GuardedGateway {
  public:
    GuardedGateway() {
        write_tokens("admin anna the-first-word-of-anna\n");
        write_settings("");
        const SettingsSources sources{.file = folder_.path("gateway.ini")};
        LoadedPlan loaded = load_plan(sources);
        gateway_ = std::make_unique<Gateway>(loaded.settings, std::move(loaded.plan), log_, source_of(sources));
        gateway_->start();
        client_ = std::make_unique<httplib::Client>("http://" + gateway_->rest_address());
    }

    void write_tokens(const std::string& text) { write_private(folder_, "tokens", text); }
    void write_settings(const std::string& more) {
        write_private(folder_, "gateway.ini",
                      more + "[rest]\nlisten = 127.0.0.1:0\ntokens_file = " + folder_.path("tokens") + '\n');
    }

    int status_for(const std::string& token) {
        client_->set_bearer_token_auth(token.c_str());
        const auto answer = client_->Get("/status");
        return answer ? answer->status : 0;
    }
    json reload_by(const std::string& token) {
        client_->set_bearer_token_auth(token.c_str());
        const auto answer = client_->Post("/-/reload", "", "text/plain");
        REQUIRE(answer);
        json body = json::parse(answer->body);
        body["answered"] = answer->status;
        body["retry"] = answer->has_header("Retry-After");
        return body;
    }

  private:
    ScratchDir folder_;
    Log log_{"off"};
    std::unique_ptr<Gateway> gateway_;
    std::unique_ptr<httplib::Client> client_;
};

const std::string first_token = "the-first-word-of-anna";
const std::string second_token = "another-word-of-anna";

}  // namespace

TEST_CASE("a reload applies changed tokens and reports them", "[gateway][reload][access]") {
    GuardedGateway gateway;
    CHECK(gateway.reload_by(first_token)["credentials"] == "same");
    gateway.write_tokens("admin anna " + second_token + '\n');
    CHECK(gateway.status_for(second_token) == 401);
    const json report = gateway.reload_by(first_token);
    CHECK(report["answered"] == 200);
    CHECK(report["outcome"] == "unchanged");
    CHECK(report["credentials"] == "changed");
    CHECK(gateway.status_for(first_token) == 401);
    CHECK(gateway.status_for(second_token) == 200);
}

TEST_CASE("an invalid tokens file is refused like invalid settings, and the old tokens stay",
          "[gateway][reload][access]") {
    GuardedGateway gateway;
    gateway.write_tokens("admin anna short\n");
    gateway.write_settings(GENERATE("", "queue_size = 77\n"));
    const json report = gateway.reload_by(first_token);
    CHECK(report["answered"] == 422);
    CHECK(report["outcome"] == "invalid");
    CHECK_FALSE(report["retry"].get<bool>());
    REQUIRE(report["errors"].size() == 1);
    CHECK_THAT(report["errors"][0]["detail"].get<std::string>(), Catch::Contains("tokens:1: "));
    CHECK(report["generation"] == 1);
    CHECK(gateway.status_for(first_token) == 200);
}
