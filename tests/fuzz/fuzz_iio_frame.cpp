// Needs: device/src/iio/scan_frame.cpp

#include "iio/scan_frame.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

// The input has lines of types, as in scan_elements/in_X_type, then an empty line, then frames.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace telegate::iio;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    FrameLayout layout;
    for (;;) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) {
            return 0;
        }
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line.empty()) {
            break;
        }
        if (const auto type = parse_scan_type(line)) {
            layout.add(*type);
        }
    }
    auto bytes = std::as_bytes(std::span(text));
    const std::size_t frame_bytes = layout.frame_bytes();
    while (frame_bytes > 0 && bytes.size() >= frame_bytes) {
        for (std::size_t element = 0; element < layout.elements(); ++element) {
            const ScanType& type = layout.type(element);
            for (std::uint32_t number = 0; number < type.repeat; ++number) {
                const auto value = layout.value_bytes(bytes.first(frame_bytes), element, number);
                const double decoded = decode_value(type, value);
                if (value.size() != type.bytes || (type.form != ScanType::Form::real && !std::isfinite(decoded))) {
                    std::abort();
                }
            }
        }
        bytes = bytes.subspan(frame_bytes);
    }
    return 0;
}
