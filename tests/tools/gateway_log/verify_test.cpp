#include "gateway_log/segment_files.hpp"
#include "gateway_log/verification.hpp"
#include "log_fixture.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace telegate::log_tool::test {
namespace {

using store::GapReason;

/// Overwrites bytes in the middle of a segment.
void damage(std::vector<std::byte>& content, std::size_t at, std::size_t bytes) {
    for (std::size_t i = at; i < std::min(content.size(), at + bytes); ++i) {
        content[i] ^= std::byte{0x55};
    }
}

}  // namespace

TEST_CASE("a log with explained gaps is complete", "[gateway_log][verify]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    f.add_gap(0, 5, GapReason::queue_overflow);
    f.add(0, 10);
    f.add(1, 3);
    f.stop();
    f.start();
    f.add(2, 7);
    f.kill();
    const Outcome outcome = f.run({"verify", "/log"});
    CHECK(outcome.code == exit_code::ok);
    CHECK(outcome.out ==
          "epoch 1800000000000 (2027-01-15T08:00:00.000Z): 23 samples of 2 channels, 5 missing, stopped cleanly\n"
          "  dev/a: missing 11..15 (queue_overflow)\n"
          "epoch 1800003600000 (2027-01-15T09:00:00.000Z): 7 samples of 1 channel, 0 missing, running, or not stopped "
          "cleanly\n"
          "missing samples by reason: queue_overflow 5\n"
          "log complete: 30 samples and 1 explained gap in 2 epochs\n");
}

TEST_CASE("a jump in the sequence numbers is unexplained", "[gateway_log][verify]") {
    LogFixture f;
    f.start();
    f.add(0, 3);
    f.seqs[0] += 4;
    f.add(0, 1);
    f.kill();
    const Outcome outcome = f.run({"verify", "/log"});
    CHECK(outcome.code == exit_code::not_ok);
    CHECK(outcome.has("  dev/a: missing 4..7 (unknown)\n"));
    CHECK(outcome.last_line() == "log incomplete: 4 samples missing for no known reason");
}

TEST_CASE("a damaged block is explained and its part of the file is named", "[gateway_log][verify]") {
    LogFixture f;
    f.start();
    for (int i = 0; i < 3; ++i) {
        f.add(0, 100);
    }
    f.stop();
    const auto segment = store::SegmentReader::open(f.disk, "/log/" + f.segments()[0]);
    REQUIRE(segment->index().blocks.size() == 3);
    const store::BlockEntry block = segment->index().blocks[1];
    const auto offset = static_cast<std::size_t>(block.offset);
    const std::size_t record_bytes = static_cast<std::size_t>(segment->index().blocks[2].offset) - offset;

    SECTION("payload") {
        damage(f.content(0), offset + record_bytes - 16, 4);
    }
    SECTION("head") {
        damage(f.content(0), offset + 40, 1);
    }
    SECTION("whole record") {
        damage(f.content(0), offset, record_bytes);
    }
    const Outcome outcome = f.run({"verify", "/log"});
    CHECK(outcome.code == exit_code::ok);
    CHECK(outcome.has("  dev/a: missing 101..200 (damaged)\n"));
    CHECK(outcome.has("damaged part of " + f.segments()[0] + ": "));
    CHECK(outcome.last_line() == "log complete: 200 samples and 1 explained gap in 1 epoch");
    const auto json = nlohmann::json::parse(f.run({"verify", "/log", "--json"}).out);
    REQUIRE(json["damaged_ranges"].size() == 1);
    const auto range = json["damaged_ranges"][0];
    CHECK(range["offset"] >= block.offset);
    CHECK(range["offset"].get<std::uint64_t>() + range["bytes"].get<std::uint64_t>() == block.offset + record_bytes);
}

TEST_CASE("an unreadable segment becomes a gap, before and after it is renamed", "[gateway_log][verify]") {
    LogFixture f;
    f.segment_bytes = 1'000;
    f.start();
    for (int i = 0; i < 40; ++i) {
        f.add(0, 10);
        f.log->sync();
    }
    f.stop();
    REQUIRE(f.segments().size() > 3);
    const std::string name = f.segments()[1];
    damage(f.content(1), 0, f.content(1).size());
    const Outcome before = f.run({"verify", "/log"});
    CHECK(before.code == exit_code::ok);
    CHECK(before.has("(damaged)"));
    CHECK(before.has("damaged file " + name + ": "));
    CHECK(f.run({"repair", "/log"}).has("renamed " + name));
    const Outcome after = f.run({"verify", "/log"});
    CHECK(after.code == exit_code::ok);
    CHECK(after.has("damaged file " + name + ".damaged: "));
    CHECK(after.last_line() == before.last_line());
}

TEST_CASE("a segment with a damaged beginning is read, and a repair rebuilds it", "[gateway_log][verify]") {
    LogFixture f;
    f.segment_bytes = 1'000;
    f.start();
    for (int i = 0; i < 40; ++i) {
        f.add(0, 10);
        f.log->sync();
    }
    f.stop();
    const std::string whole = f.run({"dump", "/log"}).out;
    const std::vector<std::byte> intact = f.content(1);
    damage(f.content(1), 0, 80);
    CHECK(f.run({"verify", "/log"}).last_line() == "log complete: 400 samples and 0 explained gaps in 1 epoch");
    CHECK(f.run({"dump", "/log"}).out == whole);
    CHECK(f.run({"repair", "/log"}).out == "rebuilt the header of " + f.segments()[1] + "\n");
    CHECK(f.run({"repair", "/log"}).out == "nothing to repair\n");
    CHECK(std::equal(intact.begin(), intact.begin() + 48, f.content(1).begin()));  // identity, position and epoch
    CHECK(f.run({"dump", "/log"}).out == whole);
}

TEST_CASE("samples whose names are damaged are counted, and a repair keeps them", "[gateway_log][verify]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    f.kill();
    for (std::size_t at = 80; at + 1 < f.content(0).size(); ++at) {
        if (f.content(0)[at] == std::byte{'e'} && f.content(0)[at + 1] == std::byte{'v'}) {
            damage(f.content(0), at, 1);
        }
    }
    const std::size_t bytes = f.content(0).size();
    CAPTURE(f.run({"verify", "/log"}).out);
    CHECK(f.run({"verify", "/log"}).has("samples omitted because the names of their channels are damaged: 10\n"));
    CHECK(f.run({"repair", "/log"})
              .has("kept samples of 1 channel in the last segment, although the names are damaged\n"));
    CHECK(f.content(0).size() > bytes);
    CHECK(f.run({"verify", "/log"}).has("samples omitted because the names of their channels are damaged: 10\n"));
}

TEST_CASE("a record that a crash has torn is not reported as damage", "[gateway_log][verify]") {
    LogFixture f;
    f.start();
    for (int i = 0; i < 3; ++i) {
        f.add(0, 100);
    }
    f.kill();
    const auto segment = store::SegmentReader::open(f.disk, "/log/" + f.segments()[0]);
    const std::uint64_t from = segment->index().blocks[1].offset;
    const std::uint64_t end = GENERATE(false, true) ? segment->index().blocks[2].offset : f.content(0).size();
    std::fill(f.content(0).begin() + static_cast<std::ptrdiff_t>(from),
              f.content(0).begin() + static_cast<std::ptrdiff_t>(end), std::byte{0});
    const Outcome outcome = f.run({"verify", "/log"});
    CAPTURE(outcome.out);
    CHECK_FALSE(outcome.has("damaged"));
    CHECK(outcome.has("incomplete record, being written or left by a crash, in " + f.segments()[0]));
    CHECK(f.run({"list", "/log"}).has("open\n"));
}

TEST_CASE("the first segment of an epoch that cannot be read is explained", "[gateway_log][verify]") {
    LogFixture f;
    f.segment_bytes = 1'000;
    f.start();
    f.add(0, 10);
    f.stop();
    f.start();
    for (int i = 0; i < 40; ++i) {
        f.add(0, 10);
        f.log->sync();
    }
    f.stop();
    damage(f.content(1), 0, f.content(1).size());
    const Outcome before = f.run({"verify", "/log"});
    CHECK(before.has("(damaged)"));
    CHECK(before.code == exit_code::ok);
    CHECK(f.run({"repair", "/log"}).code == exit_code::ok);
    const Outcome after = f.run({"verify", "/log"});
    CHECK(after.has("(damaged)"));
    CHECK(after.code == exit_code::ok);
    CHECK(after.last_line() == before.last_line());
}

TEST_CASE("removed segments are explained by retention", "[gateway_log][verify]") {
    LogFixture f;
    f.segment_bytes = 1'000;
    f.start();
    for (int i = 0; i < 40; ++i) {
        f.add(0, 10);
        f.log->sync();
    }
    f.log->set_limits({3'000, 0, 0, store::WhenFull::drop_oldest});
    f.add(0, 10);
    f.stop();
    const Outcome outcome = f.run({"verify", "/log"});
    CHECK(outcome.code == exit_code::ok);
    CHECK(outcome.has(" (retention)\n"));
}

TEST_CASE("a log can be verified while a gateway writes to it and removes segments", "[gateway_log][verify]") {
    LogFixture f;
    f.segment_bytes = 1'000;
    f.start();
    for (int i = 0; i < 20; ++i) {
        f.add(0, 10);
        f.log->sync();
    }
    CHECK(f.run({"verify", "/log"}).last_line() == "log complete: 200 samples and 0 explained gaps in 1 epoch");
    const std::size_t before = f.segments().size();
    std::size_t visited = 0;
    for_segment_files(f.disk, "/log", [&](const SegmentFile& file) {
        ++visited;
        const std::vector<std::string> names = f.segments();
        f.disk.drop("/log/" + file.name);
        CHECK(find_damage(file).empty());
        if (names.size() > 1) {
            f.disk.drop("/log/" + names[1]);  // the next one
        }
    });
    CHECK(visited < before);
}

TEST_CASE("the JSON report has all channels, ranges and totals", "[gateway_log][verify]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    f.add_gap(0, 5, GapReason::shutdown);
    f.stop();
    const auto json = nlohmann::json::parse(f.run({"verify", "/log", "--json"}).out);
    CHECK(json["complete"] == true);
    CHECK(json["samples"] == 10);
    CHECK(json["gaps"] == 1);
    CHECK(json["missing_by_reason"] == nlohmann::json({{"shutdown", 5}}));
    REQUIRE(json["epochs"].size() == 1);
    CHECK(json["epochs"][0]["stopped"] == true);
    const auto channel = json["epochs"][0]["channels"][0];
    CHECK(channel["topic"] == "dev/a");
    CHECK(channel["last_seq"] == 15);
    CHECK(channel["missing"][0] == nlohmann::json({{"first_seq", 11}, {"last_seq", 15}, {"reason", "shutdown"}}));
}

TEST_CASE("a log without samples is complete", "[gateway_log][verify]") {
    LogFixture f;
    f.start();
    f.kill();
    CHECK(f.run({"verify", "/log"}).last_line() == "log complete: 0 samples and 0 explained gaps in 1 epoch");
}

TEST_CASE("duplicates and inversions of a channel are counted separately", "[gateway_log][verify]") {
    ChannelLedger ledger;
    for (const std::uint64_t seq : {1U, 2U, 5U, 6U}) {
        ledger.add_sample(seq);
    }
    ledger.add_sample(4);
    ledger.add_sample(2);
    CHECK(ledger.last_seq() == 6);
    CHECK(ledger.counts().samples == 5);
    CHECK(ledger.counts().inversions == 1);
    CHECK(ledger.counts().duplicates == 1);
    CHECK(ledger.counts().missing() == 1);
    ledger.add_gap(5, 6, GapReason::crash);
    CHECK(ledger.counts().gaps == 0);
    CHECK(ledger.counts().overlaps == 1);
    ledger.add_gap(6, 9, GapReason::crash);
    CHECK(ledger.counts().gaps == 1);
    CHECK(ledger.counts().overlaps == 2);
    CHECK(ledger.counts().missing() == 4);
    CHECK(ledger.last_seq() == 9);
}

TEST_CASE("a gap that arrives late names the samples that are missing, and a sample that arrives late is received",
          "[gateway_log][verify]") {
    ChannelLedger ledger;
    ledger.add_sample(1);
    ledger.add_sample(10);
    ledger.add_sample(4);
    ledger.add_gap(3, 7, GapReason::retention);
    ledger.add_gap(3, 7, GapReason::crash);
    CHECK(ledger.counts().gaps == 1);
    ledger.add_sample(6);
    ledger.expect(12);
    std::vector<std::tuple<std::uint64_t, std::uint64_t, GapReason>> missing;
    for (const auto& [first_seq, range] : ledger.missing()) {
        missing.emplace_back(first_seq, range.last_seq, range.reason);
    }
    CHECK(missing == std::vector<std::tuple<std::uint64_t, std::uint64_t, GapReason>>{{2, 2, GapReason::unknown},
                                                                                      {3, 3, GapReason::retention},
                                                                                      {5, 5, GapReason::retention},
                                                                                      {7, 7, GapReason::retention},
                                                                                      {8, 9, GapReason::unknown},
                                                                                      {11, 12, GapReason::unknown}});
    CHECK(ledger.counts().samples + ledger.counts().missing() == ledger.last_seq());
}

TEST_CASE("samples, gaps and missing ranges always add up to all numbers", "[gateway_log][verify]") {
    const std::uint32_t seed = GENERATE(range(1U, 200U));
    std::mt19937 random(seed);
    constexpr std::uint64_t last = 60;
    const auto any = [&](std::uint64_t from, std::uint64_t to) {
        return from + random() % (to - from + 1);
    };
    std::set<std::uint64_t> seen;
    std::map<std::uint64_t, GapReason> named;  // as the first gap says
    ChannelLedger ledger;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t first = any(1, last);
        if (random() % 4 > 0) {
            ledger.add_sample(first);
            seen.insert(first);
            named.erase(first);
            continue;
        }
        const std::uint64_t end = any(first, std::min(last, first + 9));
        const GapReason reason = random() % 2 == 0 ? GapReason::crash : GapReason::retention;
        ledger.add_gap(first, end, reason);
        for (std::uint64_t seq = first; seq <= end; ++seq) {
            if (!seen.contains(seq)) {
                named.emplace(seq, reason);
            }
        }
    }
    ledger.expect(last);
    CHECK(ledger.counts().samples == seen.size());
    std::uint64_t unknown = 0;
    for (const auto& [first_seq, range] : ledger.missing()) {
        for (std::uint64_t seq = first_seq; seq <= range.last_seq; ++seq) {
            CHECK_FALSE(seen.contains(seq));
            const auto name = named.find(seq);
            CHECK(range.reason == (name == named.end() ? GapReason::unknown : name->second));
            unknown += name == named.end() ? 1U : 0U;
        }
    }
    CHECK(seen.size() + named.size() + unknown == last);
    CHECK(ledger.counts().samples + ledger.counts().missing() == last);
}

TEST_CASE("entries of channels without a name are unexplained", "[gateway_log][verify]") {
    const std::vector<store::SegmentChannel> definitions{{ChannelId{1}, "dev", "b", "", 0}};
    store::LogBatch batch;
    batch.epoch_ms = 5;
    batch.definitions = &definitions;
    TelemetrySample sample{};
    sample.seq = 1;
    batch.samples = {sample, sample};
    batch.samples[1].channel = ChannelId{1};
    batch.gaps = {{1, {ChannelId{7}, 1, 2, GapReason::crash}}};
    std::vector<EpochLedger> epochs;
    Verification verification([&](const EpochLedger& epoch) { epochs.push_back(epoch); });
    verification.add(batch);
    verification.finish();
    CHECK(verification.totals().undefined == 2);
    CHECK(verification.totals().samples == 1);
    REQUIRE(epochs.size() == 1);
    CHECK(epochs[0].channels.size() == 1);
}

TEST_CASE("many ranges are counted, and the first ones are kept", "[gateway_log][verify]") {
    ChannelLedger ledger;
    for (std::uint64_t i = 1; i <= ChannelLedger::ranges_max + 10; ++i) {
        ledger.add_sample(2 * i);
    }
    CHECK(ledger.missing().size() == ChannelLedger::ranges_max);
    CHECK(ledger.ranges_not_kept() == 10);
    CHECK(ledger.counts().missing() == ChannelLedger::ranges_max + 10);
}

}  // namespace telegate::log_tool::test
