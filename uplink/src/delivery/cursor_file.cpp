#include "uplink/cursor_file.hpp"

#include "core/crc32c.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

// Magic, number, log id, position, whether it is paused (4 bytes), checksum of all before it.
constexpr std::uint64_t slot_magic = 0x3130'4355'4C50'4754;  // "TGPLUC01"
constexpr std::size_t number_at = 8;
constexpr std::size_t log_id_at = 16;
constexpr std::size_t position_at = 32;
constexpr std::size_t paused_at = 40;
constexpr std::size_t checksum_at = 44;
constexpr std::size_t content_bytes = 48;
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
    store_little_endian(slot.data() + paused_at, std::uint32_t{from.cursor.is_paused});
    store_little_endian(slot.data() + checksum_at, crc32c(std::span(slot).first(checksum_at)));
    return slot;
}

std::optional<NumberedCursor> from_slot(const Slot& slot) {
    if (load_little_endian<std::uint64_t>(slot.data()) != slot_magic ||
        load_little_endian<std::uint32_t>(slot.data() + checksum_at) != crc32c(std::span(slot).first(checksum_at))) {
        return std::nullopt;
    }
    NumberedCursor to;
    to.number = load_little_endian<std::uint64_t>(slot.data() + number_at);
    std::copy_n(slot.begin() + log_id_at, to.cursor.log_id.size(), to.cursor.log_id.begin());
    to.cursor.position = load_little_endian<store::Position>(slot.data() + position_at);
    to.cursor.is_paused = load_little_endian<std::uint32_t>(slot.data() + paused_at) != 0;
    return to;
}

}  // namespace

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
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{slot_bytes}}) {
        Slot slot{};
        const std::size_t bytes = file->read(at, slot);
        const auto found = bytes == slot.size() ? from_slot(slot) : std::nullopt;
        if (found && (!newest || found->number > newest->number)) {
            newest = found;
        }
    }
    number_ = newest ? newest->number : 0;
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
