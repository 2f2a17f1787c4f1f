#include "segment_files.hpp"

#include "store/segment_directory.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

namespace telegate::log_tool {
namespace {

SegmentState state_of(const SegmentFile& file, bool is_last) {
    const store::SegmentReader& segment = *file.reader;
    const bool has_rest = !segment.has_footer() && file.bytes > segment.end_offset();
    const bool is_damaged =
        (has_rest && !is_last) || std::any_of(segment.damaged().begin(), segment.damaged().end(),
                                              [&](const auto& each) { return !(file.ends_epoch && each.is_torn); });
    if (is_damaged) {
        return SegmentState::damaged;
    }
    return segment.has_footer() ? SegmentState::sealed : is_last ? SegmentState::open : SegmentState::unsealed;
}

/// Returns the size of a file, 0 if it is not a file that can be read, or nothing if it was removed.
std::optional<std::uint64_t> size_of(store::FileSystem& files, const std::string& path) {
    try {
        return files.open(path, store::FileSystem::Mode::read)->bytes();
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::no_such_file_or_directory) {
            return std::nullopt;
        }
        if (!store::is_unreadable_file(error)) {
            throw;
        }
        return 0;
    }
}

/// Whether the epoch of a segment ends with it, and not cleanly. `next`: the name of the segment after it; "": none.
bool ends_epoch(store::FileSystem& files, const store::SegmentReader& segment, const std::string& next) {
    const auto head = next.empty() ? std::nullopt : store::SegmentReader::head(files, next);
    return !segment.index().stop && (!head || head->begins_epoch || head->epoch_ms != segment.head().epoch_ms);
}

/// Reads the header of a record. Returns nothing if it is damaged, or does not lie within the file.
std::optional<store::RecordHead> read_record(const store::File& file, std::uint64_t offset, const store::LogId& id) {
    store::ByteBuffer bytes(store::RecordHead::bytes);
    if (file.read(offset, bytes) != bytes.size()) {
        return std::nullopt;
    }
    const auto record = store::read_record_head(bytes, id);
    if (!record || record->record_bytes() > file.bytes() - offset) {
        return std::nullopt;
    }
    bytes.resize(record->head_bytes);
    return file.read(offset, bytes) == bytes.size() && store::check_record_head(bytes) ? record : std::nullopt;
}

/// Returns offsets at which records begin, in order.
std::vector<std::uint64_t> known_offsets(const store::SegmentReader& segment) {
    std::vector<std::uint64_t> offsets{segment.records_end()};  // of the footer, if there is one
    for (const store::BlockEntry& block : segment.index().blocks) {
        offsets.push_back(block.offset);
    }
    for (const store::DamagedRange& range : segment.damaged()) {
        offsets.push_back(range.offset + range.bytes);
    }
    std::sort(offsets.begin(), offsets.end());
    return offsets;
}

bool is_intact_block(const store::SegmentReader& segment, std::uint64_t offset, store::BlockHead& head,
                     store::ByteBuffer& payload) {
    const auto& blocks = segment.index().blocks;
    const auto block =
        std::lower_bound(blocks.begin(), blocks.end(), offset,
                         [](const store::BlockEntry& each, std::uint64_t searched) { return each.offset < searched; });
    return block == blocks.end() || block->offset != offset ||
           segment.read_block(*block, store::SegmentReader::Part::all, head, payload) ==
               store::SegmentReader::Result::intact;
}

}  // namespace

std::string_view to_string(SegmentState state) noexcept {
    switch (state) {
        case SegmentState::sealed: return "sealed";
        case SegmentState::open: return "open";
        case SegmentState::unsealed: return "unsealed";
        case SegmentState::damaged: break;
    }
    return "damaged";
}

void for_segment_files(store::FileSystem& files, const std::string& directory,
                       const std::function<void(SegmentFile&)>& each) {
    // `first_position`: that of the name; none: a renamed segment, which is not read.
    // `next`: the name of the segment after it; "": none.
    const auto visit = [&](const std::string& name, std::optional<store::Position> first_position,
                           const std::string& next) {
        const std::string path = directory + "/" + name;
        const auto bytes = size_of(files, path);
        auto reader = bytes && first_position ? store::SegmentReader::open(files, path) : nullptr;
        if (!bytes || (reader == nullptr && !files.exists(path))) {
            return;
        }
        SegmentFile file;
        file.name = name;
        file.bytes = *bytes;
        if (reader != nullptr && reader->head().first_position == first_position) {
            file.ends_epoch = ends_epoch(files, *reader, next.empty() ? next : directory + "/" + next);
            file.reader = std::move(reader);
            file.state = state_of(file, next.empty());
        }
        each(file);
    };
    const std::vector<store::SegmentRef> segments = store::list_segments(files, directory);
    for (std::size_t i = 0; i < segments.size(); ++i) {
        visit(segments[i].name, segments[i].first_position, i + 1 < segments.size() ? segments[i + 1].name : "");
    }
    std::vector<std::string> names = files.list(directory);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        if (store::parse_damaged_name(name)) {
            visit(name, std::nullopt, "");
        }
    }
}

std::vector<store::DamagedRange> find_damage(const SegmentFile& segment) {
    std::vector<store::DamagedRange> damaged;
    const store::SegmentReader& reader = *segment.reader;
    const auto add = [&](std::uint64_t offset, std::uint64_t bytes) {
        damaged.push_back({offset, bytes, segment.ends_epoch && reader.is_torn(offset, offset + bytes)});
    };
    const store::File& file = reader.file();
    const std::vector<std::uint64_t> offsets = known_offsets(reader);
    store::BlockHead head;
    store::ByteBuffer payload;
    for (std::uint64_t offset = store::SegmentHead::bytes; offset < reader.end_offset();) {
        const auto record = read_record(file, offset, reader.head().log_id);
        if (!record) {
            const auto next = std::upper_bound(offsets.begin(), offsets.end(), offset);
            const std::uint64_t end =
                next == offsets.end() ? reader.end_offset() : std::min(*next, reader.end_offset());
            add(offset, end - offset);
            offset = end;
            continue;
        }
        if (record->type == store::RecordType::block && !is_intact_block(reader, offset, head, payload)) {
            add(offset + record->head_bytes, record->payload_bytes);
        }
        offset += record->record_bytes();
    }
    if (segment.bytes > reader.end_offset()) {  // not the bytes that a gateway has added since
        damaged.push_back(
            {reader.end_offset(), segment.bytes - reader.end_offset(), segment.ends_epoch && reader.is_end_torn()});
    }
    return damaged;
}

}  // namespace telegate::log_tool
