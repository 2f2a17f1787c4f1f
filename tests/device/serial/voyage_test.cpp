#include "serial_fixture.hpp"
#include "support/catch.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

namespace telegate {
namespace {

using test::Pty;
using test::serial_options;
using test::SerialFixture;

/// Eight seconds of a boat with a GPS receiver, a compass, a sounder and a wind vane. Five lines are invalid: a wrong
/// checksum, a truncated line, a line without its start, a depth that is not a number, a latitude beyond the pole.
std::string voyage() {
    std::ifstream file(TELEGATE_SOURCE_DIR "/tests/device/serial/voyage.nmea", std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns all samples of a driver when the device sends the text in parts.
std::string reported_by(std::string_view bytes, std::size_t part_bytes) {
    constexpr std::size_t unread_max = 512;  // well below the buffer size of a terminal
    Pty pty;
    SerialFixture f(serial_options(pty.path(), LineFormat{.kind = LineFormat::Kind::nmea}));
    CHECK(f.open() == ReadResult::Status::interrupted);
    std::size_t unread = 0;
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
        pty.say(bytes.substr(at, part_bytes));
        unread += part_bytes;
        if (unread > unread_max) {
            CHECK(f.read() == ReadResult::Status::ok);
            unread = 0;
        }
    }
    CHECK(f.reports("mwv.relative.angle=42"));
    return f.last_report();
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

/// Counter samples may appear between the samples, depending on where a read ended.
std::string without_ledger(const std::string& told) {
    std::istringstream words(told);
    std::string kept;
    for (std::string word; words >> word;) {
        kept += word.starts_with("lines.refused=") ? "" : word + ' ';
    }
    return kept;
}

TEST_CASE("a voyage is read line by line, and its invalid lines are counted", "[device][serial][nmea]") {
    const std::string told = reported_by(voyage(), 512);
    CHECK(count_of(told, "gga.latitude=54.3") == 8);
    CHECK(count_of(told, "rmc.speed=3.") == 8);
    CHECK(count_of(told, "hdt.heading=") == 8);
    CHECK(count_of(told, "dbt.depth=") == 9);
    CHECK(count_of(told, "mwv.true.speed=") == 4);
    CHECK(count_of(told, "mwv.relative.speed=") == 4);
    CHECK(count_of(told, "gsv.gp.in_view=10") == 1);
    CHECK(count_of(told, "gsv.gl.in_view=4") == 1);
    CHECK(count_of(told, "zda.date=2026-06-15") == 1);
    CHECK(count_of(told, "lines.refused=3") == 1);
    CHECK(count_of(told, "lines.refused=4") == 0);
}

TEST_CASE("a voyage that arrives byte by byte gives the same samples as all at once", "[device][serial][nmea]") {
    CHECK(without_ledger(reported_by(voyage(), 1)) == without_ledger(reported_by(voyage(), 512)));
}

}  // namespace
}  // namespace telegate
