#include "gateway_verify/verify_stream.hpp"

#include "core/endian.hpp"
#include "tools/gateway_log/log_fixture.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace telegate::verify_tool::test {
namespace {

using log_tool::test::LogFixture;
using log_tool::test::Outcome;

std::string sample(std::uint64_t seq, std::int64_t epoch = LogFixture::first_epoch_ms, const std::string& name = "a") {
    return R"({"device":"dev","channel":")" + name + R"(","epoch":)" + std::to_string(epoch) + R"(,"seq":)" +
           std::to_string(seq) + R"(,"time":"2026-11-20T23:11:34.123456789Z","value":1,"unit":"","quality":"good"})" +
           "\n";
}

std::string gap(std::uint64_t first, std::uint64_t last, const std::string& reason) {
    return R"({"device":"dev","channel":"a","epoch":)" + std::to_string(LogFixture::first_epoch_ms) +
           R"(,"first_seq":)" + std::to_string(first) + R"(,"last_seq":)" + std::to_string(last) + R"(,"reason":")" +
           reason + R"(","time":"2026-11-20T23:11:34.123456789Z"})" + "\n";
}

std::string samples(std::uint64_t first, std::uint64_t last) {
    std::string lines;
    for (; first <= last; ++first) {
        lines += sample(first);
    }
    return lines;
}

/// A stream with these messages, and the log that it is compared with.
struct StreamFixture {
    LogFixture log;
    std::vector<std::string> messages;
    std::set<std::size_t> historical;  // indexes of messages
    std::vector<std::string> others;   // not from an uplink
    std::string format;

    Outcome run(const VerifyOptions& options = VerifyOptions()) {
        const auto read = [&](const auto& each) {
            std::uint64_t number = 0;
            for (const std::string& payload : others) {
                each(StreamMessage{++number, false, false, "", payload});
            }
            for (std::size_t i = 0; i < messages.size(); ++i) {
                each(StreamMessage{++number, true, historical.contains(i), format, messages[i]});
            }
        };
        std::ostringstream out;
        std::ostringstream errors;
        const int code = verify_stream(options, read, {log.disk, out, errors});
        return {code, out.str(), errors.str()};
    }
};

}  // namespace

TEST_CASE("a stream with all samples is complete, in any order and with duplicates", "[gateway_verify]") {
    StreamFixture f;
    f.messages = {samples(1, 10), samples(16, 20), samples(11, 15), samples(1, 5)};
    const Outcome outcome = f.run();
    CHECK(outcome.code == 0);
    CHECK(outcome.out ==
          "epoch 1800000000000 (2027-01-15T08:00:00.000Z): 20 samples of 1 channel, 0 missing\n"
          "  dev/a: 5 duplicates\n"
          "  dev/a: 5 out of order\n"
          "5 duplicates, 5 samples out of order\n"
          "stream complete: 20 samples and 0 explained gaps in 1 epoch\n");
}

TEST_CASE("historical samples may follow later ones, and are in order among themselves", "[gateway_verify]") {
    StreamFixture f;
    f.messages = {samples(1, 10), samples(31, 35), samples(11, 20), samples(36, 40), samples(21, 30)};
    f.historical = {2, 4};
    CHECK(f.run().out ==
          "epoch 1800000000000 (2027-01-15T08:00:00.000Z): 40 samples of 1 channel, 0 missing\n"
          "stream complete: 40 samples and 0 explained gaps in 1 epoch\n");
    std::swap(f.messages[2], f.messages[4]);
    CHECK(f.run().has("  dev/a: 10 out of order\n"));
    f.messages.pop_back();
    CHECK(f.run().last_line() == "stream incomplete: 10 samples missing for no known reason");
}

TEST_CASE("a gap explains missing samples, also if it arrives late", "[gateway_verify]") {
    StreamFixture f;
    f.messages = {samples(1, 2), samples(6, 7), gap(3, 5, "retention")};
    const Outcome outcome = f.run();
    CHECK(outcome.code == 0);
    CHECK(outcome.has("  dev/a: missing 3..5 (retention)\n"));
    CHECK(outcome.last_line() == "stream complete: 4 samples and 1 explained gap in 1 epoch");
}

TEST_CASE("a missing sample is unexplained without a gap, or with one for no known reason", "[gateway_verify]") {
    StreamFixture f;
    f.messages = {samples(1, 2), samples(6, 7)};
    SECTION("no gap") {}
    SECTION("a gap without a reason") {
        f.messages.push_back(gap(3, 5, "unknown"));
    }
    const Outcome outcome = f.run();
    CHECK(outcome.code == 1);
    CHECK(outcome.has("  dev/a: missing 3..5 (unknown)\n"));
    CHECK(outcome.last_line() == "stream incomplete: 3 samples missing for no known reason");
}

TEST_CASE("the log of the gateway determines which samples must be at the end of the stream", "[gateway_verify]") {
    StreamFixture f;
    f.log.start();
    f.log.add(0, 10);
    f.log.add(1, 2);
    f.log.stop();
    f.messages = {samples(1, 8)};
    CHECK(f.run().code == 0);
    VerifyOptions options;
    options.expected_log = "/log";
    SECTION("all channels") {
        const Outcome outcome = f.run(options);
        CHECK(outcome.code == 1);
        CHECK(outcome.has("  dev/a: missing 9..10 (unknown)\n"));
        CHECK(outcome.has("  dev/b: missing 1..2 (unknown)\n"));
    }
    SECTION("selected channels") {
        options.channels = log_tool::ChannelFilter({"dev/a"});
        CHECK(f.run(options).last_line() == "stream incomplete: 2 samples missing for no known reason");
        f.messages.push_back(samples(9, 10));
        CHECK(f.run(options).code == 0);
    }
}

TEST_CASE("objects in CBOR are read like lines of JSON", "[gateway_verify]") {
    StreamFixture f;
    f.format = "cbor";
    std::string payload;
    for (const std::string& line : {sample(1), sample(2), gap(3, 5, "crash"), sample(6)}) {
        const std::vector<std::uint8_t> object = nlohmann::json::to_cbor(nlohmann::json::parse(line));
        payload.append(object.begin(), object.end());
    }
    f.messages = {payload};
    CHECK(f.run().last_line() == "stream complete: 3 samples and 1 explained gap in 1 epoch");
    f.messages.push_back(payload.substr(0, payload.size() - 1));
    CHECK(f.run().code == 1);
}

TEST_CASE("records have the topics of the table before them", "[gateway_verify]") {
    StreamFixture f;
    f.format = "record";
    const std::string topics = std::string("dev/a\ndev/cpu.user\n") + std::string(4, '\n');
    const auto number = [](auto value) {
        std::string bytes(sizeof value, '\0');
        store_little_endian(bytes.data(), value);
        return bytes;
    };
    const auto record = [&](std::uint64_t seq, std::uint32_t topic, char kind, std::uint64_t last_seq) {
        std::string bytes(64, '\0');
        bytes.replace(8, 8, number(LogFixture::first_epoch_ms));
        bytes.replace(16, 8, number(seq));
        bytes[24] = kind;
        bytes.replace(28, 4, number(topic));
        bytes.replace(32, 8, number(last_seq));
        bytes[40] = kind == 16 ? 7 : 0;  // crash
        return bytes;
    };
    const std::string head = number(std::uint32_t{2}) + number(static_cast<std::uint32_t>(topics.size())) + topics;
    const std::string payload = head + record(1, 0, 1, 0) + record(1, 1, 1, 0) + record(2, 1, 16, 9);
    f.messages = {payload};
    CHECK(f.run().last_line() == "stream complete: 2 samples and 1 explained gap in 1 epoch");
    CHECK(f.run().has("  dev/cpu.user: missing 2..9 (crash)\n"));
    for (const std::string& wrong : {payload.substr(1), payload.substr(0, 7), head, head + record(1, 2, 1, 0),
                                     head + record(0, 0, 1, 0), payload.substr(0, 20)}) {
        f.messages = {wrong};
        CHECK(f.run().last_line() == "stream incomplete: 1 unreadable message");
    }
}

TEST_CASE("a block is read like a segment of the log", "[gateway_verify]") {
    StreamFixture f;
    f.format = "block";
    f.log.start();
    f.log.add(0, 5);
    f.log.add_gap(0, 2, store::GapReason::log_slow);
    f.log.add(0, 3);
    f.log.kill();
    const std::vector<std::byte>& content = f.log.content(0);
    const std::string payload(reinterpret_cast<const char*>(content.data()), content.size());
    f.messages = {payload};
    CHECK(f.run().last_line() == "stream complete: 8 samples and 1 explained gap in 1 epoch");
    for (std::size_t at = 0; at < payload.size(); at += 3) {
        f.messages = {payload};
        f.messages[0][at] = static_cast<char>(~f.messages[0][at]);
        static_cast<void>(f.run());
        f.messages[0].resize(at);
        CHECK(f.run().code == 1);
    }
}

TEST_CASE("epochs and channels are separate", "[gateway_verify]") {
    StreamFixture f;
    f.messages = {sample(1), sample(1, 7), sample(1, 7, "b") + sample(2, 7, "b")};
    CHECK(f.run().last_line() == "stream complete: 4 samples and 0 explained gaps in 2 epochs");
}

TEST_CASE("a message of which a part cannot be read makes the result incomplete", "[gateway_verify]") {
    StreamFixture f;
    const std::string line = GENERATE(values<std::string>(
        {"{", "7", "\n", R"({"device":"dev","channel":"a","epoch":1,"seq":0})", R"({"device":"dev","epoch":1,"seq":1})",
         R"({"device":"dev","channel":"a","epoch":1,"first_seq":2,"last_seq":1,"reason":"crash"})",
         R"({"device":"dev","channel":"a","epoch":1,"first_seq":1,"last_seq":1,"reason":"nothing"})",
         R"({"device":"dev","channel":"a","epoch":"x","seq":1})"}));
    f.messages = {sample(1), line};
    const Outcome outcome = f.run();
    CHECK(outcome.code == 1);
    CHECK(outcome.has("first unreadable message: 2\n"));
    CHECK(outcome.last_line() == "stream incomplete: 1 unreadable message");
}

TEST_CASE("messages that are not from an uplink are counted and ignored", "[gateway_verify]") {
    StreamFixture f;
    f.others = {"hello", ""};
    f.messages = {samples(1, 3)};
    const Outcome outcome = f.run();
    CHECK(outcome.code == 0);
    CHECK(outcome.has("2 messages not from an uplink\n"));
}

TEST_CASE("addresses and options are checked", "[gateway_verify]") {
    const auto parse = [](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), "gateway_verify");
        return parse_verify_options(static_cast<int>(arguments.size()), arguments.data());
    };
    const auto address = [&](const char* source) {
        const auto parsed = parse({source});
        REQUIRE(parsed.options);
        REQUIRE(parsed.options->stream);
        return std::pair(parsed.options->stream->url, parsed.options->stream->stream);
    };
    CHECK(address("nats://a") == std::pair<std::string, std::string>("nats://a", "TELEGATE"));
    CHECK(address("nats://a:1/S") == std::pair<std::string, std::string>("nats://a:1", "S"));
    CHECK(parse({"/var/log"}).options->directory == "/var/log");
    CHECK_FALSE(parse({"/var/log"}).options->stream);
    for (const char* source : {"nats://", "nats:///S", "nats://a/S/T", "nats://a/S.T"}) {
        const auto parsed = parse({source});
        CHECK(parsed.exit_code == 64);
        CHECK(parsed.output.find("must be nats://HOST[:PORT][/STREAM]") != std::string::npos);
    }
    const auto secured = parse({"tls://a", "--credentials-file", "c", "--tls-ca", "ca", "--tls-certificate", "own",
                                "--tls-key", "key", "--tls-server-name", "b"});
    REQUIRE(secured.options);
    const StreamAddress& stream = *secured.options->stream;
    CHECK(stream.url == "tls://a");
    CHECK(stream.credentials_file + " " + stream.tls_ca + " " + stream.tls_certificate == "c ca own");
    CHECK(stream.tls_key + " " + stream.tls_server_name == "key b");
    CHECK(parse({"tls://a", "--tls-key", "key"}).output.find("must be given together") != std::string::npos);
    CHECK(parse({}).exit_code == 64);
    CHECK(parse({"--version"}).output.starts_with("telegate "));
}

}  // namespace telegate::verify_tool::test
