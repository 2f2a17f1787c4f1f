#include "log/repeated_lines.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <string>
#include <vector>

using namespace telegate;
using telegate::test::ManualClock;

namespace {

struct RepeatedHarness {
    std::vector<std::string> write(const std::string& text, int level = 2) { return texts(lines.admit(level, text)); }
    static std::vector<std::string> texts(const std::vector<FormattedLine>& from) {
        std::vector<std::string> result;
        for (const FormattedLine& line : from) {
            result.push_back(line.text + (line.repeated == 0 ? "" : " repeated=" + std::to_string(line.repeated)));
        }
        return result;
    }

    ManualClock clock;
    RepeatedLines lines{clock};
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a line repeated within a minute is counted, and reported when it is written after that", "[gateway][log]") {
    RepeatedHarness h;
    CHECK(h.write("a") == Texts{"a"});
    CHECK(h.write("b") == Texts{"b"});
    CHECK(h.write("a").empty());
    CHECK(h.write("a").empty());
    h.clock.advance(RepeatedLines::window);
    CHECK(h.write("a") == Texts{"a repeated=2"});
    CHECK(h.write("a").empty());
}

TEST_CASE("the count of a line that is not repeated again is reported with the next line", "[gateway][log]") {
    RepeatedHarness h;
    (void)h.write("a");
    (void)h.write("a");
    CHECK(h.write("b") == Texts{"b"});
    h.clock.advance(RepeatedLines::window);
    CHECK(h.write("c") == Texts{"a repeated=1", "c"});
    CHECK(h.lines.rest().empty());
}

TEST_CASE("unreported counts are reported at the end", "[gateway][log]") {
    RepeatedHarness h;
    (void)h.write("a");
    (void)h.write("a");
    CHECK(RepeatedHarness::texts(h.lines.rest()) == Texts{"a repeated=1"});
    CHECK(h.lines.rest().empty());
}

TEST_CASE("the same text at another level is another line", "[gateway][log]") {
    RepeatedHarness h;
    CHECK(h.write("a", 2) == Texts{"a"});
    CHECK(h.write("a", 3) == Texts{"a"});
}

TEST_CASE("with many different lines none is lost, and the oldest is forgotten along with its count",
          "[gateway][log]") {
    RepeatedHarness h;
    (void)h.write("first");
    (void)h.write("first");
    std::size_t told = 0;
    for (std::size_t i = 0; i < 10 * RepeatedLines::texts_max; ++i) {
        const Texts out = h.write("line " + std::to_string(i));
        told += out.back() == "line " + std::to_string(i) ? std::size_t{1} : std::size_t{0};
        if (i + 1 == RepeatedLines::texts_max) {
            CHECK(out.front() == "first repeated=1");
        }
    }
    CHECK(told == 10 * RepeatedLines::texts_max);
}

TEST_CASE("a long line is written every time", "[gateway][log]") {
    RepeatedHarness h;
    const std::string text(RepeatedLines::text_bytes_max + 1, 'x');
    CHECK(h.write(text) == Texts{text});
    CHECK(h.write(text) == Texts{text});
}
