// Needs: telegate_store telegate_zstd

// Segments of the durable log, read and recovered. The input is one segment file after the other; a file starts at each
// magic number at a multiple of 8 bytes, and is named by the position in its header. So that the fuzzer gets past the
// checksums, a mutator changes single records and makes their checksums correct again.
#include "fuzz/largest_allocation.hpp"
#include "fuzz/memory_files.hpp"
#include "store/log_reader.hpp"
#include "store/sample_log.hpp"
#include "support/manual_clock.hpp"

#include "core/assert.hpp"
#include "core/bytes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace {

using namespace telegate;
using namespace telegate::store;

constexpr const char* directory = "/log";
constexpr std::array<unsigned char, 8> magic = {'T', 'G', 'R', 'E', 'C', '\r', '\n', 0x1A};
constexpr std::size_t position_offset = 32;
constexpr std::size_t flags_offset = 64;
/// The largest allocation is a chunk, whose size the format limits.
constexpr std::size_t allocation_bytes_max = 4'194'304;
/// Blocks of a footer that the mutator reads or makes: many more than the records of an input, and still quick.
constexpr std::size_t footer_blocks_max = 512;

bool is_magic(Bytes bytes) {
    return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

/// Splits the input into files.
void split(Bytes bytes, MemoryFiles& files) {
    std::uint64_t ordinal = 0;
    while (!bytes.empty()) {
        std::size_t end = std::min<std::size_t>(magic.size(), bytes.size());
        while (end < bytes.size() && !is_magic(bytes.subspan(end))) {
            end += std::min<std::size_t>(magic.size(), bytes.size() - end);
        }
        const Bytes file = bytes.first(end);
        bytes = bytes.subspan(end);
        Position position = ++ordinal;
        if (file.size() >= SegmentHead::bytes && (std::to_integer<unsigned>(file[flags_offset + 3]) & 1U) == 0) {
            std::memcpy(&position, &file[position_offset], sizeof position);
        }
        files.content(std::string(directory) + "/" + segment_name(position)).assign(file.begin(), file.end());
    }
}

std::size_t bytes_of(MemoryFiles& files) {
    std::size_t bytes = 0;
    for (const std::string& name : files.list(directory)) {
        bytes += files.content(std::string(directory) + "/" + name).size();
    }
    return bytes;
}

/// Whether all segments of an epoch follow one another, as those that a gateway writes do.
bool has_whole_epochs(MemoryFiles& files) {
    std::vector<std::int64_t> epochs;
    for (const SegmentRef& segment : list_segments(files, directory)) {
        const auto reader = SegmentReader::open(files, std::string(directory) + "/" + segment.name);
        if (reader != nullptr && (epochs.empty() || epochs.back() != reader->head().epoch_ms)) {
            epochs.push_back(reader->head().epoch_ms);
        }
    }
    std::sort(epochs.begin(), epochs.end());
    return std::adjacent_find(epochs.begin(), epochs.end()) == epochs.end();
}

/// Checks what LogReader promises: within an epoch, samples and gaps of a channel cover every sequence number starting
/// with the first one, once and in order. If the segments of epochs are mixed, this is checked only within each batch.
class Witness {
  public:
    explicit Witness(bool has_whole_epochs) : is_across_batches_(has_whole_epochs) {}

    void receive(const LogBatch& batch) {
        TELEGATE_ASSERT(batch.position >= position_ && batch.end_position >= batch.position);
        position_ = batch.end_position;
        if (batch.epoch_ms != epoch_ms_ || batch.restarts_seqs || !is_across_batches_) {
            epoch_ms_ = batch.epoch_ms;
            last_seqs_.clear();
        }
        std::size_t gap = 0;
        for (std::size_t i = 0; i <= batch.samples.size(); ++i) {
            for (; gap < batch.gaps.size() && batch.gaps[gap].before_sample == i; ++gap) {
                const LogGap& missing = batch.gaps[gap].gap;
                receive(batch, missing.channel, missing.first_seq, missing.last_seq);
            }
            if (i < batch.samples.size()) {
                receive(batch, batch.samples[i].channel, batch.samples[i].seq, batch.samples[i].seq);
            }
        }
        TELEGATE_ASSERT(gap == batch.gaps.size());
    }

  private:
    void receive(const LogBatch& batch, ChannelId channel, std::uint64_t first, std::uint64_t last) {
        TELEGATE_ASSERT(batch.find(channel) != nullptr);
        TELEGATE_ASSERT(first >= 1 && first <= last);
        std::uint64_t& before = last_seqs_[channel];
        TELEGATE_ASSERT(before == 0 || first == before + 1);
        before = last;
    }

    bool is_across_batches_;
    Position position_ = 0;
    std::optional<std::int64_t> epoch_ms_;
    std::map<ChannelId, std::uint64_t> last_seqs_;
};

/// Reads from `position` to the end. Returns the positions of the batches.
std::vector<Position> read_from(MemoryFiles& files, Position position, Witness witness) {
    LogReader reader(files, directory);
    reader.seek(position);
    LogBatch batch;
    std::vector<Position> positions;
    const std::size_t batches_max = bytes_of(files) / RecordHead::bytes + 4 * files.list(directory).size();
    while (reader.next(batch)) {
        TELEGATE_ASSERT(positions.size() < batches_max);
        TELEGATE_ASSERT(reader.position() >= batch.end_position);
        witness.receive(batch);
        positions.push_back(batch.position);
    }
    return positions;
}

void read_log(MemoryFiles& files, const Witness& witness) {
    const std::vector<Position> positions = read_from(files, 0, witness);
    constexpr std::size_t starts_max = 2;
    for (std::size_t i = 0; i < std::min(positions.size(), starts_max); ++i) {
        read_from(files, positions[positions.size() - 1 - i] + i, witness);
    }
}

void read_channel(MemoryFiles& files, const ChannelSelection& selection) {
    LogReader reader(files, directory);
    reader.select(selection);
    reader.seek_last(bytes_of(files));
    reader.seek_time(selection.since_ns);
    LogBatch batch;
    std::size_t batches = 0;
    while (reader.next(batch)) {
        TELEGATE_ASSERT(++batches <= bytes_of(files));
        TELEGATE_ASSERT(batch.samples.empty() ||
                        (batch.selected != nullptr && batch.selected->topic() == selection.topic));
        for (std::size_t n = 0; n < batch.samples.size(); ++n) {
            const TelemetrySample& sample = batch.samples[n];
            TELEGATE_ASSERT(sample.channel == batch.selected->id);
            TELEGATE_ASSERT(sample.time_utc_ns >= selection.since_ns && sample.time_utc_ns < selection.until_ns);
            TELEGATE_ASSERT(n == 0 || sample.seq > batch.samples[n - 1].seq);
        }
        for (const BlockGap& each : batch.gaps) {
            TELEGATE_ASSERT(each.gap.channel == batch.selected->id && each.before_sample <= batch.samples.size());
        }
    }
}

/// Reads what each segment reports about itself, and each of its channels in a time range.
void read_segments(MemoryFiles& files) {
    for (const std::string& name : files.list(directory)) {
        const std::string path = std::string(directory) + "/" + name;
        static_cast<void>(SegmentReader::tail(files, path));
        const auto segment = SegmentReader::open(files, path);
        if (segment == nullptr) {
            continue;
        }
        const SegmentFooter& index = segment->index();
        TELEGATE_ASSERT(index.definitions.size() <= ChannelTable::channels_max);
        TELEGATE_ASSERT(index.blocks.size() <= segment->file().bytes() / RecordHead::bytes);
        TELEGATE_ASSERT(segment->end_offset() <= segment->file().bytes());
        const std::int64_t since = index.utc_range_ns().first;
        const std::int64_t until = index.utc_range_ns().second;
        LogReader reader(files, directory);
        reader.seek_time(until);
        constexpr std::size_t channels_read_max = 2;
        for (std::size_t i = 0; i < std::min(index.definitions.size(), channels_read_max); ++i) {
            read_channel(files, {index.definitions[i].topic(), since, until});
        }
    }
}

/// A segment that is read while it grows.
void read_growing(MemoryFiles& files, Witness witness) {
    const std::vector<std::string> names = files.list(directory);
    if (names.empty()) {
        return;
    }
    MemoryFiles::Content& content = files.content(std::string(directory) + "/" + names.back());
    const MemoryFiles::Content whole = content;
    constexpr std::size_t steps = 3;
    content.resize(whole.size() / steps);
    LogReader reader(files, directory);
    LogBatch batch;
    for (std::size_t step = 1; step <= steps; ++step) {
        const auto end = whole.begin() + static_cast<std::ptrdiff_t>(whole.size() * step / steps);
        content.assign(whole.begin(), end);
        std::size_t batches = 0;
        while (reader.next(batch)) {
            TELEGATE_ASSERT(++batches <= bytes_of(files));
            witness.receive(batch);
        }
    }
    content = whole;
}

/// Returns the highest position that the log knows.
Position highest_position(MemoryFiles& files) {
    Position highest = 0;
    for (const SegmentRef& segment : list_segments(files, directory)) {
        const auto reader = SegmentReader::open(files, std::string(directory) + "/" + segment.name);
        highest = std::max({highest, segment.first_position, reader == nullptr ? 0 : reader->index().end_position});
    }
    return highest;
}

/// No content of a file keeps a log from being continued, and what is appended can be read. Positions that no log can
/// reach are an exception: positions after them do not fit in 64 bits.
void recover(MemoryFiles& files) {
    constexpr Position position_max = Position{1} << 61U;
    if (highest_position(files) > position_max) {
        return;
    }
    constexpr std::uint64_t samples = 3;
    constexpr std::int64_t epoch_ms = 1'700'000'000'123;
    const test::ManualClock clock;
    ChannelTable channels;
    channels.add(DeviceId{0}, "device", "channel", "");
    LogLimits limits;
    limits.age_max_ns = std::numeric_limits<std::int64_t>::max();
    {
        SampleLog log({files, channels, clock}, {directory, epoch_ms, LogId{std::byte{1}}, limits}, [](std::int64_t) {
            return LastSeqs{{"host/cpu", 100}, {"new/one", 7}};
        });
        for (std::uint64_t seq = 1; seq <= samples; ++seq) {
            TelemetrySample sample{};
            sample.seq = seq;
            log.append(std::span(&sample, 1));
        }
        log.close();
    }
    LogReader reader(files, directory);
    Witness witness(has_whole_epochs(files));
    LogBatch batch;
    std::uint64_t found = 0;
    bool is_ended = false;
    while (reader.next(batch)) {
        witness.receive(batch);
        is_ended = batch.epoch_ms == epoch_ms && batch.ends_epoch;
        found = batch.epoch_ms == epoch_ms && !batch.restarts_seqs ? found : 0;
        found += batch.epoch_ms == epoch_ms ? batch.samples.size() : 0;
    }
    TELEGATE_ASSERT(found == samples && is_ended);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    MemoryFiles files;
    split(std::as_bytes(std::span(data, size)), files);
    largest_allocation = 0;
    const Witness witness(has_whole_epochs(files));
    read_log(files, witness);
    read_segments(files);
    read_growing(files, witness);
    recover(files);
    TELEGATE_ASSERT(largest_allocation <= allocation_bytes_max);
    return 0;
}

namespace {

/// A place in the input: the header of a segment, or a record.
struct Piece {
    std::size_t at = 0;
    std::size_t head_bytes = 0;
    std::size_t bytes = 0;
    bool is_segment_head = false;
    LogId log_id{};
};

std::vector<Piece> pieces_of(Bytes bytes) {
    std::vector<Piece> pieces;
    LogId log_id{};
    for (std::size_t at = 0; at + RecordHead::bytes <= bytes.size();) {
        const Bytes rest = bytes.subspan(at);
        if (is_magic(rest) && rest.size() >= SegmentHead::bytes) {
            std::copy_n(rest.begin() + 16, log_id.size(), log_id.begin());
            pieces.push_back({at, SegmentHead::bytes, SegmentHead::bytes, true, log_id});
        } else if (const auto record = read_record_head(rest, log_id);
                   record && record->record_bytes() <= rest.size()) {
            pieces.push_back({at, record->head_bytes, record->record_bytes(), false, log_id});
        } else {
            at += 8;
            continue;
        }
        at += pieces.back().bytes;
    }
    return pieces;
}

/// Changes one piece of an input. Each function returns the bytes that replace it.
class Mutator {
  public:
    explicit Mutator(unsigned seed) : random_(seed) {}

    [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    ByteBuffer segment_head(ByteBuffer bytes) {
        SegmentHead head = read_segment_head(bytes).value_or(SegmentHead{});
        switch (below(4)) {
            case 0: head.first_position = number(head.first_position); break;
            case 1: head.epoch_ms = static_cast<std::int64_t>(number(static_cast<std::uint64_t>(head.epoch_ms))); break;
            case 2: head.begins_epoch = !head.begins_epoch; break;
            default: head.log_id[0] ^= std::byte{1}; break;
        }
        bytes.clear();
        append_segment_head(head, bytes);
        return bytes;
    }

    ByteBuffer record(const ByteBuffer& bytes, const Piece& piece) {
        const RecordHead head = read_record_head(bytes, piece.log_id).value_or(RecordHead{});
        const Bytes content = std::span(bytes).first(piece.head_bytes).subspan(RecordHead::bytes);
        const Bytes payload = std::span(bytes).subspan(piece.head_bytes);
        const Position position = below(4) == 0 ? number(head.position) : head.position;
        ByteBuffer out;
        switch (below(3) == 0 ? RecordType{0} : head.type) {
            case RecordType::channels: append_channels(channels(content), position, piece.log_id, out); break;
            case RecordType::block: block(content, payload, position, piece.log_id, out); break;
            case RecordType::stop: append_stop({}, position, piece.log_id, out); break;
            case RecordType::footer: append_footer(footer(content), position, piece.log_id, out); break;
            default: any(content, payload, head.type, position, piece.log_id, out); break;
        }
        return out;
    }

  private:
    std::uint64_t number(std::uint64_t from) {
        constexpr std::uint64_t steps = 8;
        switch (below(8)) {
            case 0: return random_();
            case 1: return std::uint64_t{1} << below(64);
            case 2: return std::numeric_limits<std::uint64_t>::max() - below(steps);
            case 3: return below(steps);
            default: return from + below(2 * steps) - steps;
        }
    }

    /// Mutates bytes as libFuzzer does for a whole input.
    ByteBuffer mutated(Bytes bytes) {
        constexpr std::size_t grows = 64;
        ByteBuffer out(bytes.begin(), bytes.end());
        out.resize(bytes.size() + grows);
        out.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(out.data()), bytes.size(), out.size()));
        return out;
    }

    /// Any bytes with a correct header.
    void any(Bytes content, Bytes payload, RecordType type, Position position, const LogId& id, ByteBuffer& out) {
        const ByteBuffer head_bytes = below(2) == 0 ? mutated(content) : ByteBuffer(content.begin(), content.end());
        append_block({head_bytes, payload}, position, id, out);
        const auto code = below(8) == 0 ? static_cast<std::uint16_t>(below(6)) : static_cast<std::uint16_t>(type);
        std::memcpy(&out[12], &code, sizeof code);
        RecordHead head = read_record_head(out, id).value_or(RecordHead{});
        const std::uint32_t checksum = crc32c(std::span(out).first(head.head_bytes).subspan(4));
        std::memcpy(out.data(), &checksum, sizeof checksum);
    }

    std::vector<SegmentChannel> channels(Bytes content) {
        std::vector<SegmentChannel> all;
        if (!read_channels(content, all) || all.empty()) {
            all.push_back({ChannelId{0}, "host", "cpu", "", 0});
        }
        change(all);
        return all;
    }

    void change(std::vector<SegmentChannel>& all) {
        SegmentChannel& channel = all[below(all.size())];
        switch (below(4)) {
            case 0: channel.last_seq = number(channel.last_seq); break;
            case 1:
                channel.id = static_cast<ChannelId>(number(to_index(channel.id)) % ChannelTable::channels_max);
                break;
            case 2: all.push_back(channel); break;
            default: all.erase(all.begin() + static_cast<std::ptrdiff_t>(below(all.size()))); break;
        }
    }

    SegmentFooter footer(Bytes content) {
        SegmentFooter all;
        if (!read_footer(content, footer_blocks_max * RecordHead::bytes, all) || all.blocks.empty() ||
            all.channels.empty() || all.definitions.empty()) {
            return all;
        }
        BlockEntry& block = all.blocks[below(all.blocks.size())];
        BlockChannel& channel = all.channels[below(all.channels.size())];
        switch (below(9)) {
            case 0: all.end_position = number(all.end_position); break;
            case 1: block.offset = number(block.offset); break;
            case 2: block.position = number(block.position); break;
            case 3: block.entries = static_cast<std::uint32_t>(number(block.entries)); break;
            case 4: all.blocks.push_back(block); break;
            case 5:
                block.utc_max_ns = static_cast<std::int64_t>(number(static_cast<std::uint64_t>(block.utc_max_ns)));
                break;
            case 6: channel.last_seq = number(channel.last_seq); break;
            case 7: all.blocks.resize(below(below(4) == 0 ? footer_blocks_max : 8), block); break;
            default: change(all.definitions); break;
        }
        return all;
    }

    /// Changes samples and gaps of a block, if it can be read.
    void block(Bytes content, Bytes payload, Position position, const LogId& id, ByteBuffer& out) {
        BlockHead head;
        std::vector<TelemetrySample> samples;
        if (!BlockDecoder::read_head(content, head) || !BlockDecoder().decode(head, payload, samples)) {
            return any(content, payload, RecordType::block, position, id, out);
        }
        for (std::uint64_t changes = 1 + below(3); changes > 0 && !samples.empty(); --changes) {
            change(samples[below(samples.size())]);
        }
        if (below(4) == 0) {
            head.gaps.push_back({static_cast<std::uint32_t>(below(samples.size() + 1)),
                                 {static_cast<ChannelId>(below(4)), number(1), number(9), GapReason::log_slow}});
        }
        for (BlockGap& gap : head.gaps) {
            if (below(4) == 0) {
                gap.gap.first_seq = number(gap.gap.first_seq);
                gap.gap.last_seq = number(gap.gap.last_seq);
            }
        }
        BlockEncoder encoder;
        for (const BlockGap& gap : head.gaps) {
            if (below(2) == 0) {
                encoder.add(gap.gap);
            }
        }
        for (const TelemetrySample& sample : samples) {
            if (below(16) != 0) {
                encoder.add(sample);
            }
        }
        BlockHead described;
        ByteBuffer new_head;
        ByteBuffer new_payload;
        encoder.encode(head.published_before, described, new_head, new_payload);
        append_block({new_head, new_payload}, position, id, out);
    }

    void change(TelemetrySample& sample) {
        switch (below(4)) {
            case 0: sample.seq = number(sample.seq); break;
            case 1: sample.channel = static_cast<ChannelId>(below(6)); break;
            case 2:
                sample.time_utc_ns = static_cast<std::int64_t>(number(static_cast<std::uint64_t>(sample.time_utc_ns)));
                break;
            default:
                sample.time_mono_ns =
                    static_cast<std::int64_t>(number(static_cast<std::uint64_t>(sample.time_mono_ns)));
                break;
        }
    }

    std::mt19937_64 random_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
    Mutator mutator(seed);
    const Bytes bytes = std::as_bytes(std::span(data, size));
    const std::vector<Piece> pieces = pieces_of(bytes);
    if (pieces.empty() || mutator.below(8) == 0) {
        return LLVMFuzzerMutate(data, size, size_max);
    }
    const Piece& piece = pieces[mutator.below(pieces.size())];
    const Piece& other = pieces[mutator.below(pieces.size())];
    const auto copy = [&](const Piece& from) {
        const Bytes part = bytes.subspan(from.at, from.bytes);
        return ByteBuffer(part.begin(), part.end());
    };
    ByteBuffer replacement;
    switch (mutator.below(8)) {
        case 0: break;                             // removed
        case 1: replacement = copy(other); break;  // replaced
        case 2: {                                  // with another one after it
            replacement = copy(piece);
            const ByteBuffer more = copy(other);
            replacement.insert(replacement.end(), more.begin(), more.end());
            break;
        }
        default:
            replacement =
                piece.is_segment_head ? mutator.segment_head(copy(piece)) : mutator.record(copy(piece), piece);
            break;
    }
    ByteBuffer out(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(piece.at));
    out.insert(out.end(), replacement.begin(), replacement.end());
    out.insert(out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(piece.at + piece.bytes), bytes.end());
    if (out.empty()) {
        return LLVMFuzzerMutate(data, size, size_max);
    }
    out.resize(std::min(out.size(), size_max));
    std::memcpy(data, out.data(), out.size());
    return out.size();
}
