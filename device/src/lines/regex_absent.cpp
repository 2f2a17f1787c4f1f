#include "device/option_error.hpp"
#include "lines/line_parsers.hpp"

namespace telegate {

/// In place of regex_parser.cpp where the library is left out.
std::unique_ptr<LineParser> make_regex_parser(const LineFormat& /*format*/) {
    throw OptionError("format", "regex is not part of this build, which has no RE2");
}

}  // namespace telegate
