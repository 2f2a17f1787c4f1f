#include "encode/labels.hpp"

#include "config/load.hpp"
#include "core/topic.hpp"
#include "support/catch.hpp"

#include <string>

namespace telegate {
namespace {

/// Returns "site=a line=1".
std::string shown(const Labels& labels, std::string_view device, std::string_view channel) {
    std::string text;
    for (const Tag& tag : labels.tags(device, channel)) {
        text += (text.empty() ? "" : " ") + tag.name + '=' + tag.value;
    }
    return text;
}

}  // namespace

TEST_CASE("a gateway without a name has that of its host", "[gateway][labels]") {
    CHECK(Labels(parse_settings("name = plant-7\n", "t.ini")).gateway() == "plant-7");
    const std::string host = Labels(Settings()).gateway();
    CHECK(is_topic_part(host));
    CHECK(host.find('.') == std::string::npos);
}

TEST_CASE("a device and a channel add tags to those of the gateway, and replace those of the same name",
          "[gateway][labels]") {
    const Labels labels(
        parse_settings("[tags]\nsite = north\nline = 1\n"
                       "[device \"press\"]\ndriver = simulated\ntags = line=2, shift = a\n"
                       "[channel \"press/sine\"]\ntags = shift=b, kind=oil\n"
                       "[device \"host\"]\ndriver = host\n[channel \"host/cpu\"]\ntags = line=9\n",
                       "t.ini"));
    CHECK(shown(labels, "press", "sine") == "site=north line=2 shift=b kind=oil");
    CHECK(shown(labels, "press", "ramp") == "site=north line=2 shift=a");
    CHECK(shown(labels, "host", "cpu") == "site=north line=9");
    CHECK(shown(labels, "host", "mem") == "site=north line=1");
    CHECK(labels.gateway_tags() == Tags{{"site", "north"}, {"line", "1"}});
}

TEST_CASE("the channels that processing makes of a channel have its tags", "[gateway][labels]") {
    const Labels labels(parse_settings("[device \"a\"]\ndriver = simulated\n[channel \"a/b\"]\ntags = x=1\n", "t.ini"));
    for (const char* channel : {"b", "b.min", "b.count", "b.alarm"}) {
        CAPTURE(channel);
        CHECK(shown(labels, "a", channel) == "x=1");
    }
    for (const char* channel : {"b.other", "bmin", "c.min", ".min"}) {
        CAPTURE(channel);
        CHECK(shown(labels, "a", channel).empty());
    }
}

TEST_CASE("labels are equal if the name and all tags are", "[gateway][labels]") {
    const std::string ini = "name = g\n[device \"a\"]\ndriver = simulated\n";
    const Labels labels(parse_settings(ini + "tags = x=1\n", "t.ini"));
    CHECK(labels == Labels(parse_settings(ini + "tags = x=1\nseed = 3\n", "t.ini")));
    CHECK_FALSE(labels == Labels(parse_settings(ini + "tags = x=2\n", "t.ini")));
    CHECK(labels.tags_text() != Labels(parse_settings(ini + "tags = x=2\n", "t.ini")).tags_text());
}

}  // namespace telegate
