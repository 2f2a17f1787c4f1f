#include "uplinks/message_encoder.hpp"

#include "config/load.hpp"
#include "core/endian.hpp"
#include "encode/record_encoder.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace telegate::test {
namespace {

/// A block of a log with two channels, `plant/level` and `host/load`.
struct Block {
    std::vector<store::SegmentChannel> definitions{{ChannelId{5}, "plant", "level", "m", 0},
                                                   {ChannelId{2}, "host", "load", "1", 0}};
    store::LogBatch batch;

    explicit Block(std::int64_t epoch = 1'000) {
        batch.epoch_ms = epoch;
        batch.definitions = &definitions;
    }
    void add(std::uint32_t channel, std::uint64_t seq) {
        TelemetrySample sample{};
        sample.channel = ChannelId{channel};
        sample.seq = seq;
        sample.time_utc_ns = static_cast<std::int64_t>(seq) * 1'000'000'000;
        sample.type = ValueType::integer;
        sample.value.integer = static_cast<std::int64_t>(seq) * 10;
        batch.samples.push_back(sample);
    }
    void add_gap(std::uint32_t channel, std::uint64_t first, std::uint64_t last) {
        batch.gaps.push_back({static_cast<std::uint32_t>(batch.samples.size()),
                              {ChannelId{channel}, first, last, store::GapReason::retention}});
    }
};

using Messages = std::vector<uplink::OutgoingMessage>;

Messages encode_block(MessageEncoder& encoder, const Block& block) {
    Messages messages;
    encoder.encode(block.batch, 0, messages);
    return messages;
}

std::vector<nlohmann::json> parse_lines(const std::string& payload) {
    std::vector<nlohmann::json> parsed;
    std::istringstream lines(payload);
    for (std::string line; std::getline(lines, line);) {
        parsed.push_back(nlohmann::json::parse(line));
    }
    return parsed;
}

/// Writes channel and number of a sample, and omits every second one.
class TestEncoder final : public uplink::EntryEncoder {
  public:
    void add_channel(const ChannelInfo& info, const uplink::EntryTags& tags) override {
        topics_.push_back(info.topic + (tags.empty() ? "" : ';' + tags.front().first + '=' + tags.front().second));
    }
    [[nodiscard]] std::size_t bytes_max(const TelemetrySample& sample) const noexcept override {
        return sample.seq % 2 == 0 ? 0 : 100;
    }
    [[nodiscard]] std::size_t encode(const TelemetrySample& sample, char* to) noexcept override {
        const std::string text = topics_[to_index(sample.channel)] + ' ' + std::to_string(sample.seq) + '\n';
        std::copy(text.begin(), text.end(), to);
        return text.size();
    }
    void append_gap(const Gap& gap, std::string& to) override {
        to += "gap " + topics_[to_index(gap.channel)] + ' ' + std::string(gap.reason) + '\n';
    }

  private:
    std::vector<std::string> topics_;
};

}  // namespace

TEST_CASE("a type of uplink can have a format of its own, which may omit samples", "[gateway][uplinks]") {
    int encoders = 0;
    MessageEncoder encoder(
        std::make_shared<const Labels>("", Tags{{"site", "north"}}),
        {.topics = {"host/"}, .samples_max = 3, .subject = "", .make_encoder = [&](std::int64_t start_ms) {
             encoders += start_ms >= 1'000 ? 1 : 0;
             return std::make_unique<TestEncoder>();
         }});
    Block block;
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
        block.add(5, seq);
        block.add(2, seq);
    }
    block.add_gap(2, 4, 9);
    const Messages messages = encode_block(encoder, block);
    REQUIRE(messages.size() == 2);
    CHECK(messages[0].payload == "host/load;site=north 1\nhost/load;site=north 3\n");
    CHECK(messages[0].samples == 2);
    CHECK(messages[0].omitted == 1);
    CHECK(messages[0].all_samples() == 3);
    CHECK(messages[1].payload == "gap host/load;site=north retention\n");
    CHECK(messages[1].missing == 6);
    CHECK(encoders == 1);
    Block only_omitted(2'000);
    only_omitted.add(2, 2);
    const Messages empty = encode_block(encoder, only_omitted);
    REQUIRE(empty.size() == 1);  // so that it is counted
    CHECK(empty[0].payload.empty());
    CHECK(empty[0].omitted == 1);
    CHECK(encoders == 2);
}

TEST_CASE("a block becomes lines of samples and gap notices in order", "[gateway][uplinks]") {
    MessageEncoder encoder(std::make_shared<const Labels>("", Tags{{"site", "north"}}), {});
    Block block;
    block.add(5, 1);
    block.add_gap(5, 2, 4);
    block.add(5, 5);
    block.add(2, 1);
    const Messages messages = encode_block(encoder, block);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].samples == 3);
    CHECK(messages[0].missing == 3);
    CHECK(messages[0].utc_max_ns == 5'000'000'000);
    const auto lines = parse_lines(messages[0].payload);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0]["channel"] == "level");
    CHECK(lines[0]["epoch"] == 1'000);
    CHECK(lines[0]["value"] == 10);
    CHECK(lines[0]["unit"] == "m");
    CHECK(lines[0]["tags"]["site"] == "north");
    CHECK(lines[1]["first_seq"] == 2);
    CHECK(lines[1]["last_seq"] == 4);
    CHECK(lines[1]["reason"] == "retention");
    CHECK(lines[1]["time"] == lines[2]["time"]);
    CHECK(lines[3]["device"] == "host");
}

TEST_CASE("each sample of a message has the tags of its own channel", "[gateway][uplinks]") {
    const Settings settings = parse_settings(
        "[tags]\nsite = north\n[device \"plant\"]\ndriver = simulated\n[channel \"plant/level\"]\ntags = tank=2\n",
        "t.ini");
    MessageEncoder encoder(std::make_shared<const Labels>(settings), {});
    Block block;
    block.add(5, 1);
    block.add(2, 1);
    const auto lines = parse_lines(encode_block(encoder, block).at(0).payload);
    CHECK(lines.at(0)["tags"] == nlohmann::json{{"site", "north"}, {"tank", "2"}});
    CHECK(lines.at(1)["tags"] == nlohmann::json{{"site", "north"}});
}

TEST_CASE("messages are limited in samples and bytes", "[gateway][uplinks]") {
    Block block;
    for (std::uint64_t seq = 1; seq <= 100; ++seq) {
        block.add(5, seq);
    }
    MessageEncoder by_count({}, {.topics = {}, .samples_max = 30, .bytes_max = 1'000'000});
    const Messages counted = encode_block(by_count, block);
    REQUIRE(counted.size() == 4);
    CHECK(counted[0].samples == 30);
    CHECK(counted[3].samples == 10);
    MessageEncoder by_bytes({}, {.topics = {}, .samples_max = 1'000, .bytes_max = 2'000});
    std::uint64_t samples = 0;
    for (const uplink::OutgoingMessage& message : encode_block(by_bytes, block)) {
        CHECK(message.payload.size() <= 2'000);
        samples += message.samples;
    }
    CHECK(samples == 100);
}

TEST_CASE("a line that is longer than the limit is a message of its own", "[gateway][uplinks]") {
    MessageEncoder encoder({}, {.topics = {}, .samples_max = 1'000, .bytes_max = 10});
    Block block;
    block.add(5, 1);
    block.add(5, 2);
    CHECK(encode_block(encoder, block).size() == 2);
}

TEST_CASE("a message has the subject of its samples, and each channel stays in order", "[gateway][uplinks]") {
    Block block;
    for (std::uint64_t seq = 1; seq <= 50; ++seq) {
        block.add(5, seq);
        block.add(2, seq);
    }
    block.add_gap(5, 51, 52);
    MessageEncoder encoder({}, {.topics = {}, .samples_max = 30, .subject = "t.{channel}"});
    encoder.arrange(block.batch);
    std::map<std::string, std::uint64_t> last;
    for (const uplink::OutgoingMessage& message : encode_block(encoder, block)) {
        CHECK(message.samples <= 30);
        for (const nlohmann::json& line : parse_lines(message.payload)) {
            CHECK(message.subject == "t." + line["channel"].get<std::string>());
            const char* const key = line.contains("seq") ? "seq" : "first_seq";
            CHECK(line[key] == ++last[message.subject]);
        }
    }
    CHECK(last == std::map<std::string, std::uint64_t>{{"t.level", 51}, {"t.load", 50}});
}

TEST_CASE("a message of the format cbor is a sequence of maps", "[gateway][uplinks]") {
    MessageEncoder encoder({}, {.format = MessageFormat::cbor});
    Block block;
    block.add(5, 1);
    block.add_gap(5, 2, 4);
    block.add(2, 1);
    const std::string payload = encode_block(encoder, block).at(0).payload;
    std::istringstream in(payload);
    std::vector<nlohmann::json> maps;
    while (in.peek() != std::istringstream::traits_type::eof()) {
        maps.push_back(nlohmann::json::from_cbor(in, false));
    }
    REQUIRE(maps.size() == 3);
    CHECK(maps[0]["channel"] == "level");
    CHECK(maps[1]["last_seq"] == 4);
    CHECK(maps[2]["device"] == "host");
}

TEST_CASE("records follow a table of their topics", "[gateway][uplinks]") {
    MessageEncoder encoder({}, {.format = MessageFormat::record});
    Block block;
    block.add(5, 7);
    block.add_gap(2, 2, 4);
    block.add(5, 8);
    const std::string payload = encode_block(encoder, block).at(0).payload;
    CHECK(load_little_endian<std::uint32_t>(payload.data()) == 2);
    const auto table_bytes = load_little_endian<std::uint32_t>(payload.data() + 4);
    CHECK(payload.substr(8, table_bytes) == std::string("plant/level\nhost/load\n\n\n"));
    REQUIRE(payload.size() == 8 + table_bytes + 3 * sizeof(Record));
    std::array<Record, 3> records;
    std::memcpy(records.data(), payload.data() + 8 + table_bytes, sizeof records);
    CHECK(records[0].reserved == 0);
    CHECK(records[0].seq == 7);
    CHECK(records[1].reserved == 1);
    CHECK(records[1].type == static_cast<ValueType>(16));
    CHECK(load_little_endian<std::uint64_t>(records[1].value.data()) == 4);
    CHECK(records[1].value[8] == 9);
    CHECK(records[2].reserved == 0);
    CHECK(records[2].seq == 8);
}

TEST_CASE("messages of records are limited in bytes including their table", "[gateway][uplinks]") {
    MessageEncoder encoder({},
                           {.topics = {}, .samples_max = 1'000, .bytes_max = 1'024, .format = MessageFormat::record});
    Block block;
    for (std::uint64_t seq = 1; seq <= 50; ++seq) {
        block.add(seq % 2 == 0 ? 5 : 2, seq);
    }
    std::uint64_t samples = 0;
    for (const uplink::OutgoingMessage& message : encode_block(encoder, block)) {
        CHECK(message.payload.size() <= 1'024);
        samples += message.samples;
    }
    CHECK(samples == 50);
}

TEST_CASE("only channels with the given prefixes are encoded", "[gateway][uplinks]") {
    MessageEncoder encoder({}, {.topics = {"plant/"}, .samples_max = 1'000, .bytes_max = 10'000});
    Block block;
    block.add(2, 1);
    block.add_gap(2, 2, 3);
    CHECK(encode_block(encoder, block).empty());
    block.add(5, 1);
    const Messages messages = encode_block(encoder, block);
    REQUIRE(messages.size() == 1);
    CHECK(parse_lines(messages[0].payload).size() == 1);
    CHECK(messages[0].missing == 0);
}

TEST_CASE("the same block has the same messages in another process", "[gateway][uplinks]") {
    Block block;
    block.add_gap(2, 1, 3);
    block.add(5, 1);
    block.add_gap(5, 2, 2);
    MessageEncoder first({}, {});
    MessageEncoder second({}, {});
    (void)encode_block(second, Block(500));
    CHECK(encode_block(first, block)[0].payload == encode_block(second, block)[0].payload);
}

TEST_CASE("each epoch has the names and units of its own channels", "[gateway][uplinks]") {
    MessageEncoder encoder({}, {});
    Block before(1'000);
    before.add(5, 1);
    (void)encode_block(encoder, before);
    Block after(2'000);
    after.definitions = {{ChannelId{5}, "host", "load", "%", 0}};
    after.add(5, 1);
    const auto lines = parse_lines(encode_block(encoder, after)[0].payload);
    CHECK(lines[0]["device"] == "host");
    CHECK(lines[0]["unit"] == "%");
    CHECK(lines[0]["epoch"] == 2'000);
}

TEST_CASE("channels without a valid name are ignored", "[gateway][uplinks]") {
    MessageEncoder encoder({}, {});
    Block block;
    block.definitions[0].device = "not/a\"part";
    block.add(5, 1);
    block.add(77, 1);
    block.add_gap(5, 2, 3);
    CHECK(encode_block(encoder, block).empty());
}

}  // namespace telegate::test
