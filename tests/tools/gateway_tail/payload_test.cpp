#include "encode/time_text.hpp"
#include "gateway_tail/json_scan.hpp"
#include "gateway_tail/live_reader.hpp"
#include "gateway_tail/parse_any.hpp"
#include "gateway_tail/record_payload.hpp"
#include "gateway_tail/sample_lines.hpp"
#include "gateway_tail/service_messages.hpp"
#include "gateway_tail/time_words.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::tail::test {
namespace {

std::string object(const std::string& value, const std::string& unit = "%") {
    return R"({"device":"host","channel":"cpu.user","epoch":1795217494123,"seq":42,)"
           R"("time":"2026-11-20T23:11:34.123456789Z","value":)" +
           value + R"(,"unit":")" + unit + R"(","quality":"uncertain"})";
}

std::string as_json_line(Sample sample) {
    std::string line;
    sample.topic = "host/cpu.user";
    SampleLines(OutputFormat::json, false).append(line, sample);
    line.pop_back();
    return line;
}

/// Returns the JSON line of a sample that the fast parser reads, and "" if it does not read it.
std::string scanned_line(std::string_view text) {
    const std::string_view whole = text;
    ScannedSample scanned;
    if (!scan_sample(text, scanned)) {
        CHECK(text == whole);
        return "";
    }
    CHECK(text.empty());
    CHECK(scanned.device == "host");
    CHECK(scanned.channel == "cpu.user");
    return as_json_line(scanned.sample);
}

/// Likewise for the slow parser.
std::string parsed_line(PayloadFormat format, std::string_view payload) {
    Sample sample;
    SampleTexts texts;
    return parse_any_sample(format, payload, sample, texts) ? as_json_line(sample) : "";
}

std::string to_cbor(const std::string& json) {
    const std::vector<std::uint8_t> cbor = nlohmann::json::to_cbor(nlohmann::json::parse(json));
    return {cbor.begin(), cbor.end()};
}

struct Ignored final : MergerOutput {
    void write(const Sample& /*sample*/) override {}
    void lose(const Gap& /*gap*/) override {}
    void end_unknown(std::int64_t /*epoch*/) override {}
};

bool is_read(std::string_view topic, std::string_view payload) {
    Ignored output;
    Merger merger({}, output);
    LiveReader reader(merger);
    reader.read(topic, payload);
    return reader.not_understood() == 0;
}

}  // namespace

TEST_CASE("the fast and the slow parser return the same sample, and it is written as it was read", "[tail][json]") {
    const std::string value = GENERATE(values<std::string>(
        {"12.5", "-3", "0", "9223372036854775807", "-9223372036854775808", "1e+20", "1.7976931348623157e+308", "0.1",
         "true", "false", "null", R"("on")", R"("")", "\"\xC3\xA9\"", "5e-324"}));
    const std::string text = object(value);
    CAPTURE(text);
    CHECK(scanned_line(text) == text);
    CHECK(parsed_line(PayloadFormat::json, text) == text);
    CHECK(parsed_line(PayloadFormat::cbor, to_cbor(text)) == text);
}

TEST_CASE("a sample with an unsynchronized time is read like any other", "[tail][json]") {
    std::string text = object("12.5");
    text.insert(text.size() - 1, R"(,"time_quality":"unsynchronized","mono_ns":8421337005112)");
    CHECK(scanned_line(text) == object("12.5"));
    CHECK(parsed_line(PayloadFormat::json, text) == object("12.5"));
    CHECK(parsed_line(PayloadFormat::cbor, to_cbor(text)) == object("12.5"));
}

TEST_CASE("a sample with tags is read by the fast parser, or by the slow one if a tag has escapes", "[tail][json]") {
    std::string text = object("12.5");
    text.insert(text.find(R"(,"quality")"), R"(,"tags":{"site":"north","line":"3"})");
    CHECK(scanned_line(text) == object("12.5"));
    text.replace(text.find("north"), 5, R"(a\"b)");
    CHECK(scanned_line(text).empty());
    CHECK(parsed_line(PayloadFormat::json, text) == object("12.5"));
}

TEST_CASE("a sample in another notation is read by the slow parser", "[tail][json]") {
    const std::string text =
        GENERATE_COPY(values<std::string>({object(R"("a\nb")"), object("1", R"(\u0025)"), object("1").insert(1, " "),
                                           object("1").insert(object("1").size() - 1, R"(,"new":[{}])")}));
    CHECK(scanned_line(text).empty());
    const std::string line = parsed_line(PayloadFormat::json, text);
    CHECK(line.find(R"("seq":42,)") != std::string::npos);
    CHECK(line.ends_with(R"("quality":"uncertain"})"));
}

TEST_CASE("truncated or changed payloads are rejected or read within their bounds", "[tail][json]") {
    const std::string text = object("12.5");
    for (std::size_t at = 0; at < text.size(); ++at) {
        ScannedSample scanned;
        std::string_view cut = std::string_view(text).substr(0, at);
        CHECK_FALSE(scan_sample(cut, scanned));
        std::string changed = text;
        changed[at] = '\xFF';
        std::string_view rest = changed;
        static_cast<void>(scan_sample(rest, scanned));
    }
}

TEST_CASE("an array that claims to be longer than memory is rejected", "[tail][cbor]") {
    const std::string_view list("\xa1\x61\x61\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
    CHECK(parsed_line(PayloadFormat::cbor, list).empty());
}

TEST_CASE("nested arrays are followed to a limited depth", "[tail][cbor]") {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '\x81') + '\x01';
    };
    CHECK(is_shallow_cbor(nested(cbor_depth_max)));
    CHECK_FALSE(is_shallow_cbor(nested(cbor_depth_max + 1)));
    CHECK_FALSE(is_shallow_cbor(std::string(1'000'000, '\x81')));
    CHECK_FALSE(is_shallow_cbor("\x81"));
}

TEST_CASE("a heartbeat notice may have seq 0, for no sample yet, but nothing below", "[tail][json][cbor]") {
    const bool is_json = GENERATE(true, false);
    const auto reads = [is_json](const char* seq) {
        const std::string text = R"({"epoch":9, "new":[{"seq":"}"}], "seq" : )" + std::string(seq) + "}";
        return is_read("host/cpu.user$beat", is_json ? text : to_cbor(text));
    };
    CHECK(reads("0"));
    CHECK(reads("57"));
    for (const char* const seq : {"-1", "4611686018427387905", "18446744073709551615", "1.5", "null"}) {
        CHECK_FALSE(reads(seq));
    }
}

TEST_CASE("truncated notices and gaps that end before they begin are rejected", "[tail][json][cbor]") {
    const std::string text = R"({"epoch":9,"first_seq":4,"last_seq":7,"reason":"slow"})";
    for (const std::string& notice : {text, to_cbor(text)}) {
        CHECK(is_read("host/cpu.user$gap", notice));
        CHECK_FALSE(is_read("host/cpu.user$gap", notice + "x"));
        for (std::size_t size = 0; size < notice.size(); ++size) {
            CHECK_FALSE(is_read("host/cpu.user$gap", notice.substr(0, size)));
        }
    }
    CHECK_FALSE(is_read("host/cpu.user$gap", R"({"epoch":9,"first_seq":8,"last_seq":7,"reason":"slow"})"));
    CHECK_FALSE(is_read("host/cpu.user$gap", R"({"epoch":9,"first_seq":0,"last_seq":7,"reason":"slow"})"));
}

TEST_CASE("a heartbeat record may have seq 0, a gap record may not", "[tail][record]") {
    constexpr std::size_t seq_at = 16;
    constexpr std::size_t type_at = 24;
    constexpr std::size_t last_seq_at = 32;
    std::string record(record_bytes, '\0');
    record[type_at] = 17;
    CHECK(is_read("host/cpu.user$beat", record));
    record[seq_at + 7] = '\x7f';
    CHECK_FALSE(is_read("host/cpu.user$beat", record));
    record[seq_at + 7] = 0;
    record[type_at] = 16;
    record[last_seq_at] = 3;
    CHECK_FALSE(is_read("host/cpu.user$gap", record));
    record[seq_at] = 1;
    CHECK(is_read("host/cpu.user$gap", record));
}

TEST_CASE("a reply with samples in both notations keeps their order", "[tail][services]") {
    const std::string odd = object(R"("\t")");
    const std::string frame = R"({"service":"replay","id":7,"epoch":9,"samples":[)" + object("1") + "," + object("2") +
                              "," + odd + "," + object("4") +
                              R"(],"gone":[{"topic":"a/b","first_seq":1,"last_seq":3,"reason":"not_retained"}],)"
                              R"("left":[{"topic":"a/c","first_seq":4}],"end":false,"position":12})";
    Answer answer;
    std::string what;
    REQUIRE(parse_answer(frame, answer, what));
    CHECK(answer.id == 7);
    REQUIRE(answer.samples.size() == 4);
    CHECK(answer.samples[1].value.integer == 2);
    CHECK(answer.samples[2].value.text == "\t");
    CHECK(answer.samples[3].topic == "host/cpu.user");
    CHECK(answer.gone.at(0).reason == Reason::not_retained);
    CHECK(answer.left.at(0) == "a/c");
    CHECK(answer.position == 12U);
}

TEST_CASE("a malformed reply is rejected with a reason", "[tail][services]") {
    const std::string frame = GENERATE(values<std::string>(
        {"", "[]", "{}", R"({"id":1})", R"({"id":-1,"epoch":1})", R"({"id":1,"epoch":1,"samples":[1]})",
         R"({"id":1,"epoch":1,"gone":[{"topic":"a"}]})", R"({"id":1,"epoch":1,"error":"busy"})",
         R"({"id":1,"epoch":1,"gone":[{"topic":"a","first_seq":3,"last_seq":2,"reason":"x"}]})"}));
    Answer answer;
    std::string what;
    CHECK_FALSE(parse_answer(frame, answer, what));
    CHECK_FALSE(what.empty());
}

TEST_CASE("requests have the format of docs/wire.md", "[tail][services]") {
    Request request;
    request.kind = Request::Kind::holes;
    request.id = 3;
    request.epoch = 9;
    request.holes = {{"a/x", 4, 6}, {"a\"", 7, 0}};
    CHECK(to_json(request) == R"({"service":"replay","id":3,"holes":[{"topic":"a/x","first_seq":4,"last_seq":6},)"
                              R"({"topic":"a\"","first_seq":7}],"limit":10000,"epoch":9})");
    request = {};
    request.prefix = "host/";
    request.after = "host/a";
    CHECK(to_json(request) ==
          R"({"service":"snapshot","id":0,"prefix":"host/","after":"host/a","removed":true,"limit":1000})");
}

TEST_CASE("times and durations on the command line are read, and anything else is rejected", "[tail][time]") {
    CHECK(parse_duration("10m") == std::chrono::minutes(10));
    CHECK(parse_duration("1.5s") == std::chrono::milliseconds(1500));
    CHECK(parse_duration("1500ms") == std::chrono::milliseconds(1500));
    for (const char* const text : {"", "10", "m", "-1s", "1y", "nan s", "1e9d", "99999d"}) {
        CHECK_FALSE(parse_duration(text).has_value());
    }
    std::string time;
    append_time(time, parse_iso8601("2026-11-20T23:11:34.5Z").value(), 9);
    CHECK(time == "2026-11-20T23:11:34.500000000Z");
    for (const char* const text :
         {"", "2026-11-20", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T23:11:34"}) {
        CHECK_FALSE(parse_iso8601(text).has_value());
    }
    for (const char* const text : {"2999-01-01T00:00:00Z", "0001-01-01T00:00:00.5Z", "2262-01-01T00:00:00Z"}) {
        CHECK_FALSE(parse_iso8601(text).has_value());
        CHECK(is_year_out_of_range(text));
    }
    for (const std::string_view text : {time_first, time_last}) {
        CHECK(parse_iso8601(text).has_value());
    }
    for (const char* const text : {"", "2999", "2999-01-32T00:00:00Z", "2027-02-29T00:00:00Z", "soon"}) {
        CHECK_FALSE(is_year_out_of_range(text));
    }
    CHECK(grouped(1'234'567) == "1,234,567");
    CHECK(grouped(123) == "123");
}

TEST_CASE("texts cannot control a terminal or break a table", "[tail][output]") {
    Sample sample;
    sample.topic = "a/\x1b[2J";
    sample.value.type = ValueType::text;
    sample.value.text = "x,\"\xFF\n";
    std::string out;
    SampleLines(OutputFormat::text, false).append(out, sample);
    CHECK(out.find('\x1b') == std::string::npos);
    CHECK(out.find('\n') == out.size() - 1);
    out.clear();
    SampleLines(OutputFormat::csv, false).append(out, sample);
    CHECK(out.find("\"x,\"\"") != std::string::npos);
    out = as_json_line(sample);
    CHECK(nlohmann::json::parse(out)["value"] == "x,\"\xEF\xBF\xBD\n");
}

}  // namespace telegate::tail::test
