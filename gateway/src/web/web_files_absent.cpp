#include "web/web_files.hpp"

namespace telegate {

std::span<const WebFile> web_files() noexcept {
    return {};
}

}  // namespace telegate
