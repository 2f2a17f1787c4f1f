#include "nats/jetstream_replies.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <string>

namespace telegate::uplink {
namespace {

AdapterOptions wanted() {
    AdapterOptions options;
    options.subjects = "samples.*";
    options.message_bytes_max = 10'000;
    options.resend_max = std::chrono::seconds(60);
    return options;
}

StreamCheck check(const std::string& members) {
    return check_stream(R"({"config":{"name":"S","duplicate_window":60000000000)" + members + "}}", wanted());
}

}  // namespace

TEST_CASE("the reply to a published message says whether it is stored", "[uplink][nats]") {
    CHECK(read_publish_reply(R"({"stream":"S","seq":5})").is_stored);
    CHECK_FALSE(read_publish_reply(R"({"stream":"S","seq":5})").is_duplicate);
    CHECK(read_publish_reply(R"({"stream":"S","seq":5})").stream == "S");
    CHECK(read_publish_reply(R"({"stream":"S","seq":5})").place == 5);
    CHECK(read_publish_reply(R"({"stream":"S", "seq":5,"duplicate": true})").is_duplicate);
    const PublishReply full = read_publish_reply(
        R"({"error":{"code":503,"err_code":10077,"description":"maximum \"bytes\" exceeded"},"seq":0})");
    CHECK_FALSE(full.is_stored);
    CHECK(full.reason == "maximum \"bytes\" exceeded");
    CHECK(full.refusal == Refusal::transient);
    CHECK(read_publish_reply(R"({"error":{"code":400,"err_code":10054}})").refusal == Refusal::permanent);
}

TEST_CASE("of long texts of a server, only the beginning is kept", "[uplink][nats]") {
    const std::string text(250'000, 'x');
    const PublishReply reply =
        read_publish_reply(R"({"stream":")" + text + R"(","error":{"description":")" + text + R"("}})");
    CHECK(reply.reason == text.substr(0, 256));
    CHECK(reply.stream == text.substr(0, 256));
}

TEST_CASE("whatever a server replies, a message is stored only if it has a number in the stream", "[uplink][nats]") {
    const auto* const reply =
        GENERATE("", "garbage", "[]", "{}", "null", R"({"seq":0})", R"({"seq":"5"})", R"({"seq":-1})",
                 R"({"error":{},"seq":5})", R"({"error":5,"seq":5})", R"({"stream":"\"seq\":5"})");
    CAPTURE(reply);
    CHECK_FALSE(read_publish_reply(reply).is_stored);
    CHECK_FALSE(read_publish_reply(reply).reason.empty());
}

TEST_CASE("the stream with the subjects is found, or the command that creates it", "[uplink][nats]") {
    CHECK(stream_name_request("a.*") == R"({"subject":"a.*"})");
    CHECK(read_stream_name(R"({"total":1,"streams":["S"]})", "a.*").name == "S");
    const auto* const none = GENERATE(R"({"total":0,"streams":null})", R"({"streams":[]})", R"({"streams":[5]})", "{}");
    CHECK(read_stream_name(none, "a.*").problem ==
          "no stream has the subject a.*; create one: nats stream add TELEGATE --subjects 'a.*' --storage file "
          "--dupe-window 10m --defaults");
    CHECK(read_stream_name(R"({"error":{"description":"no leader"}})", "a").problem == "no leader");
    CHECK(read_stream_name("garbage", "a").problem == "the server's response is not JSON");
}

TEST_CASE("a stream that cannot keep the guarantees is a problem, with the command that changes it", "[uplink][nats]") {
    CHECK(check("").problem.empty());
    CHECK(check("").warning.empty());
    CHECK(check_stream(R"({"state":{"last_seq":7}})", {}).last == 7);
    CHECK(check_stream(R"({"state":{"last_seq":-7}})", {}).last == 0);
    CHECK(check(R"(,"no_ack":true)").problem ==
          "stream S does not acknowledge messages; change it: nats stream edit S --ack");
    CHECK(check(R"(,"sealed":true)").problem == "stream S is sealed and accepts no messages");
    CHECK(check(R"(,"max_msg_size":9999)").problem ==
          "stream S accepts messages of 9999 bytes; change it: nats stream edit S --max-msg-size=-1, or lower "
          "batch_bytes");
    CHECK(check(R"(,"max_msg_size":-1)").problem.empty());
    CHECK(check_stream(R"({"config":{"name":"S","duplicate_window":59000000000}})", wanted()).problem ==
          "the duplicate window of stream S is 59 s, and messages may be sent again after 60 s; change it: nats stream "
          "edit S --dupe-window 10m");
    CHECK(check_stream(R"({"error":{"code":404}})", wanted()).problem == "error 404");
}

TEST_CASE("a stream that may lose messages is a warning", "[uplink][nats]") {
    CHECK(check(R"(,"storage":"file","retention":"limits")").warning.empty());
    CHECK(check(R"(,"storage":"memory")").warning.starts_with("stream S is in memory"));
    CHECK(check(R"(,"retention":"interest")").warning.starts_with("stream S has the retention policy interest"));
}

}  // namespace telegate::uplink
