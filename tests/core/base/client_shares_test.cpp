#include "core/client_shares.hpp"

#include "support/catch.hpp"

#include <string>

using namespace telegate;

TEST_CASE("a client is an IPv4 address, the /64 network of an IPv6 address, or any other text", "[core][shares]") {
    CHECK(client_of("192.0.2.7") == "192.0.2.7");
    CHECK(client_of("::ffff:192.0.2.7") == "192.0.2.7");
    CHECK(client_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64");
    CHECK(client_of("2001:db8:1:2::9") == client_of("2001:db8:1:2:ffff::1"));
    CHECK(client_of("fe80::1%eth0") == "fe80::/64");
    CHECK(client_of("::1") == "::/64");
    CHECK(client_of("uid=1000") == "uid=1000");
    CHECK(client_of("").empty());
}

TEST_CASE("the client with the most places yields to those with fewer", "[core][shares]") {
    ClientShares shares;
    CHECK(shares.most().places == 0);
    CHECK_FALSE(shares.yields_to("a"));
    for (const char* client : {"a", "b", "a", "a", "b"}) {
        shares.add(client);
    }
    CHECK(shares.size() == 5);
    CHECK(shares.most().client == "a");
    CHECK(shares.most().places == 3);
    CHECK(shares.yields_to("c"));
    CHECK_FALSE(shares.yields_to("b"));  // both would only change places
    CHECK_FALSE(shares.yields_to("a"));
    shares.remove("b");
    CHECK(shares.yields_to("b"));
    shares.remove("b");
    shares.remove("b");
    CHECK(shares.of("b") == 0);
    CHECK(shares.size() == 3);
}

TEST_CASE("clients take turns, whatever one of them adds", "[core][shares]") {
    ClientTurns<int> turns;
    for (const int entry : {1, 2, 3, 4}) {
        turns.add("many", entry);
    }
    turns.add("one", 10);
    turns.add("two", 20);
    std::string order;
    while (!turns.empty()) {
        order += std::to_string(turns.pop()) + ' ';
    }
    CHECK(order == "1 10 20 2 3 4 ");
}

TEST_CASE("the newest entry of a client can be the next one", "[core][shares]") {
    ClientTurns<int> turns(ClientTurns<int>::Next::newest);
    turns.add("a", 1);
    turns.add("a", 2);
    turns.add("b", 3);
    CHECK(turns.pop() == 2);
    CHECK(turns.pop() == 3);
    CHECK(turns.pop() == 1);
    CHECK(turns.empty());
}
