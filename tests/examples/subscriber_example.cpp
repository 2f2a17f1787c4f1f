#include "core/subscriber.hpp"

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    using namespace telegate;
    const char* text = argc > 1 ? argv[1] : "tcp://127.0.0.1:5556";
    const Endpoint endpoint = std::get<Endpoint>(parse_endpoint(text));

    Reactor reactor;
    Subscriber subscriber(reactor, {});
    subscriber.subscribe("boiler/");
    subscriber.connect(endpoint);

    int received = 0;
    MessageBatch batch;
    while (received < 10 && subscriber.receive_for(batch, std::chrono::seconds(10))) {
        for (const Message message : batch) {
            std::printf("%s = %s\n", std::string(message.text(0)).c_str(), std::string(message.text(1)).c_str());
            ++received;
        }
    }
    return received < 10 ? 1 : 0;
}
