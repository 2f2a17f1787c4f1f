#include "lines/line_parsers.hpp"

#include <stdexcept>

namespace telegate {

/// In place of regex_parser.cpp where the library is left out.
std::unique_ptr<LineParser> make_regex_parser(const LineFormat& /*format*/) {
    throw std::invalid_argument("format: regex is not part of this build, which has no RE2");
}

}  // namespace telegate
