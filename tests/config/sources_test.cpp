#include "config/problems.hpp"
#include "config/scratch_files.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

#include <sys/stat.h>
#include <unistd.h>

using namespace telegate;
using telegate::test::boiler_section;
using telegate::test::ScratchFiles;

TEST_CASE("later sources override earlier ones", "[config][sources]") {
    const ScratchFiles files;
    SettingsSources sources{.file = files.write("a.ini", "")};
    const auto level = [&] {
        const LoadedSettings loaded = load_settings(sources);
        return loaded.settings.log_level + " " + files.origin(loaded, {"gateway", "", "log_level"});
    };
    CHECK(level() == "info default");
    files.write("a.ini", "\nlog_level = trace\n");
    CHECK(level() == "trace a.ini:2");
    files.write("conf.d/10.ini", "log_level = debug\n");
    CHECK(level() == "debug conf.d/10.ini:1");
    files.write("conf.d/9.ini", "[gateway]\nlog_level = warn\n");
    CHECK(level() == "warn conf.d/9.ini:2");
    sources.environment = {{"TELEGATE_LOG_LEVEL", "error"}};
    CHECK(level() == "error env TELEGATE_LOG_LEVEL");
    sources.assignments = {"gateway.log_level=off"};
    CHECK(level() == "off --set");
    sources.log_level = "info";
    CHECK(level() == "info --log-level");
}

TEST_CASE("a drop-in adds to the section with the same name, or creates it", "[config][sources]") {
    const ScratchFiles files;
    const SettingsSources sources{.file = files.write("a.ini", boiler_section + "seed = 7\n")};
    files.write("conf.d/a.ini", "[device \"boiler\"]\ninterval_ms = 5\n[device \"pump\"]\ndriver = host\n");
    const LoadedSettings loaded = load_settings(sources);
    REQUIRE(loaded.settings.devices.size() == 2);
    CHECK(loaded.settings.devices[0].interval_ms == 5);
    CHECK(test::setting_of(loaded.settings.devices[0], "seed") == "7");
    CHECK(loaded.settings.devices[1].driver == "host");
    CHECK(files.origin(loaded, {"device", "boiler", "seed"}) == "a.ini:3");
    CHECK(files.origin(loaded, {"device", "boiler", "interval_ms"}) == "conf.d/a.ini:2");
    CHECK(files.origin(loaded, {"device", "boiler", "autostart"}) == "default");
}

TEST_CASE("only visible files that end in .ini are drop-ins", "[config][sources]") {
    const ScratchFiles files;
    const SettingsSources sources{.file = files.write("a.ini", ""), .drop_in_folder = files.path("more")};
    files.write("more/a.conf", "nonsense");
    files.write("more/.a.ini", "nonsense");
    files.write("conf.d/a.ini", "nonsense");
    files.write("more/a.ini", "queue_size = 3");
    files.write("more/b.conf", "nonsense");
    const LoadedSettings loaded = load_settings(sources);
    CHECK(loaded.settings.queue_size == 3);
    CHECK(loaded.warnings ==
          std::vector<std::string>{files.path("more/a.conf") + " and 1 more: ignored: the name must end in .ini"});
}

TEST_CASE("control bytes in the name of a drop-in are escaped", "[config][sources]") {
    const ScratchFiles files;
    const SettingsSources sources{.file = files.write("a.ini", "")};
    files.write("conf.d/\x1b[2J.ini", "nonsense");
    CHECK_THROWS_WITH(load_settings(sources), Catch::Contains("\\x1b[2J.ini:1: ") && !Catch::Contains("\x1b"));
}

TEST_CASE("a duplicate key is a problem in one file, but not in two files", "[config][sources]") {
    const ScratchFiles files;
    const SettingsSources sources{.file = files.write("a.ini", "queue_size = 1\nqueue_size = 2\n")};
    files.write("conf.d/a.ini", "queue_size = 3\n");
    CHECK(files.problems(sources) == "a.ini:2: queue_size: duplicate (first defined on line 1)");
}

TEST_CASE("a repeated key extends a list, and an empty value clears it", "[config][sources]") {
    const auto processors = [](const std::string& lines) {
        return parse_settings("[sampling]\n" + lines, "t.ini").cpu_affinity;
    };
    using Numbers = std::vector<std::int64_t>;
    CHECK(processors("cpu_affinity = 1\ncpu_affinity = 2, 3\n") == Numbers{1, 2, 3});
    CHECK(processors("cpu_affinity = 1\ncpu_affinity =\ncpu_affinity = 2\n") == Numbers{2});
    CHECK(processors("cpu_affinity = 1\ncpu_affinity =\n").empty());
}

TEST_CASE("a list has a maximum length, however many lines it has", "[config][sources]") {
    std::string lines = "[sampling]\n";
    for (int line = 0; line < 1'024; ++line) {
        lines += "cpu_affinity = " + std::to_string(line) + "\n";
    }
    CHECK_THROWS_WITH(parse_settings(lines, "t.ini"),
                      Catch::Contains("cpu_affinity: list too long; must be at most 4096 bytes in total"));
}

TEST_CASE("a list that must not be empty is a problem if it is cleared and nothing follows", "[config][sources]") {
    const auto problem = [](const std::string& lines) {
        const std::string text = test::problem_of(boiler_section + lines);
        return text.substr(0, text.find(';'));
    };
    CHECK(problem("waveforms = sine\nwaveforms =\n") == "t.ini:4: waveforms: unknown value: \"\"");
    CHECK(problem("waveforms =\nwaveforms = sine\nwaveforms = ramp\n").empty());
    CHECK(problem("waveforms = sine\nwaveforms = ramp, sine\n") == "t.ini:4: waveforms: duplicate value: \"sine\"");
}

TEST_CASE("a list from a later source replaces the earlier one", "[config][sources]") {
    const ScratchFiles files;
    SettingsSources sources{.file = files.write("a.ini", "[sampling]\ncpu_affinity = 1, 2\n")};
    sources.assignments = {"sampling.cpu_affinity=3", "sampling.cpu_affinity=4"};
    CHECK(load_settings(sources).settings.cpu_affinity == std::vector<std::int64_t>{3, 4});
}

TEST_CASE("of two settings that exclude each other, the one from the later source applies", "[config][sources]") {
    const ScratchFiles files;
    const bool is_us_later = GENERATE(true, false);
    const std::string us = "[device \"boiler\"]\ninterval_us = 250\n";
    const std::string ms = "[device \"boiler\"]\ninterval_ms = 7\n";
    const SettingsSources sources{.file = files.write("a.ini", (is_us_later ? ms : us) + "driver = simulated\n")};
    files.write("conf.d/a.ini", is_us_later ? us : ms);
    const LoadedSettings loaded = load_settings(sources);
    CHECK(loaded.settings.devices.at(0).interval_us == (is_us_later ? 250 : 0));
    CHECK(loaded.settings.devices.at(0).interval_ms == (is_us_later ? 0 : 7));
    const std::string left_out = is_us_later ? "interval_ms" : "interval_us";
    CHECK(files.origin(loaded, {"device", "boiler", left_out}) == "default");
}

TEST_CASE("the effective driver determines the keys of a device, in every source", "[config][sources]") {
    const ScratchFiles files;
    const SettingsSources sources{.file = files.write("a.ini", boiler_section + "seed = 7\n")};
    files.write("conf.d/a.ini", "[device \"boiler\"]\ndriver = host\n");
    CHECK(files.problems(sources) ==
          "a.ini:3: seed: only valid with the driver simulated: the driver of this device is host");
}

TEST_CASE("the problems of all sources are reported at once, in the order of the sources", "[config][sources]") {
    const ScratchFiles files;
    SettingsSources sources{.file = files.write("m.ini", "\nqueue_size = x\nnonsense\n" + boiler_section)};
    files.write("conf.d/b.ini", "[device \"pump\"]\n");
    files.write("conf.d/a.ini", "log_level = loud\n[queue\n");
    sources.environment = {{"TELEGATE_DEVICE_BOILER_AUTOSTART", "maybe"}};
    sources.assignments = {"queue.policy=wait", "nonsense"};
    CHECK(files.problems(sources) ==
          "m.ini:2: queue_size: not a whole number: \"x\"; must be a whole number without a unit, 1 to 1048576 "
          "(samples), or auto\n"
          "m.ini:3: not a setting: \"nonsense\"; must be key = value\n"
          "conf.d/a.ini:1: log_level: unknown value: \"loud\"; must be one of trace, debug, info, warn, error, off\n"
          "conf.d/a.ini:2: not a section header: \"[queue\"; must be [section] or [section \"NAME\"]\n"
          "conf.d/b.ini:1: driver: missing in [device \"pump\"]; must be " +
              test::driver_names() +
              "\n"
              "env TELEGATE_DEVICE_BOILER_AUTOSTART: not a boolean: \"maybe\"; must be yes, true, on, 1, no, "
              "false, off or 0\n"
              "--set nonsense: not an assignment; must be SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE\n"
              "--set queue.policy=wait: unknown value: \"wait\"; must be one of drop_oldest, drop_newest, block");
}

TEST_CASE("only the unreadable files are reported if there are any", "[config][sources]") {
    const ScratchFiles files;
    SettingsSources sources{.file = files.path("none.ini"), .drop_in_folder = files.path("conf.d")};
    files.write("conf.d/a.ini/x", "");
    files.write("conf.d/b.ini", "[device \"boiler\"]\ninterval_ms = 5\n");
    CHECK(files.problems(sources) ==
          "none.ini: cannot be read: No such file or directory\nconf.d/a.ini: cannot be read: Is a directory");
    sources.drop_in_folder = files.path("none.d");
    CHECK(files.problems(sources) ==
          "none.ini: cannot be read: No such file or directory\nnone.d: cannot be read: No such file or directory");
}

TEST_CASE("a file without a conf.d directory next to it is loaded alone", "[config][sources]") {
    const ScratchFiles files;
    CHECK(files.problems({.file = files.write("a.ini", "queue_size = 3")}).empty());
    CHECK(load_settings(SettingsSources{}).settings.queue_size == 0);
}

TEST_CASE("too many drop-ins are refused", "[config][sources]") {
    const ScratchFiles files;
    for (int i = 0; i <= 256; ++i) {
        files.write("conf.d/" + std::to_string(i) + ".ini", "");
    }
    CHECK(files.problems({.file = files.write("a.ini", "")}) ==
          "conf.d: too many files: 257 *.ini files; must be at most 256");
}

TEST_CASE("the limit of sections applies to all sources together", "[config][sources]") {
    const ScratchFiles files;
    std::string text;
    for (int i = 0; i < 256; ++i) {
        text += "[device \"d" + std::to_string(i) + "\"]\ndriver = host\n";
    }
    SettingsSources sources{.file = files.write("a.ini", text), .assignments = {"device.d7.autostart=no"}};
    CHECK(files.problems(sources).empty());
    sources.assignments.emplace_back("device.more.driver=host");
    CHECK(files.problems(sources) ==
          "--set device.more.driver=host: too many sections: [device \"more\"]; must be at "
          "most 256 sections [device \"NAME\"]");
}
