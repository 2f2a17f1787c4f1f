#include "exec/command_line.hpp"
#include "device/option_error.hpp"

#include <cstddef>
#include <utility>

namespace telegate::exec {
namespace {

constexpr std::string_view blanks = " \t\r\n";

[[noreturn]] void refuse(std::string_view text, const char* why) {
    throw OptionError("command", '"' + std::string(text) + "\": " + why);
}

/// Splits a command into words, character by character.
class Splitter {
  public:
    explicit Splitter(std::string_view text) : text_(text) {}

    std::vector<std::string> split() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (quote_ == 0 && blanks.find(c) != std::string_view::npos) {
                end_word();
            } else if (quote_ != 0 && c == quote_) {
                quote_ = 0;
            } else if (quote_ == 0 && (c == '\'' || c == '"')) {
                quote_ = c;
                has_word_ = true;
            } else if (c == '\\' && quote_ != '\'') {
                keep_next();
            } else {
                keep(c);
            }
            ++at_;
        }
        if (quote_ != 0) {
            refuse(text_, "unterminated quote");
        }
        end_word();
        return std::move(words_);
    }

  private:
    void keep(char c) {
        word_.push_back(c);
        has_word_ = true;
    }

    /// Handles a backslash.
    void keep_next() {
        if (at_ + 1 == text_.size()) {
            refuse(text_, "backslash at the end");
        }
        const char next = text_[at_ + 1];
        if (quote_ == '"' && next != '"' && next != '\\') {
            return keep('\\');
        }
        ++at_;
        keep(next);
    }

    void end_word() {
        if (has_word_) {
            words_.push_back(std::move(word_));
            word_.clear();
            has_word_ = false;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    char quote_ = 0;         // the open quote; 0: none
    bool has_word_ = false;  // true also for an empty word in quotes
    std::string word_;
    std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> split_command(std::string_view text) {
    std::vector<std::string> words = Splitter(text).split();
    if (words.empty()) {
        refuse(text, "empty command");
    }
    if (words.front().empty()) {
        refuse(text, "empty program name");
    }
    return words;
}

}  // namespace telegate::exec
