#pragma once

#include "core/channel_table.hpp"
#include "core/endian.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/labels.hpp"
#include "encode/notice.hpp"
#include "encode/sample_members.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace telegate {

/// One sample as the `record` payload of docs/wire.md. Numbers are little-endian; unused bytes of the value are zero.
struct Record {
    std::int64_t time_utc_ns;
    std::int64_t epoch_ms;
    std::uint64_t seq;
    ValueType type;
    Quality quality;
    std::uint8_t flags;
    std::uint8_t text_bytes;
    std::uint32_t reserved;
    std::array<char, TelemetrySample::text_bytes_max> value;  // float64, int64, a byte, or text
};

// Readers in other languages rely on these numbers.
static_assert(sizeof(Record) == 64 && std::has_unique_object_representations_v<Record>);
static_assert(offsetof(Record, epoch_ms) == 8 && offsetof(Record, seq) == 16 && offsetof(Record, type) == 24);
static_assert(offsetof(Record, quality) == 25 && offsetof(Record, flags) == 26 && offsetof(Record, text_bytes) == 27);
static_assert(offsetof(Record, reserved) == 28 && offsetof(Record, value) == 32);
static_assert(static_cast<int>(ValueType::none) == 0 && static_cast<int>(ValueType::real) == 1);
static_assert(static_cast<int>(ValueType::integer) == 2 && static_cast<int>(ValueType::boolean) == 3);
static_assert(static_cast<int>(ValueType::text) == 4 && static_cast<int>(Quality::good) == 0);
static_assert(static_cast<int>(Quality::uncertain) == 1 && static_cast<int>(Quality::bad) == 2);
static_assert(static_cast<int>(Quality::stale) == 3 && sample_flag::text_truncated == 1);
static_assert(sample_flag::time_unsynchronized == 2);

/// Encodes samples as records. A record does not contain its channel, which follows from the topic. A payload may
/// contain several consecutive samples of one channel.
///
/// Threads: one, the I/O thread. Limits: none. Failure: none; text is copied unchanged, even if it is not UTF-8.
class RecordEncoder {
  public:
    using Notices = RecordNotices;
    /// 4 KiB: limits the size of a payload and the number of samples that a slow subscriber loses at once.
    static constexpr std::size_t samples_per_payload_max = 64;

    /// `epoch_ms`: start of the gateway, ms since 1970 UTC.
    RecordEncoder(const ChannelTable& /*channels*/, std::int64_t epoch_ms,
                  const SharedLabels& /*labels*/ = nullptr) noexcept
        : epoch_ms_(epoch_ms) {}

    void set_labels(const SharedLabels& /*labels*/) noexcept {}  // records have none
    /// Returns the size of every record.
    [[nodiscard]] static std::size_t bytes_max(const TelemetrySample& /*sample*/) noexcept { return sizeof(Record); }
    /// Writes the record to `out`, which is bytes_max(sample) bytes long, and returns its length.
    std::size_t encode(const TelemetrySample& sample, char* out) const noexcept {
        Record record{sample.time_utc_ns, epoch_ms_, sample.seq,       sample.type, quality_of(sample),
                      sample.flags,       0,         std::uint32_t{0}, {}};
        switch (sample.type) {
            case ValueType::none: break;
            case ValueType::real:
                if (is_nan_or_infinite(sample)) {
                    record.type = ValueType::none;
                } else {
                    std::memcpy(record.value.data(), &sample.value.real, sizeof sample.value.real);
                }
                break;
            case ValueType::integer:
                std::memcpy(record.value.data(), &sample.value.integer, sizeof sample.value.integer);
                break;
            case ValueType::boolean: record.value[0] = sample.value.boolean ? 1 : 0; break;
            case ValueType::text:
                record.text_bytes = sample.text_bytes;
                std::memcpy(record.value.data(), sample.value.text, sample.text_bytes);
                break;
        }
        std::memcpy(out, &record, sizeof record);
        return sizeof record;
    }

  private:
    std::int64_t epoch_ms_;
};

}  // namespace telegate
