#include "encode/payload_format.hpp"

namespace telegate {

std::string_view to_string(PayloadFormat format) noexcept {
    switch (format) {
        case PayloadFormat::json: return "json";
        case PayloadFormat::cbor: return "cbor";
        case PayloadFormat::record: return "record";
    }
    return "";
}

}  // namespace telegate
