#include "record_payload.hpp"

#include "encode/record_encoder.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace telegate::tail {
namespace {

static_assert(record_bytes == sizeof(Record));

Record first_record(std::string_view payload) noexcept {
    Record record;
    std::memcpy(&record, payload.data(), sizeof record);
    return record;
}

bool is_sample(const Record& record) noexcept {
    return record.type <= ValueType::text && record.quality <= Quality::stale &&
           record.text_bytes <= record.value.size() && record.epoch_ms > 0 && record.seq != 0 && record.seq <= seq_max;
}

}  // namespace

bool are_sample_records(std::string_view payload) noexcept {
    if (payload.empty() || payload.size() % record_bytes != 0) {
        return false;
    }
    for (; !payload.empty(); payload.remove_prefix(record_bytes)) {
        if (!is_sample(first_record(payload))) {
            return false;
        }
    }
    return true;
}

void read_record(std::string_view payload, Sample& sample) noexcept {
    const Record record = first_record(payload);
    const char* const value = record.value.data();
    sample.time_utc_ns = record.time_utc_ns;
    sample.epoch = record.epoch_ms;
    sample.seq = record.seq;
    sample.quality = record.quality;
    sample.value.type = record.type;
    sample.value.text = {};
    switch (record.type) {
        case ValueType::none: sample.value.integer = 0; break;
        case ValueType::real: sample.value.real = load_little_endian<double>(value); break;
        case ValueType::integer: sample.value.integer = load_little_endian<std::int64_t>(value); break;
        case ValueType::boolean: sample.value.boolean = *value != 0; break;
        case ValueType::text: sample.value.text = payload.substr(offsetof(Record, value), record.text_bytes); break;
    }
}

}  // namespace telegate::tail
