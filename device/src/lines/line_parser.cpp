#include "lines/line_parser.hpp"

#include "core/text.hpp"
#include "lines/line_fields.hpp"
#include "metrics/number_text.hpp"

namespace telegate {

LineResult LineParser::parse(std::string_view line, LineFields& fields) {
    line = metrics::without_byte_order_mark(line);
    fields.start(line.size());
    if (!is_plain_text(line)) {
        return {LineResult::Status::refused, "not UTF-8, or contains a NUL byte"};
    }
    if (trimmed(line).empty()) {
        return {LineResult::Status::ignored, {}};
    }
    return parse_text(line, fields);
}

std::unique_ptr<LineParser> make_line_parser(const LineFormat& format) {
    switch (format.kind) {
        case LineFormat::Kind::csv: return make_csv_parser(format);
        case LineFormat::Kind::nmea: return make_nmea_parser(format.checksum_required);
        case LineFormat::Kind::regex: return make_regex_parser(format);
        case LineFormat::Kind::key_value: break;
    }
    return make_key_value_parser();
}

}  // namespace telegate
