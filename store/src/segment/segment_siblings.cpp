#include "segment/segment_siblings.hpp"

#include "store/published_mark.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <span>
#include <utility>

namespace telegate::store {
namespace {

using HeadBytes = std::array<std::byte, SegmentHead::bytes>;

constexpr std::size_t version_offset = 8;
constexpr std::size_t start_checksum_offset = 12;
constexpr std::size_t log_id_offset = 16;
constexpr std::size_t epoch_offset = 40;
constexpr std::size_t utc_offset = 48;
constexpr std::size_t flags_offset = 64;
constexpr std::int64_t ns_per_ms = 1'000'000;
/// The first segment of an epoch is created at most this long after its start, unless the disk could not be written.
constexpr std::int64_t start_ms_max = 60'000;
/// Segments of the epoch on each side that are read for names. One is enough unless they are damaged as well.
constexpr std::size_t siblings_max = 2;

std::string directory_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

std::string_view name_of(const std::string& path) {
    return std::string_view(path).substr(path.rfind('/') + 1);
}

/// Whether the header is intact as far as all versions have it, and of another version.
bool is_of_other_version(const HeadBytes& bytes) {
    return load_little_endian<std::uint32_t>(&bytes[version_offset]) != segment_version &&
           load_little_endian<std::uint32_t>(&bytes[start_checksum_offset]) ==
               crc32c(std::span(bytes).first(start_checksum_offset));
}

/// Returns the header of which `bytes` differ in one bit. The checksum makes sure of that.
std::optional<SegmentHead> without_flipped_bit(HeadBytes bytes, Position position) {
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        const auto mask = static_cast<std::byte>(1U << bit % 8);
        bytes[bit / 8] ^= mask;
        const auto head = read_segment_head(bytes);
        if (head && head->first_position == position) {
            return head;
        }
        bytes[bit / 8] ^= mask;
    }
    return std::nullopt;
}

/// The headers of the segments next to one, and of the last mark of its epoch or an earlier one, if there is one.
struct Neighbors {
    std::optional<SegmentHead> before;
    std::optional<SegmentHead> after;
    std::optional<SegmentHead> mark;
};

Neighbors neighbors_of(FileSystem& files, const std::string& path, Position position) {
    const std::string directory = directory_of(path);
    const std::vector<SegmentRef> segments = list_segments(files, directory);
    Neighbors found;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (segments[i].first_position != position) {
            continue;
        }
        const auto head = [&](std::size_t index) {
            return SegmentReader::head_alone(files, directory + "/" + segments[index].name);
        };
        found.before = i > 0 ? head(i - 1) : std::nullopt;
        found.after = i + 1 < segments.size() ? head(i + 1) : std::nullopt;
    }
    found.mark = PublishedMark::head(files, directory, position);
    if (!found.mark) {
        found.mark = PublishedMark::head(files, directory);  // it has the identity of the log
    }
    return found;
}

/// Returns the epoch that the damaged header has, if its time of creation, which is another field, agrees.
std::optional<std::int64_t> own_epoch(const HeadBytes& bytes) {
    const auto epoch_ms = load_little_endian<std::int64_t>(&bytes[epoch_offset]);
    const auto utc_ms = load_little_endian<std::int64_t>(&bytes[utc_offset]) / ns_per_ms;
    const bool is_plausible = epoch_ms > 0 && epoch_ms <= epoch_ms_max && utc_ms <= epoch_ms_max &&
                              std::abs(utc_ms - epoch_ms) <= start_ms_max;
    return is_plausible ? std::optional(epoch_ms) : std::nullopt;
}

/// Returns the epoch of a segment at this position.
std::optional<std::int64_t> epoch_of(const SegmentHead& head, const Neighbors& neighbors, const HeadBytes& bytes) {
    const auto& [before, after, mark] = neighbors;
    if (!head.begins_epoch && before) {
        return before->epoch_ms;
    }
    if (after && !after->begins_epoch) {
        return after->epoch_ms;
    }
    if (mark && (head.begins_epoch ? mark->first_position == head.first_position
                                   : mark->first_position <= head.first_position)) {
        return mark->epoch_ms;  // its position is where the last epoch begins
    }
    return own_epoch(bytes);
}

}  // namespace

std::optional<SegmentHead> rebuilt_head(FileSystem& files, const std::string& path, const File& file) {
    const auto position = parse_segment_name(name_of(path));
    HeadBytes bytes{};
    if (!position || file.read(0, bytes) != bytes.size() || is_of_other_version(bytes)) {
        return std::nullopt;
    }
    if (const auto head = without_flipped_bit(bytes, *position)) {
        return head;
    }
    const Neighbors neighbors = neighbors_of(files, path, *position);
    SegmentHead head;
    std::copy_n(bytes.begin() + log_id_offset, head.log_id.size(), head.log_id.begin());
    for (const auto& each : {neighbors.mark, neighbors.after, neighbors.before}) {
        head.log_id = each ? each->log_id : head.log_id;
    }
    head.first_position = *position;
    const auto reader = SegmentReader::open_as(files, path, head);
    if (reader == nullptr || reader->end_offset() == SegmentHead::bytes) {
        return std::nullopt;  // no record of this log
    }
    const auto first = reader->first_record();
    // Other bits of the flags than that of the clock are 0, unless the flags are damaged as well.
    constexpr std::byte clock_flag{2};
    head.begins_epoch = first ? *first > *position : (bytes[flags_offset] & ~clock_flag) == std::byte{1};
    const auto epoch_ms = epoch_of(head, neighbors, bytes);
    if (!epoch_ms) {
        return std::nullopt;
    }
    head.epoch_ms = *epoch_ms;
    const std::int64_t oldest_ns = reader->index().utc_range_ns().first;
    head.utc_ns = oldest_ns == 0 ? *epoch_ms * ns_per_ms : oldest_ns;
    return head;
}

std::vector<SegmentChannel> names_in_siblings(FileSystem& files, const std::string& path, const SegmentHead& head) {
    std::map<ChannelId, SegmentChannel> names;
    std::map<ChannelId, bool> is_ambiguous;
    const auto add = [&](const SegmentReader& sibling) {
        if (sibling.head().log_id != head.log_id || sibling.head().epoch_ms != head.epoch_ms) {
            return false;
        }
        for (const SegmentChannel& channel : sibling.index().definitions) {
            const auto [known, is_new] = names.emplace(channel.id, channel);
            is_ambiguous[channel.id] |= !is_new && known->second.topic() != channel.topic();
        }
        return true;
    };
    const std::string directory = directory_of(path);
    const std::vector<SegmentRef> segments = list_segments(files, directory);
    const auto self = std::find_if(segments.begin(), segments.end(),
                                   [&](const SegmentRef& each) { return each.first_position == head.first_position; });
    const auto add_nearest = [&](auto next, const auto& end) {
        for (std::size_t count = 0; next != end && count < siblings_max; ++next, ++count) {
            const auto sibling = SegmentReader::open_alone(files, directory + "/" + next->name);
            if (sibling != nullptr && !add(*sibling)) {
                return;
            }
        }
    };
    if (self != segments.end()) {
        add_nearest(self + 1, segments.end());
        add_nearest(std::reverse_iterator(self), segments.rend());
    }
    PublishedMark::for_each(files, directory, [&](const SegmentReader& mark) { static_cast<void>(add(mark)); });
    std::vector<SegmentChannel> found;
    for (auto& [id, channel] : names) {
        if (!is_ambiguous[id]) {
            found.push_back(std::move(channel));
        }
    }
    return found;
}

}  // namespace telegate::store
