#include "store/published_mark.hpp"

#include "store/segment_reader.hpp"

#include <algorithm>
#include <system_error>

namespace telegate::store {
namespace {

constexpr std::array<const char*, 2> mark_names{"/mark0", "/mark1"};

/// Returns null if the mark cannot be read.
std::unique_ptr<SegmentReader> open_mark(FileSystem& files, const std::string& path) {
    try {
        return SegmentReader::open(files, path);
    } catch (const std::system_error&) {
        return nullptr;
    }
}

}  // namespace

void PublishedMark::write(const SegmentHead& head, const std::vector<SegmentChannel>& channels) {
    buffer_.clear();
    append_segment_head(head, buffer_);
    append_channels(channels, head.first_position, head.log_id, buffer_);
    std::unique_ptr<File>& file = files_[next_];
    if (file == nullptr) {
        const std::string path = directory_ + mark_names[next_];
        const bool exists = file_system_.exists(path);
        file = file_system_.open(path, exists ? FileSystem::Mode::write : FileSystem::Mode::create);
    }
    file->write(0, buffer_);  // the rest of a longer mark before may remain; nothing refers to it
    next_ = (next_ + 1) % files_.size();
}

LastSeqs PublishedMark::read(FileSystem& files, const std::string& directory, const LogId& log_id,
                             std::int64_t epoch_ms) {
    LastSeqs last_seqs;
    for (const char* const name : mark_names) {
        const auto mark = open_mark(files, directory + name);
        if (mark == nullptr || mark->head().log_id != log_id || mark->head().epoch_ms != epoch_ms) {
            continue;
        }
        for (const SegmentChannel& channel : mark->index().definitions) {
            if (channel.last_seq > 0) {
                std::uint64_t& last = last_seqs[channel.topic()];
                last = std::max(last, channel.last_seq);
            }
        }
    }
    return last_seqs;
}

}  // namespace telegate::store
