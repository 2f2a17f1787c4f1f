#pragma once

#include "uplink/simulated_adapter.hpp"

#include "uplink/uplink_runner.hpp"

#include "core/channel_table.hpp"
#include "core/reactor.hpp"
#include "store/log_model.hpp"
#include "store/sample_log.hpp"
#include "store/simulated_disk.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace telegate::uplink {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr std::size_t lines_max = 7;

/// Encodes "EPOCH CHANNEL FIRST LAST REASON" for gaps and "EPOCH CHANNEL SEQ" for samples.
inline void encode_lines(const store::LogBatch& batch, std::int64_t, std::vector<OutgoingMessage>& messages) {
    std::size_t lines = 0;
    BlockPlace place;
    const auto add = [&](ChannelId channel, const std::string& rest) -> OutgoingMessage& {
        if (lines++ % lines_max == 0) {
            messages.emplace_back().begin = place;
        }
        messages.back().payload +=
            std::to_string(batch.epoch_ms) + ' ' + batch.find(channel)->channel + ' ' + rest + '\n';
        return messages.back();
    };
    std::uint32_t next_gap = 0;
    for (std::uint32_t i = 0; i <= batch.samples.size(); ++i) {
        for (; next_gap < batch.gaps.size() && batch.gaps[next_gap].before_sample <= i; ++next_gap) {
            place = {i, next_gap};
            const store::LogGap& gap = batch.gaps[next_gap].gap;
            add(gap.channel, std::to_string(gap.first_seq) + ' ' + std::to_string(gap.last_seq) + ' ' +
                                 std::string(to_string(gap.reason)))
                .missing += gap.last_seq - gap.first_seq + 1;
        }
        place = {i, next_gap};
        if (i < batch.samples.size()) {
            ++add(batch.samples[i].channel, std::to_string(batch.samples[i].seq)).samples;
        }
    }
}

/// Passes on a block that is still encoded as one message, with the lines that encode_lines() writes for its samples.
inline bool pass_on_lines(const store::LogBatch& batch, std::vector<OutgoingMessage>& messages) {
    constexpr std::uint32_t samples_max = 40;
    if (!batch.is_encoded || batch.sample_count() > samples_max) {
        return false;
    }
    OutgoingMessage& message = messages.emplace_back();
    message.samples = batch.sample_count();
    for (const store::BlockChannel& part : batch.stored->head->channels) {
        const std::string begin = std::to_string(batch.epoch_ms) + ' ' + batch.find(part.channel)->channel + ' ';
        for (std::uint64_t seq = part.first_seq; seq <= part.last_seq; ++seq) {
            message.payload += begin + std::to_string(seq) + '\n';
        }
    }
    return true;
}

/// The samples of a channel and an epoch that a consumer of the back end has received.
struct Received {
    std::map<std::uint64_t, int> samples;  // how often, by number
    std::set<std::uint64_t> missing;
    std::uint64_t inversions = 0;
    std::uint64_t last = 0;
};
using ReceivedByChannel = std::map<std::pair<std::int64_t, std::string>, Received>;

inline ReceivedByChannel consume(const std::vector<std::string>& payloads) {
    ReceivedByChannel all;
    for (const std::string& payload : payloads) {
        std::istringstream lines(payload);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::int64_t epoch = 0;
            std::string channel;
            std::uint64_t first = 0;
            words >> epoch >> channel >> first;
            Received& received = all[{epoch, channel}];
            if (std::uint64_t last = 0; words >> last) {
                for (std::uint64_t seq = first; seq <= last; ++seq) {
                    received.missing.insert(seq);
                }
            } else {
                ++received.samples[first];
                received.inversions += std::uint64_t{first < received.last};
                received.last = first;
            }
        }
    }
    return all;
}

/// A gateway that logs and delivers, on a disk and to a back end that outlive it.
///
/// Threads: one. Limits: memory. Failure: store::PowerFailure, if the disk is set to fail.
class World {
  public:
    explicit World(std::uint64_t seed) : disk(seed), back_end(seed) {
        clock.step_utc(-std::chrono::nanoseconds(clock.utc_now_ns()));  // the times of samples begin there
        for (const char* name : {"a", "b", "c"}) {
            REQUIRE(channels.add(DeviceId{0}, "device", name, "Cel"));
        }
    }

    void start() {
        seqs.assign(3, 0);
        ++epoch;
        reactor = std::make_unique<Reactor>();
        log = std::make_unique<store::SampleLog>(store::SampleLog::Parts{disk, channels, clock},
                                                 store::SampleLog::Options{"/log", epoch, log_id, limits, 4'096});
        start_runner();
    }

    void start_runner() {
        const auto make = [this](Adapter::Events events) {
            auto made = std::make_unique<SimulatedAdapter>(back_end, std::move(events));
            adapter = made.get();
            return made;
        };
        runner = std::make_unique<UplinkRunner>(
            UplinkRunner::Parts{
                *reactor,
                clock,
                disk,
                make,
                {"lines", encode_lines, {}, passes_on ? PassOnBlock(pass_on_lines) : PassOnBlock()},
                {[](const std::string&) {}, [](const std::string&) {}, [this](const std::string&) { ++restarts; },
                 [this](const std::string&) {
                     ++warnings;
                 }}},
            UplinkRunner::Options{.name = "cloud",
                                  .log_directory = "/log",
                                  .delivery = {.messages_max = messages_max, .bytes_max = 2'000},
                                  .quarantine = quarantine,
                                  .rates = rates,
                                  .ack_grace = ack_grace,
                                  .unsynced = unsynced,
                                  .order = order,
                                  .encoding = encoding});
        runner->log_synced(log->status().synced);
    }

    void restart_runner() {
        runner.reset();
        start_runner();
    }

    void end_process() {
        runner.reset();
        log.reset();
        reactor.reset();
    }

    void add(std::size_t channel, std::uint64_t count) {
        std::vector<TelemetrySample> samples;
        for (std::uint64_t i = 0; i < count; ++i) {
            samples.push_back(store::make_sample(epoch, static_cast<ChannelId>(channel), ++seqs[channel]));
        }
        log->append(samples);
    }

    void add_gap(std::size_t channel, std::uint64_t count) {
        const std::uint64_t first = seqs[channel] + 1;
        seqs[channel] += count;
        log->append(store::LogGap{static_cast<ChannelId>(channel), first, seqs[channel], store::GapReason::log_slow});
    }

    void sync() {
        log->sync();
        for (std::size_t i = 0; i < seqs.size(); ++i) {
            synced[{epoch, channels.at(static_cast<ChannelId>(i)).channel}] = seqs[i];
        }
        runner->log_synced(log->status().synced);
    }

    void turn(bool is_kind, milliseconds time) {
        clock.advance(time);
        adapter->step(is_kind);
        runner->log_synced(0);  // as if the alarm had rung
        reactor->poll();
    }

    /// Delivers everything without further faults.
    [[nodiscard]] bool finish() {
        for (int i = 0; i < 20'000; ++i) {
            turn(true, seconds(1));
            if (!runner->status().is_behind && !runner->status().has_backlog) {
                return true;
            }
        }
        return false;
    }

    /// Logs samples of the first channel, and delivers everything.
    void deliver(std::uint64_t count) {
        add(0, count);
        sync();
        REQUIRE(finish());
    }

    /// Delivers everything, and requires that nothing is missing and that no sample was received again.
    void finish_without_repeats() {
        REQUIRE(finish());
        REQUIRE(check_complete() == 0);
    }

    /// Requires that everything synced has been received or reported as missing, and returns how often samples were
    /// received again.
    std::uint64_t check_complete() {
        const ReceivedByChannel all = consume(back_end.stored());
        std::uint64_t repeated = 0;
        for (const auto& [key, last] : synced) {
            if (last == 0) {
                continue;
            }
            const auto found = all.find(key);
            CAPTURE(key.first, key.second, last);
            REQUIRE(found != all.end());
            for (std::uint64_t seq = 1; seq <= last; ++seq) {
                CAPTURE(seq);
                REQUIRE((found->second.samples.contains(seq) || found->second.missing.contains(seq)));
            }
            for (const auto& [seq, count] : found->second.samples) {
                repeated += static_cast<std::uint64_t>(count) - 1;
            }
        }
        return repeated;
    }

    store::LogId log_id{std::byte{9}};
    store::LogLimits limits{};
    static constexpr std::size_t messages_max = 8;
    bool passes_on = false;
    UplinkRunner::Rates rates{};
    UplinkRunner::Order order = UplinkRunner::Order::strict;
    std::uint64_t encoding = 1;
    milliseconds ack_grace{300'000};
    milliseconds unsynced{0};
    Quarantine::Limits quarantine{.samples_max = 10};
    store::SimulatedDisk disk;
    SimulatedBackEnd back_end;
    test::ManualClock clock;
    ChannelTable channels;
    std::int64_t epoch = 0;
    std::vector<std::uint64_t> seqs;
    std::map<std::pair<std::int64_t, std::string>, std::uint64_t> synced;  // last number, by epoch and channel
    std::unique_ptr<Reactor> reactor;
    std::unique_ptr<store::SampleLog> log;
    std::unique_ptr<UplinkRunner> runner;
    SimulatedAdapter* adapter = nullptr;
    int restarts = 0;
    int warnings = 0;
};

}  // namespace telegate::uplink
