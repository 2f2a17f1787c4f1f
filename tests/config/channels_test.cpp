#include "config/problems.hpp"
#include "config/scratch_files.hpp"
#include "config/settings_diff.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "config/settings_text.hpp"
#include "device/common_settings.hpp"
#include "support/catch.hpp"

using namespace telegate;
using telegate::test::boiler_section;
using telegate::test::has;
using telegate::test::parse;
using telegate::test::problem_of;
using telegate::test::problems_of;

namespace {

const std::string boiler_sine = boiler_section + "[channel \"boiler/sine\"]\nunit = Cel\n";

}  // namespace

TEST_CASE("the settings of a channel are identified by its device and its own name", "[config][channels]") {
    const Settings settings = parse("[channel \"boiler/a.b-c\"]\nunit = kPa\n" + boiler_sine);
    REQUIRE(settings.channels.size() == 2);
    const ChannelSettings& first = settings.channels.front();
    CHECK(first.name == "boiler/a.b-c");
    CHECK(first.device() == "boiler");
    CHECK(first.channel() == "a.b-c");
    CHECK(processing_of(first).unit == "kPa");
    CHECK(first.place.line == 1);
    CHECK(first.places.at("unit").line == 2);
    CHECK(processing_of(settings.channels.back()).unit == "Cel");
}

TEST_CASE("a device knows where its keys are given", "[config][channels]") {
    CHECK(parse(boiler_section + "\nseed = 4\n").devices.at(0).places.at("seed").line == 4);
}

TEST_CASE("the name of a channel has two topic parts", "[config][channels]") {
    const auto [name, good] = GENERATE(table<std::string, bool>({{"boiler/sine", true},
                                                                 {"boiler/" + std::string(64, 'x'), true},
                                                                 {"boiler/" + std::string(65, 'x'), false},
                                                                 {"boiler", false},
                                                                 {"boiler/", false},
                                                                 {"/sine", false},
                                                                 {"", false},
                                                                 {"boiler/a/b", false},
                                                                 {"boiler/A", false}}));
    CAPTURE(name);
    const std::string problem = problem_of(boiler_section + "[channel \"" + name + "\"]\n");
    CHECK(problem.empty() == good);
    CHECK(has(problem, "invalid name: [channel \"" + name +
                           "\"]; must be DEVICE/CHANNEL, each 1 to 64 of the characters a-z 0-9 _ . -") == !good);
}

TEST_CASE("a channel needs a device, which may be in any source, before or after the channel", "[config][channels]") {
    CHECK(problem_of(boiler_section + "\n[channel \"boilr/sine\"]\nunit = x\n") ==
          "t.ini:4: [channel \"boilr/sine\"]: unknown device: no section [device \"boilr\"]; did you mean boiler?");
    CHECK(problem_of("[channel \"a/b\"]\n") == "t.ini:1: [channel \"a/b\"]: unknown device: no section [device \"a\"]");
    const LoadedSettings loaded =
        load_settings({.assignments = {"channel.new/sine.unit=Cel", "device.new.driver=simulated"}});
    CHECK(processing_of(loaded.settings.channels.at(0)).unit == "Cel");
    CHECK(loaded.settings.channels.at(0).place.name == "--set channel.new/sine.unit=Cel");
}

TEST_CASE("a channel of an invalid device is not an additional problem", "[config][channels]") {
    CHECK(problems_of("[device \"a\"]\ndriver = hots\n[channel \"a/b\"]\nunit = x\n").size() == 1);
    CHECK(problems_of("[device \"a\"]\n[channel \"a/b\"]\nunit = x\n").size() == 1);
    CHECK(problems_of(boiler_section + boiler_section + "[channel \"boiler/b\"]\nunit = x\n").size() == 1);
}

TEST_CASE("a channel key in another section is reported with the section where it belongs", "[config][channels]") {
    CHECK(has(problem_of(boiler_section + "unit = Cel\n"), "it belongs in [channel \"DEVICE/CHANNEL\"]"));
    CHECK(problem_of("[channel]\n") == "t.ini:1: missing name: [channel]; must be [channel \"DEVICE/CHANNEL\"]");
}

TEST_CASE("there are at most 8192 channels", "[config][channels]") {
    std::string text = boiler_section;
    for (int i = 1; i <= 8'193; ++i) {
        text += "[channel \"boiler/c" + std::to_string(i) + "\"]\n";
    }
    CHECK(problem_of(text) ==
          "t.ini:8195: too many sections: [channel \"boiler/c8193\"]; must be at most 8192 sections "
          "[channel \"DEVICE/CHANNEL\"]");
}

TEST_CASE("a variable sets a key of a channel, with _ for the / in its name", "[config][channels]") {
    const test::ScratchFiles files;
    const auto load = [&](const std::string& text, const std::string& variable) {
        return load_settings({.file = files.write("a.ini", text), .environment = {{variable, "mm"}}});
    };
    CHECK(processing_of(load(boiler_sine, "TELEGATE_CHANNEL_BOILER_SINE_UNIT").settings.channels.at(0)).unit == "mm");
    CHECK_THROWS_WITH(
        load(boiler_sine + "[device \"boiler_sine\"]\ndriver = host\n[channel \"boiler_sine/x\"]\n"
                           "[channel \"boiler/sine_x\"]\n",
             "TELEGATE_CHANNEL_BOILER_SINE_X_UNIT"),
        "env TELEGATE_CHANNEL_BOILER_SINE_X_UNIT: ambiguous: channel.boiler/sine_x.unit or channel.boiler_sine/x.unit; "
        "use --set or a file for these settings");
}

TEST_CASE("the effective settings and the sample file include the channels", "[config][channels]") {
    const LoadedSettings loaded = load_settings({.assignments = {"device.a.driver=host", "channel.a/b.c.unit=Cel"}});
    const std::string text = effective_text(loaded.settings);
    CHECK(has(text, "channel.a/b.c.unit "));
    CHECK(has(text, "= Cel "));
    CHECK(has(sample_ini(loaded.settings), "[channel \"a/b.c\"]\n"));
    CHECK(processing_of(parse(sample_ini(loaded.settings)).channels.at(0)).unit == "Cel");
}

TEST_CASE("the sample file explains a key once, and lists only set keys in further sections", "[config][channels]") {
    const std::string sample = sample_ini(parse(boiler_section + "[device \"b\"]\ndriver = simulated\nseed = 7\n"));
    const std::string meaning = "# Seed of the random numbers; the same seed gives the same values.\n";
    CHECK(sample.find(meaning) == sample.rfind(meaning));
    CHECK(has(sample, "\nseed = 7\n"));
    CHECK(sample.find("# interval_us =") == sample.rfind("# interval_us ="));
}

TEST_CASE("channels are added, removed and changed by name", "[config][channels]") {
    const auto changes = [](const std::string& from, const std::string& to) {
        std::vector<std::string> texts;
        for (const SettingChange& change : diff(parse(from), parse(to))) {
            texts.push_back(key_text(change) + " " + std::string(to_string(change.kind)) + " " +
                            std::string(to_string(change.applies)));
        }
        return texts;
    };
    using Texts = std::vector<std::string>;
    CHECK(changes(boiler_section, boiler_sine) == Texts{"channel.boiler/sine added live"});
    CHECK(changes(boiler_sine, boiler_section) == Texts{"channel.boiler/sine removed live"});
    CHECK(changes(boiler_sine, boiler_section + "[channel \"boiler/sine\"]\n") ==
          Texts{"channel.boiler/sine.unit changed live"});
}

TEST_CASE("an instance of every kind of section can be created and has its owner", "[config][channels]") {
    Settings settings;
    for (const SectionRow& section : section_table()) {
        CAPTURE(section.name);
        const SettingOwner owner = add_instance(settings, section.name, "x/y");
        const std::vector<SectionInstance> instances = instances_of(settings, section.name);
        REQUIRE(instances.size() == 1);
        CHECK(instances.front().name == (section.named() ? "x/y" : ""));
        CHECK(instances.front().owner == owner);
    }
}

TEST_CASE("a channel has the driver of its device", "[config][channels]") {
    Settings settings = parse(boiler_sine);
    settings.channels.emplace_back().name = "elsewhere/x";
    const std::vector<SectionInstance> channels = instances_of(settings, "channel");
    REQUIRE(channels.size() == 2);
    CHECK(channels.front().type == "simulated");
    CHECK(channels.back().type.empty());
}
