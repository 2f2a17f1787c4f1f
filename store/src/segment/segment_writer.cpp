#include "store/segment_writer.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace telegate::store {

SegmentWriter::SegmentWriter(FileSystem& files, const std::string& path, const SegmentHead& head)
    : file_(files.open(path, FileSystem::Mode::create)), head_(head) {
    index_.end_position = head.first_position + (head.begins_epoch ? 1 : 0);
    append_segment_head(head, buffer_);
    write();
}

SegmentWriter::SegmentWriter(FileSystem& files, const SegmentReader& segment)
    : file_(files.open(segment.path(), FileSystem::Mode::write)),
      head_(segment.head()),
      index_(segment.index()),
      bytes_(segment.keep_end()) {
    if (file_->bytes() > bytes_) {
        file_->truncate(bytes_);
    }
    std::erase_if(index_.channels, [&](const BlockChannel& each) { return !segment.is_defined(each.channel); });
    once_defined_ = index_.definitions.size();
    for (const SegmentChannel& channel : index_.definitions) {
        is_defined_.resize(std::max<std::size_t>(is_defined_.size(), to_index(channel.id) + 1));
        is_defined_[to_index(channel.id)] = true;
    }
    utc_max_ns_ = index_.utc_range_ns().second;
}

bool SegmentWriter::is_defined(ChannelId channel) const noexcept {
    const std::size_t index = to_index(channel);
    return index < is_defined_.size() && is_defined_[index];
}

/// Writes buffer_ at the end. If that fails, removes the part that was written: this may stay the end of the file.
void SegmentWriter::write() {
    try {
        file_->write(bytes_, buffer_);
    } catch (const std::system_error&) {
        try {
            file_->truncate(bytes_);
        } catch (const std::system_error&) {  // readers pass over it
        }
        throw;
    }
    bytes_ += buffer_.size();
    buffer_.clear();
}

void SegmentWriter::define(const std::vector<SegmentChannel>& channels) {
    buffer_.clear();
    append_channels(channels, index_.end_position, head_.log_id, buffer_);
    index_.definitions.reserve(index_.definitions.size() + channels.size());
    for (const SegmentChannel& channel : channels) {
        is_defined_.resize(std::max<std::size_t>(is_defined_.size(), to_index(channel.id) + 1));
    }
    const std::size_t names_bytes = buffer_.size();
    write();
    for (const SegmentChannel& channel : channels) {
        is_defined_[to_index(channel.id)] = true;
        index_.definitions.push_back(channel);
    }
    once_defined_bytes_ += names_bytes;
}

/// Appends the definitions that are in the file once to buffer_, which has the block before them. Returns whether there
/// were any, and enough blocks since.
bool SegmentWriter::repeat_definitions(Position position) {
    if (once_defined_ == index_.definitions.size() || blocks_bytes_ + buffer_.size() < once_defined_bytes_) {
        return false;
    }
    const auto first = index_.definitions.begin() + static_cast<std::ptrdiff_t>(once_defined_);
    append_channels({first, index_.definitions.end()}, position, head_.log_id, buffer_);
    return true;
}

void SegmentWriter::append(const BlockHead& block, Bytes head, Bytes payload, Position position) {
    buffer_.clear();
    append_block({head, payload}, position, head_.log_id, buffer_);
    index_.blocks.reserve(index_.blocks.size() + 1);
    const BlockEntry entry{bytes_,           position,         static_cast<std::uint32_t>(block.entries()),
                           block.utc_min_ns, block.utc_max_ns, block.samples};
    const std::size_t block_bytes = buffer_.size();
    const bool is_repeated = repeat_definitions(position + block.entries());
    write();
    blocks_bytes_ = is_repeated || once_defined_ == index_.definitions.size() ? 0 : blocks_bytes_ + block_bytes;
    if (is_repeated) {
        once_defined_ = index_.definitions.size();
        once_defined_bytes_ = 0;
    }
    index_.blocks.push_back(entry);
    index_.end_position = position + block.entries();
    add_to_channels(block.channels, index_.channels);
    if (block.samples > 0) {
        utc_max_ns_ = std::max(utc_max_ns_, block.utc_max_ns);
    }
}

void SegmentWriter::stop(const StopRecord& stop, Position position) {
    buffer_.clear();
    append_stop(stop, position, head_.log_id, buffer_);
    write();
    index_.stop = stop;
    index_.end_position = position;
}

void SegmentWriter::seal() {
    buffer_.clear();
    append_footer(index_, index_.end_position, head_.log_id, buffer_);
    write();
}

}  // namespace telegate::store
