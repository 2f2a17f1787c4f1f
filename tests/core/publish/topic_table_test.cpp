#include "publish/topic_table.hpp"

#include "support/catch.hpp"

#include <string>

using namespace telegate;

namespace {

Topic& fresh_topic(TopicTable& table, std::string_view name) {
    Topic& topic = table[table.intern(name)];
    table.set_fresh(topic);
    return topic;
}

}  // namespace

TEST_CASE("topics are stale until their readers were searched", "[core][publisher][topics]") {
    TopicTable table;
    Topic& topic = table[table.intern("t")];
    CHECK_FALSE(table.is_fresh(topic));
    table.set_fresh(topic);
    CHECK(table.is_fresh(topic));
}

TEST_CASE("a changed prefix makes the topics under it stale and no others", "[core][publisher][topics]") {
    TopicTable table;
    const Topic& before = fresh_topic(table, "host");
    const Topic& exact = fresh_topic(table, "host/cpu");
    const Topic& under = fresh_topic(table, "host/cpu.user");
    const Topic& last = fresh_topic(table, "host/cpu\xFF\xFF");
    const Topic& behind = fresh_topic(table, "host/cpv");
    table.make_stale("host/cpu");
    CHECK(table.is_fresh(before));
    CHECK_FALSE(table.is_fresh(exact));
    CHECK_FALSE(table.is_fresh(under));
    CHECK_FALSE(table.is_fresh(last));
    CHECK(table.is_fresh(behind));
}

TEST_CASE("the empty prefix is a prefix of every topic", "[core][publisher][topics]") {
    TopicTable table;
    const Topic& empty = fresh_topic(table, "");
    const Topic& other = fresh_topic(table, "t");
    table.make_stale("");
    CHECK_FALSE(table.is_fresh(empty));
    CHECK_FALSE(table.is_fresh(other));
}

TEST_CASE("a prefix of very many topics makes all of them stale", "[core][publisher][topics]") {
    TopicTable table;
    for (int number = 0; number < 1'000; ++number) {
        fresh_topic(table, "many/" + std::to_string(number));
    }
    const Topic& first = fresh_topic(table, "many/0");
    const Topic& last = fresh_topic(table, "many/999");
    table.make_stale("many/");
    CHECK_FALSE(table.is_fresh(first));
    CHECK_FALSE(table.is_fresh(last));
}

TEST_CASE("topics keep their address when others are added", "[core][publisher][topics]") {
    TopicTable table;
    const TopicId first = table.intern("0");
    const Topic* const place = &table[first];
    for (int number = 1; number < 10'000; ++number) {
        (void)table.intern(std::to_string(number));
    }
    CHECK(&table[first] == place);
    CHECK(table.intern("0") == first);
    CHECK(place->name == "0");
}
