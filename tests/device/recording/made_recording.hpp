#pragma once

#include "core/bytes.hpp"
#include "core/crc32c.hpp"
#include "core/endian.hpp"
#include "device/recording/recording_format.hpp"
#include "device/recording/recording_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::test {

/// Makes recordings of format version 1, which the product only reads. Threads: one. Limits: payload_bytes_max per
/// record. Failure: std::bad_alloc.
class RecordingEncoder {
  public:
    void file_header() {
        const std::size_t at = bytes_.size();
        put_bytes(std::as_bytes(std::span(recording::magic)));
        put(recording::version);
        put(crc32c(bytes().subspan(at)));
    }
    void start(const recording::Start& start) {
        begin(recording::RecordType::start);
        put(start.epoch_ms);
        put(start.time_utc_ns);
        put(start.time_mono_ns);
        finish();
    }
    void channel(const recording::Channel& channel) {
        const std::array texts{channel.device, channel.channel, channel.unit};
        begin(recording::RecordType::channel);
        put(channel.id);
        for (const std::string_view text : texts) {
            put(static_cast<std::uint16_t>(text.size()));
        }
        put(std::uint16_t{0});
        for (const std::string_view text : texts) {
            put_bytes(as_bytes(text));
        }
        finish();
    }
    /// Unused bytes of the samples must be zero.
    void samples(std::span<const TelemetrySample> samples) {
        begin(recording::RecordType::samples);
        put_bytes(std::as_bytes(samples));
        finish();
    }
    void gap(const recording::Gap& gap) {
        begin(recording::RecordType::gap);
        put(gap.channel);
        put(static_cast<std::uint32_t>(gap.reason));
        put(gap.first_seq);
        put(gap.last_seq);
        finish();
    }
    void end(const recording::End& end) {
        begin(recording::RecordType::end);
        put(end.time_utc_ns);
        put(end.time_mono_ns);
        put(end.samples);
        put(end.lost);
        finish();
    }

    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

  private:
    void begin(recording::RecordType type) {
        begun_at_ = bytes_.size();
        put(std::uint64_t{0});  // checksum and payload length
        put(number_++);
        put(static_cast<std::uint16_t>(type));
        put(std::uint16_t{0});
    }
    void finish() {
        bytes_.resize((bytes_.size() + recording::alignment - 1) / recording::alignment * recording::alignment);
        std::byte* const record = bytes_.data() + begun_at_;
        store_little_endian(record + 4, static_cast<std::uint32_t>(bytes_.size() - begun_at_ - 16));
        store_little_endian(record, crc32c(bytes().subspan(begun_at_ + 4)));
    }
    template <class T>
    void put(T number) {
        std::array<std::byte, sizeof number> bytes;
        store_little_endian(bytes.data(), number);
        put_bytes(bytes);
    }
    void put_bytes(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

    std::vector<std::byte> bytes_;
    std::size_t begun_at_ = 0;  // where the unfinished record begins
    std::uint32_t number_ = 0;
};

/// Bytes as the source of a recording. Threads: one. Limits: none. Failure: none.
class BytesSource final : public recording::RecordingSource {
  public:
    explicit BytesSource(Bytes bytes) : bytes_(bytes) {}
    std::ptrdiff_t read_at(std::uint64_t offset, std::span<std::byte> into) noexcept override {
        const std::size_t from = std::min<std::uint64_t>(offset, bytes_.size());
        const std::size_t count = std::min(into.size(), bytes_.size() - from);
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), count, into.begin());
        return static_cast<std::ptrdiff_t>(count);
    }

  private:
    Bytes bytes_;
};

inline TelemetrySample recorded(std::uint32_t channel, std::uint64_t seq, std::int64_t time_ms) {
    TelemetrySample sample{};
    sample.channel = ChannelId{channel};
    sample.seq = seq;
    sample.time_mono_ns = time_ms * 1'000'000;
    sample.time_utc_ns = 1'795'216'294'000'000'000 + sample.time_mono_ns;
    return sample;
}
inline TelemetrySample recorded(std::uint32_t channel, std::uint64_t seq, std::int64_t time_ms, std::int64_t value) {
    TelemetrySample sample = recorded(channel, seq, time_ms);
    sample.type = ValueType::integer;
    sample.value.integer = value;
    return sample;
}
inline TelemetrySample recorded(std::uint32_t channel, std::uint64_t seq, std::int64_t time_ms, double value) {
    TelemetrySample sample = recorded(channel, seq, time_ms);
    sample.type = ValueType::real;
    sample.value.real = value;
    return sample;
}
inline TelemetrySample recorded(std::uint32_t channel, std::uint64_t seq, std::int64_t time_ms, bool value) {
    TelemetrySample sample = recorded(channel, seq, time_ms);
    sample.type = ValueType::boolean;
    sample.value.boolean = value;
    return sample;
}
inline TelemetrySample recorded(std::uint32_t channel, std::uint64_t seq, std::int64_t time_ms,
                                std::string_view value) {
    TelemetrySample sample = recorded(channel, seq, time_ms);
    sample.type = ValueType::text;
    sample.text_bytes = static_cast<std::uint8_t>(value.copy(sample.value.text, sizeof sample.value.text));
    return sample;
}

/// Two devices, all types and qualities: 7 records and 6 samples at three moments, 100 ms apart.
class MadeRecording : public RecordingEncoder {
  public:
    MadeRecording() {
        file_header();
        start({5, 6, 7});
        channel({0, "boiler", "temp", "Cel"});
        channel({1, "pump", "state", ""});
        std::vector<TelemetrySample> first{recorded(0, 1, 1'000, 12.5), recorded(1, 1, 1'000, std::string_view("on"))};
        first.back().flags = sample_flag::text_truncated;
        first.back().quality = Quality::uncertain;
        samples(first);
        gap({0, recording::GapReason::recorder, 2, 5});
        std::vector<TelemetrySample> second{recorded(0, 6, 1'100, std::int64_t{-3}), recorded(1, 2, 1'100),
                                            recorded(0, 7, 1'200, true), recorded(1, 3, 1'200, 0.25)};
        second[1].quality = Quality::bad;
        second[2].quality = Quality::stale;
        samples(second);
        end({8, 9, 6, 4});
    }

    static constexpr std::size_t records = 7;
};

/// Writes it to a file, replacing its content.
inline void write_bytes(const std::string& path, Bytes bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << as_text(bytes);
}

/// The content that a reader found in some bytes.
struct ReadRecording {
    explicit ReadRecording(recording::RecordingSource& source) {
        using Step = recording::RecordingReader::Step;
        recording::RecordingReader reader(source);
        for (Step step = reader.next(); step != Step::end; step = reader.next()) {
            if (step == Step::record) {
                note(reader.record());
                ends.push_back(reader.offset());
                continue;
            }
            if (step == Step::searching) {
                ++searching;
                continue;
            }
            faults.emplace_back(reader.fault());
            if (step == Step::failed) {
                break;
            }
        }
        torn_bytes = reader.torn_bytes();
        damaged_bytes = reader.damaged_bytes();
    }

    std::vector<std::uint64_t> ends;  // types of the records
    std::vector<TelemetrySample> samples;
    std::vector<recording::Gap> gaps;
    std::vector<recording::Start> starts;
    std::vector<recording::End> last;
    std::vector<std::pair<std::uint32_t, std::string>> channels;  // id, device/channel and unit
    std::vector<std::string> faults;
    std::size_t searching = 0;  // number of steps
    std::uint64_t torn_bytes = 0;
    std::uint64_t damaged_bytes = 0;

  private:
    void note(const recording::Record& record) {
        if (const auto* const some = std::get_if<recording::Samples>(&record)) {
            for (std::size_t i = 0; i < some->size(); ++i) {
                samples.push_back((*some)[i]);
            }
        } else if (const auto* const gap = std::get_if<recording::Gap>(&record)) {
            gaps.push_back(*gap);
        } else if (const auto* const start = std::get_if<recording::Start>(&record)) {
            starts.push_back(*start);
        } else if (const auto* const end = std::get_if<recording::End>(&record)) {
            last.push_back(*end);
        } else if (const auto* const channel = std::get_if<recording::Channel>(&record)) {
            std::string text(channel->device);
            channels.emplace_back(channel->id,
                                  text.append("/").append(channel->channel).append(" ").append(channel->unit));
        }
    }
};

inline ReadRecording read_recording(Bytes bytes) {
    BytesSource source(bytes);
    return ReadRecording(source);
}

}  // namespace telegate::test
