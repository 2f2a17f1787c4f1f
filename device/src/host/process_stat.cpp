#include "host/process_stat.hpp"

#include "host/text_scan.hpp"

#include <array>

namespace telegate::host {
namespace {

// Numbers of the fields after the state: number 0 is field 4 in proc_pid_stat(5).
enum StatField : std::size_t {
    user_ticks = 10,
    system_ticks = 11,
    thread_count = 16,
    start = 18,
    resident = 20,
    stat_field_count = 21,
};

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) noexcept {
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        return std::nullopt;
    }
    ProcessStat stat;
    stat.name = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    const std::string_view state = take_word(text);
    std::array<std::int64_t, stat_field_count> fields{};  // some are negative
    for (std::int64_t& field : fields) {
        const auto number = to_number<std::int64_t>(take_word(text));
        if (!number) {
            return std::nullopt;
        }
        field = *number;
    }
    if (state.size() != 1) {
        return std::nullopt;
    }
    stat.state = state.front();
    stat.cpu_ticks = static_cast<std::uint64_t>(fields[user_ticks]) + static_cast<std::uint64_t>(fields[system_ticks]);
    stat.threads = fields[thread_count];
    stat.start_ticks = static_cast<std::uint64_t>(fields[start]);
    stat.resident_pages = fields[resident];
    return stat;
}

std::string_view program_of(std::string_view command_line) noexcept {
    const std::string_view path = command_line.substr(0, command_line.find('\0'));
    return path.substr(path.rfind('/') + 1);
}

}  // namespace telegate::host
