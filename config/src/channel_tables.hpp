#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <string>
#include <vector>

namespace telegate {

/// Reads the channel tables that devices name (SettingRow::names_channels). Each row gives the section [channel
/// "DEVICE/NAME"]; a column is a key of it, and an empty field is ignored. Templates must already be expanded in the
/// sources. The result precedes all sources, so a section of a file overrides a row.
///
/// A table is a CSV file: the first line names the columns, one of which is `name`; blank lines and lines that begin
/// with # are skipped. A path is relative to the directory of the file that gives it, or of `settings_file` if a
/// variable or an option gives it.
/// Limits: ini_text_bytes_max for each file, ini_line_bytes_max for each line; as many rows for all devices as there
/// may be channels.
/// Failure: reports problems with the line and the column; a malformed row gives nothing.
[[nodiscard]] SettingsSource read_channel_tables(const std::vector<SettingsSource>& sources,
                                                 const std::string& settings_file, ProblemList& problems);

}  // namespace telegate
