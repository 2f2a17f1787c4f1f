#include "store/published_mark.hpp"

#include <algorithm>
#include <system_error>

namespace telegate::store {
namespace {

constexpr std::array<const char*, 2> mark_names{"/mark0", "/mark1"};

}  // namespace

void PublishedMark::begin() noexcept {
    channels_ = 0;
    definitions_.clear();
}

void PublishedMark::add(const SegmentChannel& channel) {
    if (definitions_.size() < bytes_max) {
        append_definition(channel, definitions_);
        ++channels_;
    }
}

void PublishedMark::commit(const SegmentHead& head) {
    if (channels_ == 0) {
        return;
    }
    buffer_.clear();
    append_segment_head(head, buffer_);
    append_channels(EncodedChannels{channels_, definitions_}, head.first_position, head.log_id, buffer_);
    std::unique_ptr<File>& file = files_[next_];
    if (file == nullptr) {
        const std::string path = directory_ + mark_names[next_];
        const bool exists = file_system_.exists(path);
        file = file_system_.open(path, exists ? FileSystem::Mode::write : FileSystem::Mode::create);
    }
    file->write(0, buffer_);  // the rest of a longer mark before may remain; nothing refers to it
    next_ = (next_ + 1) % files_.size();
}

void PublishedMark::for_each(FileSystem& files, const std::string& directory,
                             const std::function<void(const SegmentReader&)>& use) {
    for (const char* const name : mark_names) {
        std::unique_ptr<SegmentReader> mark;
        try {
            mark = SegmentReader::open_alone(files, directory + name);
        } catch (const std::system_error&) {
            continue;
        }
        if (mark != nullptr) {
            use(*mark);
        }
    }
}

std::optional<SegmentHead> PublishedMark::head(FileSystem& files, const std::string& directory, Position until) {
    std::optional<SegmentHead> last;
    for_each(files, directory, [&](const SegmentReader& mark) {
        const Position first = mark.head().first_position;
        if (first <= until && (!last || first > last->first_position)) {
            last = mark.head();
        }
    });
    return last;
}

PublishedMark::Content PublishedMark::read(FileSystem& files, const std::string& directory, const LogId& log_id,
                                           std::int64_t epoch_ms) {
    Content content;
    for_each(files, directory, [&](const SegmentReader& mark) {
        if (mark.head().log_id != log_id || mark.head().epoch_ms != epoch_ms) {
            return;
        }
        content.has_stopped = content.has_stopped || mark.head().utc_ns != 0;
        for (const SegmentChannel& channel : mark.index().definitions) {
            if (channel.last_seq > 0) {
                std::uint64_t& last = content.last_seqs[channel.topic()];
                last = std::max(last, channel.last_seq);
            }
        }
    });
    return content;
}

}  // namespace telegate::store
