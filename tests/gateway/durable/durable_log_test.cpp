#include "durable/durable_log.hpp"

#include "config/load.hpp"
#include "status/health_checks.hpp"
#include "store/log_reader.hpp"
#include "store/simulated_disk.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scratch_dir.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {
namespace {

/// The last number of a channel in a log, and the numbers of samples and missing samples up to it.
struct ChannelCount {
    std::uint64_t last_seq = 0;
    std::uint64_t samples = 0;
    std::uint64_t missing = 0;
};

/// By topic, of all epochs together.
std::map<std::string, ChannelCount> read_log(const std::string& directory) {
    std::map<std::string, ChannelCount> counts;
    store::LogReader reader(store::real_file_system(), directory);
    store::LogBatch batch;
    const auto count_of = [&](ChannelId id) -> ChannelCount& {
        const store::SegmentChannel* const channel = batch.find(id);
        REQUIRE(channel != nullptr);
        return counts[channel->device + "/" + channel->channel];
    };
    while (reader.next(batch)) {
        for (const TelemetrySample& sample : batch.samples) {
            ++count_of(sample.channel).samples;
            count_of(sample.channel).last_seq = sample.seq;
        }
        for (const store::BlockGap& gap : batch.gaps) {
            ChannelCount& count = count_of(gap.gap.channel);
            count.missing += gap.gap.last_seq - gap.gap.first_seq + 1;
            count.last_seq = gap.gap.last_seq;  // the log may end with a gap
        }
    }
    return counts;
}

/// 200 samples per second, so that the gateway can hold them while a busy disk takes two minutes to write.
std::string settings_with_log(const std::string& directory, const std::string& more = "") {
    return "[rest]\nlisten =\n[log]\npath = " + directory + "\n" + more +
           "\n[device \"probe\"]\ndriver = simulated\ninterval_ms = 10\nwaveforms = counter, sine\n";
}

}  // namespace

TEST_CASE("a gateway writes every published sample to its log", "[gateway][durable]") {
    const ScratchDir scratch;
    std::uint64_t published = 0;
    {
        GatewayFixture fixture(settings_with_log(scratch.path("log")));
        CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.ledger.at(0).published > 200; }));
        REQUIRE(fixture.stop());
        fixture.gateway->finish();
        published = fixture.ledger().cut(1).front().published;
    }
    std::uint64_t logged = 0;
    for (const auto& [topic, count] : read_log(scratch.path("log"))) {
        CHECK(count.samples == count.last_seq);
        logged += count.samples;
    }
    CHECK(logged == published);
}

TEST_CASE("the log continues in the next run", "[gateway][durable]") {
    const ScratchDir scratch;
    for (int run = 0; run < 3; ++run) {
        GatewayFixture fixture(settings_with_log(scratch.path("log")));
        CHECK(
            fixture.wait_for([](const StatusSnapshot& status) { return status.log && status.log->log.samples > 20; }));
        REQUIRE(fixture.stop());
    }
    for (const auto& [topic, count] : read_log(scratch.path("log"))) {
        CHECK(count.samples > 0);
        CHECK(count.missing == 0);
    }
}

TEST_CASE("the status shows the log, or that there is none", "[gateway][durable]") {
    const ScratchDir scratch;
    GatewayFixture fixture(settings_with_log(scratch.path("log")));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.log && status.log->log.synced > 0; }));
    const DurableLogStatus log = fixture.status().log.value();
    CHECK(log.path == scratch.path("log"));
    CHECK(log.log.segments == 1);
    CHECK(log.error.empty());
    CHECK(log.lost == 0);
    GatewayFixture without("[rest]\nlisten =\n");
    CHECK_FALSE(without.status().log);
}

TEST_CASE("a log that cannot hold more unsynced data syncs before its interval has passed", "[gateway][durable]") {
    const ScratchDir scratch;
    const SystemClock clock;
    ChannelTable channels;
    const ChannelId channel = channels.add(DeviceId{0}, "probe", "noise", "1").value();
    Log messages("off");
    DurableLog log({channels,
                    clock,
                    messages,
                    1,
                    {},
                    [] {
                    }},
                   {scratch.path("log"), {}, std::chrono::hours(1)});
    std::mt19937_64 random(1);
    std::vector<TelemetrySample> samples(LogBuffer::entries_pending_max);
    std::uint64_t seq = 0;
    while (seq * sizeof(double) < 2 * store::SampleLog::unsynced_bytes_max) {
        for (TelemetrySample& sample : samples) {
            sample = {};
            sample.channel = channel;
            sample.seq = ++seq;
            sample.type = ValueType::real;
            sample.value.real = static_cast<double>(random());
        }
        log.consume(samples);
        REQUIRE(eventually([&] { return log.status().pending == 0; }));
    }
    CHECK(log.status().lost == 0);
    CHECK(log.status().log.synced > 0);
}

TEST_CASE("limits that would make the log remove data are found before they are applied", "[gateway][durable]") {
    const ScratchDir scratch;
    const SystemClock clock;
    ChannelTable channels;
    const ChannelId channel = channels.add(DeviceId{0}, "probe", "noise", "1").value();
    Log messages("off");
    store::LogLimits limits;
    limits.age_max_ns = 3'600'000'000'000;
    DurableLog log({channels,
                    clock,
                    messages,
                    1,
                    {},
                    [] {
                    }},
                   {scratch.path("log"), limits});
    std::vector<TelemetrySample> samples(100);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i].channel = channel;
        samples[i].seq = i + 1;
    }
    log.consume(samples);
    REQUIRE(eventually([&] { return log.status().log.bytes > 100; }));
    const auto pointers = [&](const store::LogLimits& wanted) {
        std::string all;
        for (const SettingsProblem& problem : log.removals(wanted)) {
            all += problem.key;
        }
        return all;
    };
    CHECK(pointers(limits).empty());
    store::LogLimits wanted = limits;
    wanted.bytes_max = 100;
    wanted.age_max_ns = 1;
    CHECK(pointers(wanted) == "/log/bytes_max/log/age_max");
    wanted.when_full = store::WhenFull::drop_newest;
    CHECK(pointers(wanted) == "/log/age_max");
    wanted.age_max_ns = 0;
    CHECK(pointers(wanted).empty());
}

TEST_CASE("a change over REST makes the log remove data only if this is confirmed", "[gateway][durable]") {
    const ScratchDir scratch;
    GatewayFixture fixture(settings_with_log(scratch.path("log")));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.log && status.log->oldest_utc_ns > 0; }));
    const auto shorten = [](const Settings& in_force) {
        Settings settings = in_force;
        settings.log.age_max_ms = 1;
        return settings;
    };
    LiveSettings& live = fixture.gateway->live_settings();
    const ReloadReport refused = live.replace({.make = shorten}, "test");
    CHECK(refused.outcome == ReloadOutcome::invalid);
    REQUIRE(refused.problems.size() == 1);
    CHECK(refused.problems[0].key == "/log/age_max");
    CHECK(live.in_force().settings->log.age_max_ms == 0);
    CHECK(live.replace({.make = shorten, .may_remove_data = true}, "test").outcome == ReloadOutcome::applied);
    CHECK(live.rollback(std::nullopt, false, "test")->outcome == ReloadOutcome::applied);
    CHECK(fixture.change_to(shorten(*live.in_force().settings)).outcome == ReloadOutcome::applied);
}

TEST_CASE("a log on a full disk says so, and is not ready", "[gateway][durable]") {
    // A single segment stays, and of several ones half, because removing the others gives no space.
    const auto [runs, state] = GENERATE(std::pair(1, "full"), std::pair(5, "no_gain"));
    store::SimulatedDisk disk(1);
    const SystemClock clock;
    ChannelTable channels;
    const ChannelId channel = channels.add(DeviceId{0}, "probe", "counter", "1").value();
    Log messages("off");
    std::mutex mutex;
    std::string notes;
    DurableLog::Parts parts{
        .channels = channels, .clock = clock, .log = messages, .known = {}, .wake_pump = [] {}, .files = disk};
    parts.note_space = [&](bool is_lacking, LogFields fields) {
        const std::lock_guard lock(mutex);
        notes += (is_lacking ? "lacks " : "has ") + fields.text() + '\n';
    };
    std::vector<TelemetrySample> samples(1);
    samples[0].channel = channel;
    samples[0].seq = 1;
    for (; parts.epoch_ms < runs; ++parts.epoch_ms) {
        DurableLog log(parts, {"/log"});
        log.consume(samples);
        log.close();
    }
    disk.fail_growth(std::make_error_code(std::errc::no_space_on_device));
    DurableLog log(parts, {"/log"});
    log.consume(samples);
    const std::string expected = std::string("lacks log=/log state=") + state + " segments_removed=";
    CHECK(eventually([&] {
        const std::lock_guard lock(mutex);
        return notes.starts_with(expected);
    }));
    CHECK_FALSE(check_log(log.status()).good);
    log.close();
}

TEST_CASE("two gateways cannot use the same log", "[gateway][durable]") {
    const ScratchDir scratch;
    GatewayFixture fixture(settings_with_log(scratch.path("log")));
    CHECK_THROWS_AS(GatewayFixture(settings_with_log(scratch.path("log"))), SettingsError);
}

TEST_CASE("a log that cannot be created keeps a gateway neither from starting nor from publishing",
          "[gateway][durable]") {
    const ScratchDir scratch;
    const std::string directory = scratch.path("missing") + "/log";
    GatewayFixture fixture(settings_with_log(directory));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.ledger.at(0).published > 20; }));
    const DurableLogStatus log = fixture.status().log.value();
    CHECK(log.error.find(directory) != std::string::npos);
    const Health health = fixture.gateway->health();
    const auto check = std::find_if(health.checks.begin(), health.checks.end(),
                                    [](const HealthCheck& each) { return each.name == "log"; });
    REQUIRE(check != health.checks.end());
    CHECK_FALSE(check->good);
    std::filesystem::create_directory(scratch.path("missing"));
    CHECK(fixture.wait_for(
        [](const StatusSnapshot& status) { return status.log->error.empty() && status.log->log.samples > 0; }));
}

TEST_CASE("the limits of a log can be changed while the gateway runs", "[gateway][durable]") {
    const ScratchDir scratch;
    GatewayFixture fixture(settings_with_log(scratch.path("log")));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.log && status.log->log.samples > 0; }));
    Settings changed = fixture.wanted;
    changed.log.free_bytes_min = 1'099'511'627'776;
    changed.log.when_full = "drop_newest";
    REQUIRE_FALSE(is_refusal(fixture.change_to(changed).outcome));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.log->log.is_full; }));
    CHECK(fixture.wait_for(
        [](const StatusSnapshot& status) { return status.log->capacity_bytes == status.log->log.bytes; }));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.log->log.dropped_full > 0; }));
    changed.log.free_bytes_min = 0;
    REQUIRE_FALSE(is_refusal(fixture.change_to(changed).outcome));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return !status.log->log.is_full; }));
    REQUIRE(fixture.stop());
    fixture.gateway->finish();
    for (const auto& [topic, count] : read_log(scratch.path("log"))) {
        CHECK(count.missing > 0);
        CHECK(count.samples + count.missing == count.last_seq);
    }
}

TEST_CASE("a log that blocks when it is full keeps samples in the queue", "[gateway][durable]") {
    const ScratchDir scratch;
    GatewayFixture fixture(settings_with_log(scratch.path("log"), "when_full = block"));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.log && status.log->log.samples > 0; }));
    Settings changed = fixture.wanted;
    changed.log.free_bytes_min = 1'099'511'627'776;
    REQUIRE_FALSE(is_refusal(fixture.change_to(changed).outcome));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.queue_depth > 100; }));
    changed.log.free_bytes_min = 0;
    REQUIRE_FALSE(is_refusal(fixture.change_to(changed).outcome));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.queue_depth < 100; }));
}

}  // namespace telegate::test
