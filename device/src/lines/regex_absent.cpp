#include "device/option_error.hpp"
#include "lines/line_parser.hpp"

namespace telegate {

/// Replaces regex_parser.cpp if the gateway is built without RE2.
std::unique_ptr<LineParser> make_regex_parser(const LineFormat& /*format*/) {
    throw OptionError("format", "this build does not include RE2, which regex needs");
}

}  // namespace telegate
