#include "config/settings_sources.hpp"
#include "config/settings_text.hpp"
#include "problems.hpp"
#include "scratch_files.hpp"

#include "support/catch.hpp"

#include <string>

using namespace telegate;
using test::parse;
using test::problem_of;

namespace {

std::string shown(const Settings& settings) {
    std::string text;
    for (const TagSettings& tag : settings.tags) {
        text += tag.name + '=' + tag.value + ';';
    }
    return text;
}

}  // namespace

TEST_CASE("tags are keys of one section, or separate sections", "[config][tags]") {
    CHECK(shown(parse("[tags]\nsite = north\nline_3 = a, b\n")) == "site=north;line_3=a, b;");
    CHECK(shown(parse("[tags \"site\"]\nvalue = north\n")) == "site=north;");
    CHECK(shown(parse("[tags]\n")).empty());
    CHECK(shown(parse(sample_ini(parse("[tags]\nsite = north\n")))) == "site=north;");
}

TEST_CASE("later sources add tags and change them", "[config][tags]") {
    const test::ScratchFiles files;
    const std::string file = files.write("a.ini", "[tags]\nsite = north\nline = 1\n");
    files.write("conf.d/b.ini", "[tags]\nline = 2\n");
    const LoadedSettings loaded = load_settings(
        {.file = file, .environment = {{"TELEGATE_TAGS_SITE_VALUE", "south"}}, .assignments = {"tags.plant=p7"}});
    CHECK(shown(loaded.settings) == "site=south;line=2;plant=p7;");
    CHECK(files.origin(loaded, {"tags", "line", "value"}) == "conf.d/b.ini:2");
}

TEST_CASE("a tag needs a name that is a valid label, and a text", "[config][tags]") {
    CHECK(problem_of("[tags]\nsite.name = x\n") ==
          "t.ini:2: site.name: invalid name: [tags \"site.name\"]; must be 1 to 64 of the characters a-z 0-9 _, "
          "not beginning with a digit");
    CHECK(test::has(problem_of("[tags]\n3d = x\n"), "invalid name"));
    CHECK(test::has(problem_of("[tags]\nsite =\n"), "t.ini:2: site: "));
    CHECK(problem_of("[tags]\nsite = a\nsite = b\n") ==
          "t.ini:3: site: duplicate: [tags \"site\"] (first defined on line 2)");
    std::string many = "[tags]\n";
    for (int i = 0; i < 17; ++i) {
        many += "t" + std::to_string(i) + " = x\n";
    }
    CHECK(test::has(problem_of(many), "t.ini:18: t16: too many sections: [tags \"t16\"]; must be at most 16 sections"));
}
