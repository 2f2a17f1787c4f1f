#include "gateway_tail/account.hpp"
#include "gateway_tail/narrator.hpp"
#include "gateway_tail/tail_options.hpp"
#include "gateway_tail/troubles.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace telegate::tail::test {
namespace {

Sample sample(std::uint64_t seq, bool replayed = false) {
    Sample made;
    made.topic = "a/x";
    made.epoch = 9;
    made.seq = seq;
    made.replayed = replayed;
    return made;
}

constexpr Gap gap(std::uint64_t first, std::uint64_t last) {
    return {"a/x", 9, first, last, Reason::queue_overflow};
}

ParsedTailOptions parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "gateway_tail");
    return parse_tail_options(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

TEST_CASE("the report lists received, lost and duplicate samples", "[tail][account]") {
    Account account;
    for (const std::uint64_t seq : {1U, 2U, 3U, 6U, 7U, 7U}) {
        account.add(sample(seq, seq == 3));
    }
    account.lose(gap(4, 5));
    account.end_unknown(8);
    const nlohmann::json report = nlohmann::json::parse(account.report());
    CHECK(report["samples"] == 6);
    CHECK(report["recovered"] == 1);
    CHECK(report["duplicates"] == 1);
    CHECK(report["lost_by_reason"] == nlohmann::json({{"queue_overflow", 2}}));
    CHECK(report["epochs"][0] ==
          nlohmann::json({{"epoch", 8}, {"end_known", false}, {"topics", nlohmann::json::array()}}));
    const nlohmann::json topic = report["epochs"][1]["topics"][0];
    CHECK(topic["received"] == nlohmann::json::array({{1, 3}, {6, 7}}));
    CHECK(topic["lost"][0]["last_seq"] == 5);
}

TEST_CASE("the report marks a doubtful end as unknown and names the doubt", "[tail][account]") {
    Account account;
    account.add(sample(1));
    CHECK_FALSE(account.is_in_doubt());
    CHECK(nlohmann::json::parse(account.report())["doubts"] == nlohmann::json::array());
    account.doubt("since", "the history is missing");
    account.doubt("end", "the last samples may be missing");
    account.doubt_end(9);
    account.doubt_end(10);
    const nlohmann::json report = nlohmann::json::parse(account.report());
    CHECK(report["doubts"] == nlohmann::json({"since", "end"}));
    REQUIRE(report["epochs"].size() == 2);
    CHECK(report["epochs"][0]["end_known"] == false);
    CHECK(report["epochs"][1]["end_known"] == false);
    CHECK(account.is_in_doubt());
    CHECK(account.summary(std::chrono::seconds(1), 1)
              .ends_with(" 0 lost\n  the history is missing\n  the last samples may be missing\n"));
}

TEST_CASE("the summary lists a few ranges and counts the rest", "[tail][account]") {
    Account account;
    account.lose(gap(1, 1));
    account.lose(gap(5, 6));
    account.lose(gap(8, 9));
    const std::string text = account.summary(std::chrono::milliseconds(61'500), 2);
    CHECK(text ==
          "0 samples of 1 topic in 1 min 1 s; 0 recovered by replay, 5 lost\n  lost (queue_overflow) "
          "a/x 1\n  lost (queue_overflow) a/x 5..6\n  and 1 more range; use --report FILE to list "
          "all\n");
}

TEST_CASE("recovered samples are reported once settled, at most once a second", "[tail][narrator]") {
    Account account;
    Narrator narrator;
    Time now = Time() + std::chrono::hours(1);
    narrator.lost_connection();
    CHECK_FALSE(narrator.words(now, true, account.counts()).has_value());
    narrator.regained_connection();
    account.add(sample(1, true));
    account.lose(gap(43, 54));
    narrator.lose(gap(43, 54));
    CHECK_FALSE(narrator.words(now, false, account.counts()).has_value());
    CHECK(narrator.words(now, true, account.counts()) ==
          "reconnected: 1 sample recovered by replay, 12 lost (queue_overflow) a/x 43..54");
    account.lose(gap(60, 60));
    narrator.lose(gap(60, 60));
    CHECK_FALSE(narrator.words(now, true, account.counts()).has_value());
    CHECK(narrator.words(now + std::chrono::seconds(1), true, account.counts()) == "1 lost (queue_overflow) a/x 60");
}

TEST_CASE("a connection problem is reported once, and again after a connection was made", "[tail][troubles]") {
    Troubles troubles(false, false);
    const auto said = [&] {
        return troubles.words(Troubles::Socket::publish, "tcp://h:1", "security mechanisms do not match").value_or("");
    };
    CHECK(said() == "tcp://h:1: the gateway requires CURVE: use --curve-server-key");
    CHECK(troubles.words(Troubles::Socket::publish, "tcp://h:1", "peer disconnected").has_value());
    CHECK(said().empty());
    troubles.forget("tcp://h:1");
    CHECK_FALSE(said().empty());
}

TEST_CASE("the advice about CURVE depends on the sockets that use it", "[tail][troubles]") {
    using Socket = Troubles::Socket;
    const auto [socket, publish, services, advice] = GENERATE(table<Socket, bool, bool, const char*>({
        {Socket::publish, true, true, "the gateway does not use CURVE: remove --curve-server-key"},
        {Socket::services, true, true, "the services do not use CURVE: use --curve-for publish"},
        {Socket::services, true, false, "the services require CURVE: remove --curve-for"},
        {Socket::publish, false, true, "the gateway requires CURVE: remove --curve-for"},
    }));
    CHECK(Troubles(publish, services).words(socket, "tcp://h:1", "security mechanisms do not match") ==
          "tcp://h:1: " + std::string(advice));
    CHECK(Troubles(true, true)
              .words(socket, "tcp://h:1", "peer disconnected")
              .value()
              .starts_with("tcp://h:1: handshake refused: is the key correct?"));
}

TEST_CASE("the default services endpoint is next to the publish endpoint", "[tail][options]") {
    CHECK(default_services({.transport = Transport::tcp, .host = "h", .port = 5556, .path = ""})->port == 5557);
    CHECK_FALSE(default_services({.transport = Transport::tcp, .host = "h", .port = 65535, .path = ""}).has_value());
    CHECK(
        default_services({.transport = Transport::ipc, .host = "", .port = 0, .path = "/tmp/telegate-pub.ipc"})->path ==
        "/tmp/telegate-services.ipc");
}

TEST_CASE("the default services path of the packaged service is in the same folder", "[tail][options]") {
    const auto beside = [](const char* path) {
        const auto services = default_services({.transport = Transport::ipc, .host = "", .port = 0, .path = path});
        return services ? services->path : "none";
    };
    CHECK(beside("/run/telegate/pub.ipc") == "/run/telegate/services.ipc");
    CHECK(beside("/run/telegate/other.ipc") == "none");
}

TEST_CASE("prefixes covered by another prefix are removed", "[tail][options]") {
    CHECK(without_covered({"b/", "a/x", "a/", "b/"}) == std::vector<std::string>{"a/", "b/"});
    CHECK(without_covered({}) == std::vector<std::string>{""});
}

TEST_CASE("endpoints may have host names, and an age is sent to the gateway in ms", "[tail][options]") {
    const ParsedTailOptions parsed = parse({"tcp://gateway.example.org:5556", "host/", "--since", "10m"});
    REQUIRE(parsed.options.has_value());
    CHECK(parsed.options->publish.host == "gateway.example.org");
    CHECK(parsed.options->services->port == 5557);
    CHECK(parsed.options->since == "600000ms");
}

}  // namespace telegate::tail::test
