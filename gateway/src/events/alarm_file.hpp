#pragma once

#include "events/alarms.hpp"
#include "log/log.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// What the file of alarms has.
struct SavedAlarms {
    bool is_clean = false;  // written at a clean stop
    std::vector<ChannelAlarm> alarms;
};

/// A larger file is not read. There is one alarm per channel, of at most 65,536.
inline constexpr std::size_t alarms_bytes_max = 64 * 1024 * 1024;

[[nodiscard]] std::string alarms_file_text(const SavedAlarms& saved);
/// Or what is wrong with it. Pure. Threads: any.
[[nodiscard]] std::variant<SavedAlarms, std::string> read_alarms(std::string_view text);

/// The file of alarms, so that they continue after a restart. It is replaced as a whole.
///
/// Threads: one at a time.
/// Limits:  alarms_bytes_max.
/// Failure: a file that cannot be read or written is logged; one that cannot be read is renamed to PATH.broken.
class AlarmFile {
  public:
    /// Restores the alarms of the file. `path` "": there is no file.
    AlarmFile(Alarms& alarms, Log& log, std::string path);
    AlarmFile(const AlarmFile&) = delete;
    AlarmFile& operator=(const AlarmFile&) = delete;

    void save(bool is_clean);

  private:
    void restore();

    Alarms& alarms_;
    Log& log_;
    const std::string path_;
};

}  // namespace telegate
