#pragma once

#include "gateway_log/log_options.hpp"
#include "nats_stream.hpp"

#include <array>
#include <optional>
#include <string>

namespace telegate::verify_tool {

inline constexpr int unavailable = 69;  // from sysexits.h

/// Exit codes of the program. The same texts appear in --help, gateway_verify(1) and docs/uplinks/nats.md.
inline constexpr std::array<log_tool::exit_code::Meaning, 8> exit_meanings = {{
    {log_tool::exit_code::ok, "every sample is received or reported as missing"},
    {log_tool::exit_code::not_ok, "something is unexplained"},
    {log_tool::exit_code::usage, "the command line is invalid"},
    {log_tool::exit_code::no_input, "the stream, the log or a file of an option does not exist"},
    {unavailable, "the server is unavailable, or refuses the connection"},
    {log_tool::exit_code::internal, "an internal error occurred"},
    {log_tool::exit_code::io_error, "a file cannot be read, the output cannot be written, or the connection was lost"},
    {log_tool::exit_code::no_permission, "permission denied"},
}};

struct VerifyOptions {
    std::optional<StreamAddress> stream;  // nullopt: verify the log
    std::string directory;                // of the log
    std::string expected_log;             // directory of the log that the stream must have; "": none
    log_tool::ChannelFilter channels;
    bool json = false;
};

[[nodiscard]] log_tool::Parsed<VerifyOptions> parse_verify_options(int argc, const char* const* argv);

}  // namespace telegate::verify_tool
