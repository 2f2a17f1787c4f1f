#include "store/segment_format.hpp"

#include "codec/byte_io.hpp"
#include "codec/integer_column.hpp"

#include "core/bytes.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace telegate::store {
namespace {

constexpr std::array<unsigned char, 8> magic = {'T', 'G', 'R', 'E', 'C', '\r', '\n', 0x1A};
constexpr std::array<unsigned char, 8> footer_magic = {'T', 'G', 'F', 'O', 'O', 'T', '\r', '\n'};
constexpr std::string_view extension = ".tgl";
constexpr std::size_t name_digits = 20;
constexpr std::size_t checksum_bytes = 4;
constexpr std::uint32_t begins_epoch_flag = 1;
constexpr std::uint32_t is_utc_trusted_flag = 2;
constexpr std::size_t text_bytes_max = 256;
constexpr std::size_t channels_max = ChannelTable::channels_max;

void append_bytes(ByteBuffer& out, Bytes bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

/// The log's identity in every record: its first eight bytes.
std::uint64_t tag_of(const LogId& id) noexcept {
    return load_little_endian<std::uint64_t>(id.data());
}

/// Appends the common header with a checksum and a length still to be set; end_head() does that.
std::size_t begin_record(RecordType type, Position position, const LogId& id, ByteBuffer& out) {
    const std::size_t begin = out.size();
    append_number<std::uint32_t>(out, 0);
    append_number<std::uint32_t>(out, 0);
    append_number<std::uint32_t>(out, 0);
    append_number(out, static_cast<std::uint16_t>(type));
    append_number<std::uint16_t>(out, 0);
    append_number(out, position);
    append_number(out, tag_of(id));
    return begin;
}

void end_head(ByteBuffer& out, std::size_t begin, std::size_t payload_bytes) {
    pad_to_eight(out);
    std::byte* const head = out.data() + begin;
    store_little_endian(head + 4, static_cast<std::uint32_t>(out.size() - begin));
    store_little_endian(head + 8, static_cast<std::uint32_t>(payload_bytes));
    store_little_endian(head, crc32c(std::span(out).subspan(begin + checksum_bytes)));
}

void append_definitions(const std::vector<SegmentChannel>& channels, ByteBuffer& out) {
    append_varint(out, channels.size());
    for (const SegmentChannel& channel : channels) {
        append_definition(channel, out);
    }
}

/// Calls `column(records, member)` for each column of a footer, in order.
template <class Footer, class Column>
void for_columns(Footer& footer, const Column& column) {
    column(footer.blocks, &BlockEntry::offset);
    column(footer.blocks, &BlockEntry::position);
    column(footer.blocks, &BlockEntry::entries);
    column(footer.blocks, &BlockEntry::samples);
    column(footer.blocks, &BlockEntry::utc_min_ns);
    column(footer.blocks, &BlockEntry::utc_max_ns);
    column(footer.channels, &BlockChannel::channel);
    column(footer.channels, &BlockChannel::samples);
    column(footer.channels, &BlockChannel::first_seq);
    column(footer.channels, &BlockChannel::last_seq);
}

/// Appends to `channels`.
bool read_definitions(ByteReader& in, std::vector<SegmentChannel>& channels) {
    const std::uint64_t count = in.varint();
    for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
        SegmentChannel channel;
        const std::uint64_t id = in.varint();
        channel.id = static_cast<ChannelId>(id);
        channel.last_seq = in.varint();
        for (std::string* text : {&channel.device, &channel.channel, &channel.unit}) {
            const std::uint64_t size = in.varint();
            *text = in.text(size > text_bytes_max ? std::numeric_limits<std::uint64_t>::max() : size);
        }
        if (id >= channels_max || channels.size() == channels_max) {
            in.fail();
        }
        channels.push_back(std::move(channel));
    }
    return !in.failed();
}

}  // namespace

std::uint64_t SegmentFooter::samples() const noexcept {
    return std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const BlockEntry& block) { return sum + block.samples; });
}

std::pair<std::int64_t, std::int64_t> SegmentFooter::utc_range_ns() const noexcept {
    std::optional<std::pair<std::int64_t, std::int64_t>> range;
    for (const BlockEntry& block : blocks) {
        if (block.samples > 0) {
            const auto so_far = range.value_or(std::pair(block.utc_min_ns, block.utc_max_ns));
            range = {std::min(so_far.first, block.utc_min_ns), std::max(so_far.second, block.utc_max_ns)};
        }
    }
    return range.value_or(std::pair<std::int64_t, std::int64_t>());
}

void append_segment_head(const SegmentHead& head, ByteBuffer& out) {
    const std::size_t begin = out.size();
    append_bytes(out, std::as_bytes(std::span(magic)));
    append_number(out, segment_version);
    append_number(out, crc32c(std::span(out).subspan(begin)));
    append_bytes(out, head.log_id);
    append_number(out, head.first_position);
    append_number(out, head.epoch_ms);
    append_number(out, head.utc_ns);
    append_number(out, head.mono_ns);
    append_number<std::uint32_t>(
        out, (head.begins_epoch ? begins_epoch_flag : 0) | (head.is_utc_trusted ? is_utc_trusted_flag : 0));
    append_number<std::uint32_t>(out, 0);
    append_number<std::uint32_t>(out, 0);
    append_number(out, crc32c(std::span(out).subspan(begin)));
}

std::optional<SegmentHead> read_segment_head(Bytes bytes) {
    ByteReader in(bytes);
    const Bytes start = in.read_bytes(magic.size());
    const auto version = in.number<std::uint32_t>();
    const auto start_checksum = in.number<std::uint32_t>();
    SegmentHead head;
    const Bytes id = in.read_bytes(head.log_id.size());
    head.first_position = in.number<std::uint64_t>();
    head.epoch_ms = in.number<std::int64_t>();
    head.utc_ns = in.number<std::int64_t>();
    head.mono_ns = in.number<std::int64_t>();
    const auto flags = in.number<std::uint32_t>();
    head.begins_epoch = (flags & begins_epoch_flag) != 0;
    head.is_utc_trusted = (flags & is_utc_trusted_flag) != 0;
    static_cast<void>(in.number<std::uint64_t>());
    const auto checksum = in.number<std::uint32_t>();
    if (in.failed() || std::memcmp(start.data(), magic.data(), magic.size()) != 0 || version != segment_version ||
        head.first_position > position_max || start_checksum != crc32c(bytes.first(magic.size() + sizeof version)) ||
        checksum != crc32c(bytes.first(SegmentHead::bytes - checksum_bytes))) {
        return std::nullopt;
    }
    std::copy(id.begin(), id.end(), head.log_id.begin());
    return head;
}

void append_channels(const std::vector<SegmentChannel>& channels, Position position, const LogId& id, ByteBuffer& out) {
    const std::size_t begin = begin_record(RecordType::channels, position, id, out);
    append_definitions(channels, out);
    end_head(out, begin, 0);
}

void append_channels(const EncodedChannels& channels, Position position, const LogId& id, ByteBuffer& out) {
    const std::size_t begin = begin_record(RecordType::channels, position, id, out);
    append_varint(out, channels.count);
    append_bytes(out, channels.definitions);
    end_head(out, begin, 0);
}

void append_definition(const SegmentChannel& channel, ByteBuffer& out) {
    append_varint(out, to_index(channel.id));
    append_varint(out, channel.last_seq);
    for (const std::string* text : {&channel.device, &channel.channel, &channel.unit}) {
        append_varint(out, text->size());
        append_text(out, *text);
    }
}

bool read_channels(Bytes bytes, std::vector<SegmentChannel>& channels) {
    ByteReader in(bytes);
    return read_definitions(in, channels);
}

void append_block(const EncodedBlock& block, Position position, const LogId& id, ByteBuffer& out) {
    const std::size_t begin = begin_record(RecordType::block, position, id, out);
    append_bytes(out, block.head);
    end_head(out, begin, (block.payload.size() + 7) & ~std::size_t{7});
    append_bytes(out, block.payload);
    pad_to_eight(out);
}

void append_stop(const StopRecord& stop, Position position, const LogId& id, ByteBuffer& out) {
    const std::size_t begin = begin_record(RecordType::stop, position, id, out);
    append_number(out, stop.utc_ns);
    append_number(out, stop.mono_ns);
    end_head(out, begin, 0);
}

std::optional<StopRecord> read_stop(Bytes bytes) {
    ByteReader in(bytes);
    StopRecord stop;
    stop.utc_ns = in.number<std::int64_t>();
    stop.mono_ns = in.number<std::int64_t>();
    return in.failed() ? std::nullopt : std::optional(stop);
}

void append_footer(const SegmentFooter& footer, Position position, const LogId& id, ByteBuffer& out) {
    const std::size_t begin = begin_record(RecordType::footer, position, id, out);
    std::vector<std::uint64_t> numbers;
    append_varint(out, footer.end_position);
    append_varint(out, footer.stop ? 1 : 0);
    if (footer.stop) {
        append_number(out, footer.stop->utc_ns);
        append_number(out, footer.stop->mono_ns);
    }
    append_varint(out, footer.blocks.size());
    append_varint(out, footer.channels.size());
    for_columns(footer, [&](const auto& records, auto member) {
        append_column(
            records, [member](const auto& each) { return each.*member; }, numbers, out);
    });
    append_definitions(footer.definitions, out);
    pad_to_eight(out);
    const std::size_t tail = out.size();
    const auto [utc_min_ns, utc_max_ns] = footer.utc_range_ns();
    append_number(out, utc_min_ns);
    append_number(out, utc_max_ns);
    append_number(out, static_cast<std::uint32_t>(tail - begin + FooterTail::bytes));
    append_number(out, crc32c(std::span(out).subspan(tail)));
    append_bytes(out, std::as_bytes(std::span(footer_magic)));
    end_head(out, begin, 0);
}

bool read_footer(Bytes bytes, std::uint64_t file_bytes, SegmentFooter& footer) {
    ByteReader in(bytes);
    footer = {};
    footer.end_position = in.varint();
    if (in.varint() == 1) {
        footer.stop.emplace();
        footer.stop->utc_ns = in.number<std::int64_t>();
        footer.stop->mono_ns = in.number<std::int64_t>();
    }
    const std::uint32_t blocks = in.varint_32();
    const std::uint32_t channels = in.varint_32();
    if (blocks > std::min<std::uint64_t>(file_bytes / RecordHead::bytes, SegmentFooter::blocks_max) ||
        channels > channels_max) {
        return false;
    }
    footer.blocks.resize(blocks);
    footer.channels.resize(channels);
    std::vector<std::uint64_t> numbers;
    for_columns(footer, [&](auto& records, auto member) {
        const auto set = [&](auto& each, std::uint64_t number) {
            using Value = std::remove_reference_t<decltype(each.*member)>;
            if (std::is_same_v<Value, ChannelId> && number >= channels_max) {
                in.fail();
            }
            each.*member = static_cast<Value>(number);
        };
        read_column(in, records, set, numbers);
    });
    return !in.failed() && read_definitions(in, footer.definitions);
}

std::optional<FooterTail> read_footer_tail(Bytes bytes) {
    ByteReader in(bytes);
    FooterTail tail;
    tail.utc_min_ns = in.number<std::int64_t>();
    tail.utc_max_ns = in.number<std::int64_t>();
    tail.footer_bytes = in.number<std::uint32_t>();
    const auto checksum = in.number<std::uint32_t>();
    const Bytes end = in.read_bytes(footer_magic.size());
    if (in.failed() || checksum != crc32c(bytes.first(FooterTail::bytes - checksum_bytes - footer_magic.size())) ||
        std::memcmp(end.data(), footer_magic.data(), footer_magic.size()) != 0) {
        return std::nullopt;
    }
    return tail;
}

std::optional<RecordHead> read_record_head(Bytes bytes, const LogId& id) {
    ByteReader in(bytes);
    static_cast<void>(in.number<std::uint32_t>());
    RecordHead head;
    head.head_bytes = in.number<std::uint32_t>();
    head.payload_bytes = in.number<std::uint32_t>();
    const auto type = in.number<std::uint16_t>();
    head.type = static_cast<RecordType>(type);
    const auto zero = in.number<std::uint16_t>();
    head.position = in.number<std::uint64_t>();
    const auto tag = in.number<std::uint64_t>();
    if (in.failed() || zero != 0 || tag != tag_of(id) || head.head_bytes < RecordHead::bytes ||
        head.head_bytes > RecordHead::head_bytes_max || head.payload_bytes > RecordHead::payload_bytes_max ||
        head.head_bytes % 8 != 0 || head.payload_bytes % 8 != 0) {
        return std::nullopt;
    }
    return head;
}

bool check_record_head(Bytes bytes) {
    return bytes.size() > checksum_bytes &&
           load_little_endian<std::uint32_t>(bytes.data()) == crc32c(bytes.subspan(checksum_bytes));
}

std::string segment_name(Position first_position) {
    const std::string digits = std::to_string(first_position);
    return std::string(name_digits - digits.size(), '0') + digits + std::string(extension);
}

std::optional<Position> parse_segment_name(std::string_view name) {
    if (name.size() != name_digits + extension.size() || !name.ends_with(extension)) {
        return std::nullopt;
    }
    const auto position = parse_number<Position>(name.substr(0, name_digits));
    return position && *position <= position_max ? position : std::nullopt;
}

}  // namespace telegate::store
