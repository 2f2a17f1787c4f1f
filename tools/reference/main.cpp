#include "pages.hpp"
#include "settings/settings_json.hpp"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// A generated file of the source tree. Some are based on text that is also in the tree.
struct Page {
    std::string file;  // path relative to the root
    std::function<std::string(const std::string& root)> text;
};

std::string path_of(std::string root, std::string_view file) {
    return root.append("/").append(file);
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Page> pages() {
    using namespace telegate;
    const auto whole = [](std::string (*text)()) {
        return [text](const std::string& /*root*/) {
            return text();
        };
    };
    std::vector<Page> all{
        {"docs/metrics.md",
         [](const std::string& root) {
             return reference::with_metrics(read(root + "/tools/reference/metrics.md"));
         }},
        {"docs/rest.md",
         [](const std::string& root) {
             return reference::with_routes(read(root + "/docs/rest.md"));
         }},
        {"docs/settings.md", whole(reference::settings_page)},
        {"docs/settings.schema.json", whole(settings_schema_json)},
        {"packaging/man/gateway.ini.5", whole(reference::settings_manual)},
        {"docs/drivers.md",
         [](const std::string& root) {
             return reference::with_code(read(root + "/tools/reference/drivers.md"),
                                         read(root + "/tests/device/example_driver_test.cpp"));
         }},
    };
    for (const std::string_view driver : reference::driver_names()) {
        const std::string file = "docs/drivers/" + std::string(driver) + ".md";
        all.push_back({file, [file, driver](const std::string& root) {
                           return reference::with_settings(read(path_of(root, file)), driver);
                       }});
    }
    return all;
}

bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    return (file << text).flush().good();
}

int usage() {
    std::cerr << "usage: telegate_reference --write ROOT | --check ROOT\n  writes the reference pages into "
                 "the source tree at ROOT, or reports which are not up to date\n";
    return 64;
}

/// Writes the page, or checks whether it is up to date. Returns an error message, or nothing.
std::string fault_of(const Page& page, const std::string& root, bool writes) {
    const std::string path = path_of(root, page.file);
    try {
        const std::string text = page.text(root);
        if (writes) {
            return write(path, text) ? "" : path + ": cannot write the file";
        }
        return read(path) == text ? ""
                                  : path + ": not up to date; run telegate_reference --write " + root + " to update it";
    } catch (const std::runtime_error& error) {
        return path + ": cannot generate the page: " + error.what();
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc == 3 ? argv[1] : "";
    if (what != "--write" && what != "--check") {
        return usage();
    }
    int faults = 0;
    for (const Page& page : pages()) {
        const std::string fault = fault_of(page, argv[2], what == "--write");
        if (!fault.empty()) {
            std::cerr << fault << '\n';
            ++faults;
        }
    }
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
