#include "store/segment_reader.hpp"

#include "segment/segment_siblings.hpp"

#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace telegate::store {
namespace {

constexpr std::size_t alignment = 8;
/// Most damaged parts are short, so a search begins with a small window, which grows.
constexpr std::size_t search_bytes_min = 1'024;
constexpr std::size_t search_bytes_max = 65'536;
/// A disk writes as many bytes at once, or none of them.
constexpr std::uint64_t sector_bytes = 512;
/// Of a sector, in a record. Intact records have no longer runs of zeros.
constexpr std::uint64_t torn_bytes_min = 16;

std::optional<SegmentHead> read_head(const File& file) {
    std::array<std::byte, SegmentHead::bytes> bytes{};
    return read_segment_head(std::span(bytes).first(file.read(0, bytes)));
}

bool is_to_be_thrown(const std::system_error& error, ReadErrors read_errors) noexcept {
    return !is_unreadable_file(error) || (read_errors == ReadErrors::are_thrown && error.code() == std::errc::io_error);
}

/// Returns what `read` returns, or nothing if the file was removed or cannot be read and that is not an error.
template <class Read>
auto unless_unreadable(const Read& read, ReadErrors read_errors = ReadErrors::are_damage) -> decltype(read()) {
    try {
        return read();
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::no_such_file_or_directory && is_to_be_thrown(error, read_errors)) {
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
    return footer.end_position >= position && footer.end_position - head.first_position <= segment_positions_max &&
           std::all_of(footer.channels.begin(), footer.channels.end(),
                       [&](const BlockChannel& channel) { return is_defined[to_index(channel.channel)]; });
}

}  // namespace

bool is_unreadable_file(const std::system_error& error) noexcept {
    const std::error_code code = error.code();
    return code == std::errc::io_error || code == std::errc::is_a_directory || code == std::errc::invalid_seek ||
           code == std::errc::too_many_symbolic_link_levels || code == std::errc::no_such_device_or_address;
}

std::optional<SegmentHead> SegmentReader::head_alone(FileSystem& files, const std::string& path) {
    return unless_unreadable([&] { return read_head(*files.open(path, FileSystem::Mode::read)); });
}

std::optional<SegmentHead> SegmentReader::head(FileSystem& files, const std::string& path, ReadErrors read_errors) {
    return unless_unreadable(
        [&] {
            const auto file = files.open(path, FileSystem::Mode::read);
            const auto head = read_head(*file);
            return head ? head : rebuilt_head(files, path, *file);
        },
        read_errors);
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

std::unique_ptr<SegmentReader> SegmentReader::open(FileSystem& files, const std::string& path, ReadErrors read_errors) {
    return open(files, path, Scope::directory, read_errors);
}

std::unique_ptr<SegmentReader> SegmentReader::open_alone(FileSystem& files, const std::string& path) {
    return open(files, path, Scope::file, ReadErrors::are_damage);
}

std::unique_ptr<SegmentReader> SegmentReader::open(FileSystem& files, const std::string& path, Scope scope,
                                                   ReadErrors read_errors) {
    auto reader = unless_unreadable(
        [&]() -> std::unique_ptr<SegmentReader> {
            auto file = files.open(path, FileSystem::Mode::read);
            auto head = read_head(*file);
            if (!head && scope == Scope::directory) {
                head = rebuilt_head(files, path, *file);
            }
            return head ? std::unique_ptr<SegmentReader>(new SegmentReader(std::move(file), path, *head)) : nullptr;
        },
        read_errors);
    if (reader != nullptr) {
        reader->read_errors_ = read_errors;
        reader->files_ = scope == Scope::directory ? &files : nullptr;
        if (!reader->load_footer()) {
            reader->refresh();
        }
    }
    return reader;
}

std::unique_ptr<SegmentReader> SegmentReader::open_as(FileSystem& files, const std::string& path,
                                                      const SegmentHead& head) {
    auto reader = unless_unreadable([&] {
        return std::unique_ptr<SegmentReader>(new SegmentReader(files.open(path, FileSystem::Mode::read), path, head));
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

/// Like File::read(), but bytes that the disk fails to read are as if the file ended before them, unless they throw.
std::size_t SegmentReader::read_some(std::uint64_t at, std::span<std::byte> to) const {
    try {
        return file_->read(at, to);
    } catch (const std::system_error& error) {
        if (is_to_be_thrown(error, read_errors_)) {
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
        record_defined(channel.id);
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
        damaged_.push_back({offset, next - offset, is_torn(offset, next)});
        offset = next;
    }
    std::erase_if(unnamed_, [&](const auto& each) { return is_defined(each.first); });
    if (!unnamed_.empty() && files_ != nullptr && end_offset_ != before) {
        find_names();
    }
    return end_offset_ != before;
}

bool SegmentReader::add_record(std::uint64_t offset, const RecordHead& record, Bytes head) {
    const Bytes rest = head.subspan(RecordHead::bytes);
    if (record.position < index_.end_position || record.position - head_.first_position > segment_positions_max) {
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
    if (index_.blocks.size() == SegmentFooter::blocks_max) {
        return false;
    }
    add_block(offset, record, block);
    return true;
}

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

void SegmentReader::record_defined(ChannelId channel) {
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
            record_defined(channel.id);
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
    if (!are_defined(block)) {
        record_unnamed(block);
    }
}

/// Records channels whose definition may follow, or is damaged.
void SegmentReader::record_unnamed(const BlockHead& block) {
    const auto note = [&](ChannelId channel, std::uint64_t first_seq) {
        if (!is_defined(channel)) {
            std::uint64_t& first = unnamed_.emplace(channel, first_seq).first->second;
            first = std::min(first, first_seq);
        }
    };
    for (const BlockChannel& each : block.channels) {
        note(each.channel, each.first_seq);
    }
    for (const BlockGap& each : block.gaps) {
        note(each.gap.channel, each.gap.first_seq);
    }
}

/// Takes over names from other files. The last numbers of these channels before this segment are then only known to be
/// less than their first ones in it.
void SegmentReader::find_names() {
    for (SegmentChannel& channel : names_in_siblings(*files_, path_, head_)) {
        const auto wanted = unnamed_.find(channel.id);
        if (wanted != unnamed_.end()) {
            channel.last_seq = head_.begins_epoch ? 0 : wanted->second - 1;
            unnamed_.erase(wanted);
            record_defined(channel.id);
            index_.definitions.push_back(std::move(channel));
        }
    }
}

bool SegmentReader::is_torn(std::uint64_t from, std::uint64_t to) const {
    std::array<std::byte, sector_bytes> sector{};
    while (from < to) {
        const std::uint64_t in_sector = std::min(to - from, sector_bytes - from % sector_bytes);
        const auto bytes = std::span(sector).first(static_cast<std::size_t>(in_sector));
        if (bytes.size() >= torn_bytes_min && read_some(from, bytes) == bytes.size() &&
            std::all_of(bytes.begin(), bytes.end(), [](std::byte each) { return each == std::byte{0}; })) {
            return true;
        }
        from += in_sector;
    }
    return false;
}

bool SegmentReader::has_torn_records(std::uint64_t from, std::uint64_t to) const {
    bool has_torn = false;
    RecordHead record;
    ByteBuffer head;
    while (from < to) {
        if (read_record(from, to, record, head)) {
            from += record.record_bytes();
            continue;
        }
        const std::uint64_t next = find_record(from + alignment, to);
        if (!is_torn(from, next)) {
            return false;
        }
        has_torn = true;
        from = next;
    }
    return has_torn;
}

bool SegmentReader::is_end_torn() const {
    const std::uint64_t end = file_->bytes();
    const std::uint64_t left = end - std::min(end, end_offset_);
    if (left < RecordHead::bytes || is_torn(end_offset_, end)) {
        return true;
    }
    std::array<std::byte, RecordHead::bytes> bytes{};
    const auto record = read_some(end_offset_, bytes) == bytes.size() ? read_record_head(bytes, head_.log_id)
                                                                      : std::optional<RecordHead>();
    return record && record->record_bytes() > left && !has_other_length(*record, left);
}

/// Returns whether the last record is complete, with `bytes` bytes, and only one of its lengths is damaged.
bool SegmentReader::has_other_length(const RecordHead& record, std::uint64_t bytes) const {
    const auto is_intact = [&](std::uint64_t head_bytes, std::uint64_t payload_bytes) {
        if (head_bytes < RecordHead::bytes || head_bytes > RecordHead::head_bytes_max ||
            payload_bytes > RecordHead::payload_bytes_max) {
            return false;
        }
        ByteBuffer head(static_cast<std::size_t>(head_bytes));
        const std::size_t count = read_some(end_offset_, head);
        store_little_endian(head.data() + 4, static_cast<std::uint32_t>(head_bytes));
        store_little_endian(head.data() + 8, static_cast<std::uint32_t>(payload_bytes));
        return count == head.size() && check_record_head(head);
    };
    return (record.payload_bytes < bytes && is_intact(bytes - record.payload_bytes, record.payload_bytes)) ||
           (record.head_bytes <= bytes && is_intact(record.head_bytes, bytes - record.head_bytes));
}

std::uint64_t SegmentReader::keep_end() const {
    if (has_footer_ || is_end_torn()) {
        return records_end_;
    }
    return (file_->bytes() + alignment - 1) / alignment * alignment;
}

std::optional<Position> SegmentReader::first_record() const {
    RecordHead record;
    ByteBuffer head;
    return read_record(SegmentHead::bytes, file_->bytes(), record, head) ? std::optional(record.position)
                                                                         : std::nullopt;
}

SegmentReader::Result SegmentReader::read_block_head(const BlockEntry& entry, RecordHead& record,
                                                     BlockHead& head) const {
    const bool is_intact = read_record(entry.offset, file_->bytes(), record, block_head_) &&
                           record.type == RecordType::block && record.position == entry.position &&
                           BlockDecoder::read_head(std::span(block_head_).subspan(RecordHead::bytes), head) &&
                           head.payload_bytes() <= record.payload_bytes && head.entries() == entry.entries;
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
    std::size_t at = 0;
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
