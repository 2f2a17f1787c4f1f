#pragma once

#include "gateway_log/commands.hpp"
#include "store/sample_log.hpp"
#include "store/simulated_disk.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace telegate::log_tool::test {

/// The result of a command.
struct Outcome {
    int code = 0;
    std::string out;
    std::string errors;

    [[nodiscard]] std::string last_line() const {
        const std::size_t end = out.empty() ? 0 : out.size() - 1;
        const std::size_t begin = out.rfind('\n', end == 0 ? 0 : end - 1);
        return out.substr(begin == std::string::npos ? 0 : begin + 1,
                          end - (begin == std::string::npos ? 0 : begin + 1));
    }
    [[nodiscard]] bool has(const std::string& text) const { return out.find(text) != std::string::npos; }
};

/// A log on a simulated disk in /log, with the channels dev/a (integers), dev/b (reals) and dev/c (texts). Sample n of
/// a channel has the value n and was taken n ms after the start of its epoch, which is a whole hour.
struct LogFixture {
    static constexpr std::int64_t first_epoch_ms = 1'800'000'000'000;
    static constexpr std::int64_t hour_ms = 3'600'000;

    store::SimulatedDisk disk{1};
    telegate::test::ManualClock clock;
    ChannelTable channels;
    std::int64_t epoch_ms = first_epoch_ms - hour_ms;
    std::uint64_t segment_bytes = store::SampleLog::segment_bytes;
    std::unique_ptr<store::SampleLog> log;
    std::map<std::uint32_t, std::uint64_t> seqs;

    LogFixture() {
        for (const char* name : {"a", "b", "c"}) {
            REQUIRE(channels.add(DeviceId{0}, "dev", name, *name == 'b' ? "Cel" : ""));
        }
    }

    void start(const store::SampleLog::KnownSeqs& known = {}) {
        log.reset();
        seqs.clear();
        epoch_ms += hour_ms;
        log = std::make_unique<store::SampleLog>(
            store::SampleLog::Parts{disk, channels, clock},
            store::SampleLog::Options{"/log", epoch_ms, store::LogId{std::byte{9}}, {}, segment_bytes}, known);
    }

    [[nodiscard]] TelemetrySample make(std::uint32_t channel) {
        TelemetrySample sample{};
        sample.seq = ++seqs[channel];
        sample.time_mono_ns = static_cast<std::int64_t>(sample.seq) * 1'000'000;
        sample.time_utc_ns = epoch_ms * 1'000'000 + sample.time_mono_ns;
        sample.channel = static_cast<ChannelId>(channel);
        if (channel == 0) {
            sample.type = ValueType::integer;
            sample.value.integer = static_cast<std::int64_t>(sample.seq);
        } else if (channel == 1) {
            sample.type = ValueType::real;
            sample.value.real = static_cast<double>(sample.seq);
        } else {
            sample.type = ValueType::text;
            sample.text_bytes = 2;
            sample.value.text[0] = 't';
            sample.value.text[1] = static_cast<char>('0' + sample.seq % 10);
        }
        return sample;
    }

    void add(std::uint32_t channel, std::uint64_t count) {
        std::vector<TelemetrySample> samples;
        for (std::uint64_t i = 0; i < count; ++i) {
            samples.push_back(make(channel));
        }
        log->append(samples);
        log->write();  // each call makes a block
    }

    void add_gap(std::uint32_t channel, std::uint64_t count, store::GapReason reason) {
        const std::uint64_t first = seqs[channel] + 1;
        seqs[channel] += count;
        log->append(store::LogGap{static_cast<ChannelId>(channel), first, seqs[channel], reason});
    }

    /// Ends the epoch cleanly, or as if the process was killed.
    void stop() {
        log->close();
        log.reset();
    }
    void kill() {
        log->sync();
        log.reset();
    }

    [[nodiscard]] std::vector<std::string> segments() {
        std::vector<std::string> names;
        for (const store::SegmentRef& ref : store::list_segments(disk, "/log")) {
            names.push_back(ref.name);
        }
        return names;
    }
    [[nodiscard]] std::vector<std::byte>& content(std::size_t segment) {
        return disk.content("/log/" + segments().at(segment));
    }

    /// Runs the tool on the simulated disk. The time is that of the start of the first epoch.
    [[nodiscard]] Outcome run(std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), "gateway_log");
        const auto parsed =
            parse_log_options(static_cast<int>(arguments.size()), arguments.data(), first_epoch_ms * 1'000'000);
        std::ostringstream out;
        std::ostringstream errors;
        const int code = log_tool::run(parsed, {disk, out, errors});
        return {code, out.str(), errors.str()};
    }
};

}  // namespace telegate::log_tool::test
