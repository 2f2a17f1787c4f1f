#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "gateway/live/live_harness.hpp"
#include "settings/settings_json.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <chrono>
#include <string>
#include <vector>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

LiveSettings::Replacement sent(const std::string& ini) {
    return {.make = [ini](const Settings&) {
        return parse_settings(ini, "sent");
    }};
}

struct Live : test::LiveHarness {
    ReloadReport replace(const std::string& ini) { return live.replace(sent(ini), "anna"); }
    ReloadReport plan(const std::string& ini) {
        LiveSettings::Replacement replacement = sent(ini);
        replacement.dry_run = true;
        return live.replace(replacement, "anna");
    }
    ReloadReport try_for(const std::string& ini, std::chrono::milliseconds time) {
        LiveSettings::Replacement replacement = sent(ini);
        replacement.revert_after = time;
        return live.replace(replacement, "anna");
    }
};

}  // namespace

TEST_CASE("a reload without changes touches nothing", "[gateway][live]") {
    Live h;
    const ReloadReport report = h.live.reload("SIGHUP");
    CHECK(report.outcome == ReloadOutcome::unchanged);
    CHECK(report.generation == 1);
    CHECK(h.changes == 0);
    CHECK(h.live.status().last_reload.value().who == "SIGHUP");
    CHECK(h.live.status().last_reload.value().problem.empty());
}

TEST_CASE("after a reload other settings are in force, with their hash and the next generation", "[gateway][live]") {
    Live h;
    h.file = "queue_size = 20\n";
    const ReloadReport report = h.live.reload("SIGHUP");
    CHECK(report.outcome == ReloadOutcome::applied);
    CHECK(report.generation == 2);
    REQUIRE(report.changes.size() == 1);
    CHECK(key_text(report.changes.at(0)) == "gateway.queue_size");
    CHECK(h.queue_size() == 20);
    CHECK(h.live.in_force().number == 2);
    CHECK(h.live.status().hash == settings_hash(parse_settings(h.file, "x.ini")));
    CHECK(h.live.status().last_reload.value().changes_count == 1);
    CHECK(h.changes == 1);
}

TEST_CASE("invalid settings change nothing and are reported with their lines", "[gateway][live]") {
    Live h;
    h.file = "queue_size = 20\nqueue_sise = 1\nlog_level = loud\n";
    const ReloadReport report = h.live.reload("SIGHUP");
    CHECK(report.outcome == ReloadOutcome::invalid);
    CHECK(report.problems.size() == 2);
    CHECK(report.generation == 1);
    CHECK(h.changes == 0);
    CHECK(h.queue_size() == 10);
    CHECK_THAT(h.live.status().last_reload.value().problem, Catch::StartsWith("x.ini:2: queue_sise: "));
}

TEST_CASE("a reload names the changes that need a restart, and applies the other ones", "[gateway][live]") {
    Live h;
    h.file = "queue_size = 20\n[rest]\nlisten = 127.0.0.1:1\n[sampling]\nrealtime_priority = 3\n";
    const bool dry_run = GENERATE(true, false);
    const ReloadReport report = h.live.reload("SIGHUP", dry_run);
    CHECK(report.outcome == (dry_run ? ReloadOutcome::planned : ReloadOutcome::applied));
    CHECK(report.problems.empty());
    REQUIRE(report.changes.size() == 1);
    CHECK(key_text(report.changes.at(0)) == "gateway.queue_size");
    const std::vector<std::string> waiting{"sampling.realtime_priority", "rest.listen"};
    CHECK(keys_that_need_restart(report) == waiting);
    if (dry_run) {
        CHECK(h.queue_size() == 10);
        return;
    }
    CHECK(h.queue_size() == 20);
    CHECK(h.live.in_force().settings->rest_port == 8'080);
    CHECK(h.live.in_force().settings->realtime_priority == 0);
    CHECK(h.live.status().last_reload->needs_restart == waiting);
    CHECK(h.live.differs_from_file() == true);
    const ReloadReport again = h.live.reload("SIGHUP");
    CHECK(again.outcome == ReloadOutcome::unchanged);
    CHECK(keys_that_need_restart(again) == waiting);
    h.file = "queue_size = 20\n";
    CHECK(keys_that_need_restart(h.live.reload("SIGHUP")).empty());
    CHECK(h.live.status().last_reload->needs_restart.empty());
    CHECK(h.changes == 1);
}

TEST_CASE("changes that work only together with one that needs a restart wait for it", "[gateway][live]") {
    Live h;
    h.file = "queue_size = 20\n[log]\npath = /var/log\n";
    LiveSettings live(
        parse_settings("", "x.ini"), h.source(),
        [](const SettingsApplier::Wanted& wanted) {
            if (wanted.to.queue_size == 20 && wanted.to.log.path.empty()) {
                throw SettingsError({{{}, "queue_size", "needs a log"}});
            }
            return std::string();
        },
        h.log);
    const ReloadReport report = live.reload("SIGHUP");
    CHECK(report.outcome == ReloadOutcome::needs_restart);
    REQUIRE(report.problems.size() == 2);
    CHECK(report.problems.at(0).text() == "log.path: needs a restart: changed from \"\" to /var/log");
    CHECK(report.problems.at(1).what == "needs a log");
    CHECK(keys_that_need_restart(report) == std::vector<std::string>{"log.path"});
    CHECK(live.in_force().settings->queue_size == 0);
}

TEST_CASE("settings sent by a client that need a restart are refused as a whole", "[gateway][live]") {
    Live h;
    const ReloadReport report =
        h.live.replace({.make =
                            [](const Settings&) {
                                return parse_settings("queue_size = 20\n[rest]\nlisten =\n", "a.ini");
                            }},
                       "rest");
    CHECK(report.outcome == ReloadOutcome::needs_restart);
    CHECK(keys_that_need_restart(report) == std::vector<std::string>{"rest.listen"});
    CHECK(h.queue_size() == 10);
}

TEST_CASE("a change that fails leaves the settings in force", "[gateway][live]") {
    Live h;
    h.file = "queue_size = 20\n";
    h.fails_with = "address in use";
    const ReloadReport report = h.live.reload("SIGHUP");
    CHECK(report.outcome == ReloadOutcome::failed);
    CHECK(report.problems.at(0).what == "address in use");
    CHECK(h.queue_size() == 10);
    CHECK(h.live.in_force().number == 1);
    CHECK(h.live.status().last_reload.value().outcome == ReloadOutcome::failed);
}

TEST_CASE("changes that are applied later are reported", "[gateway][live]") {
    Live h;
    h.left = "the endpoints follow";
    const ReloadReport report = h.replace("queue_size = 20\n");
    CHECK(report.outcome == ReloadOutcome::applied);
    CHECK(report.problems.at(0).what == "the endpoints follow");
}

TEST_CASE("a dry run shows the changes, applies none and does not count as a reload", "[gateway][live]") {
    Live h;
    const ReloadReport report = h.plan("queue_size = 20\n");
    CHECK(report.outcome == ReloadOutcome::planned);
    CHECK(report.changes.size() == 1);
    CHECK(h.changes == 0);
    CHECK(h.queue_size() == 10);
    CHECK_FALSE(h.live.status().last_reload);
}

TEST_CASE("programs, paths and destinations can be changed by a reload but not over REST", "[gateway][live]") {
    const std::string wanted =
        "queue_size = 10\n" +
        std::string(GENERATE(
            "[device \"d\"]\ndriver = replay\npath = /x\n", "[device \"d\"]\ndriver = exec\ncommand = /bin/true\n",
            "[device \"d\"]\ndriver = iio\ndevice = a\n", "[device \"d\"]\ndriver = host\nsys_root = /x\n",
            "[device \"d\"]\ndriver = modbus\nendpoint = rtu:///dev/x\n",
            "[device \"d\"]\ndriver = modbus\nendpoint = tcp://plc\n",
            "[device \"d\"]\ndriver = http\nurl = http://a/?key=b\n", "[uplink \"u\"]\nurl = nats://a\n",
            "[publish \"p\"]\nendpoint = ipc:///tmp/x\n"));
    Live h;
    const ReloadReport refused = h.replace(wanted);
    CHECK(refused.outcome == ReloadOutcome::invalid);
    REQUIRE(refused.problems.size() == 1);
    CHECK(refused.problems[0].what ==
          "can only be set in the settings file, because it determines which program runs, which path is opened, or "
          "where data is sent");
    CHECK(h.changes == 0);
    h.file = wanted;
    CHECK(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
}

TEST_CASE("an endpoint without a path can be set over REST", "[gateway][live]") {
    Live h;
    CHECK(h.replace("queue_size = 10\n[publish \"p\"]\nendpoint = tcp://127.0.0.1:0\n").outcome ==
          ReloadOutcome::applied);
}

TEST_CASE("REST cannot make any listener reachable from other machines", "[gateway][live]") {
    std::size_t listeners = 0;
    for (const SettingRow& row : settings_table()) {
        if (holds_of(row).kind() != Holds::listener || row.applies == Applies::restart) {
            continue;
        }
        const std::string driver = row.section == "device" ? std::string(row.type) : "";
        const std::string key = std::string(row.section) + ".x." + std::string(row.key);
        std::size_t allowed = 0;
        for (const std::string value : {"tcp://0.0.0.0:5556", "tcp://*:5556", "tcp://[::]:0", "tcp://eth0:5556",
                                        "tcp://192.0.2.7:5556", "0.0.0.0:80", "[::]:80", "192.0.2.7:80", "239.0.0.1"}) {
            const auto make = [&](const Settings& now) {
                Settings wanted = now;
                const SettingOwner owner = add_instance(wanted, row.section, "x");
                if (!driver.empty()) {
                    REQUIRE_FALSE(assign(*find_setting("device", "driver"), owner, driver));
                }
                allowed += assign(row, owner, value) ? 0U : 1U;
                return wanted;
            };
            Live h;
            const std::size_t before = allowed;
            const ReloadReport report = h.live.replace({.make = make}, "anna");
            if (allowed > before) {
                CAPTURE(key, value);
                CHECK(report.outcome == ReloadOutcome::invalid);
                REQUIRE(report.problems.size() == 1);
                CHECK(report.problems[0].setting == key);
                CHECK(report.problems[0].what.starts_with('"' + value +
                                                          "\" is reachable from other machines: over REST "));
                CHECK(h.changes == 0);
            }
        }
        CAPTURE(key);
        CHECK(allowed > 0);
        ++listeners;
    }
    CHECK(listeners >= 3);
}

TEST_CASE("REST can keep and restore a listener of the settings file that others can reach", "[gateway][live]") {
    Live h;
    const std::string open = "[publish \"p\"]\nendpoint = tcp://0.0.0.0:5556\n";
    h.file = "queue_size = 10\n" + open;
    REQUIRE(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
    CHECK(h.replace("queue_size = 20\n" + open).outcome == ReloadOutcome::applied);
    CHECK(h.replace("queue_size = 10\n").outcome == ReloadOutcome::applied);
    CHECK(h.replace("queue_size = 10\n" + open).outcome == ReloadOutcome::applied);
    CHECK(h.replace("queue_size = 10\n[publish \"p\"]\nendpoint = tcp://0.0.0.0:5557\n").outcome ==
          ReloadOutcome::invalid);
    h.file = "queue_size = 10\n";
    REQUIRE(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
    CHECK(h.live.rollback(2, false, "anna").value().outcome == ReloadOutcome::invalid);
}

TEST_CASE("REST can change the address of an endpoint with CURVE, but not remove its key", "[gateway][live]") {
    Live h;
    const std::string key = "curve_secret_key_file = /k\ncurve_clients_dir = *\n";
    h.file = "queue_size = 10\n[publish \"p\"]\nendpoint = tcp://127.0.0.1:5556\n" + key;
    REQUIRE(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
    const std::string open = "queue_size = 10\n[publish \"p\"]\nendpoint = tcp://192.0.2.7:5556\n";
    CHECK(h.replace(open + key).outcome == ReloadOutcome::applied);
    CHECK(h.replace(open).outcome == ReloadOutcome::invalid);
}

TEST_CASE("REST cannot change a device to one that runs programs", "[gateway][live]") {
    Live h;
    h.file += "[device \"d\"]\ndriver = host\n";
    REQUIRE(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
    CHECK(h.replace("queue_size = 10\n[device \"d\"]\ndriver = exec\ncommand = /bin/true\n").outcome ==
          ReloadOutcome::invalid);
    CHECK(h.replace("queue_size = 10\n[device \"d\"]\ndriver = clock\n").outcome == ReloadOutcome::applied);
}

TEST_CASE("settings derived from settings that are no longer in force are refused", "[gateway][live]") {
    Live h;
    LiveSettings::Replacement next = sent("queue_size = 20\n");
    next.is_based_on = [hash = h.live.in_force().hash](std::string_view in_force) {
        return in_force == hash;
    };
    CHECK(h.live.replace(next, "anna").outcome == ReloadOutcome::applied);
    CHECK(h.live.replace(next, "anna").outcome == ReloadOutcome::conflict);
    CHECK(h.queue_size() == 20);
}

TEST_CASE("without a source there is nothing to reload", "[gateway][live]") {
    Log log("off");
    LiveSettings live(
        Settings(), {}, [](const SettingsApplier::Wanted&) { return std::string(); }, log);
    CHECK(live.reload("SIGHUP").outcome == ReloadOutcome::failed);
}

TEST_CASE("a dry run of a reload shows what would change and changes nothing", "[gateway][live]") {
    Live h;
    h.file = "queue_size = 20\n";
    const ReloadReport report = h.live.reload("anna", true);
    CHECK(report.outcome == ReloadOutcome::planned);
    CHECK(report.changes.size() == 1);
    CHECK(report.generation == 1);
    CHECK(h.changes == 0);
    CHECK_FALSE(h.live.status().last_reload);
}

TEST_CASE("a rollback restores the settings of an earlier generation as a new generation", "[gateway][live]") {
    Live h;
    CHECK_FALSE(h.live.rollback(std::nullopt, false, "anna"));
    h.replace("queue_size = 20\n");
    h.replace("queue_size = 30\n");
    CHECK(h.live.rollback(1, true, "anna").value().outcome == ReloadOutcome::planned);
    CHECK(h.queue_size() == 30);
    const ReloadReport report = h.live.rollback(std::nullopt, false, "anna").value();
    CHECK(report.outcome == ReloadOutcome::applied);
    CHECK(report.generation == 4);
    CHECK(h.queue_size() == 20);
    CHECK(h.live.rollback(1, false, "anna").value().outcome == ReloadOutcome::applied);
    CHECK(h.queue_size() == 10);
    CHECK_FALSE(h.live.rollback(9, false, "anna"));
}

TEST_CASE("the last sixteen generations are kept, with their author", "[gateway][live]") {
    Live h;
    for (int size = 11; size <= 30; ++size) {
        h.replace("queue_size = " + std::to_string(size) + "\n");
    }
    const std::vector<ConfigGeneration> kept = h.live.generations();
    REQUIRE(kept.size() == config_generations_max);
    CHECK(kept.front().number == 6);
    CHECK(kept.back().number == 21);
    CHECK(kept.back().who == "anna");
    CHECK(kept.back().hash == settings_hash(*kept.back().settings));
    CHECK(kept.back().changes_count == 1);
    CHECK_FALSE(h.live.rollback(5, false, "anna"));
}

TEST_CASE("settings that are not confirmed in time are reverted to the previous ones", "[gateway][live]") {
    Live h;
    CHECK(h.try_for("queue_size = 20\n", 20ms).outcome == ReloadOutcome::applied);
    CHECK(h.try_for("queue_size = 30\n", 20ms).outcome == ReloadOutcome::applied);  // temporary, too
    CHECK(test::eventually([&] { return h.queue_size() == 10; }));
    CHECK(test::eventually([&] { return h.live.status().last_reload.value().who == "revert_after"; }));
    CHECK_FALSE(h.live.status().revert);
}

TEST_CASE("confirmed settings and permanent replacements stay", "[gateway][live]") {
    Live h;
    CHECK(h.try_for("queue_size = 20\n", 1h).reverts_at_utc_ns);
    CHECK(h.live.status().revert.value().generation == 1);
    CHECK(h.live.confirm("anna") == 2);
    CHECK_FALSE(h.live.confirm("anna"));
    CHECK_FALSE(h.live.status().revert);
    CHECK(h.try_for("queue_size = 30\n", 1h).reverts_at_utc_ns);
    CHECK_FALSE(h.replace("queue_size = 40\n").reverts_at_utc_ns);
    CHECK_FALSE(h.live.status().revert);
}

TEST_CASE("a dry run neither starts nor ends a pending revert", "[gateway][live]") {
    Live h;
    LiveSettings::Replacement tried = sent("queue_size = 20\n");
    tried.revert_after = 1h;
    tried.dry_run = true;
    h.live.replace(tried, "anna");
    CHECK_FALSE(h.live.status().revert);
    h.try_for("queue_size = 20\n", 1h);
    h.plan("queue_size = 30\n");
    CHECK(h.live.status().revert);
}

TEST_CASE("settings in force that differ from the file are reported, whichever of them changed", "[gateway][live]") {
    Live h;
    CHECK(h.live.differs_from_file() == false);
    h.replace("queue_size = 20\n");
    CHECK(h.live.differs_from_file() == true);
    h.live.rollback(1, false, "anna");
    CHECK(h.live.differs_from_file() == false);
    h.file = "queue_size = 20\n";
    CHECK(test::eventually([&] { return h.live.differs_from_file() == true; }));
    h.live.reload("SIGHUP");
    CHECK(h.live.differs_from_file() == false);
    h.file = "queue_size = x\n";
    CHECK(test::eventually([&] { return h.live.differs_from_file() == true; }));
}

TEST_CASE("a program in the settings file can be restored over REST, but no other program", "[gateway][live]") {
    Live h;
    const std::string with_program = "queue_size = 10\n[device \"d\"]\ndriver = exec\ncommand = /bin/true\n";
    h.file = with_program;
    REQUIRE(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
    REQUIRE(h.replace("queue_size = 10\n").outcome == ReloadOutcome::applied);
    CHECK(h.replace("queue_size = 10\n[device \"d\"]\ndriver = exec\ncommand = /bin/false\n").outcome ==
          ReloadOutcome::invalid);
    CHECK(h.live.rollback(2, false, "anna").value().outcome == ReloadOutcome::applied);
    h.file = "queue_size = 10\n";
    REQUIRE(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
    CHECK(h.live.rollback(2, false, "anna").value().outcome == ReloadOutcome::invalid);
}

TEST_CASE("a client can send back the settings that it was shown, without their secrets", "[gateway][live]") {
    Live h;
    h.file =
        "queue_size = 10\n[device \"d\"]\ndriver = exec\ncommand = a\nenvironment = A=hush\n"
        "[device \"w\"]\ndriver = http\nurl = http://h/?hush\n";
    REQUIRE(h.live.reload("SIGHUP").outcome == ReloadOutcome::applied);
    const std::string shown = shown_settings_json(*h.live.in_force().settings);
    CHECK(shown.find("hush") == std::string::npos);
    const auto send = [&](const std::string& document) {
        return h.live
            .replace({.make =
                          [&](const Settings&) {
                              return settings_from_json(document);
                          }},
                     "anna")
            .outcome;
    };
    CHECK(send(shown) == ReloadOutcome::unchanged);
    CHECK(send("{}") == ReloadOutcome::applied);
    CHECK(send(shown) == ReloadOutcome::applied);  // as the file has them
    CHECK(settings_json(*h.live.in_force().settings).find("hush") != std::string::npos);
    std::string other = shown;
    other.replace(other.find("A=***"), 5, "A=x");
    CHECK(send(other) == ReloadOutcome::invalid);
}
