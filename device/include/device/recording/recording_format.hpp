#pragma once

#include "core/bytes.hpp"
#include "core/telemetry_sample.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

/// What a recording looks like on disk: docs/recording.md. Bytes in, records out; no file, clock or log.
///
/// Threads: any.
/// Limits:  payload_bytes_max a record.
/// Failure: what is no whole record is told as ParseStatus.
namespace telegate::recording {

inline constexpr std::array<char, 8> magic{'T', 'G', 'R', 'E', 'C', '\r', '\n', '\x1A'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t file_header_bytes = 16;
inline constexpr std::size_t record_header_bytes = 16;
inline constexpr std::size_t sample_bytes = 64;
/// Every record begins at a multiple of it.
inline constexpr std::size_t alignment = 8;
/// 1,024 samples: what a torn record loses at most.
inline constexpr std::size_t payload_bytes_max = 65'536;
inline constexpr std::size_t samples_per_record_max = payload_bytes_max / sample_bytes;
inline constexpr std::size_t record_bytes_max = record_header_bytes + payload_bytes_max;
/// A longer unit is cut.
inline constexpr std::size_t unit_bytes_max = 256;
/// Of an end record with its header: it is looked for at the end of a file.
inline constexpr std::size_t end_record_bytes = record_header_bytes + 32;

enum class RecordType : std::uint16_t { start = 1, channel = 2, samples = 3, gap = 4, end = 5 };

/// Why samples are missing in a recording.
enum class GapReason : std::uint32_t {
    queue_overflow = 1,  // dropped before anybody could have them
    shutdown = 2,        // as well
    recorder = 3,        // published, but the recorder was too slow, or its disk
};
[[nodiscard]] std::string_view to_string(GapReason reason) noexcept;

/// A recorder begins. Channels that were declared before it mean nothing after it.
struct Start {
    std::int64_t epoch_ms = 0;
    std::int64_t time_utc_ns = 0;
    std::int64_t time_mono_ns = 0;
};
struct Channel {
    std::uint32_t id = 0;
    std::string_view device = {};   // a topic part
    std::string_view channel = {};  // a topic part
    std::string_view unit = {};
};
/// Samples first_seq to last_seq of the channel are not in the recording.
struct Gap {
    std::uint32_t channel = 0;
    GapReason reason = GapReason::recorder;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
};
/// The recorder ended in order.
struct End {
    std::int64_t time_utc_ns = 0;
    std::int64_t time_mono_ns = 0;
    std::uint64_t samples = 0;  // written since start
    std::uint64_t lost = 0;     // by the recorder since its last end, or since it began
};
/// One after the other, as they came. All are valid.
class Samples {
  public:
    explicit Samples(Bytes bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / sample_bytes; }
    [[nodiscard]] TelemetrySample operator[](std::size_t index) const noexcept;

  private:
    Bytes bytes_;
};
/// Of a kind that this version does not know; to be passed over.
struct Unknown {
    std::uint16_t type = 0;
};
using Record = std::variant<Start, Channel, Samples, Gap, End, Unknown>;

enum class ParseStatus : std::uint8_t { record, need_more, damaged };

struct Parsed {
    ParseStatus status = ParseStatus::need_more;
    /// Of the whole record; with need_more what is needed at least to go on.
    std::size_t bytes = record_header_bytes;
    std::uint32_t number = 0;      // of the record: counts those of a file from 0
    Record record = Unknown{};     // refers to the bytes
    std::string_view what = {};    // is wrong with damaged ones
    std::size_t bytes_summed = 0;  // what it has cost
};

/// The record that `input` begins with.
[[nodiscard]] Parsed parse_record(Bytes input) noexcept;

/// What is wrong with the first file_header_bytes of a file; "" when nothing is. Fewer are wrong as well.
[[nodiscard]] std::string_view file_header_fault(Bytes input) noexcept;

}  // namespace telegate::recording
