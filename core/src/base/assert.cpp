#include "core/assert.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace telegate {
namespace {

/// The folder of the project where this file was compiled, with a slash; "" if the compiler removes it.
constexpr std::string_view project_folder() noexcept {
    constexpr std::string_view here = __FILE__;
    constexpr std::string_view name = "core/src/base/assert.cpp";
    return here.ends_with(name) ? here.substr(0, here.size() - name.size()) : std::string_view();
}

}  // namespace

void assertion_failed(const char* expression, const char* file, int line) noexcept {
    file += std::string_view(file).starts_with(project_folder()) ? project_folder().size() : 0;
    std::fprintf(stderr, "telegate: assertion failed: %s at %s:%d\n", expression, file, line);
    std::abort();
}

}  // namespace telegate
