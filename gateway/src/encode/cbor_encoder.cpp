#include "encode/cbor_encoder.hpp"

#include "core/utf8.hpp"
#include "encode/cbor_items.hpp"
#include "encode/sample_members.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::uint8_t false_item = 0xF4;
constexpr std::uint8_t true_item = 0xF5;
constexpr std::uint8_t null_item = 0xF6;
constexpr std::uint8_t real_item = 0xFB;
constexpr std::size_t key_count = std::ranges::count(sample_member::all, true, &sample_member::Member::is_required);
constexpr std::size_t key_count_with_doubt = key_count + 2;
constexpr std::string_view time_head = "\x78\x1E";  // of a text of TimeText::time_bytes

/// Appends a text of up to 23 bytes, whose head contains its length.
constexpr ConstantText& add_short_text(ConstantText& to, std::string_view text) {
    return to.add(static_cast<char>(static_cast<std::size_t>(CborMajor::text) | text.size())).add(text);
}

constexpr ConstantText cbor_doubt_text = [] {
    ConstantText text;
    add_short_text(text, sample_member::time_quality.name);
    add_short_text(text, "unsynchronized");
    return add_short_text(text, sample_member::mono_ns.name);
}();
constexpr std::string_view cbor_doubt = cbor_doubt_text.text();

/// Indexed by Quality.
constexpr std::array cbor_endings{ShortText("\x64good"), ShortText("\x69uncertain"),
                                  ShortText("\x63"
                                            "bad"),
                                  ShortText("\x65stale")};

/// `text` has up to TelemetrySample::text_bytes_max bytes.
char* put_text(char* out, std::string_view text) noexcept {
    std::array<char, 3 * TelemetrySample::text_bytes_max> sound;
    const auto bytes = static_cast<std::size_t>(put_utf8(sound.data(), text) - sound.data());
    out = put_cbor_head(out, CborMajor::text, bytes);
    std::memcpy(out, sound.data(), bytes);
    return out + bytes;
}

char* put_cbor_value(char* out, const TelemetrySample& sample) noexcept {
    switch (sample.type) {
        case ValueType::none: break;
        case ValueType::real:
            if (std::isfinite(sample.value.real)) {
                return put_cbor_number(put_cbor_byte(out, real_item), std::bit_cast<std::uint64_t>(sample.value.real));
            }
            break;
        case ValueType::integer: return put_cbor_integer(out, sample.value.integer);
        case ValueType::boolean: return put_cbor_byte(out, sample.value.boolean ? true_item : false_item);
        case ValueType::text: return put_text(out, sample.text());
    }
    return put_cbor_byte(out, null_item);
}

void append_integer(std::string& out, std::int64_t value) {
    std::array<char, cbor_item_bytes_max> item;
    out.append(item.data(), put_cbor_integer(item.data(), value));
}

void append_text(std::string& out, std::string_view text) {
    std::string sound(3 * text.size(), '\0');
    sound.resize(static_cast<std::size_t>(put_utf8(sound.data(), text) - sound.data()));
    std::array<char, cbor_item_bytes_max> head;
    out.append(head.data(), put_cbor_head(head.data(), CborMajor::text, sound.size()));
    out += sound;
}

std::string cbor_key(const sample_member::Member& member) {
    std::string key;
    append_text(key, member.name);
    return key;
}

void append_tags(std::string& out, const Tags& tags) {
    append_text(out, sample_member::tags.name);
    std::array<char, cbor_item_bytes_max> head;
    out.append(head.data(), put_cbor_head(head.data(), CborMajor::map, tags.size()));
    for (const Tag& tag : tags) {
        append_text(out, tag.name);
        append_text(out, tag.value);
    }
}

}  // namespace

CborEncoder::CborEncoder(const ChannelTable& channels, std::int64_t epoch_ms, SharedLabels labels)
    : epoch_ms_(epoch_ms),
      labels_(std::move(labels)),
      frames_(channels),
      time_(cbor_key(sample_member::time).append(time_head), cbor_key(sample_member::value)) {}

CborEncoder::Frame CborEncoder::make_frame(const ChannelInfo& info) const {
    static_assert(cbor_doubt.size() + cbor_item_bytes_max <= doubt_bytes_max);
    const Tags& tags = tags_of(labels_, info);
    std::string before;
    before += static_cast<char>(static_cast<std::size_t>(CborMajor::map) | (key_count + (tags.empty() ? 0 : 1)));
    append_text(before, sample_member::device.name);
    append_text(before, info.device);
    append_text(before, sample_member::channel.name);
    append_text(before, info.channel);
    append_text(before, sample_member::epoch.name);
    append_integer(before, epoch_ms_);
    append_text(before, sample_member::seq.name);
    std::string after;
    append_text(after, sample_member::unit.name);
    append_text(after, info.unit);
    if (!tags.empty()) {
        append_tags(after, tags);
    }
    append_text(after, sample_member::quality.name);
    Frame frame{StepText(before), StepText(after), 0, !tags.empty()};
    // Text is copied in large steps; later members overwrite the excess bytes, except those of the last step.
    frame.bytes_max = frame.before.size() + cbor_item_bytes_max + TimeText::copied_bytes + cbor_item_bytes_max +
                      frame.after.size() + StepText::step_bytes;
    return frame;
}

void CborEncoder::set_labels(SharedLabels labels) {
    labels_ = std::move(labels);
    frames_.clear();
}

std::size_t CborEncoder::encode(const TelemetrySample& sample, char* out) {
    const Frame& frame = frame_of(sample.channel);
    char* end = frame.before.put(out);
    end = put_cbor_head(end, CborMajor::whole, sample.seq);
    end = time_.put(end, sample.time_utc_ns);
    end = put_cbor_value(end, sample);
    end = frame.after.put(end);
    end = cbor_endings[static_cast<std::size_t>(quality_of(sample))].put(end);
    if (has_doubtful_time(sample)) {
        put_cbor_head(out, CborMajor::map, key_count_with_doubt + (frame.has_tags ? 1 : 0));
        std::memcpy(end, cbor_doubt.data(), cbor_doubt.size());
        end = put_cbor_integer(end + cbor_doubt.size(), sample.time_mono_ns);
    }
    return static_cast<std::size_t>(end - out);
}

}  // namespace telegate
