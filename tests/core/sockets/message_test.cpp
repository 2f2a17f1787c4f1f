#include "core/message.hpp"
#include "support/catch.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate;

namespace {

using Texts = std::vector<std::vector<std::string_view>>;

MessageBatch batch_of(const Texts& messages) {
    MessageBatch batch;
    for (const auto& message : messages) {
        for (const std::string_view frame : message) {
            batch.add_frame(as_bytes(frame));
        }
        batch.end_message();
    }
    return batch;
}

Texts texts_of(const MessageBatch& batch) {
    Texts texts;
    for (const Message message : batch) {
        texts.emplace_back();
        for (const Bytes frame : message) {
            texts.back().push_back(as_text(frame));
        }
    }
    return texts;
}

}  // namespace

TEST_CASE("a batch keeps the wanted messages, whole and in order", "[core][sockets]") {
    const Texts all{{"a", "1"}, {"b"}, {"c", "", "3"}, {"", "x"}, {"e", "5"}};
    for (unsigned wanted = 0; wanted < 32; ++wanted) {
        CAPTURE(wanted);
        MessageBatch batch = batch_of(all);
        Texts expected;
        for (unsigned number = 0; number < all.size(); ++number) {
            if ((wanted >> number & 1U) != 0) {
                expected.push_back(all[number]);
            }
        }
        unsigned number = 0;
        const bool any_went = batch.keep_if([&](const Message& message) {
            CHECK(message.text(0) == all[number][0]);
            CHECK(message.size() == all[number].size());
            return (wanted >> number++ & 1U) != 0;
        });
        CHECK(any_went == (wanted != 31));
        CHECK(texts_of(batch) == expected);
    }
}

TEST_CASE("an unfinished message can be discarded without affecting those before it", "[core][sockets]") {
    MessageBatch batch = batch_of({{"a", "1"}});
    batch.add_frame(as_bytes("half"));
    CHECK(batch.unfinished().size() == 1);
    CHECK(batch.size() == 1);
    batch.rewind();
    CHECK(batch.unfinished().empty());
    CHECK(texts_of(batch) == Texts{{"a", "1"}});
}

TEST_CASE("a batch takes any number of messages, and its copy and its moved-to object show the same",
          "[core][sockets]") {
    const std::string text = "frame";
    Texts all;
    for (std::size_t number = 0; number < 2'000; ++number) {
        all.emplace_back(1 + number % 3, text);
    }
    MessageBatch batch = batch_of(all);
    batch.set_peer("peer");
    CHECK(batch.size() == all.size());
    CHECK(texts_of(batch) == all);
    CHECK(batch[1'999].size() == 1 + 1'999 % 3);

    const MessageBatch copy = batch;
    const MessageBatch moved = std::move(batch);
    batch = MessageBatch();
    CHECK(batch.empty());
    CHECK(texts_of(batch).empty());
    CHECK(batch.peer().empty());
    CHECK(texts_of(copy) == all);
    CHECK(texts_of(moved) == all);
    CHECK(copy.peer() == "peer");
    CHECK(moved.peer() == "peer");
}

TEST_CASE("a run adds to a batch as much as fits, after the existing messages", "[core][sockets]") {
    MessageBatch batch;
    CHECK(batch.begin_run(10).room() == 0);
    batch.end_run(batch.begin_run(10));
    CHECK(batch.empty());

    batch = batch_of({{"a", "1"}});
    MessageBatch::Run run = batch.begin_run(3);
    REQUIRE(run.room() == 3);
    run.add_frame(as_bytes("b"));
    run.end_message();
    run.add_frame(as_bytes("half"));
    CHECK(run.room() == 1);
    batch.end_run(run);
    CHECK(texts_of(batch) == Texts{{"a", "1"}, {"b"}});
    CHECK(batch.unfinished().size() == 1);
    batch.add_frame(as_bytes("whole"));
    batch.end_message();
    CHECK(texts_of(batch) == Texts{{"a", "1"}, {"b"}, {"half", "whole"}});
    batch.clear();
    CHECK(batch.empty());
    CHECK(batch.begin_run(1'000'000).room() >= 4);
}
