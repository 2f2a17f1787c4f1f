#include "log_fixture.hpp"
#include "support/rounds.hpp"

#include <random>

namespace telegate::log_tool::test {
namespace {

void write_small_log(LogFixture& f) {
    f.start();
    f.add(0, 5);
    f.add_gap(1, 2, store::GapReason::queue_overflow);
    f.add(1, 5);
    f.add(2, 3);
    f.stop();
    f.start();
    f.add(0, 3);
    f.kill();
}

/// Runs all commands. None may fail in an unexpected way.
void check_all_commands(LogFixture& f) {
    for (const std::vector<const char*>& arguments :
         {std::vector<const char*>{"list", "/log"},
          {"verify", "/log", "--json"},
          {"dump", "/log"},
          {"dump", "/log", "--since", "2027-01-15T08:00:00.002Z", "--until", "2027-01-15T09:00:00.002Z"},
          {"export", "/log", "--format", "csv", "--output", "-"},
          {"export", "/log", "--format", "json", "--output", "-"},
          {"query", "/log", "dev/a"}}) {
        const Outcome outcome = f.run(arguments);
        CAPTURE(arguments[0], outcome.errors);
        REQUIRE((outcome.code == exit_code::ok || outcome.code == exit_code::not_ok));
    }
}

}  // namespace

TEST_CASE("no flipped byte makes a command fail, and verify explains each", "[gateway_log][damage]") {
    LogFixture f;
    write_small_log(f);
    for (std::size_t segment = 0; segment < f.segments().size(); ++segment) {
        std::vector<std::byte>& content = f.content(segment);
        for (std::size_t at = 0; at < content.size(); ++at) {
            CAPTURE(segment, at);
            content[at] ^= std::byte{0x10};
            const Outcome outcome = f.run({"verify", "/log"});
            CAPTURE(outcome.out, outcome.errors);
            REQUIRE(outcome.code == exit_code::ok);
            if (at % 16 == 0) {
                check_all_commands(f);
            }
            content[at] ^= std::byte{0x10};
        }
    }
}

TEST_CASE("a log can be truncated anywhere, and is repaired", "[gateway_log][damage]") {
    LogFixture original;
    write_small_log(original);
    const std::vector<std::byte> whole = original.content(1);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        LogFixture f;
        write_small_log(f);
        f.content(1).resize(size);
        check_all_commands(f);
        REQUIRE(f.run({"repair", "/log"}).code == exit_code::ok);
        REQUIRE(f.run({"verify", "/log"}).code == exit_code::ok);
        REQUIRE(f.run({"repair", "/log"}).out == "nothing to repair\n");
    }
}

TEST_CASE("random damage makes no command fail, before and after a repair", "[gateway_log][damage]") {
    std::mt19937_64 random(Catch::rngSeed());
    for (int round = 0; round < telegate::test::rounds(200); ++round) {
        LogFixture f;
        f.segment_bytes = 1'500;
        f.start();
        for (int i = 0; i < 12; ++i) {
            f.add(static_cast<std::uint32_t>(random() % 3), 1 + random() % 50);
            f.log->sync();
        }
        f.kill();
        for (std::uint64_t i = 1 + random() % 4; i > 0; --i) {
            std::vector<std::byte>& content = f.content(static_cast<std::size_t>(random() % f.segments().size()));
            const auto at = static_cast<std::size_t>(random() % content.size());
            for (std::size_t k = at; k < std::min<std::uint64_t>(content.size(), at + random() % 300); ++k) {
                content[k] = static_cast<std::byte>(random());
            }
        }
        CAPTURE(Catch::rngSeed(), round);
        check_all_commands(f);
        REQUIRE(f.run({"repair", "/log"}).code == exit_code::ok);
        check_all_commands(f);
        REQUIRE(f.run({"verify", "/log"}).code == exit_code::ok);
    }
}

}  // namespace telegate::log_tool::test
