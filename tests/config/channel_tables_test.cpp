#include "config/settings_sources.hpp"
#include "config/settings_text.hpp"
#include "scratch_files.hpp"

#include "device/common_settings.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

#include <algorithm>
#include <string>

using namespace telegate;

namespace {

const std::string plc = "[device \"plc\"]\ndriver = modbus\nendpoint = tcp://10.0.0.1\nregisters = plc.csv\n";

/// A settings file with a table next to it.
struct TableFiles : test::ScratchFiles {
    explicit TableFiles(const std::string& table, const std::string& settings = plc) {
        write("plc.csv", table);
        file = write("a.ini", settings);
    }
    [[nodiscard]] Settings load() const { return load_settings(SettingsSources{.file = file}).settings; }
    /// Returns the problems up to what is allowed.
    [[nodiscard]] std::string short_problems() const {
        const std::string all = problems({.file = file});
        return all.substr(0, all.find("; must be "));
    }

    std::string file;
};

std::string shown(const ChannelSettings& channel) {
    const auto modbus = [&](const char* key) {
        return test::setting_of(channel, "modbus", key) + ' ';
    };
    return channel.name + ' ' + modbus("table") + modbus("address") + modbus("type") + modbus("word_order") +
           test::setting_of(channel, "modbus", "scale") + ' ' + processing_of(channel).unit;
}

}  // namespace

TEST_CASE("a register table creates a channel for each row", "[config][channel_tables]") {
    const TableFiles files(
        "# from the manual\n"
        "name,table,address,type,order,scale,unit\n"
        "flow.temp,holding,100,float32,little,,\"°C\"\n"
        "\n"
        "energy , input , 40 , uint32 ,, 0.01 , kWh\n"
        "burner,coil,3,,,,\n");
    const Settings settings = files.load();
    REQUIRE(settings.channels.size() == 3);
    CHECK(shown(settings.channels[0]) == "plc/flow.temp holding 100 float32 little 1 °C");
    CHECK(shown(settings.channels[1]) == "plc/energy input 40 uint32 big 0.01 kWh");
    CHECK(shown(settings.channels[2]) == "plc/burner coil 3 auto big 1 ");
}

TEST_CASE(
    "a column may be any key of a channel, and columns may be separated by comma, semicolon or "
    "tab",
    "[config][channel_tables]") {
    const char sign = GENERATE(',', ';', '\t');
    CAPTURE(sign);
    std::string table = "\xef\xbb\xbfname,address,alarm_high,word_order,deadband\r\nx,1,90,little,\"\"\r\n";
    std::replace(table.begin(), table.end(), ',', sign);
    const Settings settings = TableFiles(table).load();
    REQUIRE(settings.channels.size() == 1);
    CHECK(test::setting_of(settings.channels[0], "modbus", "alarm_high") == "90");
    CHECK(test::setting_of(settings.channels[0], "modbus", "word_order") == "little");
}

TEST_CASE("a channel section overrides the row of the table", "[config][channel_tables]") {
    const TableFiles files("name,address,unit\nx,1,V\ny,2,V\n", plc + "[channel \"plc/y\"]\nunit = kV\n");
    const LoadedSettings loaded = load_settings(SettingsSources{.file = files.file});
    REQUIRE(loaded.settings.channels.size() == 2);
    CHECK(processing_of(loaded.settings.channels[1]).unit == "kV");
    CHECK(test::setting_of(loaded.settings.channels[1], "modbus", "address") == "2");
    CHECK(files.origin(loaded, {"channel", "plc/y", "address"}) == "plc.csv:3");
    CHECK(files.origin(loaded, {"channel", "plc/y", "unit"}) == "a.ini:6");
    CHECK(files.relative(effective_text(loaded.settings)).find("plc.csv:2\n") != std::string::npos);
}

TEST_CASE("the devices of a template share a table", "[config][channel_tables]") {
    std::string template_text = plc + "instances = 1..20\n";
    template_text.replace(template_text.find("plc"), 3, "plc%d");
    std::string table = "name,address,type\n";
    for (int i = 0; i < 400; ++i) {
        table += "r" + std::to_string(i) + ',' + std::to_string(i) + ",int16\n";
    }
    const Settings settings = TableFiles(table, template_text).load();
    CHECK(settings.devices.size() == 20);
    CHECK(settings.channels.size() == 8'000);
}

TEST_CASE("a table path is relative to the file that gives it, otherwise to the settings file",
          "[config][channel_tables]") {
    const TableFiles files("name,address\nx,1\n", "[device \"plc\"]\ndriver = modbus\nendpoint = tcp://10.0.0.1\n");
    files.write("conf.d/more.csv", "name,address\na,1\nb,2\n");
    CHECK(
        load_settings({.file = files.file, .assignments = {"device.plc.registers=plc.csv"}}).settings.channels.size() ==
        1);
    files.write("conf.d/b.ini", "[device \"plc\"]\nregisters = more.csv\n");
    CHECK(files.load().channels.size() == 2);
    CHECK(load_settings({.file = files.file, .assignments = {"device.plc.registers="}}).settings.channels.empty());
}

TEST_CASE("a mistake in a table is reported with its line, column and value", "[config][channel_tables]") {
    const auto [text, problem] = GENERATE(table<std::string, std::string>({
        {"name,address\nx,70000\n", "plc.csv:2: address: out of range: \"70000\""},
        {"name,address,type\nx,1,real\n", "plc.csv:2: type: unknown value: \"real\""},
        {"name,address,order\nx,1,middle\n", "plc.csv:2: order: unknown value: \"middle\""},
        {"name;address;scale\nx;1;0,1\n", "plc.csv:2: scale: not a number: \"0,1\""},
        {"name,address\nFlow Temp,1\n", "plc.csv:2: name: invalid name: the row \"Flow Temp\""},
        {"name,address\n,1\n", "plc.csv:2: name: invalid name: the row \"\""},
        {"name,address\nx,1\nx,2\n", "plc.csv:3: name: duplicate: the row \"x\" (first defined on line 2)"},
        {"name,address\nx,1,2\n", "plc.csv:2: wrong number of fields: 3"},
        {"name,address\nx\n", "plc.csv:2: wrong number of fields: 1"},
        {"name,adress\nx,1\n", "plc.csv:1: adress: unknown column: \"adress\"; did you mean address?"},
        {"name,order,word_order\nx,,\n", "plc.csv:1: word_order: duplicate column: \"word_order\" sets the same key"},
        {"name,address,\nx,1,\n", "plc.csv:1: unknown column: \"\""},
        {"x,1\ny,2\n", "plc.csv:1: x: unknown column: \"x\""},
        {"address\n1\n", "plc.csv:1: name: missing column: the first line begins with \"address\""},
        {"", "plc.csv: no line with the column names"},
        {"name,address\n\"x,1\n", "plc.csv:2: invalid quoted field: '\"x,1'"},
        {"name,address\n\"x\"y,1\n", "plc.csv:2: invalid quoted field: '\"x\"y,1'"},
    }));
    CAPTURE(text);
    CHECK(TableFiles(text).short_problems().starts_with(problem));
}

TEST_CASE("an unreadable table is reported at the line that names it", "[config][channel_tables]") {
    std::string text = plc;
    text.replace(text.find("plc.csv"), 7, "no.csv");
    CHECK(TableFiles("", text).short_problems() ==
          "a.ini:4: registers: cannot read \"no.csv\": No such file or directory");
}

TEST_CASE("the tables of all devices together have at most as many rows as there may be channels",
          "[config][channel_tables]") {
    std::string table = "name,address\n";
    for (int i = 0; i < 5'000; ++i) {
        table += "r" + std::to_string(i) + ",1\n";
    }
    std::string second = plc;
    second.replace(second.find("plc"), 3, "other");
    CHECK(TableFiles(table, plc + second).short_problems() ==
          "plc.csv:3194: too many rows in the tables of all devices");
}
