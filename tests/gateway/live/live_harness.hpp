#pragma once

#include "live/live_settings.hpp"

#include "config/load.hpp"

#include <stdexcept>
#include <string>

namespace telegate::test {

/// The settings in force, read from a text instead of a file, with parts that only record their calls. Threads: one.
struct LiveHarness {
    ReloadSource source() {
        return {.path = "x.ini",
                .load =
                    [this] {
                        return LoadedSettings{parse_settings(file, "x.ini"), {}};
                    },
                .files_stamp =
                    [this] {
                        return file;
                    }};
    }
    std::string change(const SettingsApplier::Wanted& wanted) {
        if (!fails_with.empty()) {
            throw std::runtime_error(fails_with);
        }
        changes += wanted.dry_run ? 0 : 1;
        return left;
    }
    [[nodiscard]] std::int64_t queue_size() const { return live.in_force().settings->queue_size; }

    std::string file = "queue_size = 10\n";
    std::string fails_with;
    std::string left;
    int changes = 0;
    Log log{"off"};
    LiveSettings live{parse_settings(file, "x.ini"), source(),
                      [this](const SettingsApplier::Wanted& wanted) { return change(wanted); }, log};
};

}  // namespace telegate::test
