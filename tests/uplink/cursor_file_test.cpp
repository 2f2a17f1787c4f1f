#include "uplink/cursor_file.hpp"

#include "store/simulated_disk.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <system_error>

namespace telegate::uplink {
namespace {

constexpr store::LogId log_id{std::byte{7}};

Cursor at(store::Position position) {
    return {log_id, position};
}

}  // namespace

TEST_CASE("a cursor file that does not exist has no cursor", "[uplink][cursor]") {
    store::SimulatedDisk disk(1);
    CHECK_FALSE(CursorFile(disk, "/log", "cloud").read());
}

TEST_CASE("the last cursor written is read", "[uplink][cursor]") {
    store::SimulatedDisk disk(1);
    CursorFile file(disk, "/log", "cloud");
    for (store::Position position = 1; position < 10; ++position) {
        file.write(at(position));
        CHECK(CursorFile(disk, "/log", "cloud").read() == at(position));
    }
}

TEST_CASE("a cursor has the ranges of the backlog, and what is known of the back end", "[uplink][cursor]") {
    store::SimulatedDisk disk(1);
    Cursor cursor = at(1'000);
    cursor.resend_from = 900;
    cursor.last_place = 77;
    cursor.stream = 5;
    cursor.encoding = 6;
    cursor.encoded_from = 7;
    for (store::Position i = 0; i < Cursor::backlog_max; ++i) {
        cursor.backlog.push_back({10 * i, 10 * i + 5});
        CursorFile file(disk, "/log", "cloud");
        (void)file.read();
        file.write(cursor);
        CHECK(CursorFile(disk, "/log", "cloud").read() == cursor);
    }
}

TEST_CASE("damage to one slot leaves the other one", "[uplink][cursor]") {
    for (std::size_t slot = 0; slot < 2; ++slot) {
        store::SimulatedDisk disk(1);
        CursorFile file(disk, "/log", "cloud");
        file.write(at(10));
        file.write(at(20));
        for (std::size_t byte = 0; byte < 604; ++byte) {
            std::byte& damaged = disk.content("/log/cloud.cursor")[slot * CursorFile::slot_bytes + byte];
            damaged ^= std::byte{0x10};
            // The first cursor is in the second slot.
            CHECK(CursorFile(disk, "/log", "cloud").read() == at(slot == 0 ? 10 : 20));
            damaged ^= std::byte{0x10};
        }
    }
}

TEST_CASE("a file with nothing but damage has no cursor", "[uplink][cursor]") {
    store::SimulatedDisk disk(1);
    CursorFile(disk, "/log", "cloud").write(at(10));
    std::vector<std::byte>& content = disk.content("/log/cloud.cursor");
    std::fill(content.begin(), content.end(), std::byte{0xFF});
    CHECK_FALSE(CursorFile(disk, "/log", "cloud").read());
    CursorFile file(disk, "/log", "cloud");
    CHECK_FALSE(file.read());
    CHECK(file.is_damaged());
    content.clear();
    CHECK_FALSE(file.read());
    CHECK_FALSE(file.is_damaged());  // the power has failed while it was created
}

TEST_CASE("a cursor whose positions contradict each other is not used", "[uplink][cursor]") {
    store::SimulatedDisk disk(1);
    CursorFile file(disk, "/log", "cloud");
    file.write(at(10));
    Cursor cursor = at(100);
    cursor.backlog = GENERATE(as<std::vector<BacklogRange>>(), std::vector<BacklogRange>{{20, 10}},
                              std::vector<BacklogRange>{{50, 60}, {10, 20}}, std::vector<BacklogRange>{{50, 101}});
    file.write(cursor);
    CHECK(CursorFile(disk, "/log", "cloud").read() == at(10));
}

TEST_CASE("a power failure at any call leaves a cursor that was written, and none older than the last completed one",
          "[uplink][cursor]") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (std::uint64_t crash = 1; crash < 30; ++crash) {
            CAPTURE(seed, crash);
            store::SimulatedDisk disk(seed);
            store::Position completed = 0;
            store::Position begun = 0;
            for (int run = 0; run < 3; ++run) {
                try {
                    disk.crash_at(crash);
                    CursorFile file(disk, "/log", "cloud");
                    begun = std::max(begun, completed);
                    const auto found = file.read();
                    REQUIRE(found.value_or(at(0)).position >= completed);
                    REQUIRE(found.value_or(at(0)).position <= begun);
                    for (int i = 0; i < 6; ++i) {
                        file.write(at(++begun));
                        completed = begun;
                    }
                    disk.clear_faults();
                } catch (const store::PowerFailure&) {
                    disk.clear_faults();
                }
            }
            const auto found = CursorFile(disk, "/log", "cloud").read();
            REQUIRE(found.value_or(at(0)).position >= completed);
            REQUIRE(found.value_or(at(0)).position <= begun);
        }
    }
}

TEST_CASE("a cursor can be written again after a failure", "[uplink][cursor]") {
    for (std::uint64_t call = 1; call < 8; ++call) {
        CAPTURE(call);
        store::SimulatedDisk disk(call);
        CursorFile file(disk, "/log", "cloud");
        file.write(at(1));
        file.write(at(2));
        disk.fail_at(call, std::errc::no_space_on_device);
        try {
            file.write(at(3));
        } catch (const std::system_error&) {
            disk.clear_faults();
            CHECK(CursorFile(disk, "/log", "cloud").read().value_or(at(0)).position >= 2);
        }
        disk.clear_faults();
        file.write(at(4));
        CHECK(CursorFile(disk, "/log", "cloud").read() == at(4));
    }
}

}  // namespace telegate::uplink
