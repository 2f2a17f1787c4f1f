#pragma once

#include <string>
#include <string_view>

namespace telegate::test {

/// Adds $ and checksum to a body such as "GPHDT,1,T".
inline std::string sentence(std::string_view body) {
    unsigned sum = 0;
    for (const char byte : body) {
        sum ^= static_cast<unsigned char>(byte);
    }
    constexpr std::string_view digits = "0123456789ABCDEF";
    return "$" + std::string(body) + '*' + digits[sum / 16] + digits[sum % 16];
}

}  // namespace telegate::test
