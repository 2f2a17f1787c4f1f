#include "core/publisher.hpp"

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    using namespace telegate;
    const char* text = argc > 1 ? argv[1] : "tcp://127.0.0.1:5556";
    const Endpoint endpoint = std::get<Endpoint>(parse_endpoint(text));

    Reactor reactor;
    Publisher publisher(reactor, {});
    std::printf("publishing at %s\n", to_string(publisher.bind(endpoint)).c_str());
    std::fflush(stdout);

    const TopicId topic = publisher.intern("boiler/temperature");
    for (int number = 0; number < 6'000; ++number) {
        publisher.send(topic, std::to_string(number));
        while (reactor.run_for(std::chrono::milliseconds(10))) {
            // Publishes and accepts subscribers until nothing has happened for a while.
        }
    }
}
