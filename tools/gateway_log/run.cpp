#include "commands.hpp"
#include "gateway_tail/sample_text.hpp"

#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <system_error>

namespace telegate::log_tool {
namespace {

/// Fails if the disk cannot read a segment, which readers pass over like a removed one.
void check_readable(store::FileSystem& files, const std::string& directory) {
    for (const store::SegmentRef& ref : store::list_segments(files, directory)) {
        try {
            std::array<std::byte, 1> first{};
            (void)files.open(directory + "/" + ref.name, store::FileSystem::Mode::read)->read(0, first);
        } catch (const std::system_error& error) {
            if (error.code() == std::errc::io_error) {
                throw;
            }
        }
    }
}

int code_of(const std::error_code& error) noexcept {
    return error == std::errc::permission_denied || error == std::errc::operation_not_permitted
               ? exit_code::no_permission
               : exit_code::io_error;
}

}  // namespace

void check_directory(const std::string& directory, const Surroundings& surroundings) {
    std::vector<std::string> names;
    try {
        names = surroundings.files.list(directory);
    } catch (const std::system_error& error) {
        const bool is_denied = error.code() == std::errc::permission_denied;
        throw Failure(is_denied ? exit_code::no_permission : exit_code::no_input,
                      "cannot read the directory " + directory + ": " + error.code().message());
    }
    const bool has_log = std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name == "lock" || store::parse_damaged_name(name) || store::parse_segment_name(name);
    });
    if (!has_log) {
        throw Failure(exit_code::no_input, "no log in " + directory + ": it has no segment files (*.tgl)");
    }
}

store::LogReader open_log(const std::string& directory, const Surroundings& surroundings) {
    check_directory(directory, surroundings);
    check_readable(surroundings.files, directory);
    return store::LogReader(surroundings.files, directory);
}

void check_channels(const LogOptions& options, const Surroundings& surroundings) {
    std::vector<std::string> unknown = options.channels.patterns();
    for (const store::SegmentRef& ref : store::list_segments(surroundings.files, options.directory)) {
        if (unknown.empty()) {
            return;
        }
        const auto segment = store::SegmentReader::open(surroundings.files, options.directory + "/" + ref.name);
        if (segment == nullptr) {
            continue;
        }
        for (const store::SegmentChannel& channel : segment->index().definitions) {
            std::erase_if(unknown, [topic = channel.topic()](const std::string& each) {
                return ChannelFilter::matches(each, topic);
            });
        }
    }
    if (!unknown.empty()) {
        throw Failure(exit_code::not_ok, "--channel: no channel \"" + unknown.front() +
                                             "\" in the log: must be a whole topic, such as host/cpu.user, or the "
                                             "beginning of topics and *");
    }
}

int run(const Parsed<LogOptions>& parsed, const Surroundings& surroundings) {
    return run(parsed, surroundings, [&](const LogOptions& options) { return options.command(options, surroundings); });
}

int guard(const Surroundings& surroundings, const std::function<int()>& command) {
    const auto fail = [&](int code, const char* what) {
        std::string line = std::string(surroundings.program) + ": ";
        tail::append_printable(line, what);
        surroundings.errors << line << '\n';
        return code;
    };
    try {
        const int code = command();
        surroundings.out.flush();
        return surroundings.out ? code : fail(exit_code::io_error, "cannot write the output");
    } catch (const Failure& failure) {
        return fail(failure.code(), failure.what());
    } catch (const std::system_error& error) {
        return fail(code_of(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return fail(exit_code::internal, "out of memory");
    } catch (const std::exception& error) {
        return fail(exit_code::internal, error.what());
    }
}

Write write_to(std::ostream& out) {
    return [&out](std::string_view text) {
        out << text;
        if (!out) {
            throw Failure(exit_code::io_error, "cannot write the output");
        }
    };
}

}  // namespace telegate::log_tool
