#include "channel_tables.hpp"

#include "config/joined.hpp"
#include "config/settings_table.hpp"
#include "csv_text.hpp"
#include "ini_text.hpp"
#include "name_advice.hpp"
#include "settings_files.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view name_column = "name";

/// Returns the key of a column; "" for an unknown column.
std::string_view key_of_column(std::string_view column, std::string_view driver) {
    for (const SettingRow& row : settings_table()) {
        const bool is_named = row.key == column || (!row.column.empty() && row.column == column);
        if (is_named && belongs(row, "channel", driver)) {
            return row.key;
        }
    }
    return "";
}

std::vector<std::string_view> columns_of(std::string_view driver) {
    std::vector<std::string_view> columns{name_column};
    for (const SettingRow& row : settings_table()) {
        if (belongs(row, "channel", driver)) {
            columns.push_back(row.column.empty() ? row.key : row.column);
        }
    }
    return columns;
}

/// Parses the text of one table. Each row becomes a section of a channel, whose device is unknown: its name is only
/// that of the channel.
///
/// Threads: one.
/// Limits: as many rows as there may be channels.
/// Failure: reports problems; nothing else can fail.
class TableReader {
  public:
    TableReader(std::string file, std::string_view driver, ProblemList& problems)
        : file_(std::move(file)), driver_(driver), problems_(problems) {}

    std::vector<GivenSection> read(std::string_view text) {
        constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        text.remove_prefix(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
        while (!text.empty() && !is_over_) {
            const std::string_view line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(line.size() + 1, text.size()));
            ++line_;
            const std::size_t first = line.find_first_not_of(" \t\r");
            if (first != std::string_view::npos && line[first] != '#') {
                take(line);
            }
        }
        if (keys_.empty() && !is_over_) {
            complain("", "no line with the column names; must be one or more of " + joined(columns_of(driver_)));
        }
        return std::move(rows_);
    }

  private:
    void complain(std::string_view column, std::string what) { problems_.add({file_, line_}, column, std::move(what)); }

    void take(std::string_view line) {
        if (line.size() > ini_line_bytes_max) {
            complain("", "line too long: " + std::to_string(line.size()) + " bytes; must be at most " +
                             std::to_string(ini_line_bytes_max));
            return;
        }
        separator_ = keys_.empty() ? csv_separator(line) : separator_;
        const auto fields = csv_fields(line, separator_);
        if (!fields) {
            complain("",
                     "invalid quoted field: " + quoted_value(line) + "; must be \"TEXT\", with \"\" for a quote in it");
        } else if (keys_.empty()) {
            take_columns(*fields);
        } else {
            take_row(*fields);
        }
    }

    void take_columns(const std::vector<std::string>& columns) {
        for (const std::string& column : columns) {
            const std::string_view key = column == name_column ? name_column : key_of_column(column, driver_);
            if (key.empty()) {
                complain(printable(column),
                         "unknown column: " + quoted_value(column) + did_you_mean(column, columns_of(driver_)));
                is_over_ = true;
            } else if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) {
                complain(printable(column), "duplicate column: " + quoted_value(column) +
                                                " sets the same key as another column; use only one of them");
                is_over_ = true;
            }
            keys_.emplace_back(key);
        }
        columns_ = columns;
        if (std::find(keys_.begin(), keys_.end(), name_column) == keys_.end()) {
            complain(name_column, "missing column: the first line begins with " + quoted_value(columns.front()) +
                                      "; must be the column names, including name");
            is_over_ = true;
        }
    }

    void take_row(const std::vector<std::string>& fields) {
        if (fields.size() != keys_.size()) {
            complain("", "wrong number of fields: " + std::to_string(fields.size()) + "; must be " +
                             std::to_string(keys_.size()) + ", one for each column");
            return;
        }
        const std::size_t rows_max = find_section("channel")->count_max;
        if (rows_.size() == rows_max) {
            complain("", "too many rows; must be at most " + std::to_string(rows_max));
            is_over_ = true;
            return;
        }
        GivenSection row{.place = {file_, line_}, .shown = std::string(name_column), .kind = "channel"};
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (keys_[i] == name_column) {
                row.name = fields[i];
                row.written = "the row " + quoted_value(fields[i]);
            } else if (!fields[i].empty()) {
                row.entries.push_back({.place = row.place, .shown = columns_[i], .key = keys_[i], .value = fields[i]});
            }
        }
        rows_.push_back(std::move(row));
    }

    std::string file_;
    std::string_view driver_;
    ProblemList& problems_;
    std::size_t line_ = 0;
    char separator_ = ',';
    bool is_over_ = false;
    std::vector<std::string> columns_;  // as written
    std::vector<std::string> keys_;     // of the columns, in the same order
    std::vector<GivenSection> rows_;
};

/// The settings of a device that concern its tables.
struct NamedTable {
    std::string driver;
    std::map<std::string, GivenEntry> given;  // by key of the rows that name a table
};

/// Finds the tables of all devices and makes sections of their rows.
///
/// Threads: one.
/// Limits: those of read_channel_tables().
/// Failure: reports problems; nothing else can fail.
class ChannelTables {
  public:
    ChannelTables(const std::string& settings_file, ProblemList& problems)
        : settings_file_(settings_file), problems_(problems) {}

    void collect(const GivenSection& section) {
        if (section.kind != "device" || !section.name) {
            return;
        }
        for (const GivenEntry& entry : section.entries) {
            if (entry.key == "driver") {
                devices_[*section.name].driver = entry.value;
            } else if (is_table_key(entry.key)) {
                devices_[*section.name].given.insert_or_assign(entry.key, entry);
            }
        }
    }

    SettingsSource read() {
        for (const auto& [device, named] : devices_) {
            for (const auto& [key, entry] : named.given) {
                const SettingRow* const row = find_setting("device", key, named.driver);
                if (row != nullptr && row->names_channels && !entry.value.empty()) {
                    add(device, rows_of(entry, named.driver));
                }
            }
        }
        return std::move(source_);
    }

  private:
    static bool is_table_key(std::string_view key) {
        const auto rows = settings_table();
        return std::any_of(rows.begin(), rows.end(),
                           [&](const SettingRow& row) { return row.names_channels && row.key == key; });
    }

    [[nodiscard]] std::string path_of(const GivenEntry& entry) const {
        const std::string& from = entry.place.line > 0 ? entry.place.name : settings_file_;
        const std::string folder = entry.value.starts_with('/') ? "" : from.substr(0, from.rfind('/') + 1);
        return folder + entry.value;
    }

    /// A table that several devices share is read once.
    const std::vector<GivenSection>& rows_of(const GivenEntry& entry, const std::string& driver) {
        const std::string path = path_of(entry);
        const auto [found, is_new] = tables_.try_emplace({path, driver});
        if (is_new) {
            found->second = read_table(path, entry, driver);
        }
        return found->second;
    }

    std::vector<GivenSection> read_table(const std::string& path, const GivenEntry& entry, std::string_view driver) {
        std::error_code error;
        const std::string text = read_file(path, ini_text_bytes_max, error);
        if (error) {
            problems_.add(entry.place, entry.shown,
                          "cannot read " + quoted_value(path) + ": " + why_unreadable(error) +
                              "; must be the path of a CSV file, relative to the directory of the settings file");
            return {};
        }
        if (!is_settings_text(text, path, problems_)) {
            return {};
        }
        return TableReader(path, driver, problems_).read(text);
    }

    void add(const std::string& device, const std::vector<GivenSection>& rows) {
        const std::size_t rows_max = find_section("channel")->count_max;
        for (const GivenSection& row : rows) {
            if (source_.sections.size() == rows_max) {
                problems_.add(row.place, "",
                              "too many rows in the tables of all devices; must be at most " +
                                  std::to_string(rows_max) + " channels");
                return;
            }
            source_.sections.push_back(row);
            source_.sections.back().name = device + '/' + *row.name;
        }
    }

    const std::string& settings_file_;
    ProblemList& problems_;
    std::map<std::string, NamedTable> devices_;
    std::map<std::pair<std::string, std::string>, std::vector<GivenSection>> tables_;  // by path and driver
    SettingsSource source_;
};

}  // namespace

SettingsSource read_channel_tables(const std::vector<SettingsSource>& sources, const std::string& settings_file,
                                   ProblemList& problems) {
    ChannelTables tables(settings_file, problems);
    for (const SettingsSource& source : sources) {
        for (const GivenSection& section : source.sections) {
            tables.collect(section);
        }
    }
    return tables.read();
}

}  // namespace telegate
