#include "pages.hpp"

#include "config/settings_table.hpp"
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

/// A file of the source tree that is generated, or has generated parts.
struct Page {
    std::string file;                                       // path relative to the root
    std::function<std::string(const std::string&)> update;  // returns the new text of the file from the old one
};

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Page> pages(const std::string& root) {
    using namespace telegate;
    std::vector<Page> all{
        {"docs/metrics.md", reference::with_metrics},
        {"docs/rest.md", reference::with_routes},
        {"docs/settings.md", reference::with_settings_tables},
        {"docs/settings.schema.json",
         [](const std::string& /*old*/) {
             return settings_schema_json();
         }},
        {"packaging/man/gateway.ini.5", reference::with_manual_settings},
        {"docs/drivers.md",
         [root](const std::string& page) {
             return reference::with_code(page, read(root + "/tests/device/example_driver_test.cpp"));
         }},
    };
    for (const reference::TypePages& of : reference::type_pages()) {
        for (const std::string_view type : types_of(of.section)) {
            all.push_back({"docs/" + std::string(of.folder) + '/' + std::string(type) + ".md",
                           [&of, type](const std::string& page) {
                               return reference::with_type_settings(page, of, type);
                           }});
        }
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
    const std::string path = root + "/" + page.file;
    try {
        const std::string old = read(path);
        const std::string text = page.update(old);
        if (writes) {
            return write(path, text) ? "" : path + ": cannot write the file";
        }
        return old == text ? "" : path + ": not up to date; run telegate_reference --write " + root + " to update it";
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
    for (const Page& page : pages(argv[2])) {
        const std::string fault = fault_of(page, argv[2], what == "--write");
        if (!fault.empty()) {
            std::cerr << fault << '\n';
            ++faults;
        }
    }
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
