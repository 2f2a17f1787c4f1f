#include "uplink/cursor_file.hpp"

#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

// Magic, number, log id, position, position to resend from, last place, whether it is paused (4 bytes), number of
// ranges of the backlog (4 bytes), begin and end of each range, stream, encoding, position of the encoding, checksum of
// all before it. The older form has neither the stream nor what follows it.
constexpr std::uint64_t slot_magic = 0x3330'4355'4C50'4754;        // "TGPLUC03"
constexpr std::uint64_t older_slot_magic = 0x3230'4355'4C50'4754;  // "TGPLUC02"
constexpr std::size_t number_at = 8;
constexpr std::size_t log_id_at = 16;
constexpr std::size_t position_at = 32;
constexpr std::size_t resend_from_at = 40;
constexpr std::size_t last_place_at = 48;
constexpr std::size_t paused_at = 56;
constexpr std::size_t ranges_at = 60;
constexpr std::size_t backlog_at = 64;
constexpr std::size_t range_bytes = 16;
constexpr std::size_t stream_at = backlog_at + Cursor::backlog_max * range_bytes;
constexpr std::size_t older_checksum_at = stream_at;
constexpr std::size_t encoding_at = stream_at + 8;
constexpr std::size_t encoded_from_at = encoding_at + 8;
constexpr std::size_t checksum_at = encoded_from_at + 8;
constexpr std::size_t content_bytes = checksum_at + sizeof(std::uint32_t);
static_assert(content_bytes <= CursorFile::slot_bytes);
using Slot = std::array<std::byte, content_bytes>;

struct NumberedCursor {
    std::uint64_t number = 0;
    Cursor cursor;
};

Slot to_slot(const NumberedCursor& from) {
    Slot slot{};
    store_little_endian(slot.data(), slot_magic);
    store_little_endian(slot.data() + number_at, from.number);
    std::copy(from.cursor.log_id.begin(), from.cursor.log_id.end(), slot.begin() + log_id_at);
    store_little_endian(slot.data() + position_at, from.cursor.position);
    store_little_endian(slot.data() + resend_from_at, from.cursor.resend_from);
    store_little_endian(slot.data() + last_place_at, from.cursor.last_place);
    store_little_endian(slot.data() + paused_at, std::uint32_t{from.cursor.is_paused});
    store_little_endian(slot.data() + ranges_at, static_cast<std::uint32_t>(from.cursor.backlog.size()));
    std::byte* range = slot.data() + backlog_at;
    for (const BacklogRange& each : from.cursor.backlog) {
        store_little_endian(range, each.begin);
        store_little_endian(range + sizeof each.begin, each.end);
        range += range_bytes;
    }
    store_little_endian(slot.data() + stream_at, from.cursor.stream);
    store_little_endian(slot.data() + encoding_at, from.cursor.encoding);
    store_little_endian(slot.data() + encoded_from_at, from.cursor.encoded_from);
    store_little_endian(slot.data() + checksum_at, crc32c(std::span(slot).first(checksum_at)));
    return slot;
}

std::optional<NumberedCursor> from_slot(const Slot& slot) {
    const auto magic = load_little_endian<std::uint64_t>(slot.data());
    const std::size_t end = magic == older_slot_magic ? older_checksum_at : checksum_at;
    if ((magic != slot_magic && magic != older_slot_magic) ||
        load_little_endian<std::uint32_t>(slot.data() + end) != crc32c(std::span(slot).first(end))) {
        return std::nullopt;
    }
    NumberedCursor to;
    to.number = load_little_endian<std::uint64_t>(slot.data() + number_at);
    std::copy_n(slot.begin() + log_id_at, to.cursor.log_id.size(), to.cursor.log_id.begin());
    to.cursor.position = load_little_endian<store::Position>(slot.data() + position_at);
    to.cursor.resend_from = load_little_endian<store::Position>(slot.data() + resend_from_at);
    to.cursor.last_place = load_little_endian<Place>(slot.data() + last_place_at);
    to.cursor.is_paused = load_little_endian<std::uint32_t>(slot.data() + paused_at) != 0;
    const auto ranges = load_little_endian<std::uint32_t>(slot.data() + ranges_at);
    for (std::size_t i = 0; i < std::min<std::size_t>(ranges, Cursor::backlog_max); ++i) {
        const std::byte* const range = slot.data() + backlog_at + i * range_bytes;
        to.cursor.backlog.push_back({load_little_endian<store::Position>(range),
                                     load_little_endian<store::Position>(range + sizeof(store::Position))});
    }
    if (magic == slot_magic) {
        to.cursor.stream = load_little_endian<std::uint64_t>(slot.data() + stream_at);
        to.cursor.encoding = load_little_endian<std::uint64_t>(slot.data() + encoding_at);
        to.cursor.encoded_from = load_little_endian<store::Position>(slot.data() + encoded_from_at);
    }
    return to.cursor.is_consistent() ? std::optional(to) : std::nullopt;
}

}  // namespace

bool Cursor::is_consistent() const noexcept {
    store::Position last = 0;
    for (const BacklogRange& range : backlog) {
        if (range.begin < last || range.end < range.begin || range.end > position) {
            return false;
        }
        last = range.end;
    }
    return true;
}

void Cursor::move_back(store::Position target, bool as_backlog) {
    std::erase_if(backlog, [&](const BacklogRange& range) { return range.begin >= target; });
    if (!backlog.empty()) {
        backlog.back().end = std::min(backlog.back().end, target);
    }
    if (as_backlog && backlog.size() < backlog_max && target < position) {
        backlog.push_back({target, position});
    } else {
        position = target;
    }
}

CursorFile::CursorFile(store::FileSystem& files, std::string directory, std::string_view uplink)
    : files_(files), directory_(std::move(directory)), path_(directory_ + "/" + std::string(uplink) + ".cursor") {}

std::optional<Cursor> CursorFile::read() {
    std::unique_ptr<store::File> file;
    try {
        file = files_.open(path_, store::FileSystem::Mode::read);
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::no_such_file_or_directory) {
            return std::nullopt;
        }
        throw;
    }
    std::optional<NumberedCursor> newest;
    bool has_content = false;  // the first cursor is in the second slot, and may not have been written completely
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{slot_bytes}}) {
        Slot slot{};
        (void)file->read(at, slot);  // a truncated slot has a wrong checksum
        const auto found = from_slot(slot);
        has_content = has_content || (at == 0 && std::any_of(slot.begin(), slot.end(),
                                                             [](std::byte each) { return each != std::byte{}; }));
        if (found && (!newest || found->number > newest->number)) {
            newest = found;
        }
    }
    number_ = newest ? newest->number : 0;
    is_damaged_ = !newest && has_content;
    is_blank_ = !newest && !has_content;
    return newest ? std::optional(newest->cursor) : std::nullopt;
}

void CursorFile::open_or_create() {
    try {
        auto file = files_.open(path_, store::FileSystem::Mode::write);
        file->sync();  // the newer slot may not be on the disk yet, and the next write replaces the older one
        file_ = std::move(file);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::no_such_file_or_directory) {
            throw;
        }
        file_ = files_.open(path_, store::FileSystem::Mode::create);
        files_.sync_directory(directory_);
    }
}

void CursorFile::write(const Cursor& cursor) {
    if (file_ == nullptr) {
        open_or_create();
    }
    const Slot slot = to_slot({number_ + 1, cursor});
    try {
        file_->write((number_ + 1) % 2 * slot_bytes, slot);
        file_->sync();
    } catch (const std::system_error&) {
        file_.reset();  // a failed sync says nothing about the slot, so the next write uses it again
        throw;
    }
    ++number_;
}

}  // namespace telegate::uplink
