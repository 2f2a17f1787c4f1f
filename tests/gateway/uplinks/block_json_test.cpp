#include "uplinks/block_json.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
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

    explicit Block(std::int64_t epoch_ms = 1'000) {
        batch.epoch_ms = epoch_ms;
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

Messages encode_block(BlockJson& encoder, const Block& block) {
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

}  // namespace

TEST_CASE("a block becomes lines of samples and gap notices in order", "[gateway][uplinks]") {
    BlockJson encoder({{"site", "north"}}, {});
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

TEST_CASE("messages are limited in samples and bytes", "[gateway][uplinks]") {
    Block block;
    for (std::uint64_t seq = 1; seq <= 100; ++seq) {
        block.add(5, seq);
    }
    BlockJson by_count({}, {.topics = {}, .samples_max = 30, .bytes_max = 1'000'000});
    const Messages counted = encode_block(by_count, block);
    REQUIRE(counted.size() == 4);
    CHECK(counted[0].samples == 30);
    CHECK(counted[3].samples == 10);
    BlockJson by_bytes({}, {.topics = {}, .samples_max = 1'000, .bytes_max = 2'000});
    std::uint64_t samples = 0;
    for (const uplink::OutgoingMessage& message : encode_block(by_bytes, block)) {
        CHECK(message.payload.size() <= 2'000);
        samples += message.samples;
    }
    CHECK(samples == 100);
}

TEST_CASE("a line that is longer than the limit is a message of its own", "[gateway][uplinks]") {
    BlockJson encoder({}, {.topics = {}, .samples_max = 1'000, .bytes_max = 10});
    Block block;
    block.add(5, 1);
    block.add(5, 2);
    CHECK(encode_block(encoder, block).size() == 2);
}

TEST_CASE("only channels with the given prefixes are encoded", "[gateway][uplinks]") {
    BlockJson encoder({}, {.topics = {"plant/"}, .samples_max = 1'000, .bytes_max = 10'000});
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
    BlockJson first({}, {});
    BlockJson second({}, {});
    (void)encode_block(second, Block(500));
    CHECK(encode_block(first, block)[0].payload == encode_block(second, block)[0].payload);
}

TEST_CASE("each epoch has the names and units of its own channels", "[gateway][uplinks]") {
    BlockJson encoder({}, {});
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
    BlockJson encoder({}, {});
    Block block;
    block.definitions[0].device = "not/a\"part";
    block.add(5, 1);
    block.add(77, 1);
    block.add_gap(5, 2, 3);
    CHECK(encode_block(encoder, block).empty());
}

}  // namespace telegate::test
