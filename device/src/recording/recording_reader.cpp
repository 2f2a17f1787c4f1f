#include "device/recording/recording_reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

namespace telegate::recording {
namespace {

/// A record found after damage cannot be far from the last one. A record takes at least 16 bytes, so this is some eight
/// gigabytes of them.
constexpr std::uint32_t numbers_lost_max = 1U << 29U;

}  // namespace

std::ptrdiff_t FileSource::read_at(std::uint64_t offset, std::span<std::byte> into) noexcept {
    std::size_t filled = 0;
    while (filled < into.size()) {
        const ssize_t count =
            ::pread(descriptor_, into.data() + filled, into.size() - filled, static_cast<off_t>(offset + filled));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return -errno;
        }
        if (count == 0) {
            break;
        }
        filled += static_cast<std::size_t>(count);
    }
    return static_cast<std::ptrdiff_t>(filled);
}

RecordingReader::RecordingReader(RecordingSource& source)
    : source_(source), buffer_(std::make_unique<std::byte[]>(buffer_bytes)) {
    constexpr std::size_t fault_bytes = 160;
    fault_.reserve(fault_bytes);
}

RecordingReader::Step RecordingReader::next() noexcept {
    if (failed_) {
        return Step::failed;
    }
    if (ended_) {
        return Step::end;
    }
    if (!begun_) {
        if (const Step step = begin(); step != Step::record) {
            return step;
        }
    }
    if (search_.at != 0) {
        return search();
    }
    const Parsed parsed = parse_at(offset_);
    if (error_ != 0) {
        return fail(std::generic_category().message(error_), offset_);
    }
    if (parsed.status == ParseStatus::need_more) {
        if (bytes_at(offset_, 1).empty()) {
            ended_ = true;
            return Step::end;
        }
        return search_behind("truncated record");
    }
    if (parsed.status == ParseStatus::damaged) {
        return search_behind(parsed.what);
    }
    if (parsed.number != number_) {
        return pass_damage(parsed.number > number_ ? "missing records" : "duplicate record");
    }
    record_ = parsed.record;
    offset_ += parsed.bytes;
    ++number_;
    return Step::record;
}

RecordingReader::Step RecordingReader::begin() noexcept {
    const std::string_view what = file_header_fault(bytes_at(0, file_header_bytes));
    if (error_ != 0) {
        return fail(std::generic_category().message(error_), 0);
    }
    if (!what.empty()) {
        return fail(what, 0);
    }
    begun_ = true;
    offset_ = file_header_bytes;
    return Step::record;
}

/// Handles a whole record with an unexpected number: reports it, and then reads it.
RecordingReader::Step RecordingReader::pass_damage(std::string_view what) noexcept {
    say(what, offset_);
    number_ = parse_at(offset_).number;
    return Step::damaged;
}

/// Searches for the next whole record after the damaged one at offset_.
RecordingReader::Step RecordingReader::search_behind(std::string_view what) noexcept {
    search_ = {what, offset_ + alignment};
    return search();
}

RecordingReader::Step RecordingReader::search() noexcept {
    std::uint64_t& at = search_.at;
    const std::uint64_t until = at + search_step_bytes;
    const std::uint64_t sum_until = search_.summed_up + search_step_bytes;
    for (; !search_.is_in_vain; at += alignment) {
        if (at > until || search_.summed_up > sum_until) {
            return Step::searching;
        }
        const Bytes head = bytes_at(at, record_header_bytes);
        if (error_ != 0) {
            return fail(std::generic_category().message(error_), at);
        }
        if (head.size() < record_header_bytes || search_.summed_up > search_bytes_max) {
            search_.is_in_vain = true;
            break;
        }
        const Parsed parsed = parse_at(at);
        if (parsed.status == ParseStatus::record && parsed.number - number_ < numbers_lost_max) {
            say(search_.what, offset_);
            damaged_bytes_ += at - offset_;
            offset_ = at;
            number_ = parsed.number;
            search_ = {};
            return Step::damaged;
        }
        search_.summed_up += parsed.bytes_summed;
    }
    return find_end(until);
}

/// Counts the rest of the file as truncated.
RecordingReader::Step RecordingReader::find_end(std::uint64_t until) noexcept {
    while (!bytes_at(search_.at, 1).empty()) {
        if (search_.at > until) {
            return Step::searching;
        }
        search_.at = buffer_at_ + buffer_filled_;
    }
    if (error_ != 0) {
        return fail(std::generic_category().message(error_), search_.at);
    }
    ended_ = true;
    torn_bytes_ = buffer_at_ + buffer_filled_ - offset_;
    return Step::end;
}

Parsed RecordingReader::parse_at(std::uint64_t offset) noexcept {
    Parsed parsed = parse_record(bytes_at(offset, record_header_bytes));
    if (parsed.status == ParseStatus::need_more && parsed.bytes > record_header_bytes) {
        parsed = parse_record(bytes_at(offset, parsed.bytes));
    }
    return parsed;
}

/// Returns up to `count` bytes, fewer at the end of the file.
Bytes RecordingReader::bytes_at(std::uint64_t offset, std::size_t count) noexcept {
    const bool is_there = offset >= buffer_at_ && offset + count <= buffer_at_ + buffer_filled_;
    if (!is_there && !(buffer_ends_ && offset >= buffer_at_)) {
        const std::ptrdiff_t filled = source_.read_at(offset, {buffer_.get(), buffer_bytes});
        error_ = filled < 0 ? static_cast<int>(-filled) : 0;
        buffer_at_ = offset;
        buffer_filled_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(filled, 0));
        buffer_ends_ = buffer_filled_ < buffer_bytes;
    }
    const std::size_t from = std::min<std::uint64_t>(offset - buffer_at_, buffer_filled_);
    return {buffer_.get() + from, std::min(count, buffer_filled_ - from)};
}

RecordingReader::Step RecordingReader::fail(std::string_view what, std::uint64_t offset) noexcept {
    failed_ = true;
    say(what, offset);
    return Step::failed;
}

void RecordingReader::say(std::string_view what, std::uint64_t offset) noexcept {
    try {
        fault_.assign("offset ").append(std::to_string(offset)).append(": ").append(what);
    } catch (...) {  // out of memory: an empty text is better than a wrong one
        fault_.clear();
    }
}

}  // namespace telegate::recording
