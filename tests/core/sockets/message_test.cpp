#include "core/message.hpp"
#include "support/catch.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
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

TEST_CASE("a batch keeps the messages that are wanted, whole and in order", "[core][sockets]") {
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

TEST_CASE("an unfinished message can be forgotten without harm to those before it", "[core][sockets]") {
    MessageBatch batch = batch_of({{"a", "1"}});
    batch.add_frame(as_bytes("half"));
    CHECK(batch.unfinished().size() == 1);
    CHECK(batch.size() == 1);
    batch.rewind();
    CHECK(batch.unfinished().empty());
    CHECK(texts_of(batch) == Texts{{"a", "1"}});
    batch.drop_last();
    CHECK(batch.empty());
}
