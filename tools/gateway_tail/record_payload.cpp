#include "record_payload.hpp"

#include "core/endian.hpp"
#include "core/utf8.hpp"

#include <cstdint>

namespace telegate::tail {
namespace {

constexpr std::size_t epoch_at = 8;
constexpr std::size_t seq_at = 16;
constexpr std::size_t type_at = 24;
constexpr std::size_t quality_at = 25;
constexpr std::size_t text_bytes_at = 27;
constexpr std::size_t value_at = 32;

bool is_seq(std::uint64_t seq) noexcept {
    return seq != 0 && seq <= seq_max;
}

bool is_sample_record(std::string_view record) noexcept {
    return byte_at(record, type_at) <= static_cast<unsigned>(ValueType::text) &&
           byte_at(record, quality_at) <= static_cast<unsigned>(Quality::stale) &&
           byte_at(record, text_bytes_at) <= TelemetrySample::text_bytes_max &&
           load_little_endian<std::int64_t>(record.data() + epoch_at) > 0 &&
           is_seq(load_little_endian<std::uint64_t>(record.data() + seq_at));
}

}  // namespace

bool are_sample_records(std::string_view payload) noexcept {
    if (payload.empty() || payload.size() % record_bytes != 0) {
        return false;
    }
    for (; !payload.empty(); payload.remove_prefix(record_bytes)) {
        if (!is_sample_record(payload)) {
            return false;
        }
    }
    return true;
}

void read_record(std::string_view payload, Sample& sample) noexcept {
    sample.time_utc_ns = load_little_endian<std::int64_t>(payload.data());
    sample.epoch = load_little_endian<std::int64_t>(payload.data() + epoch_at);
    sample.seq = load_little_endian<std::uint64_t>(payload.data() + seq_at);
    sample.quality = static_cast<Quality>(byte_at(payload, quality_at));
    sample.value.type = static_cast<ValueType>(byte_at(payload, type_at));
    sample.value.text = {};
    switch (sample.value.type) {
        case ValueType::none: sample.value.integer = 0; break;
        case ValueType::real: sample.value.real = load_little_endian<double>(payload.data() + value_at); break;
        case ValueType::integer:
            sample.value.integer = load_little_endian<std::int64_t>(payload.data() + value_at);
            break;
        case ValueType::boolean: sample.value.boolean = payload[value_at] != 0; break;
        case ValueType::text: sample.value.text = payload.substr(value_at, byte_at(payload, text_bytes_at)); break;
    }
}

}  // namespace telegate::tail
