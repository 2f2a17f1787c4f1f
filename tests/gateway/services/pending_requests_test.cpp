#include "services/pending_requests.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace telegate;

namespace {

using Frames = std::vector<std::string>;

/// The messages of one peer. `messages` must not move while the requests are added.
PendingRequests pending(const std::vector<Frames>& messages) {
    MessageBatch batch;
    for (const Frames& message : messages) {
        for (const std::string& frame : message) {
            batch.add_frame(as_bytes(frame));
        }
        batch.end_message();
    }
    PendingRequests requests;
    requests.add(batch);
    return requests;
}

}  // namespace

TEST_CASE("requests are returned in order, each with its envelope frames", "[gateway][services]") {
    PendingRequests requests = pending({{"a", "", "one"}, {"two"}, {"", "three"}});
    REQUIRE(requests.size() == 3);
    CHECK(requests.front().envelope == Frames{"a", ""});
    CHECK(requests.front().body == "one");
    requests.pop_front();
    CHECK(requests.front().envelope.empty());
    CHECK(requests.front().body == "two");
    requests.pop_front();
    CHECK(requests.front().envelope == Frames{""});
    CHECK(requests.front().body == "three");
    requests.pop_front();
    CHECK(requests.empty());
}

TEST_CASE("a receive buffer of short requests takes little more memory than the buffer", "[gateway][services]") {
    constexpr std::size_t buffer_bytes = 4 * 1024;
    constexpr std::size_t wire_bytes = 2;  // of an empty frame
    PendingRequests requests = pending(std::vector<Frames>(buffer_bytes / wire_bytes, Frames{""}));
    CHECK(requests.bytes() <= 2 * buffer_bytes);
    while (!requests.empty()) {
        requests.pop_front();
    }
    CHECK(requests.bytes() < 100);
}

TEST_CASE("frames that are not a request are reported", "[gateway][services]") {
    CHECK(pending({{"a", "b"}}).front().fault == "the request has 2 frames: must be one, or one after an empty frame");
    CHECK(pending({{"a", ""}}).front().fault == "the request has 0 frames: must be one, or one after an empty frame");
    CHECK(pending({{"a", "", "{}"}}).front().fault.empty());
}

TEST_CASE("envelope frames that are too long are not returned", "[gateway][services]") {
    const PendingRequests requests = pending({{std::string(1'025, 'x'), "", "{}"}});
    CHECK(requests.front().fault ==
          "the envelope frames of the request are 1025 bytes: must be at most 1024; the reply is sent without "
          "them");
    CHECK(requests.front().envelope.empty());
}
