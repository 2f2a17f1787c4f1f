#pragma once

#include "store/file_system.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate::store {

/// Files of a log in memory. Threads: one. Limits: file_bytes_max for each file; more is a bug of the caller, which
/// aborts. Failure: throws std::system_error as the file system of the machine does.
class MemoryFiles final : public FileSystem {
  public:
    using Content = std::vector<std::byte>;
    static constexpr std::uint64_t file_bytes_max = 67'108'864;

    [[nodiscard]] Content& content(const std::string& path) {
        std::shared_ptr<Content>& file = files_[path];
        if (file == nullptr) {
            file = std::make_shared<Content>();
        }
        return *file;
    }

    void make_directory(const std::string& /*directory*/) override {}
    [[nodiscard]] std::vector<std::string> list(const std::string& directory) const override {
        std::vector<std::string> names;
        for (const auto& [path, content] : files_) {
            if (path.starts_with(directory + "/")) {
                names.push_back(path.substr(directory.size() + 1));
            }
        }
        return names;
    }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return files_.contains(path); }
    [[nodiscard]] std::unique_ptr<DirectoryLock> lock(const std::string& /*directory*/) override {
        return std::make_unique<DirectoryLock>();
    }
    void sync_directory(const std::string& /*directory*/) override {}
    [[nodiscard]] std::uint64_t free_bytes(const std::string& /*directory*/) const override { return file_bytes_max; }
    [[nodiscard]] std::unique_ptr<File> open(const std::string& path, Mode mode) override {
        const bool exists = files_.contains(path);
        if (exists != (mode != Mode::create)) {
            fail(exists ? std::errc::file_exists : std::errc::no_such_file_or_directory);
        }
        static_cast<void>(content(path));
        return std::make_unique<MemoryFile>(files_[path]);
    }
    void remove(const std::string& path) override { files_.erase(path); }
    void rename(const std::string& from, const std::string& to) override {
        files_[to] = files_.at(from);
        files_.erase(from);
    }

  private:
    [[noreturn]] static void fail(std::errc error) {
        throw std::system_error(std::make_error_code(error), "file in memory");
    }

    class MemoryFile final : public File {
      public:
        explicit MemoryFile(std::shared_ptr<Content> content) : content_(std::move(content)) {}

        [[nodiscard]] std::uint64_t bytes() const override { return content_->size(); }
        std::size_t read(std::uint64_t at, std::span<std::byte> to) const override {
            if (at > INT64_MAX) {
                fail(std::errc::invalid_argument);
            }
            const std::size_t from = std::min<std::uint64_t>(at, content_->size());
            const std::size_t count = std::min(to.size(), content_->size() - from);
            std::copy_n(content_->begin() + static_cast<std::ptrdiff_t>(from), count, to.begin());
            return count;
        }
        void write(std::uint64_t at, Bytes from) override {
            if (at > file_bytes_max || from.size() > file_bytes_max - at) {
                std::abort();
            }
            content_->resize(std::max<std::size_t>(content_->size(), at + from.size()));
            std::copy(from.begin(), from.end(), content_->begin() + static_cast<std::ptrdiff_t>(at));
        }
        void truncate(std::uint64_t bytes) override { content_->resize(bytes); }
        void sync() override {}

      private:
        const std::shared_ptr<Content> content_;
    };

    std::map<std::string, std::shared_ptr<Content>> files_;
};

}  // namespace telegate::store
