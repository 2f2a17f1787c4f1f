#include "encode/notice.hpp"

#include "encode/record_encoder.hpp"
#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string>

using namespace telegate;
using namespace telegate::test;
using nlohmann::ordered_json;

namespace {

constexpr std::int64_t notice_time_ns = 1'795'216'294'123'456'789;

/// A channel with the longest possible names.
struct NoticeHarness {
    ChannelTable channels;
    std::string device = std::string(64, 'd');
    std::string name = std::string(64, 'c');
    ChannelId channel = channels.add(DeviceId{0}, device, name, "").value();

    template <class Notice>
    std::string encode(PayloadFormat format, const Notice& notice) const {
        std::string payload;
        NoticeEncoder(format, {channels, epoch_ms}).append(notice, payload);
        return payload;
    }
    [[nodiscard]] GapNotice gap(std::uint64_t first, std::uint64_t last, std::string_view reason) const {
        return {channel, first, last, reason, notice_time_ns};
    }
    [[nodiscard]] ordered_json gap_document(const GapNotice& notice) const {
        return {{"device", device},
                {"channel", name},
                {"epoch", epoch_ms},
                {"first_seq", notice.first_seq},
                {"last_seq", notice.last_seq},
                {"reason", notice.reason},
                {"time", iso_text(notice_time_ns)}};
    }
};

Record record_of(const std::string& payload) {
    Record record{};
    REQUIRE(payload.size() == sizeof record);
    std::memcpy(&record, payload.data(), sizeof record);
    return record;
}

}  // namespace

TEST_CASE("a gap notice is the same map in JSON and in CBOR, with keys in order", "[gateway][notices]") {
    const NoticeHarness h;
    const std::uint64_t last = GENERATE(43U, 200U, 70'000U, std::uint64_t{1} << 32U, UINT64_MAX);
    const GapNotice gap = h.gap(43, last, "queue_overflow");
    CHECK(h.encode(PayloadFormat::json, gap) == h.gap_document(gap).dump());
    CHECK(ordered_json::from_cbor(h.encode(PayloadFormat::cbor, gap)) == h.gap_document(gap));
}

TEST_CASE("a heartbeat notice is the same map in JSON and in CBOR, even if nothing was ever published",
          "[gateway][notices]") {
    const NoticeHarness h;
    const std::uint64_t seq = GENERATE(0U, 57U);
    const BeatNotice beat{h.channel, seq, notice_time_ns};
    const ordered_json document = {{"device", h.device},
                                   {"channel", h.name},
                                   {"epoch", epoch_ms},
                                   {"seq", seq},
                                   {"time", iso_text(notice_time_ns)}};
    CHECK(h.encode(PayloadFormat::json, beat) == document.dump());
    CHECK(ordered_json::from_cbor(h.encode(PayloadFormat::cbor, beat)) == document);
}

TEST_CASE("the record of a gap notice has numbers and reason at the documented offsets", "[gateway][notices]") {
    const NoticeHarness h;
    const auto [reason, code] =
        GENERATE(table<std::string, int>({{"queue_overflow", 1}, {"shutdown", 2}, {"slow", 3}, {"expired", 4}}));
    const Record record = record_of(h.encode(PayloadFormat::record, h.gap(43, 57, reason)));
    CHECK(record.time_utc_ns == notice_time_ns);
    CHECK(record.epoch_ms == epoch_ms);
    CHECK(record.seq == 43);
    CHECK(static_cast<int>(record.type) == 16);
    CHECK(record.quality == Quality::bad);
    std::string value(32, '\0');
    value[0] = 57;
    value[8] = static_cast<char>(code);
    CHECK(std::string(record.value.data(), record.value.size()) == value);
}

TEST_CASE("the record of a heartbeat notice has its sequence number and no value", "[gateway][notices]") {
    const NoticeHarness h;
    const Record record = record_of(h.encode(PayloadFormat::record, BeatNotice{h.channel, 57, notice_time_ns}));
    CHECK(record.seq == 57);
    CHECK(static_cast<int>(record.type) == 17);
    CHECK(static_cast<int>(record.quality) == 2);
    CHECK(std::string(record.value.data(), record.value.size()) == std::string(32, '\0'));
}

TEST_CASE("notices of every format are read as they were written", "[gateway][notices]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    const NoticeHarness h;
    const std::string payload = h.encode(format, h.gap(43, 70'000, "queue_overflow"));
    const auto gap = read_notice(format, NoticeKind::gap, payload);
    REQUIRE(gap);
    CHECK(gap->epoch_ms == epoch_ms);
    CHECK(gap->seqs.first == 43);
    CHECK(gap->seqs.last == 70'000);
    CHECK(gap->reason == "queue_overflow");
    CHECK_FALSE(read_notice(format, NoticeKind::beat, payload));
    const std::string beat_payload = h.encode(format, BeatNotice{h.channel, 99, notice_time_ns});
    const auto beat = read_notice(format, NoticeKind::beat, beat_payload);
    REQUIRE(beat);
    CHECK(beat->epoch_ms == epoch_ms);
    CHECK(beat->seqs.last == 99);
    CHECK_FALSE(read_notice(format, NoticeKind::gap, beat_payload));
}

TEST_CASE("an invalid payload is not a notice", "[gateway][notices]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    const std::string payload = GENERATE(std::string(), std::string("\xA8\x63"), std::string("{\"seq\":x"),
                                         std::string("[1]"), std::string("\xA1\x63seq\x9B\x7F", 7) + "1234567",
                                         std::string(100'000, '['), std::string(100'000, '\x81'),
                                         std::string(R"({"epoch":-1,"seq":1,"first_seq":1,"last_seq":2,"reason":""})"),
                                         std::string(R"({"epoch":1,"first_seq":3,"last_seq":2,"reason":"slow"})"));
    CHECK_FALSE(read_notice(format, NoticeKind::gap, payload));
    CHECK_FALSE(read_notice(format, NoticeKind::beat, payload));
}

TEST_CASE("a notice is appended to existing text, and its topic is that of its channel with a suffix",
          "[gateway][notices]") {
    const NoticeHarness h;
    const NoticeEncoder encoder(PayloadFormat::json, {h.channels, epoch_ms});
    std::string payload = "before";
    encoder.append(BeatNotice{h.channel, 1, 0}, payload);
    CHECK(payload.substr(0, 7) == "before{");
    CHECK(gap_topic(h.channels.at(h.channel)) == h.device + "/" + h.name + "$gap");
    CHECK(beat_topic(h.channels.at(h.channel)) == h.device + "/" + h.name + "$beat");
}
