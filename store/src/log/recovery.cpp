#include "store/recovery.hpp"

#include "store/log_reader.hpp"

#include <algorithm>
#include <map>
#include <system_error>

namespace telegate::store {
namespace {

/// After an epoch that did not end cleanly, positions continue this much later. Readers may have seen entries that did
/// not reach the disk, and no position is ever reused. More than the entries that
/// SampleLog::unsynced_bytes_max can hold.
constexpr Position positions_after_crash = Position{1} << 31U;
/// The minimum size of a record, and the maximum number of its entries.
constexpr std::uint64_t record_bytes_min = 64;
constexpr std::uint64_t record_entries_max = BlockEncoder::samples_max + BlockEncoder::gaps_max;

/// The directory of the log that is recovered.
struct Directory {
    FileSystem& files;
    const std::string& path;

    [[nodiscard]] std::string path_of(const std::string& name) const { return path + "/" + name; }
};

/// Channels by topic, and the last number of each, as a sample or in a gap.
using LoggedSeqs = std::map<std::string, std::pair<ChannelId, std::uint64_t>>;

LoggedSeqs last_seqs_of(const SegmentReader& segment) {
    std::vector<std::uint64_t> last_seqs;
    const auto reach = [&](ChannelId channel, std::uint64_t seq) {
        const std::size_t index = to_index(channel);
        last_seqs.resize(std::max(last_seqs.size(), index + 1));
        last_seqs[index] = std::max(last_seqs[index], seq);
    };
    BlockHead head;
    ByteBuffer payload;
    for (const BlockEntry& block : segment.index().blocks) {
        if (segment.read_block(block, SegmentReader::Part::head, head, payload) != SegmentReader::Result::intact) {
            continue;
        }
        for (const BlockChannel& channel : head.channels) {
            reach(channel.channel, channel.last_seq);
        }
        for (const BlockGap& gap : head.gaps) {
            reach(gap.gap.channel, gap.gap.last_seq);
        }
    }
    LoggedSeqs by_topic;
    for (const SegmentChannel& channel : segment.index().definitions) {
        reach(channel.id, channel.last_seq);
        by_topic[channel.topic()] = {channel.id, last_seqs[to_index(channel.id)]};
    }
    return by_topic;
}

/// Returns those of the last segment, or, if a power failure has kept only its head, of the segment before it.
LoggedSeqs logged_seqs(const Directory& directory, const SegmentReader& last) {
    if (!last.index().definitions.empty() || last.head().begins_epoch) {
        return last_seqs_of(last);
    }
    std::vector<SegmentRef> segments = list_segments(directory.files, directory.path);
    std::erase_if(segments, [&](const SegmentRef& each) { return each.first_position >= last.head().first_position; });
    const auto before =
        segments.empty() ? nullptr : SegmentReader::open(directory.files, directory.path_of(segments.back().name));
    return before != nullptr && before->head().epoch_ms == last.head().epoch_ms ? last_seqs_of(*before) : LoggedSeqs();
}

/// Samples that are known to belong to an epoch and are not in the log.
struct CrashGaps {
    std::vector<SegmentChannel> added;  // channels that the segment does not have
    std::vector<LogGap> gaps;
    std::uint64_t samples = 0;

    void add(const LogGap& gap) {
        gaps.push_back(gap);
        samples += gap.last_seq - gap.first_seq + 1;
    }
};

void find_crash_gaps(const LoggedSeqs& logged, const SegmentReader& segment, const LastSeqs& known, CrashGaps& gaps) {
    std::uint32_t next_id = 0;
    for (const auto& [topic, channel] : logged) {
        next_id = std::max(next_id, to_index(channel.first) + 1);
    }
    for (const auto& [topic, last_seq] : known) {
        const auto found = logged.find(topic);
        const bool is_new = found == logged.end();
        const std::uint64_t logged_seq = is_new ? 0 : found->second.second;
        const std::size_t slash = topic.find('/');
        if (slash == std::string::npos || last_seq <= logged_seq || (is_new && next_id >= ChannelTable::channels_max)) {
            continue;
        }
        const ChannelId id = is_new ? static_cast<ChannelId>(next_id++) : found->second.first;
        if (is_new || segment.find(topic) == nullptr) {
            gaps.added.push_back({id, topic.substr(0, slash), topic.substr(slash + 1), "", logged_seq});
        }
        gaps.add({id, logged_seq + 1, last_seq, GapReason::crash});
    }
}

void append_gaps(SegmentWriter& writer, const CrashGaps& gaps, Position position) {
    if (!gaps.added.empty()) {
        writer.define(gaps.added);
    }
    BlockEncoder block;
    BlockHead described;
    ByteBuffer head;
    ByteBuffer payload;
    for (std::size_t i = 0; i < gaps.gaps.size(); ++i) {
        block.add(gaps.gaps[i]);
        if (block.is_full() || i + 1 == gaps.gaps.size()) {
            block.encode(0, described, head, payload);
            writer.append(described, head, payload, position);
            position += block.entries();
            block.clear();
        }
    }
}

/// Writes gaps and a footer. Space that a full disk lacks is taken from the reserve. Returns "" or why that failed.
std::string write_end(const Directory& directory, const SegmentReader& segment, const CrashGaps& gaps) {
    for (;;) {
        try {
            SegmentWriter writer(directory.files, segment);
            append_gaps(writer, gaps, segment.index().end_position);
            writer.seal();
            writer.sync();
            return "";
        } catch (const std::system_error& error) {
            if (error.code() != std::errc::no_space_on_device ||
                !ReserveFile(directory.files, directory.path).release_part()) {
                return error.what();
            }
        }
    }
}

/// Returns what is known of an epoch from marks and from elsewhere.
LastSeqs known_seqs(const Directory& directory, const SegmentHead& head, const SampleLog::KnownSeqs& known) {
    LastSeqs last_seqs = PublishedMark::read(directory.files, directory.path, head.log_id, head.epoch_ms);
    for (const auto& [topic, last_seq] : known ? known(head.epoch_ms) : LastSeqs()) {
        last_seqs[topic] = std::max(last_seqs[topic], last_seq);
    }
    return last_seqs;
}

/// Seals the last segment, after gaps for what a crash has lost. A segment that is sealed already is written again only
/// if there are such gaps. Returns the position after it.
Position seal(const Directory& directory, const SegmentReader& segment, const SampleLog::KnownSeqs& known,
              RecoveryReport& report) {
    const Position end = segment.index().end_position;
    if (segment.has_read_error()) {  // unreadable bytes must not be truncated
        report.not_sealed = "cannot read all of " + segment.path();
        return end;
    }
    const bool is_crash = !segment.index().stop;
    const LoggedSeqs logged = logged_seqs(directory, segment);
    for (const auto& [topic, channel] : logged) {
        report.last_captured += channel.second;
    }
    CrashGaps gaps;
    if (is_crash) {
        report.last_seqs = known_seqs(directory, segment.head(), known);
        find_crash_gaps(logged, segment, report.last_seqs, gaps);
        for (const auto& [topic, channel] : logged) {
            report.last_seqs[topic] = std::max(report.last_seqs[topic], channel.second);
        }
    }
    if (segment.has_footer() && gaps.gaps.empty()) {
        return end;
    }
    report.not_sealed = write_end(directory, segment, gaps);
    if (!report.not_sealed.empty()) {
        return end;
    }
    report.last_captured += gaps.samples;
    report.crash_samples = gaps.samples;
    return end + gaps.gaps.size();
}

/// A process that was killed may have written the segment without syncing it. Readers take everything before the next
/// position for synced.
void sync(const Directory& directory, const std::string& path, RecoveryReport& report) {
    try {
        directory.files.open(path, FileSystem::Mode::write)->sync();
        directory.files.sync_directory(directory.path);
    } catch (const std::system_error& error) {
        report.not_sealed = error.what();
    }
}

/// Returns a position after all that an unreadable segment may have used.
Position end_of_unreadable(Position first_position) noexcept {
    return first_position + (2 * SampleLog::segment_bytes / record_bytes_min) * record_entries_max +
           positions_after_crash;
}

/// Returns the size of the file, or 0 if even that cannot be read.
std::uint64_t size_of(FileSystem& files, const std::string& path) {
    try {
        return files.open(path, FileSystem::Mode::read)->bytes();
    } catch (const std::system_error&) {
        return 0;
    }
}

/// Returns a position that follows every position used by segments that earlier starts renamed.
Position end_of_renamed(const Directory& directory) {
    Position end = 0;
    for (const std::string& name : directory.files.list(directory.path)) {
        const auto first = parse_damaged_name(name);
        end = std::max(end, first ? end_of_unreadable(*first) : 0);
    }
    return end;
}

/// Renames a file that is not a segment although it has the name of one.
void set_aside(const Directory& directory, const SegmentRef& segment, RecoveryReport& report) {
    report.renamed.push_back(segment.name);
    try {
        const std::string path = directory.path_of(segment.name);
        directory.files.rename(path, path + std::string(damaged_suffix));
    } catch (const std::system_error& error) {
        report.not_sealed = error.what();
    }
}

}  // namespace

RecoveredLog recover_log(FileSystem& files, const std::string& directory, const SampleLog::KnownSeqs& known,
                         RecoveryReport& report) {
    RecoveredLog log;
    const Directory of_log{files, directory};
    Position beyond_damaged = end_of_renamed(of_log);
    std::optional<SegmentHead> last_head;
    for (const SegmentRef& segment : list_segments(files, directory)) {
        const std::string path = of_log.path_of(segment.name);
        const auto head = SegmentReader::head(files, path);
        if (!head || head->first_position != segment.first_position) {
            set_aside(of_log, segment, report);
            beyond_damaged = std::max(beyond_damaged, end_of_unreadable(segment.first_position));
            continue;
        }
        last_head = head;
        log.log_id = head->log_id;
        log.segments.push_back({head->first_position, size_of(files, path), std::nullopt});
    }
    if (!last_head) {
        report.next = beyond_damaged;
        return log;
    }

    const std::string path = of_log.path_of(segment_name(last_head->first_position));
    const auto last = SegmentReader::open(files, path);
    if (last == nullptr) {
        throw std::system_error(std::make_error_code(std::errc::io_error), "cannot read " + path);  // it was read above
    }
    report.last_epoch_ms = last_head->epoch_ms;
    report.last_epoch_ended = last->index().stop.has_value();
    report.last_sample_ns = last->index().utc_range_ns().second;
    report.damaged = last->damaged();
    report.oldest = log.segments.front().first_position;
    report.truncated_bytes = last->has_footer() ? 0 : last->file().bytes() - last->end_offset();
    Position end = seal(of_log, *last, known, report);
    sync(of_log, path, report);
    log.segments.back().bytes = size_of(files, path);
    // The segment of the next epoch needs a name of its own, even if this one is empty.
    end = std::max(end, last_head->first_position + 1);
    report.next = std::max(beyond_damaged, report.last_epoch_ended ? end : end + positions_after_crash);
    return log;
}

}  // namespace telegate::store
