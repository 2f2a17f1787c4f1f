#pragma once

#include "core/bytes.hpp"
#include "core/telemetry_sample.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

/// Version 1 of the file format of recordings, described in docs/recording.md. Parses bytes into records; uses no file,
/// clock or log.
///
/// Threads: any.
/// Limits: payload_bytes_max per record.
/// Failure: bytes that are not a whole record are reported as ParseStatus.
namespace telegate::recording {

inline constexpr std::array<char, 8> magic{'T', 'G', 'R', 'E', 'C', '\r', '\n', '\x1A'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t file_header_bytes = 16;
inline constexpr std::size_t record_header_bytes = 16;
inline constexpr std::size_t sample_bytes = 64;
/// Every record begins at a multiple of this offset.
inline constexpr std::size_t alignment = 8;
/// 1,024 samples: the most that is lost with a truncated record.
inline constexpr std::size_t payload_bytes_max = 65'536;
inline constexpr std::size_t unit_bytes_max = 256;

enum class RecordType : std::uint16_t { start = 1, channel = 2, samples = 3, gap = 4, end = 5 };

/// Why samples are missing from a recording.
enum class GapReason : std::uint32_t {
    queue_overflow = 1,  // dropped before they were published
    shutdown = 2,        // dropped before they were published
    recorder = 3,        // published, but the recorder or its disk was too slow
};

/// The start of a recorder. Channels declared before it are no longer valid.
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
/// Samples first_seq to last_seq of the channel are missing from the recording.
struct Gap {
    std::uint32_t channel = 0;
    GapReason reason = GapReason::recorder;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
};
/// The normal end of a recorder.
struct End {
    std::int64_t time_utc_ns = 0;
    std::int64_t time_mono_ns = 0;
    std::uint64_t samples = 0;  // written since start
    std::uint64_t lost = 0;     // by the recorder since its previous end record, or since it started
};
/// The samples of a record, in the order of arrival. All are valid.
class Samples {
  public:
    explicit Samples(Bytes bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / sample_bytes; }
    [[nodiscard]] TelemetrySample operator[](std::size_t index) const noexcept;

  private:
    Bytes bytes_;
};
/// A record of a type that this version does not know; ignored.
struct Unknown {
    std::uint16_t type = 0;
};
using Record = std::variant<Start, Channel, Samples, Gap, End, Unknown>;

enum class ParseStatus : std::uint8_t { record, need_more, damaged };

struct Parsed {
    ParseStatus status = ParseStatus::need_more;
    /// The size of the whole record; with need_more the least number of bytes that are needed.
    std::size_t bytes = record_header_bytes;
    std::uint32_t number = 0;      // of the record: the records of a file are numbered from 0
    Record record = Unknown{};     // refers to the input bytes
    std::string_view what = {};    // damaged: what is wrong
    std::size_t bytes_summed = 0;  // bytes that were checksummed: the cost of parsing
};

/// Parses the record at the beginning of `input`.
[[nodiscard]] Parsed parse_record(Bytes input) noexcept;

/// Returns what is wrong with the first file_header_bytes of a file; "" if nothing. Fewer bytes are an error.
[[nodiscard]] std::string_view file_header_fault(Bytes input) noexcept;

}  // namespace telegate::recording
