#include "uplink/subject_template.hpp"

#include "support/catch.hpp"

#include <string>

namespace telegate::test {

TEST_CASE("words in braces are replaced by the parts of the topic", "[gateway][uplinks]") {
    const SubjectTemplate subject("a.{device}.{channel}.b");
    CHECK(subject.depends_on_channel());
    CHECK(subject.subject("host", "cpu.user") == "a.host.cpu_user.b");
    CHECK(subject.pattern() == "a.*.*.b");
}

TEST_CASE("a subject without such words is the same for all channels", "[gateway][uplinks]") {
    const SubjectTemplate plain("a.b");
    CHECK_FALSE(plain.depends_on_channel());
    CHECK(plain.subject("host", "load") == "a.b");
    CHECK(plain.pattern() == "a.b");
    const SubjectTemplate named("a.{gateway}", "plant.7");
    CHECK_FALSE(named.depends_on_channel());
    CHECK(named.pattern() == "a.plant_7");
    CHECK(SubjectTemplate::is_valid(named.pattern()));
}

TEST_CASE("other words in braces, and subjects that NATS refuses, are invalid", "[gateway][uplinks]") {
    CHECK(SubjectTemplate::is_valid("a.{gateway}.{device}.{channel}"));
    const auto* const text =
        GENERATE("", "a.{name}", "a.x{device}", "a.{device", "a..b", ".a", "a.", "a.*", "a.>", "{}");
    CAPTURE(text);
    CHECK_FALSE(SubjectTemplate::is_valid(text));
}

}  // namespace telegate::test
