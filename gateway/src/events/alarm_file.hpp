#pragma once

#include "events/alarms.hpp"
#include "log/log.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// The contents of the alarm file.
struct SavedAlarms {
    bool is_clean = false;  // written when the gateway stopped cleanly
    std::vector<ChannelAlarm> alarms;
};

/// A larger file is not read. The file has one alarm per channel, at most 65,536.
inline constexpr std::size_t alarms_bytes_max = 64 * 1024 * 1024;

[[nodiscard]] std::string alarms_file_text(const SavedAlarms& saved);
/// Parses the text; returns the error text if it is invalid. Pure. Threads: any.
[[nodiscard]] std::variant<SavedAlarms, std::string> read_alarms(std::string_view text);

/// The alarm file, which preserves alarms across restarts. It is replaced atomically.
///
/// Threads: one at a time.
/// Limits: alarms_bytes_max.
/// Failure: a file that cannot be read or written is logged; a file that cannot be read is renamed to PATH.broken.
class AlarmFile {
  public:
    /// Restores the alarms from the file. `path` "": no file.
    AlarmFile(Alarms& alarms, Log& log, std::string path);
    AlarmFile(const AlarmFile&) = delete;
    AlarmFile& operator=(const AlarmFile&) = delete;

    void save(bool is_clean);

  private:
    Alarms& alarms_;
    Log& log_;
    const std::string path_;
};

}  // namespace telegate
