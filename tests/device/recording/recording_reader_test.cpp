#include "device/recording/recording_reader.hpp"

#include "device/recording/made_recording.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using namespace telegate::recording;
using namespace telegate::test;

namespace {

std::size_t whole_records(const std::vector<std::uint64_t>& ends, std::size_t bytes) {
    return static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(), [&](auto end) { return end <= bytes; }));
}

std::vector<std::byte> copy_of(Bytes bytes) {
    return {bytes.begin(), bytes.end()};
}

class BrokenSource final : public RecordingSource {
  public:
    std::ptrdiff_t read_at(std::uint64_t, std::span<std::byte>) noexcept override { return -EIO; }
};

/// Bytes, then zeros, then other bytes; counts what is read.
class SourceWithHole final : public RecordingSource {
  public:
    SourceWithHole(Bytes before, std::uint64_t hole_bytes, Bytes after)
        : before_(before), after_at_(before.size() + hole_bytes), after_(after) {}

    std::ptrdiff_t read_at(std::uint64_t offset, std::span<std::byte> into) noexcept override {
        const std::uint64_t end = after_at_ + after_.size();
        const std::size_t count = std::min<std::uint64_t>(into.size(), end - std::min(offset, end));
        std::fill_n(into.begin(), count, std::byte{0});
        copy(before_, 0, offset, into.first(count));
        copy(after_, after_at_, offset, into.first(count));
        read_bytes += count;
        return static_cast<std::ptrdiff_t>(count);
    }

    std::uint64_t read_bytes = 0;

  private:
    static void copy(Bytes from, std::uint64_t at, std::uint64_t offset, std::span<std::byte> into) noexcept {
        const std::uint64_t begin = std::max(at, offset);
        const std::uint64_t end = std::min(at + from.size(), offset + into.size());
        if (begin < end) {
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin - at), end - begin,
                        into.begin() + static_cast<std::ptrdiff_t>(begin - offset));
        }
    }

    const Bytes before_;
    const std::uint64_t after_at_;
    const Bytes after_;
};

}  // namespace

TEST_CASE("a recording that is truncated anywhere has every whole record, and no other", "[device][recording]") {
    const MadeRecording made;
    const ReadRecording all = read_recording(made.bytes());
    for (std::size_t bytes = file_header_bytes; bytes <= made.bytes().size(); ++bytes) {
        CAPTURE(bytes);
        const ReadRecording read = read_recording(made.bytes().first(bytes));
        const std::size_t whole = whole_records(all.ends, bytes);
        CHECK(read.faults.empty());
        CHECK(read.ends.size() == whole);
        CHECK(read.torn_bytes == bytes - (whole == 0 ? file_header_bytes : all.ends[whole - 1]));
    }
}

TEST_CASE("a file that is shorter than its header is not a recording", "[device][recording]") {
    const MadeRecording made;
    for (std::size_t bytes = 0; bytes < file_header_bytes; ++bytes) {
        CHECK(read_recording(made.bytes().first(bytes)).faults ==
              std::vector<std::string>{"offset 0: not a recording"});
    }
}

TEST_CASE("a flipped bit loses only its record, and is reported", "[device][recording]") {
    const MadeRecording made;
    const ReadRecording all = read_recording(made.bytes());
    for (std::size_t bit = file_header_bytes * 8; bit < made.bytes().size() * 8; ++bit) {
        CAPTURE(bit);
        auto bytes = copy_of(made.bytes());
        bytes[bit / 8] ^= std::byte{static_cast<unsigned char>(1U << bit % 8)};
        const ReadRecording read = read_recording(bytes);
        const bool is_last = bit / 8 >= all.ends[MadeRecording::records - 2];
        CHECK(read.ends.size() == MadeRecording::records - 1);
        CHECK(read.faults.size() == (is_last ? 0 : 1));
        CHECK(read.torn_bytes + read.damaged_bytes > 0);
    }
}

TEST_CASE("damage is reported with its position", "[device][recording]") {
    const MadeRecording made;
    const ReadRecording all = read_recording(made.bytes());
    auto bytes = copy_of(made.bytes());
    bytes[all.ends[2] + 20] ^= std::byte{1};
    CHECK(read_recording(bytes).faults ==
          std::vector<std::string>{"offset " + std::to_string(all.ends[2]) + ": wrong record checksum"});
}

TEST_CASE("records removed from the middle are detected as missing", "[device][recording]") {
    const MadeRecording made;
    const ReadRecording all = read_recording(made.bytes());
    auto bytes = copy_of(made.bytes());
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(all.ends[2]),
                bytes.begin() + static_cast<std::ptrdiff_t>(all.ends[3]));
    const ReadRecording read = read_recording(bytes);
    CHECK(read.faults == std::vector<std::string>{"offset " + std::to_string(all.ends[2]) + ": missing records"});
    CHECK(read.ends.size() == MadeRecording::records - 1);
}

TEST_CASE("a file of the wrong type or version is refused", "[device][recording]") {
    auto bytes = copy_of(MadeRecording().bytes());
    SECTION("another type") {
        bytes[0] = std::byte{'X'};
        CHECK(read_recording(bytes).faults.at(0) == "offset 0: not a recording");
    }
    SECTION("another version without a valid checksum") {
        bytes[8] = std::byte{2};
        CHECK(read_recording(bytes).faults.at(0) == "offset 0: damaged file header");
    }
}

TEST_CASE("a disk error is reported with the text of the system", "[device][recording]") {
    BrokenSource source;
    CHECK(ReadRecording(source).faults.at(0) == "offset 0: Input/output error");
}

TEST_CASE("a search after damage ends for any content", "[device][recording]") {
    // Every eight bytes look like the header of a record of 64 KiB.
    std::vector<std::byte> bytes = copy_of(MadeRecording().bytes());
    const std::size_t before = bytes.size();
    bytes.resize(before + 4'000'000);
    for (std::size_t at = before; at + 8 <= bytes.size(); at += 8) {
        bytes[at + 6] = std::byte{1};
    }
    const ReadRecording read = read_recording(bytes);
    CHECK(read.ends.size() == MadeRecording::records);
    CHECK(read.torn_bytes == bytes.size() - before);
}

TEST_CASE("a search takes a limited part of the file per call", "[device][recording]") {
    using Step = RecordingReader::Step;
    constexpr std::uint64_t hole_bytes = 5 * RecordingReader::search_step_bytes;
    const MadeRecording made;
    SourceWithHole source(made.bytes(), hole_bytes, {});
    RecordingReader reader(source);
    std::size_t searching = 0;
    for (Step step = Step::record; step != Step::end;) {
        const std::uint64_t before = source.read_bytes;
        step = reader.next();
        searching += step == Step::searching ? 1 : 0;
        CHECK(source.read_bytes - before <= RecordingReader::search_step_bytes + 2 * RecordingReader::buffer_bytes);
    }
    CHECK(searching >= 4);
    CHECK(reader.torn_bytes() == hole_bytes);
    CHECK(reader.offset() == made.bytes().size());
}

TEST_CASE("a record far after damage is found", "[device][recording]") {
    constexpr std::uint64_t hole_bytes = 2 * RecordingReader::search_step_bytes;
    const MadeRecording made;
    const ReadRecording all = read_recording(made.bytes());
    const std::uint64_t cut = all.ends[2];
    SourceWithHole source(made.bytes().first(cut), hole_bytes, made.bytes().subspan(cut));
    const ReadRecording read(source);
    CHECK(read.searching > 0);
    CHECK(read.faults.size() == 1);
    CHECK(read.ends.size() == MadeRecording::records);
    CHECK(read.damaged_bytes == hole_bytes);
    CHECK(read.torn_bytes == 0);
}
