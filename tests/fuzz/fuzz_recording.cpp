// Needs: device/src/recording/*.cpp

#include "core/crc32c.hpp"
#include "core/topic.hpp"
#include "device/recording/recording_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>
#include <vector>

namespace {

using namespace telegate;
using namespace telegate::recording;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

class BytesSource final : public RecordingSource {
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

/// Uses everything that a record refers to.
std::size_t bytes_of(const Record& record) {
    std::size_t bytes = 0;
    if (const auto* const channel = std::get_if<Channel>(&record)) {
        require(is_topic_part(channel->device) && is_topic_part(channel->channel));
        bytes = channel->unit.size();
    } else if (const auto* const samples = std::get_if<Samples>(&record)) {
        for (std::size_t i = 0; i < samples->size(); ++i) {
            bytes += (*samples)[i].text().size();
        }
    }
    return bytes;
}

void read_all(Bytes bytes) {
    BytesSource source(bytes);
    RecordingReader reader(source);
    std::uint64_t before = 0;
    for (;;) {
        const RecordingReader::Step step = reader.next();
        require(reader.offset() >= before &&
                reader.offset() <= std::max<std::uint64_t>(bytes.size(), file_header_bytes));
        before = reader.offset();
        if (step == RecordingReader::Step::end || step == RecordingReader::Step::failed) {
            return require(reader.offset() + reader.torn_bytes() <=
                           std::max<std::uint64_t>(bytes.size(), file_header_bytes));
        }
        if (step == RecordingReader::Step::damaged) {
            require(!reader.fault().empty());
        } else if (step == RecordingReader::Step::record) {
            require(bytes_of(reader.record()) <= bytes.size());
        }
    }
}

}  // namespace

/// A single record also gets a correct checksum, so that more than checksums is tested.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    read_all(bytes);

    // The input is used as the payload of each kind of record.
    for (std::uint8_t type = 1; type <= 6; ++type) {
        std::vector<std::byte> record(record_header_bytes);
        record.insert(
            record.end(), bytes.begin(),
            bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, payload_bytes_max) / alignment * alignment));
        const auto payload_bytes = static_cast<std::uint32_t>(record.size() - record_header_bytes);
        std::copy_n(std::as_bytes(std::span(&payload_bytes, 1)).begin(), sizeof payload_bytes, record.begin() + 4);
        record[12] = std::byte{type};
        const std::uint32_t sum = crc32c(Bytes(record).subspan(4));
        std::copy_n(std::as_bytes(std::span(&sum, 1)).begin(), sizeof sum, record.begin());
        const Parsed parsed = parse_record(record);
        require(parsed.status != ParseStatus::need_more);
        require(bytes_of(parsed.record) <= record.size());
    }
    return 0;
}
