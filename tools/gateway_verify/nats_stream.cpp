#include "nats_stream.hpp"

#include "gateway_log/commands.hpp"
#include "nats_handles.hpp"
#include "nats_options.hpp"
#include "verify_options.hpp"

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace telegate::verify_tool {
namespace {

constexpr std::chrono::milliseconds response_max{10'000};
constexpr const char* uplink_header = "Telegate-Epoch";  // all messages of uplinks have it
constexpr const char* format_header = "Telegate-Format";
constexpr const char* historical_header = "Telegate-Historical";

using log_tool::Failure;

using Connection = uplink::NatsConnection;
using Subscription = uplink::NatsSubscription;
using Message = uplink::NatsMessage;
using JetStream = uplink::NatsHandle<jsCtx, jsCtx_Destroy>;
using StreamInfo = uplink::NatsHandle<jsStreamInfo, jsStreamInfo_Destroy>;
using Metadata = uplink::NatsHandle<jsMsgMetaData, jsMsgMetaData_Destroy>;

void check(natsStatus status, int code, const std::string& what) {
    if (status != NATS_OK) {
        throw Failure(code, what + ": " + uplink::nats_error_text(status));
    }
}

/// Calls a function of libnats that returns an object by its first argument.
template <class Owner, class Call>
Owner made(int code, const std::string& what, const Call& call) {
    typename Owner::pointer object = nullptr;
    check(call(&object), code, what);
    return Owner(object);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw Failure(log_tool::exit_code::no_input,
                      "cannot open " + path + ": " + std::generic_category().message(errno));
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

uplink::NatsOptions connect_options(const StreamAddress& address) {
    uplink::AdapterOptions options;
    options.client_name = "gateway_verify";
    options.tls_server_name = address.tls_server_name;
    options.secrets = [&] {
        const std::string& path = address.credentials_file;
        return uplink::AdapterSecrets{.credentials = {path, path.empty() ? "" : read_file(path)},
                                      .tls_ca = {address.tls_ca},
                                      .tls_certificate = {address.tls_certificate},
                                      .tls_key = {address.tls_key}};
    };
    try {
        return uplink::make_connect_options(options, address.url, response_max);
    } catch (const std::runtime_error& error) {
        throw Failure(log_tool::exit_code::no_input, error.what());
    }
}

Connection connect(const StreamAddress& address) {
    const uplink::NatsOptions options = connect_options(address);
    return made<Connection>(unavailable, "cannot connect",
                            [&](natsConnection** made) { return natsConnection_Connect(made, options.get()); });
}

}  // namespace

void read_stream(const StreamAddress& address, const std::function<void(const StreamMessage&)>& each) {
    const Connection connection = connect(address);
    const JetStream context = made<JetStream>(unavailable, "cannot use JetStream", [&](jsCtx** made) {
        return natsConnection_JetStream(made, connection.get(), nullptr);
    });
    const StreamInfo info = made<StreamInfo>(
        log_tool::exit_code::no_input, "cannot read the stream " + address.stream, [&](jsStreamInfo** made) {
            return js_GetStreamInfo(made, context.get(), address.stream.c_str(), nullptr, nullptr);
        });
    if (info->State.Msgs == 0) {
        return;
    }
    const Subscription subscription =
        made<Subscription>(unavailable, "cannot read the stream " + address.stream, [&](natsSubscription** made) {
            jsSubOptions options;
            jsSubOptions_Init(&options);
            options.Stream = address.stream.c_str();
            options.Ordered = true;
            return js_SubscribeSync(made, context.get(), ">", nullptr, &options, nullptr);
        });
    // A server that is still copying messages from other servers says that none is pending although later ones exist.
    // Only if none arrives in time was the last one deleted.
    std::uint64_t pending = info->State.Msgs;
    for (std::uint64_t seq = 0; seq < info->State.LastSeq;) {
        natsMsg* next = nullptr;
        const natsStatus status = natsSubscription_NextMsg(&next, subscription.get(), response_max.count());
        if (status == NATS_TIMEOUT && pending == 0) {
            return;
        }
        check(status, log_tool::exit_code::io_error, "the server stopped sending messages");
        const Message message(next);
        const Metadata metadata =
            made<Metadata>(log_tool::exit_code::io_error, "invalid message",
                           [&](jsMsgMetaData** made) { return natsMsg_GetMetaData(made, message.get()); });
        const auto header = [&](const char* name) {
            const char* value = nullptr;
            return natsMsgHeader_Get(message.get(), name, &value) == NATS_OK ? std::string_view(value)
                                                                             : std::string_view();
        };
        each({metadata->Sequence.Stream,
              !header(uplink_header).empty(),
              header(historical_header) == "yes",
              header(format_header),
              {natsMsg_GetData(message.get()), static_cast<std::size_t>(natsMsg_GetDataLength(message.get()))}});
        seq = metadata->Sequence.Stream;
        pending = metadata->NumPending;
    }
}

}  // namespace telegate::verify_tool
