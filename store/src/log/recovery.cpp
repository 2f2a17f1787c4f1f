#include "store/sample_log.hpp"

#include "segment/segment_siblings.hpp"

#include "store/log_reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

namespace telegate::store {
namespace {

/// After an epoch that did not end cleanly, positions continue this much later. Readers may have seen entries that did
/// not reach the disk, and must find no others at their positions. More than the entries that
/// SampleLog::unsynced_bytes_max can hold.
constexpr Position positions_after_crash = Position{1} << 31U;
/// The minimum size of a record, and the maximum number of its entries.
constexpr std::uint64_t record_bytes_min = 64;
constexpr std::uint64_t record_entries_max = BlockEncoder::samples_max + BlockEncoder::gaps_max;

/// A log has at least as many after a segment. Names of files that leave fewer do not come from a log.
constexpr Position positions_left_min = 2 * segment_positions_max;

constexpr std::int64_t epoch_ns_per_ms = 1'000'000;
constexpr std::size_t rewritten_bytes = 65'536;  // at a time
/// How often the header of a segment is read before it counts as unreadable, and the last segment is synced.
constexpr int attempts_max = 3;

/// The directory of the log that is recovered.
struct Directory {
    FileSystem& files;
    const std::string& path;

    [[nodiscard]] std::string path_of(const std::string& name) const { return path + "/" + name; }
};

/// A channel of a segment.
struct LoggedChannel {
    ChannelId id{};
    std::uint64_t last_seq = 0;    // as a sample or in a gap
    std::uint64_t last_block = 0;  // offset of the last block with the channel; 0: none
};

/// By topic.
using LoggedSeqs = std::map<std::string, LoggedChannel>;

LoggedSeqs last_seqs_of(const SegmentReader& segment) {
    std::vector<LoggedChannel> by_id;
    const auto reach = [&](ChannelId channel, std::uint64_t seq, std::uint64_t block) {
        const std::size_t index = to_index(channel);
        by_id.resize(std::max(by_id.size(), index + 1));
        by_id[index] = {channel, std::max(by_id[index].last_seq, seq), std::max(by_id[index].last_block, block)};
    };
    BlockHead head;
    ByteBuffer payload;
    for (const BlockEntry& block : segment.index().blocks) {
        if (segment.read_block(block, SegmentReader::Part::head, head, payload) != SegmentReader::Result::intact) {
            continue;
        }
        for (const BlockChannel& channel : head.channels) {
            reach(channel.channel, channel.last_seq, block.offset);
        }
        for (const BlockGap& gap : head.gaps) {
            reach(gap.gap.channel, gap.gap.last_seq, block.offset);
        }
    }
    LoggedSeqs by_topic;
    for (const SegmentChannel& channel : segment.index().definitions) {
        reach(channel.id, channel.last_seq, 0);
        by_topic[channel.topic()] = by_id[to_index(channel.id)];
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
    LoggedSeqs logged =
        before != nullptr && before->head().epoch_ms == last.head().epoch_ms ? last_seqs_of(*before) : LoggedSeqs();
    for (auto& [topic, channel] : logged) {
        channel.last_block = 0;  // in this segment
    }
    return logged;
}

/// Returns a channel number that no channel of the segment has.
std::uint32_t free_id(const LoggedSeqs& logged, const SegmentReader* segment) {
    std::uint32_t next_id = 0;
    for (const auto& [topic, channel] : logged) {
        next_id = std::max(next_id, to_index(channel.id) + 1);
    }
    if (segment != nullptr && !segment->unnamed().empty()) {
        next_id = std::max(next_id, to_index(segment->unnamed().rbegin()->first) + 1);
    }
    return next_id;
}

/// Returns the parts of a segment that are damaged and not only torn, with its end.
std::vector<DamagedRange> damage_of(const SegmentReader& segment) {
    std::vector<DamagedRange> damaged = segment.damaged();
    std::erase_if(damaged, [](const DamagedRange& each) { return each.is_torn; });
    if (segment.keep_end() > segment.end_offset()) {
        damaged.push_back({segment.end_offset(), segment.file().bytes() - segment.end_offset()});
    }
    return damaged;
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

/// The end of an epoch that did not stop cleanly, in its last segment.
struct UncleanEnd {
    const SegmentReader* segment = nullptr;  // null: the disk cannot read all of it, so channel numbers may be in use
    const LoggedSeqs& logged;
    std::uint64_t damage_offset = 0;  // of the last damaged part; 0: none
    bool has_stopped = false;         // while the log could not be written

    /// Samples of a channel that a damaged part may have had, because nothing of the channel follows it, are damaged.
    [[nodiscard]] GapReason reason(std::uint64_t last_block) const {
        const bool is_damaged =
            damage_offset > last_block || (last_block == 0 && segment != nullptr && !segment->unnamed().empty());
        return is_damaged ? GapReason::damaged : has_stopped ? GapReason::log_slow : GapReason::crash;
    }
};

void find_crash_gaps(const UncleanEnd& end, const LastSeqs& known, CrashGaps& gaps) {
    std::uint32_t next_id = free_id(end.logged, end.segment);
    for (const auto& [topic, last_seq] : known) {
        const auto found = end.logged.find(topic);
        const bool is_new = found == end.logged.end();
        const LoggedChannel logged = is_new ? LoggedChannel{} : found->second;
        const std::size_t slash = topic.find('/');
        if (slash == std::string::npos || last_seq <= logged.last_seq ||
            (is_new && (end.segment == nullptr || next_id >= ChannelTable::channels_max))) {
            continue;
        }
        const ChannelId id = is_new ? static_cast<ChannelId>(next_id++) : logged.id;
        if (end.segment == nullptr || end.segment->find(topic) == nullptr) {
            gaps.added.push_back({id, topic.substr(0, slash), topic.substr(slash + 1), "", logged.last_seq});
        }
        gaps.add({id, logged.last_seq + 1, last_seq, end.reason(logged.last_block)});
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

/// Writes gaps and a footer to the segment that `open` returns. Space that a full disk lacks is taken from the reserve.
/// Returns "" or why that failed.
template <class Open>
std::string write_end(const Directory& directory, const Open& open, const CrashGaps& gaps, Position position) {
    for (;;) {
        try {
            SegmentWriter writer = open();
            append_gaps(writer, gaps, position);
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
PublishedMark::Content known_seqs(const Directory& directory, const SegmentHead& head,
                                  const SampleLog::KnownSeqs& known) {
    PublishedMark::Content content = PublishedMark::read(directory.files, directory.path, head.log_id, head.epoch_ms);
    for (const auto& [topic, last_seq] : known ? known(head.epoch_ms) : LastSeqs()) {
        content.last_seqs[topic] = std::max(content.last_seqs[topic], last_seq);
    }
    return content;
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
        report.last_captured += channel.last_seq;
    }
    CrashGaps gaps;
    if (is_crash) {
        PublishedMark::Content content = known_seqs(directory, segment.head(), known);
        find_crash_gaps(
            {&segment, logged, report.damaged.empty() ? 0 : report.damaged.back().offset, content.has_stopped},
            content.last_seqs, gaps);
        report.last_seqs = std::move(content.last_seqs);
        for (const auto& [topic, channel] : logged) {
            report.last_seqs[topic] = std::max(report.last_seqs[topic], channel.last_seq);
        }
    }
    if (segment.has_footer() && gaps.gaps.empty()) {
        return end;
    }
    report.not_sealed = write_end(
        directory, [&] { return SegmentWriter(directory.files, segment); }, gaps, end);
    if (!report.not_sealed.empty()) {
        return end;
    }
    report.last_captured += gaps.samples;
    report.crash_samples = gaps.samples;
    return end + gaps.gaps.size();
}

/// Returns the size of the file, or 0 if even that cannot be read.
std::uint64_t size_of(FileSystem& files, const std::string& path) {
    try {
        return files.open(path, FileSystem::Mode::read)->bytes();
    } catch (const std::system_error&) {
        return 0;
    }
}

/// A log that is being recovered.
struct Recovery {
    const Directory& directory;
    const SampleLog::KnownSeqs& known;
    RecoveredLog& log;
    RecoveryReport& report;
};

/// Writes the gaps of an epoch into a segment of their own, at `position`, because the disk cannot read all of the last
/// one at present. `unreadable`: its header. Returns the position after the gaps.
Position add_gaps_after(const Recovery& of, const SegmentHead& unreadable, LoggedSeqs logged, Position position) {
    const Directory& directory = of.directory;
    const std::string unreadable_path = directory.path_of(segment_name(unreadable.first_position));
    for (const SegmentChannel& channel : names_in_siblings(directory.files, unreadable_path, unreadable)) {
        logged.try_emplace(channel.topic(), LoggedChannel{channel.id, 0, 0});
    }
    PublishedMark::Content content = known_seqs(directory, unreadable, of.known);
    CrashGaps gaps;
    find_crash_gaps({nullptr, logged, 0, content.has_stopped}, content.last_seqs, gaps);
    of.report.last_seqs = std::move(content.last_seqs);
    for (const auto& [topic, channel] : logged) {
        of.report.last_seqs[topic] = std::max(of.report.last_seqs[topic], channel.last_seq);
    }
    if (gaps.gaps.empty()) {
        return position;
    }
    SegmentHead head = unreadable;
    head.first_position = position;
    head.begins_epoch = false;
    head.is_utc_trusted = false;
    const std::string path = directory.path_of(segment_name(position));
    const auto create = [&] {
        directory.files.remove(path);  // left by a failed attempt
        return SegmentWriter(directory.files, path, head);
    };
    const std::string failure = write_end(directory, create, gaps, position);
    if (failure.empty()) {
        of.log.segments.push_back({position, size_of(directory.files, path)});
        of.report.last_captured += gaps.samples;
        of.report.crash_samples = gaps.samples;
    } else {
        of.report.not_sealed = failure;
    }
    return position + gaps.gaps.size();
}

/// The same after a last segment whose header cannot be read, if a mark shows which epoch it is of. `last_head`: of the
/// last segment before it that can be read.
Position add_gaps_after_last(const Recovery& of, const std::optional<SegmentHead>& last_head, Position position) {
    const Directory& directory = of.directory;
    auto head = PublishedMark::head(directory.files, directory.path);
    const bool is_same_epoch = head && last_head && last_head->epoch_ms == head->epoch_ms;
    if (!head || of.log.segments.empty() || of.log.log_id.value_or(head->log_id) != head->log_id ||
        head->first_position > of.log.segments.back().first_position ||
        (last_head && !is_same_epoch && last_head->first_position >= head->first_position)) {
        return position;
    }
    head->first_position = of.log.segments.back().first_position;
    head->utc_ns = head->epoch_ms * epoch_ns_per_ms;
    of.log.log_id = head->log_id;
    const auto before =
        is_same_epoch ? SegmentReader::open(directory.files, directory.path_of(segment_name(last_head->first_position)))
                      : nullptr;
    const Position end = add_gaps_after(of, *head, before == nullptr ? LoggedSeqs() : last_seqs_of(*before), position);
    of.report.last_epoch_ms = head->epoch_ms;
    of.report.last_epoch_ended = end == position;
    return end;
}

/// Writes all data of a file again.
void rewrite(File& file) {
    ByteBuffer part(rewritten_bytes);
    std::uint64_t at = 0;
    for (std::size_t bytes = file.read(at, part); bytes > 0; bytes = file.read(at, part)) {
        file.write(at, std::span(part).first(bytes));
        at += bytes;
    }
}

/// Syncs the last segment, which a process that was killed may not have done. After a failed sync, its data is written
/// again, because another call may succeed without it. Returns whether readers may take it for synced; they may, too,
/// if it cannot be written at all.
bool sync(const Directory& directory, const SegmentReader& segment, RecoveryReport& report) {
    std::unique_ptr<File> file;
    std::string failure;
    bool is_written = report.not_sealed.empty() || segment.has_read_error();
    for (int i = 0; i < attempts_max; ++i) {
        try {
            file = directory.files.open(segment.path(), FileSystem::Mode::write);
            if (!is_written) {
                rewrite(*file);
            }
            is_written = false;
            file->sync();
            directory.files.sync_directory(directory.path);
            return true;
        } catch (const std::system_error& error) {
            failure = error.what();
        }
    }
    report.not_sealed = failure;
    return file == nullptr;
}

/// Returns a position after all that an unreadable segment may have used.
Position end_of_unreadable(Position first_position) noexcept {
    return first_position + (2 * SampleLog::segment_bytes / record_bytes_min) * record_entries_max +
           positions_after_crash;
}

/// Returns the last position at which segments are the log's: if a name leaves no positions for the log to continue,
/// none in the upper half are.
Position last_first_position(const Directory& directory) {
    for (const std::string& name : directory.files.list(directory.path)) {
        const auto damaged = parse_damaged_name(name);
        if (damaged.value_or(parse_segment_name(name).value_or(0)) > position_max - positions_left_min) {
            return position_max / 2;
        }
    }
    return position_max;
}

/// Returns a position that follows every position used by segments that earlier starts renamed.
Position end_of_renamed(const Directory& directory, Position last_first) {
    Position end = 0;
    for (const std::string& name : directory.files.list(directory.path)) {
        const auto first = parse_damaged_name(name);
        end = std::max(end, first && *first <= last_first ? end_of_unreadable(*first) : 0);
    }
    return end;
}

/// Renames a file that is not a segment although it has the name of one.
void set_aside(const Directory& directory, const SegmentRef& segment, RecoveryReport& report) {
    const std::string path = directory.path_of(segment.name);
    try {
        directory.files.rename(path, path + std::string(damaged_suffix));
        report.renamed.push_back(segment.name);
    } catch (const std::system_error& error) {
        report.left.emplace_back(error.what());
    }
}

/// Returns why the disk cannot read the header of a segment at present; "": it can, or the file is of another type.
std::string read_failure(FileSystem& files, const std::string& path) {
    try {
        std::array<std::byte, SegmentHead::bytes> bytes{};
        static_cast<void>(files.open(path, FileSystem::Mode::read)->read(0, bytes));
    } catch (const std::system_error& error) {
        return error.code() == std::errc::io_error ? error.what() : "";
    }
    return "";
}

/// Reads the header of a segment. If the disk fails to, sets `failure`: what it cannot read may be intact.
std::optional<SegmentHead> read_head(FileSystem& files, const std::string& path, std::string& failure) {
    for (int i = 0; i < attempts_max; ++i) {
        if (const auto head = SegmentReader::head(files, path)) {
            return head;
        }
        failure = read_failure(files, path);
        if (failure.empty()) {
            return SegmentReader::head(files, path);
        }
    }
    return std::nullopt;
}

/// Writes the header of a segment again if it was damaged and has been rebuilt.
void repair_head(const Directory& directory, const SegmentRef& segment, const SegmentHead& head,
                 RecoveryReport& report) {
    const std::string path = directory.path_of(segment.name);
    if (SegmentReader::head_alone(directory.files, path) || !read_failure(directory.files, path).empty()) {
        return;
    }
    try {
        ByteBuffer bytes;
        append_segment_head(head, bytes);
        const auto file = directory.files.open(path, FileSystem::Mode::write);
        file->write(0, bytes);
        file->sync();
        report.repaired.push_back(segment.name);
    } catch (const std::system_error& error) {
        report.left.emplace_back(error.what());  // readers rebuild it as well
    }
}

}  // namespace

RecoveredLog recover_log(FileSystem& files, const std::string& directory, const SampleLog::KnownSeqs& known,
                         RecoveryReport& report) {
    RecoveredLog log;
    const Directory of_log{files, directory};
    const Position last_first = last_first_position(of_log);
    Position beyond_damaged = end_of_renamed(of_log, last_first);
    std::optional<SegmentHead> last_head;
    for (const SegmentRef& segment : list_segments(files, directory)) {
        if (segment.first_position > last_first) {
            set_aside(of_log, segment, report);
            continue;
        }
        const std::string path = of_log.path_of(segment.name);
        std::string failure;
        const auto head = read_head(files, path, failure);
        if (!head || head->first_position != segment.first_position) {
            beyond_damaged = std::max(beyond_damaged, end_of_unreadable(segment.first_position));
            if (failure.empty()) {
                set_aside(of_log, segment, report);
            } else {
                report.left.push_back(std::move(failure));
                log.segments.push_back({segment.first_position, size_of(files, path)});
            }
            continue;
        }
        repair_head(of_log, segment, *head, report);
        last_head = head;
        log.log_id = head->log_id;
        log.segments.push_back({head->first_position, size_of(files, path),
                                head->is_utc_trusted ? std::optional(head->utc_ns) : std::nullopt});
    }
    if (!last_head || log.segments.back().first_position != last_head->first_position) {
        report.next = add_gaps_after_last({of_log, known, log, report}, last_head, beyond_damaged);
        log.synced = report.next;
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
    report.damaged = damage_of(*last);
    report.unnamed = last->unnamed().size();
    report.oldest = log.segments.front().first_position;
    report.truncated_bytes =
        last->has_footer() || last->keep_end() > last->end_offset() ? 0 : last->file().bytes() - last->end_offset();
    Position end = seal(of_log, *last, known, report);
    const bool is_synced = sync(of_log, *last, report);
    log.segments.back().bytes = size_of(files, path);
    if (last->has_read_error()) {
        beyond_damaged = std::max(beyond_damaged, end_of_unreadable(last_head->first_position));
        if (!report.last_epoch_ended) {
            beyond_damaged =
                add_gaps_after({of_log, known, log, report}, *last_head, logged_seqs(of_log, *last), beyond_damaged);
        }
    }
    // The segment of the next epoch needs a name of its own, even if this one is empty.
    end = std::max(end, last_head->first_position + 1);
    report.next = std::max(beyond_damaged, report.last_epoch_ended ? end : end + positions_after_crash);
    log.synced = is_synced ? report.next : last_head->first_position;
    return log;
}

}  // namespace telegate::store
