// Writes a log with known content: see log_test.py.
#include "store/sample_log.hpp"
#include "support/manual_clock.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::store {
namespace {

constexpr std::int64_t first_epoch_ms = 1'795'000'000'000;
constexpr std::int64_t ns_per_ms = 1'000'000;
enum Channel : std::uint32_t { real, integer, boolean, text, failing, channels_end };

void set_text(TelemetrySample& sample, std::string_view value) {
    sample.type = ValueType::text;
    sample.text_bytes = static_cast<std::uint8_t>(value.size());
    std::memcpy(sample.value.text, value.data(), value.size());
}

/// One reading of all channels takes place every millisecond.
TelemetrySample make(std::int64_t epoch_ms, Channel channel, std::uint64_t seq) {
    TelemetrySample sample{};
    sample.time_mono_ns = static_cast<std::int64_t>(seq) * ns_per_ms;
    sample.time_utc_ns = epoch_ms * ns_per_ms + sample.time_mono_ns + 7;
    sample.seq = seq;
    sample.channel = static_cast<ChannelId>(channel);
    switch (channel) {
        case real:
            sample.type = ValueType::real;
            sample.value.real = static_cast<double>(seq) / 8;
            break;
        case integer:
            sample.type = ValueType::integer;
            sample.value.integer = 9'007'199'254'740'993 + static_cast<std::int64_t>(seq);
            break;
        case boolean:
            sample.type = ValueType::boolean;
            sample.value.boolean = seq % 2 == 1;
            sample.flags = sample_flag::time_unsynchronized;
            break;
        case text: set_text(sample, "\xC3\xA4, \"" + std::to_string(seq) + "\""); break;
        default: sample.quality = Quality::bad; break;
    }
    return sample;
}

class Maker {
  public:
    Maker(std::string directory, std::uint64_t readings) : directory_(std::move(directory)), readings_(readings) {
        for (const char* name : {"real", "integer", "boolean", "text", "failing"}) {
            channels_.add(DeviceId{0}, "maker", name, std::string_view(name) == "real" ? "Cel" : "");
        }
    }

    /// Writes readings of an epoch, with a gap of ten in the middle. Without `stops`, the epoch does not end cleanly.
    void write(std::int64_t epoch_ms, bool stops) {
        constexpr std::uint64_t gap_samples = 10;
        const std::uint64_t segment_bytes = readings_ > 100'000 ? SampleLog::segment_bytes : 4'096;
        SampleLog log({real_file_system(), channels_, clock_},
                      {directory_, epoch_ms, LogId{std::byte{7}}, {}, segment_bytes});
        std::vector<TelemetrySample> samples;
        for (std::uint64_t seq = 1; seq <= readings_; ++seq) {
            const bool is_gap = seq == readings_ / 2;
            for (std::uint32_t i = 0; i < channels_end; ++i) {
                if (is_gap) {
                    log.append(
                        LogGap{static_cast<ChannelId>(i), seq, seq + gap_samples - 1, GapReason::queue_overflow});
                } else {
                    samples.push_back(make(epoch_ms, static_cast<Channel>(i), seq));
                }
            }
            log.append(samples);
            samples.clear();
            seq += is_gap ? gap_samples - 1 : 0;
            if (!log.has_capacity() || seq % 500 == 0) {
                log.sync();
            }
        }
        log.sync();
        if (stops) {
            log.close();
        }
    }

  private:
    std::string directory_;
    std::uint64_t readings_;
    test::ManualClock clock_;
    ChannelTable channels_;
};

}  // namespace
}  // namespace telegate::store

int main(int argc, char** argv) {
    try {
        if (argc != 3) {
            throw std::invalid_argument("usage: telegate_log_maker DIR READINGS");
        }
        telegate::store::Maker maker(argv[1], std::stoull(argv[2]));
        maker.write(telegate::store::first_epoch_ms, true);
        maker.write(telegate::store::first_epoch_ms + 100'000'000, false);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
