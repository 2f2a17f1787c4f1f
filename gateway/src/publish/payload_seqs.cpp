#include "publish/payload_seqs.hpp"

#include "core/endian.hpp"

#include "encode/payload_format.hpp"
#include "encode/record_encoder.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace telegate {
namespace {

/// The whole number of a key. Names of devices and channels have no quotes, so that the first match is the key.
std::optional<std::uint64_t> json_number(std::string_view payload, std::string_view key) {
    const std::size_t at = payload.find(key);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    const char* const end = payload.data() + payload.size();
    const auto result = std::from_chars(payload.data() + at + key.size(), end, number);
    return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// Reads the items at the front of a map: texts, whole numbers, and what has no more than its head.
class CborItems {
  public:
    explicit CborItems(std::string_view bytes) noexcept : bytes_(bytes) {}

    struct Item {
        unsigned major = 0;
        std::uint64_t number = 0;
        std::string_view text;
    };
    std::optional<Item> next() noexcept {
        if (bytes_.empty()) {
            return std::nullopt;
        }
        const unsigned head = static_cast<unsigned char>(bytes_.front());
        Item item{head >> 5U, head & 0x1FU, {}};
        bytes_.remove_prefix(1);
        if (item.number >= 24 && item.number <= 27) {
            const std::size_t size = std::size_t{1} << (item.number - 24);
            if (bytes_.size() < size) {
                return std::nullopt;
            }
            item.number = load_big_endian(bytes_.substr(0, size));
            bytes_.remove_prefix(size);
        }
        if (item.major == 2 || item.major == 3) {
            item.text = bytes_.substr(0, item.number);
            bytes_.remove_prefix(item.text.size());
        }
        return item;
    }

  private:
    std::string_view bytes_;
};

std::optional<SeqRange> cbor_seqs(std::string_view payload, bool is_gap) {
    CborItems items(payload);
    const auto map = items.next();
    if (!map || map->major != 5) {
        return std::nullopt;
    }
    std::optional<std::uint64_t> first;
    for (std::uint64_t left = map->number; left > 0; --left) {
        const auto key = items.next();
        const auto value = items.next();
        if (!key || !value) {
            return std::nullopt;
        }
        if (key->text == (is_gap ? "first_seq" : "seq")) {
            first = value->number;
        }
        if (first && (!is_gap || key->text == "last_seq")) {
            return SeqRange{*first, value->number};
        }
    }
    return std::nullopt;
}

std::optional<SeqRange> record_seqs(std::string_view payload, bool is_gap) {
    const std::size_t records = payload.size() / sizeof(Record);
    if (records == 0 || payload.size() % sizeof(Record) != 0) {
        return std::nullopt;
    }
    const std::size_t last = is_gap ? offsetof(Record, value) : (records - 1) * sizeof(Record) + offsetof(Record, seq);
    return SeqRange{load_little_endian<std::uint64_t>(payload.data() + offsetof(Record, seq)),
                    load_little_endian<std::uint64_t>(payload.data() + last)};
}

}  // namespace

std::optional<SeqRange> read_seqs(PayloadFormat format, std::string_view payload, bool is_gap) {
    switch (format) {
        case PayloadFormat::cbor: return cbor_seqs(payload, is_gap);
        case PayloadFormat::record: return record_seqs(payload, is_gap);
        case PayloadFormat::json: break;
    }
    const auto first = json_number(payload, is_gap ? "\"first_seq\":" : "\"seq\":");
    const auto last = is_gap ? json_number(payload, "\"last_seq\":") : first;
    return first && last ? std::optional(SeqRange{*first, *last}) : std::nullopt;
}

}  // namespace telegate
