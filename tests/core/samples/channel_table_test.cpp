#include "core/channel_table.hpp"

#include "support/catch.hpp"

#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace telegate;

namespace {

constexpr DeviceId host{0};

std::string name_of(std::size_t index) {
    return "c" + std::to_string(index);
}

}  // namespace

TEST_CASE("a channel keeps the names and the unit it was added with", "[core][channel]") {
    ChannelTable table;
    const auto id = table.add(DeviceId{3}, "boiler", "temp", "Cel");
    REQUIRE(id);
    const ChannelInfo& info = table.at(*id);
    CHECK(info.device_id == DeviceId{3});
    CHECK(info.device == "boiler");
    CHECK(info.channel == "temp");
    CHECK(info.unit == "Cel");
    CHECK(info.topic == "boiler/temp");
}

TEST_CASE("ids count from zero in the order of adding", "[core][channel]") {
    ChannelTable table;
    for (std::uint32_t index = 0; index < 300; ++index) {
        CHECK(table.add(host, "host", name_of(index), "") == ChannelId{index});
    }
    CHECK(table.size() == 300);
    CHECK(table.at(ChannelId{299}).channel == "c299");
}

TEST_CASE("a known pair keeps its id and its first unit", "[core][channel]") {
    ChannelTable table;
    const auto first = table.add(host, "host", "load", "1");
    CHECK(table.add(host, "host", "load", "%") == first);
    CHECK(table.size() == 1);
    CHECK(table.at(*first).unit == "1");
}

TEST_CASE("entries stay where they are while the table grows", "[core][channel]") {
    ChannelTable table;
    const ChannelInfo& first = table.at(*table.add(host, "host", "first", ""));
    for (std::size_t index = 0; index < 2'000; ++index) {
        CHECK(table.add(host, "host", name_of(index), ""));
    }
    CHECK(&table.at(ChannelId{0}) == &first);
    CHECK(first.topic == "host/first");
}

namespace {

struct CountedRoom final : ChannelTable::Room {
    void make_room(ChannelId channel, const ChannelInfo& /*info*/) override { made.push_back(channel); }
    std::vector<ChannelId> made;
};

}  // namespace

TEST_CASE("a name that is not a part of a topic is refused and counted", "[core][channel]") {
    ChannelTable table;
    const std::string name = GENERATE(as<std::string>(), "", "a/b", "UPPER", "a b", "caf\xC3\xA9", std::string(65, 'a'),
                                      std::string(1, '\0'));
    CHECK_FALSE(table.add(host, "host", name, ""));
    CHECK_FALSE(table.add(host, name, "channel", ""));
    CHECK(table.refused() == 2);
    CHECK(table.size() == 0);
}

TEST_CASE("a room that is added later gets the existing channels", "[core][channel]") {
    ChannelTable table;
    const auto first = table.add(host, "host", "first", "");
    CountedRoom room;
    table.add_room(room);
    CHECK(room.made == std::vector{first.value()});
    table.remove_room(room);
}

TEST_CASE("a full table refuses new channels, counts them and still knows the old ones", "[core][channel]") {
    ChannelTable table;
    std::size_t added = 0;
    for (std::size_t index = 0; index < ChannelTable::channels_max; ++index) {
        added += table.add(host, "host", name_of(index), "").has_value() ? 1U : 0U;
    }
    CHECK(added == ChannelTable::channels_max);
    CHECK(table.refused() == 0);
    CHECK(table.add(host, "host", "one.more", "") == std::nullopt);
    CHECK(table.refused() == 1);
    CHECK(table.add(host, "host", "c7", "") == ChannelId{7});
    CHECK(table.size() == ChannelTable::channels_max);
}

TEST_CASE("a device that finds endless names leaves entries for the others, and is named", "[core][channel]") {
    ChannelTable table;
    const DeviceId flooded{1};
    CHECK_FALSE(table.crowd());
    std::size_t added = 0;
    for (std::size_t index = 0; index < ChannelTable::channels_max; ++index) {
        added += table.add_found(flooded, "flooded", name_of(index), "").has_value() ? 1U : 0U;
    }
    CHECK(added == ChannelTable::channels_max / 4 * 3);
    CHECK(table.refused() == ChannelTable::channels_max - added);
    REQUIRE(table.crowd());
    CHECK(table.crowd()->device == "flooded");
    CHECK(table.crowd()->channels == added);
    for (std::size_t index = 0; index < ChannelTable::channels_max; ++index) {
        (void)table.add_found(DeviceId{2}, "late", name_of(index), "");
    }
    CHECK(table.crowd()->device == "flooded");
    CHECK(table.add_found(host, "host", "found", ""));
    CHECK(table.add(host, "host", "declared", ""));
    CHECK(table.add_found(flooded, "flooded", name_of(7), "") == ChannelId{7});
}

TEST_CASE("a reader only sees complete entries while others are added", "[core][channel][thread]") {
    constexpr std::size_t channels = 5'000;
    ChannelTable table;
    std::thread writer([&table] {
        for (std::size_t index = 0; index < channels; ++index) {
            table.add(host, "host", name_of(index), "u");
        }
    });
    std::size_t wrong = 0;
    for (std::size_t size = 0; size < channels;) {
        size = table.size();
        if (size > 0) {
            const ChannelInfo& newest = table.at(static_cast<ChannelId>(size - 1));
            wrong += newest.topic == "host/" + name_of(size - 1) && newest.unit == "u" ? 0U : 1U;
        }
    }
    writer.join();
    CHECK(wrong == 0);
}

TEST_CASE("two threads that add the same channels get the same ids", "[core][channel][thread]") {
    constexpr std::size_t channels = 1'000;
    ChannelTable table;
    std::vector<std::optional<ChannelId>> theirs(channels);
    std::vector<std::optional<ChannelId>> ours(channels);
    const auto add_all = [&table](auto& ids) {
        for (std::size_t index = 0; index < channels; ++index) {
            ids[index] = table.add(host, "host", name_of(index), "");
        }
    };
    std::thread other([&] { add_all(theirs); });
    add_all(ours);
    other.join();
    CHECK(ours == theirs);
    CHECK(table.size() == channels);
}

TEST_CASE("a channel that disappears keeps its id and is not current until it returns", "[core][channels]") {
    ChannelTable table;
    const ChannelId id = table.add(DeviceId{0}, "boiler", "temp", "Cel").value();
    CHECK(table.is_current(id));
    table.set_current(id, false);
    CHECK_FALSE(table.is_current(id));
    CHECK(table.add(DeviceId{0}, "boiler", "temp", "Cel") == id);
    CHECK_FALSE(table.is_current(id));
    table.set_current(id, true);
    CHECK(table.is_current(id));
}
