#include "store/segment_reader.hpp"

#include "core/crc32c.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>
#include <utility>

namespace telegate::store {
namespace {

constexpr std::uint64_t alignment = 8;
/// Most damaged parts are short, so a search begins with a small window, which grows.
constexpr std::size_t search_bytes_min = 1'024;
constexpr std::size_t search_bytes_max = 65'536;

std::optional<SegmentHead> read_head(const File& file) {
    std::array<std::byte, SegmentHead::bytes> bytes{};
    return read_segment_head(std::span(bytes).first(file.read(0, bytes)));
}

/// Returns what `read` returns, or nothing if the file was removed or is_unreadable_file().
template <class Read>
auto unless_unreadable(const Read& read) -> decltype(read()) {
    try {
        return read();
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::no_such_file_or_directory && !is_unreadable_file(error)) {
            throw;
        }
        return {};
    }
}

bool is_intact(const BlockHead& head, Bytes payload) {
    std::size_t at = 0;
    return std::all_of(head.chunks.begin(), head.chunks.end(), [&](const BlockChunk& chunk) {
        const Bytes stored = payload.subspan(at, chunk.stored_bytes);
        at += chunk.stored_bytes;
        return crc32c(stored) == chunk.checksum;
    });
}

/// Returns the position of the first entry that is not the start of the gateway.
Position first_entry(const SegmentHead& head) noexcept {
    return head.first_position + (head.begins_epoch ? 1 : 0);
}

/// Returns whether the blocks of a footer are in order and before it, and its channels are defined.
bool is_consistent(const SegmentFooter& footer, const SegmentHead& head, std::uint64_t footer_offset) {
    std::uint64_t offset = SegmentHead::bytes;
    Position position = first_entry(head);
    for (const BlockEntry& block : footer.blocks) {
        if (block.offset < offset || block.offset > footer_offset || block.position < position ||
            block.position > footer.end_position || block.entries > footer.end_position - block.position) {
            return false;
        }
        offset = block.offset + RecordHead::bytes;
        position = block.position + block.entries;
    }
    std::vector<bool> is_defined(ChannelTable::channels_max);
    for (const SegmentChannel& channel : footer.definitions) {
        is_defined[to_index(channel.id)] = true;
    }
    return footer.end_position >= position &&
           std::all_of(footer.channels.begin(), footer.channels.end(),
                       [&](const BlockChannel& channel) { return is_defined[to_index(channel.channel)]; });
}

}  // namespace

bool is_unreadable_file(const std::system_error& error) noexcept {
    const std::error_code code = error.code();
    return code == std::errc::io_error || code == std::errc::is_a_directory || code == std::errc::invalid_seek ||
           code == std::errc::too_many_symbolic_link_levels || code == std::errc::no_such_device_or_address;
}

std::optional<SegmentHead> SegmentReader::head(FileSystem& files, const std::string& path) {
    return unless_unreadable([&] { return read_head(*files.open(path, FileSystem::Mode::read)); });
}

std::optional<FooterTail> SegmentReader::tail(FileSystem& files, const std::string& path) {
    return unless_unreadable([&]() -> std::optional<FooterTail> {
        const auto file = files.open(path, FileSystem::Mode::read);
        const std::uint64_t bytes = file->bytes();
        std::array<std::byte, FooterTail::bytes> tail{};
        if (bytes < SegmentHead::bytes + RecordHead::bytes + tail.size()) {
            return std::nullopt;
        }
        return read_footer_tail(std::span(tail).first(file->read(bytes - tail.size(), tail)));
    });
}

std::unique_ptr<SegmentReader> SegmentReader::open(FileSystem& files, const std::string& path) {
    auto reader = unless_unreadable([&]() -> std::unique_ptr<SegmentReader> {
        auto file = files.open(path, FileSystem::Mode::read);
        const auto head = read_head(*file);
        return head ? std::unique_ptr<SegmentReader>(new SegmentReader(std::move(file), path, *head)) : nullptr;
    });
    if (reader != nullptr && !reader->load_footer()) {
        reader->refresh();
    }
    return reader;
}

SegmentReader::SegmentReader(std::unique_ptr<File> file, std::string path, const SegmentHead& head)
    : file_(std::move(file)), path_(std::move(path)), head_(head) {
    index_.end_position = first_entry(head);
}

const SegmentChannel* SegmentReader::find(std::string_view topic) const {
    const auto found =
        std::find_if(index_.definitions.begin(), index_.definitions.end(), [&](const SegmentChannel& channel) {
            return topic.size() == channel.device.size() + 1 + channel.channel.size() &&
                   topic.starts_with(channel.device) && topic[channel.device.size()] == '/' &&
                   topic.ends_with(channel.channel);
        });
    return found == index_.definitions.end() ? nullptr : &*found;
}

/// Like File::read(), but bytes that the disk fails to read are as if the file ended before them.
std::size_t SegmentReader::read_some(std::uint64_t at, std::span<std::byte> to) const {
    try {
        return file_->read(at, to);
    } catch (const std::system_error& error) {
        if (!is_unreadable_file(error)) {
            throw;
        }
        has_read_error_ = true;
        return 0;
    }
}

bool SegmentReader::load_footer() {
    const std::uint64_t bytes = file_->bytes();
    if (bytes < SegmentHead::bytes + RecordHead::bytes + FooterTail::bytes) {
        return false;
    }
    std::array<std::byte, FooterTail::bytes> last{};
    const auto tail = read_footer_tail(std::span(last).first(read_some(bytes - last.size(), last)));
    if (!tail || tail->footer_bytes > bytes - SegmentHead::bytes) {
        return false;
    }
    RecordHead record;
    ByteBuffer head;
    SegmentFooter footer;
    if (!read_record(bytes - tail->footer_bytes, bytes, record, head) || record.type != RecordType::footer ||
        !read_footer(std::span(head).subspan(RecordHead::bytes), bytes, footer) ||
        !is_consistent(footer, head_, bytes - tail->footer_bytes)) {
        return false;
    }
    index_ = std::move(footer);
    for (const SegmentChannel& channel : index_.definitions) {
        note_defined(channel.id);
    }
    has_footer_ = true;
    end_offset_ = bytes;
    records_end_ = bytes - tail->footer_bytes;
    return true;
}

/// Reads the header of the record at `offset` and checks it, and that the payload lies within the file.
bool SegmentReader::read_record(std::uint64_t offset, std::uint64_t file_bytes, RecordHead& record,
                                ByteBuffer& head) const {
    head.resize(std::max(head.size(), read_ahead_bytes));
    std::size_t count = read_some(offset, std::span(head).first(read_ahead_bytes));
    if (count < RecordHead::bytes) {  // perhaps the disk fails to read what follows
        count = read_some(offset, std::span(head).first(RecordHead::bytes));
    }
    const auto read = count < RecordHead::bytes
                          ? std::nullopt
                          : read_record_head(std::span(head).first(RecordHead::bytes), head_.log_id);
    if (!read || read->record_bytes() > file_bytes - offset) {
        return false;
    }
    record = *read;
    head.resize(record.head_bytes);
    const std::span<std::byte> rest = std::span(head).subspan(std::min<std::size_t>(count, record.head_bytes));
    return (rest.empty() || read_some(offset + count, rest) == rest.size()) && check_record_head(head);
}

/// Returns the offset of the first record at or after `offset`, or the end of the file.
std::uint64_t SegmentReader::find_record(std::uint64_t offset, std::uint64_t file_bytes) const {
    ByteBuffer window;
    ByteBuffer head;
    std::size_t bytes = search_bytes_min;
    while (offset < file_bytes) {
        window.resize(bytes + RecordHead::bytes - alignment);
        const std::size_t count = read_some(offset, window);
        for (std::size_t at = 0; at + RecordHead::bytes <= count && at < bytes; at += alignment) {
            RecordHead record;
            if (read_record_head(std::span(window).subspan(at, RecordHead::bytes), head_.log_id) &&
                read_record(offset + at, file_bytes, record, head)) {
                return offset + at;
            }
        }
        offset += bytes;
        bytes = std::min(2 * bytes, search_bytes_max);
    }
    return file_bytes;
}

bool SegmentReader::refresh() {
    if (has_footer_) {
        return false;
    }
    const std::uint64_t before = end_offset_;
    const std::uint64_t file_bytes = file_->bytes();
    std::uint64_t offset = end_offset_;
    ByteBuffer head;
    while (offset + RecordHead::bytes <= file_bytes && !has_footer_) {
        RecordHead record;
        if (read_record(offset, file_bytes, record, head) && add_record(offset, record, head)) {
            offset += record.record_bytes();
            end_offset_ = offset;
            records_end_ = has_footer_ ? records_end_ : offset;
            continue;
        }
        const std::uint64_t next = find_record(offset + alignment, file_bytes);
        if (next == file_bytes) {
            break;  // torn, or still being written
        }
        damaged_.push_back({offset, next - offset});
        offset = next;
    }
    return end_offset_ != before;
}

bool SegmentReader::add_record(std::uint64_t offset, const RecordHead& record, Bytes head) {
    const Bytes rest = head.subspan(RecordHead::bytes);
    if (record.position < index_.end_position) {
        return false;
    }
    index_.end_position = record.position;
    switch (record.type) {
        case RecordType::channels: return add_definitions(rest);
        case RecordType::stop: index_.stop = read_stop(rest); return index_.stop.has_value();
        case RecordType::footer: has_footer_ = true; return true;
        case RecordType::block: break;
    }
    BlockHead block;
    if (record.type != RecordType::block) {
        return true;  // of a later version
    }
    if (!BlockDecoder::read_head(rest, block) || block.payload_bytes() > record.payload_bytes) {
        return false;
    }
    if (!are_defined(block) || block.entries() > std::numeric_limits<Position>::max() - record.position) {
        return false;
    }
    add_block(offset, record, block);
    return true;
}

/// Returns whether the names of all channels of a block are known. Without them, it is worth no more than one that
/// cannot be read.
bool SegmentReader::are_defined(const BlockHead& block) const {
    const bool are_first_ones = block.channels.empty() || to_index(block.channels.back().channel) < first_undefined_;
    return (are_first_ones || std::all_of(block.channels.begin(), block.channels.end(),
                                          [&](const BlockChannel& each) { return is_defined(each.channel); })) &&
           std::all_of(block.gaps.begin(), block.gaps.end(),
                       [&](const BlockGap& each) { return is_defined(each.gap.channel); });
}

bool SegmentReader::is_defined(ChannelId channel) const noexcept {
    return to_index(channel) < is_defined_.size() && is_defined_[to_index(channel)];
}

void SegmentReader::note_defined(ChannelId channel) {
    is_defined_.resize(std::max<std::size_t>(is_defined_.size(), to_index(channel) + 1));
    is_defined_[to_index(channel)] = true;
    while (is_defined(static_cast<ChannelId>(first_undefined_))) {
        ++first_undefined_;
    }
}

bool SegmentReader::add_definitions(Bytes bytes) {
    std::vector<SegmentChannel> added;
    if (!read_channels(bytes, added)) {
        return false;
    }
    for (SegmentChannel& channel : added) {
        if (!is_defined(channel.id)) {
            note_defined(channel.id);
            index_.definitions.push_back(std::move(channel));
        }
    }
    return true;
}

void SegmentReader::add_block(std::uint64_t offset, const RecordHead& record, const BlockHead& block) {
    index_.blocks.push_back({offset, record.position, static_cast<std::uint32_t>(block.entries()), block.utc_min_ns,
                             block.utc_max_ns, block.samples});
    index_.end_position = record.position + block.entries();
    add_to_channels(block.channels, index_.channels);
}

SegmentReader::Result SegmentReader::read_block_head(const BlockEntry& entry, RecordHead& record,
                                                     BlockHead& head) const {
    const bool is_intact = read_record(entry.offset, file_->bytes(), record, block_head_) &&
                           record.type == RecordType::block && record.position == entry.position &&
                           BlockDecoder::read_head(std::span(block_head_).subspan(RecordHead::bytes), head) &&
                           head.payload_bytes() <= record.payload_bytes && head.entries() == entry.entries &&
                           are_defined(head);
    return is_intact ? Result::intact : Result::damaged_head;
}

SegmentReader::Result SegmentReader::read_block(const BlockEntry& entry, Part part, BlockHead& head,
                                                ByteBuffer& payload) const {
    RecordHead record;
    if (const Result result = read_block_head(entry, record, head); result != Result::intact || part == Part::head) {
        return result;
    }
    payload.resize(head.payload_bytes());
    const std::size_t count = read_some(entry.offset + record.head_bytes, payload);
    return count == payload.size() && is_intact(head, payload) ? Result::intact : Result::damaged_payload;
}

SegmentReader::Result SegmentReader::read_channel(const BlockEntry& entry, ChannelId channel, BlockHead& head,
                                                  ByteBuffer& payload) const {
    RecordHead record;
    if (read_block_head(entry, record, head) != Result::intact) {
        return Result::damaged_head;
    }
    const BlockChannel* const part = head.find(channel);
    if (part == nullptr) {
        return Result::intact;
    }
    payload.resize(head.payload_bytes());
    const std::size_t chunk_of_values = head.chunk_of(*part);
    std::uint64_t at = 0;
    for (std::size_t i = 0; i <= chunk_of_values; ++i) {
        const std::size_t bytes = head.chunks[i].stored_bytes;
        if (i == 0 || i == chunk_of_values) {
            if (read_some(entry.offset + record.head_bytes + at, std::span(payload).subspan(at, bytes)) != bytes) {
                return Result::damaged_payload;
            }
        }
        at += bytes;
    }
    return Result::intact;
}

}  // namespace telegate::store
