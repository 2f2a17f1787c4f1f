#include "nats_stream.hpp"

#include "gateway_log/commands.hpp"
#include "verify_options.hpp"

#include <nats/nats.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace telegate::verify_tool {
namespace {

constexpr std::int64_t response_max_ms = 10'000;
constexpr const char* uplink_header = "Telegate-Epoch";  // all messages of uplinks have it
constexpr const char* format_header = "Telegate-Format";
constexpr const char* historical_header = "Telegate-Historical";

using log_tool::Failure;

/// Owns an object of libnats.
template <class Object, void (*destroy)(Object*)>
struct Destroy {
    void operator()(Object* object) const { destroy(object); }
};
template <class Object, void (*destroy)(Object*)>
using Owned = std::unique_ptr<Object, Destroy<Object, destroy>>;

using NatsOptions = Owned<natsOptions, natsOptions_Destroy>;
using Connection = Owned<natsConnection, natsConnection_Destroy>;
using JetStream = Owned<jsCtx, jsCtx_Destroy>;
using StreamInfo = Owned<jsStreamInfo, jsStreamInfo_Destroy>;
using Subscription = Owned<natsSubscription, natsSubscription_Destroy>;
using Message = Owned<natsMsg, natsMsg_Destroy>;
using Metadata = Owned<jsMsgMetaData, jsMsgMetaData_Destroy>;

void check(natsStatus status, int code, const std::string& what) {
    if (status != NATS_OK) {
        const char* const detail = nats_GetLastError(nullptr);
        throw Failure(code, what + ": " + (detail != nullptr && *detail != '\0' ? detail : natsStatus_GetText(status)));
    }
}

/// Calls a function of libnats that returns an object by its first argument.
template <class Owner, class Call>
Owner made(int code, const std::string& what, const Call& call) {
    typename Owner::pointer object = nullptr;
    check(call(&object), code, what);
    return Owner(object);
}

/// Reads TOKEN, or USER PASSWORD, as the gateway does for `credentials_file`.
void set_credentials(natsOptions* options, const std::string& path) {
    std::ifstream file(path);
    std::string first;
    std::string password;
    std::string more;
    if (!file) {
        throw Failure(log_tool::exit_code::no_input,
                      "cannot open " + path + ": " + std::generic_category().message(errno));
    }
    if (!(file >> first) || (file >> password >> more)) {
        throw Failure(log_tool::exit_code::no_input,
                      "invalid credentials in " + path + ": must be TOKEN, or USER PASSWORD");
    }
    check(password.empty() ? natsOptions_SetToken(options, first.c_str())
                           : natsOptions_SetUserInfo(options, first.c_str(), password.c_str()),
          log_tool::exit_code::internal, "cannot use the credentials");
}

Connection connect(const StreamAddress& address) {
    const NatsOptions options =
        made<NatsOptions>(log_tool::exit_code::internal, "cannot use libnats", natsOptions_Create);
    check(natsOptions_SetURL(options.get(), address.url.c_str()), log_tool::exit_code::usage, "invalid URL");
    check(natsOptions_SetName(options.get(), "gateway_verify"), log_tool::exit_code::internal, "cannot use libnats");
    check(natsOptions_SetTimeout(options.get(), response_max_ms), log_tool::exit_code::internal, "cannot use libnats");
    check(natsOptions_SetSecure(options.get(), address.has_tls), log_tool::exit_code::internal, "cannot use TLS");
    if (!address.ca_file.empty()) {
        check(natsOptions_LoadCATrustedCertificates(options.get(), address.ca_file.c_str()),
              log_tool::exit_code::no_input, "cannot read the certificates in " + address.ca_file);
    }
    if (!address.credentials_file.empty()) {
        set_credentials(options.get(), address.credentials_file);
    }
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
    for (bool is_last = false; !is_last;) {
        const Message message = made<Message>(
            log_tool::exit_code::io_error, "the server stopped sending messages",
            [&](natsMsg** made) { return natsSubscription_NextMsg(made, subscription.get(), response_max_ms); });
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
        is_last = metadata->Sequence.Stream >= info->State.LastSeq || metadata->NumPending == 0;
    }
}

}  // namespace telegate::verify_tool
