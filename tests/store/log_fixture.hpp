#pragma once

#include "store/sample_log.hpp"

#include "store/log_model.hpp"
#include "store/simulated_disk.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace telegate::store {

inline constexpr std::size_t small_segment_bytes = 4'096;

/// A log on a simulated disk, and what it should contain.
struct LogFixture {
    SimulatedDisk disk{1};
    test::ManualClock clock;
    ChannelTable channels;
    LogModel model;
    std::int64_t epoch = 0;
    std::unique_ptr<SampleLog> log;
    LogLimits limits{};
    std::map<std::uint32_t, std::uint64_t> seqs;

    LogFixture() {
        for (const char* name : {"a", "b", "c"}) {
            REQUIRE(channels.add(DeviceId{0}, "device", name, "Cel"));
        }
        start();
    }

    std::uint64_t segment_bytes = small_segment_bytes;

    /// Marks channels as published up to these numbers.
    void mark(const std::map<std::uint32_t, std::uint64_t>& published) {
        log->mark([&](ChannelId channel) {
            const auto found = published.find(to_index(channel));
            return found == published.end() ? 0 : found->second;
        });
    }

    void start(const SampleLog::KnownSeqs& known = {}) {
        log.reset();
        seqs.clear();
        ++epoch;
        log = std::make_unique<SampleLog>(SampleLog::Parts{disk, channels, clock},
                                          SampleLog::Options{"/log", epoch, LogId{std::byte{9}}, limits, segment_bytes},
                                          known);
    }

    LogModel::Channel& expected(std::uint32_t channel) {
        return model.at(epoch, channels.at(static_cast<ChannelId>(channel)).topic);
    }

    void add(std::uint32_t channel, std::uint64_t count) {
        std::vector<TelemetrySample> samples;
        for (std::uint64_t i = 0; i < count; ++i) {
            samples.push_back(make_sample(epoch, static_cast<ChannelId>(channel), ++seqs[channel]));
        }
        log->append(samples);
        expected(channel).last_seq = seqs[channel];
    }

    void add_gap(std::uint32_t channel, std::uint64_t count, GapReason reason) {
        const std::uint64_t first = seqs[channel] + 1;
        seqs[channel] += count;
        log->append(LogGap{static_cast<ChannelId>(channel), first, seqs[channel], reason});
        expected(channel).last_seq = seqs[channel];
        expected(channel).gaps.push_back({first, seqs[channel]});
    }

    void sync() {
        clock.advance(std::chrono::milliseconds(1));
        log->sync();
        model.record_sync(epoch);
    }

    [[nodiscard]] std::string check() { return model.check(disk, "/log"); }

    [[nodiscard]] std::vector<LogGap> gaps() {
        std::vector<LogGap> all;
        LogReader reader(disk, "/log");
        LogBatch batch;
        while (reader.next(batch)) {
            for (const BlockGap& gap : batch.gaps) {
                all.push_back(gap.gap);
            }
        }
        return all;
    }
};

}  // namespace telegate::store
