// Needs: telegate_config

#include "csv_text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string quoted(const std::vector<std::string>& fields, char separator) {
    std::string line;
    for (const std::string& field : fields) {
        line += line.empty() ? "\"" : std::string(1, separator) + '"';
        for (const char c : field) {
            line += c == '"' ? "\"\"" : std::string(1, c);
        }
        line += '"';
    }
    return line;
}

}  // namespace

/// The fields read from a line are read back the same when they are written with quotes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    const char separator = telegate::csv_separator(line);
    const auto fields = telegate::csv_fields(line, separator);
    if (fields && telegate::csv_fields(quoted(*fields, separator), separator) != fields) {
        std::abort();
    }
    return 0;
}
