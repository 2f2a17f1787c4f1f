#include "manual_page.hpp"
#include "metrics_table.hpp"
#include "settings_json.hpp"
#include "settings_page.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// One file of the tree that is made from a table in the code.
struct Page {
    std::string_view file;  // from the root of the tree
    std::string (*text)();
};

std::vector<Page> pages() {
    using namespace telegate;
    return {
        {"docs/metrics.md", metrics_page},
        {"docs/settings.md", settings_page},
        {"docs/settings.schema.json", settings_schema_json},
        {"packaging/man/gateway.ini.5", reference::settings_manual},
    };
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    return (file << text).flush().good();
}

int usage() {
    std::cerr << "usage: telegate_reference --write ROOT | --check ROOT\n"
                 "  writes the reference pages into the source tree at ROOT, or says which are not up to date\n";
    return 64;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc == 3 ? argv[1] : "";
    if (what != "--write" && what != "--check") {
        return usage();
    }
    int faults = 0;
    for (const Page& page : pages()) {
        const std::string path = std::string(argv[2]) + '/' + std::string(page.file);
        const std::string text = page.text();
        if (what == "--write" && !write(path, text)) {
            std::cerr << path << ": cannot be written\n";
            ++faults;
        } else if (what == "--check" && read(path) != text) {
            std::cerr << path << ": not up to date; telegate_reference --write " << argv[2] << " mends it\n";
            ++faults;
        }
    }
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
