#include "gateway_tail/account.hpp"
#include "gateway_tail/narrator.hpp"
#include "gateway_tail/rate_table.hpp"
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
        account.give(sample(seq, seq == 3));
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
    account.give(sample(1));
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
    Narrator narrator;
    Time now = Time() + std::chrono::hours(1);
    narrator.lost_connection();
    CHECK_FALSE(narrator.words(now, true).has_value());
    narrator.regained_connection();
    narrator.give(sample(1, true));
    narrator.lose(gap(43, 54));
    CHECK_FALSE(narrator.words(now, false).has_value());
    CHECK(narrator.words(now, true) ==
          "reconnected: 1 sample recovered by replay, 12 lost (queue_overflow) a/x 43..54");
    narrator.lose(gap(60, 60));
    CHECK_FALSE(narrator.words(now, true).has_value());
    CHECK(narrator.words(now + std::chrono::seconds(1), true) == "1 lost (queue_overflow) a/x 60");
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

TEST_CASE("a client with a key is advised to check it", "[tail][troubles]") {
    Troubles troubles(true, true);
    CHECK(troubles.words(Troubles::Socket::publish, "tcp://h:1", "peer disconnected") ==
          "tcp://h:1: handshake refused: is the key correct?");
    CHECK(troubles.words(Troubles::Socket::publish, "tcp://h:1", "security mechanisms do not match") ==
          "tcp://h:1: the gateway does not use CURVE: remove --curve-server-key");
}

TEST_CASE("the option is named if only one of the two sockets uses CURVE", "[tail][troubles]") {
    CHECK(Troubles(true, true).words(Troubles::Socket::services, "tcp://h:2", "security mechanisms do not match") ==
          "tcp://h:2: the services do not use CURVE: use --curve-for publish");
    CHECK(Troubles(true, true).words(Troubles::Socket::services, "tcp://h:2", "peer disconnected") ==
          "tcp://h:2: handshake refused: is the key correct? If the services do not use CURVE, use "
          "--curve-for publish");
    CHECK(Troubles(true, false).words(Troubles::Socket::services, "tcp://h:2", "security mechanisms do not match") ==
          "tcp://h:2: the services require CURVE: remove --curve-for");
    CHECK(Troubles(false, true).words(Troubles::Socket::publish, "tcp://h:1", "security mechanisms do not match") ==
          "tcp://h:1: the gateway requires CURVE: remove --curve-for");
}

TEST_CASE("the table has a row for each topic and counts the topics that do not fit", "[tail][rates]") {
    RateTable table;
    Sample other = sample(1);
    other.topic = "a/y";
    other.topic_index = 1;
    table.give(sample(1), 2'000'000);
    table.give(sample(2), 4'000'000);
    table.give(other, 0);
    table.lose(gap(3, 5));
    const std::string page = table.page(std::chrono::seconds(2), 1);
    CHECK(page.find("a/x                          1.0        3.00        4.00           2           3\n") !=
          std::string::npos);
    CHECK(page.find("and 1 more topic\n") != std::string::npos);
    CHECK(table.page(std::chrono::seconds(1), 9).find("a/y                          0.0           -") !=
          std::string::npos);
}

TEST_CASE("a topic without output has no row", "[tail][rates]") {
    RateTable table;
    Sample third = sample(1);
    third.topic_index = 2;
    table.give(third, 0);
    const std::string page = table.page(std::chrono::seconds(1), 1);
    CHECK(std::count(page.begin(), page.end(), '\n') == 2);
    CHECK(page.find("\na/x ") != std::string::npos);
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

TEST_CASE("a prefix may be as long as the services accept", "[tail][options]") {
    const auto exit_code_with = [](const std::string& topic) {
        return parse({"tcp://127.0.0.1:5556", topic.c_str()}).exit_code;
    };
    CHECK(exit_code_with(std::string(256, 'x')) == exit_code::nothing_lost);
    CHECK(exit_code_with(std::string(257, 'x')) == exit_code::usage);
    CHECK(exit_code_with("\xC3\xA9") == exit_code::nothing_lost);
    CHECK(exit_code_with("\xC3") == exit_code::usage);
}

TEST_CASE("without other options, --last waits a few seconds at most", "[tail][options]") {
    constexpr const char* place = "tcp://127.0.0.1:5556";
    CHECK(parse({place, "--last"}).options->connect_timeout == std::chrono::seconds(5));
    CHECK(parse({place, "--last", "--connect-timeout", "1m"}).options->connect_timeout == std::chrono::minutes(1));
    CHECK_FALSE(parse({place, "--last", "--follow"}).options->connect_timeout.has_value());
    CHECK_FALSE(parse({place}).options->connect_timeout.has_value());
}

TEST_CASE("each output flag selects its format", "[tail][options]") {
    const auto [flag, format] = GENERATE(table<const char*, OutputFormat>({{"--json", OutputFormat::json},
                                                                           {"--csv", OutputFormat::csv},
                                                                           {"--rate", OutputFormat::rates},
                                                                           {"--quiet", OutputFormat::none},
                                                                           {"--follow", OutputFormat::text}}));
    CHECK(parse({"tcp://127.0.0.1:5556", "--last", flag}).options->format == format);
}

}  // namespace telegate::tail::test
