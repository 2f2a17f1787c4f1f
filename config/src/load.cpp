#include "config/load.hpp"

#include "config/settings_table.hpp"
#include "ini_text.hpp"
#include "problem_list.hpp"
#include "settings_builder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

std::string joined_texts(const std::vector<SettingsProblem>& problems) {
    std::string text;
    for (const SettingsProblem& problem : problems) {
        text += (text.empty() ? "" : "\n") + problem.text();
    }
    return text;
}

class FileDescriptor {
  public:
    explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
    ~FileDescriptor() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    [[nodiscard]] int get() const noexcept { return descriptor_; }

  private:
    int descriptor_;
};

/// The file's bytes, or enough of them to see that there are too many. Errors are those of open() and read(), which
/// tell a missing file, a directory and a file that may not be read apart.
std::string read_file(const std::string& path, std::error_code& error) {
    const auto last_error = [] {
        return std::error_code(errno, std::generic_category());
    };
    std::string text;
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (file.get() < 0) {
        error = last_error();
        return text;
    }
    std::array<char, 16 * 1024> buffer{};
    while (text.size() <= ini_text_bytes_max) {
        const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size < 0) {
            error = last_error();
        }
        if (size <= 0) {
            break;
        }
        text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return text;
}

const SettingRow& log_level_row() {
    return *find_setting("gateway", "log_level");
}

}  // namespace

std::string SettingsProblem::text() const {
    std::string text = file;
    if (line > 0) {
        text += ":" + std::to_string(line);
    }
    if (!key.empty()) {
        text += ": " + key;
    }
    return text + ": " + what;
}

SettingsError::SettingsError(std::vector<SettingsProblem> problems, Settings understood)
    : std::runtime_error(joined_texts(problems)), problems_(std::move(problems)), understood_(std::move(understood)) {}

Settings load_settings(const std::string& path) {
    std::error_code error;
    const std::string text = read_file(path, error);
    if (error) {
        throw SettingsError({{.file = path, .line = 0, .key = "", .what = "cannot be read: " + error.message()}});
    }
    return parse_settings(text, path);
}

Settings parse_settings(std::string_view text, const std::string& file) {
    ProblemList problems(file);
    Settings settings = build_settings(read_ini(text, problems), problems);
    problems.throw_if_any(settings);
    return settings;
}

bool is_log_level(std::string_view text) {
    Settings scratch;
    return !assign(log_level_row(), &scratch, text);
}

std::string log_level_choices() {
    return allowed_text(log_level_row());
}

void override_log_level(Settings& settings, std::string_view value, std::string_view option) {
    if (std::optional<std::string> fault = assign(log_level_row(), &settings, value)) {
        throw SettingsError(
            {{.file = "command line", .line = 0, .key = std::string(option), .what = std::move(*fault)}});
    }
}

}  // namespace telegate
