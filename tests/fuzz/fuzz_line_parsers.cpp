// Needs: telegate_device

#include "lines/line_assembler.hpp"
#include "lines/line_parser.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

LineParser& parser_of(std::uint8_t kind) {
    using Kind = LineFormat::Kind;
    static const std::array<std::unique_ptr<LineParser>, 8> parsers{
        make_line_parser({}),
        make_line_parser({.kind = Kind::nmea}),
        make_line_parser({.kind = Kind::nmea, .checksum_required = true}),
        make_line_parser({.kind = Kind::csv, .columns = {"a", "-", "b[m]", "c"}}),
        make_line_parser({.kind = Kind::csv, .columns = {"a", "b"}, .delimiter = '\t'}),
        make_line_parser({.kind = Kind::csv, .columns = {"a", "b", "c"}, .delimiter = ' '}),
        make_line_parser({.kind = Kind::regex, .pattern = "T=(?P<t>[^ ]*) *(H=(?P<h>.+))?"}),
        make_line_parser({.kind = Kind::regex, .pattern = "^(?P<a>(x+x+)+)y|(?P<b>\\pL+)$"})};
    return *parsers[kind % parsers.size()];
}

/// Returns everything that is known of a field, reading every byte of it.
std::string text_of(const LineField& field) {
    std::string text(field.name);
    std::visit(
        [&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::string_view>) {
                text += '"' + std::string(value) + '"';
            } else if constexpr (std::is_same_v<Value, double>) {
                require(std::isfinite(value));
                text += std::to_string(value);
            } else if constexpr (std::is_same_v<Value, RoundedNumber>) {
                require(std::isfinite(value.real));
                text += std::to_string(value.real);
            } else if constexpr (!std::is_same_v<Value, std::monostate>) {
                text += std::to_string(value);
            }
        },
        field.value);
    return text + '[' + std::string(field.unit) + ']';
}

std::string told_of(LineParser& parser, std::string_view bytes, std::size_t part_bytes) {
    constexpr std::size_t line_bytes_max = 100;
    LineAssembler assembler(line_bytes_max);
    LineFields fields;
    std::string told;
    const auto tell = [&](std::string_view line) {
        require(line.size() <= line_bytes_max && line.find_first_of("\r\n") == std::string_view::npos);
        const LineResult result = parser.parse(line, fields);
        require((result.status == LineResult::Status::refused) == !result.why.empty());
        told += std::to_string(static_cast<int>(result.status)) + std::string(result.why);
        for (const LineField& field : fields) {
            told += result.status == LineResult::Status::ok ? text_of(field) : "";
        }
        told += '\n';
    };
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
        // a buffer of its own, so that a view beyond its end is detected
        std::string part(bytes.substr(at, part_bytes));
        std::string_view left = part;
        while (const auto line = assembler.next(left)) {
            tell(*line);
        }
    }
    if (const auto line = assembler.finish()) {
        tell(*line);
    }
    return told + std::to_string(assembler.overlong());
}

}  // namespace

/// However the bytes are split, the lines and their fields are the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const void* const rest = data + 2;
    const std::string_view bytes(static_cast<const char*>(rest), size - 2);
    LineParser& parser = parser_of(data[0]);
    const std::string whole = told_of(parser, bytes, bytes.size() + 1);
    require(told_of(parser, bytes, 1) == whole);
    require(told_of(parser, bytes, data[1] + std::size_t{1}) == whole);
    return 0;
}
